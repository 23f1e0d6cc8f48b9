"""Anchors on models whose precision can be counted: one decisive word, a conjunction, chance, and the bounds."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from assay.engine import Engine
from assay.methods.anchors import doubtful, grown, kl_bounds
from assay.models.additive import Additive
from assay.registry import bind
from assay.types import OWN, BadInput, Example, Target

FILLERS = tuple(f"filler{i}" for i in range(14))


def anchored(toy: Additive, text: str, settings: str = "", target: Target = Target((1,))) -> Any:  # noqa: B008 frozen
    x = toy.read(Example("1", {"text": text}))
    return Engine(toy).ask(bind("methods", f"anchors{settings}")(x, target))


def counted(toy: Additive, text: str, kept: tuple[str, ...], label: int = 1) -> float:
    """The precision of a set of words by trying every subset of the others."""
    x = toy.read(Example("1", {"text": text}))
    truth = toy.truth(x, Target((1,))) - toy.truth(x, Target((0,)))
    bias = float(toy.net.get_parameter("bias")[1] - toy.net.get_parameter("bias")[0])
    others = [i for i, w in enumerate(x.words) if w not in kept]
    fixed = bias + sum(truth[i] for i, w in enumerate(x.words) if w in kept)
    rows = [fixed + sum(truth[i] for i, on in zip(others, z, strict=True) if on)
            for z in product([0, 1], repeat=len(others))]  # fmt: skip
    return float(np.mean([(z > 1e-6) == bool(label) for z in rows]))


@pytest.mark.parametrize("removal", ["delete", "unk", "pad", "mask", "zero", "hide"])
@pytest.mark.parametrize("length", [5, 14])
def test_one_decisive_word_is_the_anchor(removal: str, length: int) -> None:
    """Exact for short texts, sampled for long ones: the word alone decides, so its precision is 1."""
    toy = Additive(weights={"decisive": 9.0, "filler1": 1.0, "filler2": -2.0, "filler3": -1.0}, bias=[0.0, -1.0])
    text = " ".join([*FILLERS[: length // 2], "decisive", *FILLERS[length // 2 : length]])
    scores, notes = anchored(toy, text, f"(removal={removal})")
    assert scores.tolist() == [float(w == "decisive") for w in text.split()]
    assert notes["anchor"] == ["decisive"]
    assert notes["reached"]
    assert (notes["precision"], notes["coverage"]) == (1.0, 0.5)
    assert notes["how"] == ("exact" if length == 5 else "sampled")
    assert 0.95 <= notes["at_least"] <= 1.0


def test_two_words_that_decide_together_are_both_in_the_anchor() -> None:
    """bias -4 + 3 + 3: either alone leaves a coin toss. Then right alone holds in 5/8, left in 4/8: right is first."""
    text = " ".join([*FILLERS[:6], "left", *FILLERS[6:12], "right"])
    toy = Additive(weights={"left": 3.0, "right": 3.0}, bias=[0.0, -4.0])
    scores, notes = anchored(toy, text)
    assert sorted(notes["anchor"]) == ["left", "right"]
    assert sorted(scores.tolist())[-2:] == [0.5, 1.0]
    assert np.flatnonzero(scores).tolist() == [6, 13]
    assert (notes["coverage"], notes["reached"]) == (0.25, True)
    toy = Additive(weights={"left": 3.0, "right": 5.0, "filler1": 1.5, "filler2": 1.5}, bias=[0.0, -7.0])
    scores, notes = anchored(toy, text)
    assert notes["anchor"] == ["right", "left"]
    assert (scores[13], scores[6]) == (1.0, 0.5)


def test_short_texts_get_exact_precisions() -> None:
    """Nothing reaches the goal: the best set is told with its exact precision, and as not reached."""
    toy = Additive(weights={"a": 1.0, "b": 1.0, "c": -1.5, "d": -1.5}, bias=[0.0, 0.25])
    _, notes = anchored(toy, "a b c d", "(precision=0.99)", Target((1,)))
    assert notes["how"] == "exact"
    assert notes["precision"] == notes["at_least"] == counted(toy, "a b c d", tuple(notes["anchor"]))
    singles = [counted(toy, "a b c d", (w,)) for w in "abcd"]
    assert notes["precision"] >= max(singles)


def test_the_shortest_of_all_sets_is_found_on_short_texts() -> None:
    """With a beam as wide as the text, no smaller set may reach the precision; by counting all sets."""
    draw = np.random.default_rng(4)
    for _ in range(8):
        names = [f"w{i}" for i in range(6)]
        toy = Additive(weights=dict(zip(names, draw.normal(0.4, 1.0, 6).tolist(), strict=True)))
        text = " ".join(names)
        _, notes = anchored(toy, text, "(width=64, precision=0.9)")
        sets = [tuple(w for w, on in zip(names, z, strict=True) if on) for z in product([0, 1], repeat=6)]
        good = [s for s in sets if counted(toy, text, s) >= 0.9]
        if notes["reached"]:
            assert len(notes["anchor"]) == min(len(s) for s in good)
            assert notes["precision"] == counted(toy, text, tuple(notes["anchor"]))
        else:
            assert not good


def test_a_choice_that_holds_without_words_has_an_empty_anchor() -> None:
    toy = Additive(weights={"a": 0.5}, bias=[0.0, 5.0])
    for text in ("a b c", " ".join(["a", *FILLERS])):
        scores, notes = anchored(toy, text)
        assert not scores.any()
        assert (notes["anchor"], notes["coverage"], notes["reached"]) == ([], 1.0, True)


def test_a_class_that_is_not_chosen_is_not_reached() -> None:
    toy = Additive(weights={"good": 4.0}, bias=[0.0, -1.0])
    _, notes = anchored(toy, " ".join(["good", *FILLERS[:3]]), target=Target((0,)))
    assert not notes["reached"]
    assert notes["precision"] == counted(toy, "good x y z", (), 0) == 0.5


def test_the_own_choice_is_explained_when_no_class_is_named() -> None:
    toy = Additive(weights={"awful": -9.0, "good": 2.0})
    assert anchored(toy, "good but awful film", target=OWN)[1]["anchor"] == ["awful"]


def test_the_budget_is_kept_and_counts_distinct_rows() -> None:
    toy = Additive(weights={w: 1.0 for w in FILLERS}, bias=[0.0, -11.0])
    x = toy.read(Example("1", {"text": " ".join(FILLERS)}))
    for budget in (400, 1000, 2000):
        engine = Engine(toy)
        _, notes = engine.ask(bind("methods", f"anchors(budget={budget})")(x, Target((1,))))
        assert engine.total.rows == notes["rows"] <= budget
        assert notes["how"] == "sampled"


def test_bounds_against_closed_forms_and_the_definition() -> None:
    level = np.array([0.01, 0.1, 1.0])
    assert kl_bounds(1.0, level)[0] == pytest.approx(np.exp(-level))
    assert kl_bounds(0.0, level)[1] == pytest.approx(1 - np.exp(-level))
    assert kl_bounds(np.array([0.0, 1.0]), 0.2)[0][0] == 0.0
    assert kl_bounds(np.array([0.0, 1.0]), 0.2)[1][1] == 1.0
    for p in (0.1, 0.5, 0.93):
        for q in np.concatenate(kl_bounds(p, level)):
            kl = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
            assert np.abs(kl - level).min() < 1e-6
    assert np.stack(kl_bounds(0.3, 0.0)) == pytest.approx([0.3, 0.3])


@pytest.mark.parametrize("p", [0.5, 0.8, 0.9, 0.949, 0.99])
def test_the_lower_bound_errs_no_more_often_than_it_says(p: float) -> None:
    """Exact: the chance, over all outcomes of 200 tosses of a coin p, that the bound is above p."""
    heads, delta = np.arange(201), 0.05
    low, _ = kl_bounds(heads / 200, np.log(1 / delta) / 200)
    assert binom.pmf(heads, 200, p)[low > p].sum() <= delta


def test_tosses_go_to_the_edge_of_the_beam() -> None:
    tried = np.full(4, 30)
    assert sorted(doubtful(np.array([30.0, 27, 25, 2]), tried, 2, 0.05).tolist()) == [1, 2]
    assert doubtful(np.array([3000.0, 2900, 100, 90]), np.full(4, 3000), 2, 0.05).tolist() == []
    assert doubtful(np.array([5.0, 6.0]), np.full(2, 10), 2, 0.05).tolist() == []


def test_sets_grow_by_one_and_occur_once() -> None:
    sets = grown([(1,), (3,), (0,)], 5)
    assert len(sets) == len({frozenset(s) for s in sets}) == 4 + 3 + 2
    assert all(len(s) == 2 for s in sets)


@pytest.mark.parametrize("bad", ["precision=1.0", "precision=0.2", "width=0", "budget=300", "batch=0", "delta=0.0"])
def test_settings_that_cannot_be_searched_are_refused(bad: str) -> None:
    with pytest.raises(BadInput, match="anchors"):
        anchored(Additive(weights={"a": 1.0}), "a b", f"({bad})")
