"""Shuffled attention: closed forms, brute force over all orders, states that are all alike, refusals."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from assay.case import applicable
from assay.engine import Engine
from assay.models.additive import Additive
from assay.registry import bind
from assay.types import OWN, BadInput, Example, ProbeFailed

Make = Callable[..., Any]


def sigmoid(z: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(z)))


def ask(model: Any, text: str, test: str = "permutation") -> dict[str, float]:
    x = model.read(Example("1", {"text": text}))
    values: dict[str, float] = Engine(model).ask(bind("tests", test)(x, OWN))
    return values


def test_three_words_by_brute_force(attending: Make) -> None:
    """All six orders are equally likely: the numbers lie among the six closed forms and near their mean."""
    scores, weights = np.array([2.0, -1.0, 0.5]), np.array([0.6, 0.3, 0.1])
    model = attending(dict(zip("abc", zip(scores, weights, strict=True), strict=True)), bias=0.2)
    own = sigmoid(weights @ scores + 0.2)
    far = np.array([abs(sigmoid(weights[list(o)] @ scores + 0.2) - own) for o in permutations(range(3))])
    got = ask(model, "a b c", "permutation(times=3000)")
    assert got["largest"] == pytest.approx(far.max(), abs=1e-4)
    assert got["mean"] == pytest.approx(far.mean(), abs=4 * far.std() / np.sqrt(3000))
    assert np.abs(far - got["median"]).min() < 1e-4 or got["median"] == pytest.approx(
        np.sort(far)[2:4].mean(), abs=1e-4
    )
    assert got["max_attention"] == pytest.approx(0.6, abs=1e-4)


def test_identical_states_notice_nothing_and_are_perfectly_conical(attending: Make) -> None:
    model = attending({w: (1.5, 1.0) for w in "abcd"})
    got = ask(model, "a b c d")
    assert got["largest"] == pytest.approx(0.0, abs=1e-6)
    assert got["conicity"] == pytest.approx(1.0, abs=1e-6)


def test_even_attention_notices_nothing_whatever_the_states(attending: Make) -> None:
    model = attending({"a": (3.0, 1.0), "b": (-3.0, 1.0), "c": (0.5, 1.0)})
    assert ask(model, "a b c")["largest"] == pytest.approx(0.0, abs=1e-5)


def test_weight_that_underflows_to_zero_takes_part(attending: Make) -> None:
    """(1, 0): the two orders give s = 2 and s = -2; the zero is a real word's weight and may move."""
    model = attending({"a": (2.0, 1.0), "b": (-2.0, 0.0)})
    got = ask(model, "a b")
    assert got["largest"] == pytest.approx(float(sigmoid(2.0) - sigmoid(-2.0)), abs=1e-5)


def test_edges_are_never_dealt_attention(attending: Make) -> None:
    model = attending({"a": (2.0, 0.9), "b": (-2.0, 0.1)})
    with_edges = ask(model, "a b")
    object.__setattr__(model.reader, "edges", False)
    assert ask(model, "a b") == pytest.approx(with_edges)


def test_the_same_seed_the_same_numbers(attending: Make) -> None:
    model = attending({w: (float(i), 1.0 + i) for i, w in enumerate("abcdef")})
    text = "a b c d e f"
    assert ask(model, text, "permutation(times=7)") == ask(model, text, "permutation(times=7)")
    assert ask(model, text, "permutation(times=7)") != ask(model, text, "permutation(times=7, seed=1)")


def test_what_cannot_be_shuffled_is_said(attending: Make) -> None:
    model = attending({"a": (2.0, 0.9), "b": (-2.0, 0.1)})
    with pytest.raises(BadInput, match="1 word may be attended"):
        ask(model, "a")
    with pytest.raises(BadInput, match="times must be at least 1"):
        ask(model, "a b", "permutation(times=0)")
    with pytest.raises(BadInput, match="layer must be last or a number"):
        ask(model, "a b", "permutation(layer=mean)")
    reason = applicable(bind("tests", "permutation"), Additive(weights={"a": 1.0}))
    assert reason == "needs attend, attention, which additive cannot give"


def test_short_and_long_texts_share_a_run(attending: Make) -> None:
    model = attending({"a": (2.0, 0.9), "b": (-2.0, 0.1), "c": (0.1, 0.4)})
    texts = ["a", "a b", " ".join("abc"[i % 3] for i in range(400))]
    test = bind("tests", "permutation(times=4)")
    xs = [model.read(Example(str(i), {"text": t})) for i, t in enumerate(texts)]
    done = {d.key: d for d in Engine(model).run((i, test(x, OWN)) for i, x in enumerate(xs))}
    assert "1 word" in str(done[0].error)
    for i in (1, 2):
        assert done[i].result == pytest.approx(ask_alone(model, xs[i], test), abs=1e-6)


def ask_alone(model: Any, x: Any, test: Any) -> Any:
    return Engine(model, budget=1).ask(test(x, OWN))


def test_states_that_are_not_shown_are_left_out_and_other_failures_are_told(attending: Make) -> None:
    model = attending({"a": (2.0, 0.9), "b": (-2.0, 0.1)})
    answer = model.answer

    def failing(probes: Any) -> Any:
        if "states" in probes[0].want:
            raise ArithmeticError("states broke")
        return answer(probes)

    model.answer = failing
    with pytest.raises(ProbeFailed, match="states broke"):
        ask(model, "a b")
    model.can = model.can - {"states"}
    assert set(ask(model, "a b")) == {"median", "mean", "largest", "max_attention"}
