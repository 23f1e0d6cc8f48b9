"""Occlusion of stretches on models whose contributions are known by arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine import Engine
from assay.methods.occlusion import FUNCTION_WORDS, handed_on, phrase_cut, runs, sentence_cut, stretches, windows
from assay.models.additive import Additive
from assay.registry import bind
from assay.types import BadInput, Example, Target

WEIGHTS = [0.5, 2.0, 1.5, -1.0, 0.0]
"""Values of the free words: a good not dull film."""
PAIR = -2.0 * 2.0 * 1.5


@pytest.mark.parametrize("removal", ["delete", "unk", "pad", "mask", "zero"])
def test_windows_of_a_sum_average_the_sums_of_windows(explain: Any, removal: str) -> None:
    """Windows of three: 0.5 + 2 + 1.5 = 4, 2 + 1.5 - 1 = 2.5, 1.5 - 1 + 0 = 0.5."""
    due = [4.0, (4 + 2.5) / 2, (4 + 2.5 + 0.5) / 3, (2.5 + 0.5) / 2, 0.5]
    assert explain(f"occlusion(removal={removal}, output=logit)") == pytest.approx(due)


@pytest.mark.parametrize("output", ["logit", "logodds", "prob", "logprob"])
def test_a_window_of_one_word_is_leave_one_out(explain: Any, output: str) -> None:
    one = explain(f"occlusion(window=1, output={output})", together=-2.0)
    assert one == pytest.approx(explain(f"leave-one-out(output={output})", together=-2.0)[0])


def test_a_product_is_lost_once_with_both_its_factors(explain: Any) -> None:
    """Windows of two: a good | good not | not dull | dull film; the product goes with each of the first three."""
    falls = [2.5 + PAIR, 3.5 + PAIR, 0.5 + PAIR, -1.0]
    due = [falls[0], (falls[0] + falls[1]) / 2, (falls[1] + falls[2]) / 2, (falls[2] + falls[3]) / 2, falls[3]]
    assert explain("occlusion(window=2, output=logit)", together=-2.0) == pytest.approx(due)


def test_a_short_text_is_one_window(explain: Any) -> None:
    assert explain("occlusion(window=9, output=logit)") == pytest.approx([3.0] * 5)
    assert explain("occlusion", text="good") == pytest.approx([2.0])


def test_phrases_share_their_fall_equally_and_conserve_it() -> None:
    toy = Additive(weights={"not": -2.0, "good": 1.0, "film": 0.5, "the": 0.25, ",": 0.125, "again": 3.0})
    x, target = toy.read(Example("1", {"text": "the film, not good film. Again"})), Target((1,))
    scores = Engine(toy).ask(bind("methods", "occlusion(spans=phrases, output=logit)")(x, target))
    shared = (-2.0 + 1.0 + 0.5) / 3
    assert scores == pytest.approx([0.25, 0.5, 0.125, shared, shared, shared, 0.0, 3.0])
    assert scores.sum() == pytest.approx(toy.truth(x, target).sum())


def test_sentences_share_their_fall_within_their_field() -> None:
    toy = Additive(weights={"good": 1.0, "bad": -3.0, "fine": 2.0})
    example = Example("1", {"one": "so good ! It is bad", "two": "fine stuff"})
    x = toy.read(example)
    scores = Engine(toy).ask(bind("methods", "occlusion(spans=sentences, output=logit)")(x, Target((1,))))
    assert scores == pytest.approx([1 / 3] * 3 + [-1.0] * 3 + [1.0] * 2)


def test_windows_stay_within_a_field_and_leave_held_words_alone() -> None:
    toy = Additive(weights={"a": 1.0})
    x = toy.read(Example("1", {"one": "a b c", "two": "d e"}))
    assert stretches(x, "windows", 2) == [(0, 1), (1, 2), (3, 4)]
    assert stretches(x.hold("one"), "windows", 2) == [(0, 1)]
    assert Engine(toy).ask(bind("methods", "occlusion")(x.hold("one"), Target((1,)))).shape == (2,)


@given(st.lists(st.sampled_from(["good", "film", "the", "of", ",", ".", "!", "not"]), min_size=1, max_size=25))
def test_cuts_hold_every_word_once_in_order(words: list[str]) -> None:
    for cut in (phrase_cut, sentence_cut):
        assert [i for part in runs(words, cut) for i in part] == list(range(len(words)))
    for part in runs(words, phrase_cut):
        assert len(part) == 1 or not any(phrase_cut(words[i]) for i in part)
    for part in runs(words, sentence_cut):
        assert not any(words[i] in ".!" for i in part[:-1])


@given(st.integers(1, 12), st.integers(1, 6))
def test_windows_hold_every_word_and_have_one_size(n: int, size: int) -> None:
    found = windows(n, size)
    assert {i for part in found for i in part} == set(range(n))
    assert {len(part) for part in found} == {min(n, size)}
    assert len(found) == max(1, n - size + 1)


def test_negation_belongs_to_its_phrase() -> None:
    assert not {"not", "no", "never", "n't"} & FUNCTION_WORDS
    assert runs(["it", "was", "not", "good"], phrase_cut) == [(0,), (1,), (2, 3)]


def test_shares_conserve_the_sum_for_any_partition() -> None:
    draw = np.random.default_rng(0)
    owner = draw.integers(0, 4, 12)
    owner[:4] = range(4)
    gone, fall = owner[None, :] == np.arange(4)[:, None], draw.normal(size=4)
    scores = handed_on(gone, fall, shared=True)
    for k in range(4):
        assert scores[owner == k].sum() == pytest.approx(fall[k])


def test_no_window_is_refused(explain: Any) -> None:
    with pytest.raises(BadInput, match="window"):
        explain("occlusion(window=0)")
