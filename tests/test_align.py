"""Features as character spans: what the word rule promises for any text, and that scores keep their sum."""

from __future__ import annotations

import builtins
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import align
from assay.align import marked, owner_of_pieces, places, to_words, transfer, words
from assay.types import AssayError, BadInput, Example, Input, Mark, Place

Spans = list[tuple[int, int]]
any_char = st.one_of(
    st.characters(codec=None, categories=None),
    st.sampled_from("ab'-’ \t\n\x00\u200d\u200b\u200f\ufe0f\u0301中\ud800"),
    st.sampled_from("\U0001f468\U0001f469\U0001f3fd\U0001f1e9\U0001f1ea"),
)
any_text = st.text(any_char, max_size=40)


def cut(text: str, unit: str = "word") -> list[str]:
    return [text[a:b] for a, b in words(text, unit)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's well-made, isn't it?", ["It's", "well-made", ",", "isn't", "it", "?"]),
        ("'quoted' -- rock-'n'-roll!", ["'", "quoted", "'", "-", "-", "rock", "-", "'", "n", "'", "-", "roll", "!"]),
        ("l’été e\u0301te\u0301", ["l’été", "e\u0301te\u0301"]),
        ("שלום עולם, مرحبا", ["שלום", "עולם", ",", "مرحبا"]),
        ("\u200fمرحبا", ["\u200fمرحبا"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("ok👩‍👩‍👧👍🏽❤️", ["ok", "👩‍👩‍👧", "👍🏽", "❤️"]),
        ("🇩🇪🇫🇷🇩", ["🇩🇪", "🇫🇷", "🇩"]),
        ("1️⃣ done", ["1️⃣", "done"]),
        ("好电影 very好", ["好", "电", "影", "very", "好"]),
        ("ไทย\u200bดี", ["ไทย\u200b", "ดี"]),
        ("a\x00b\ud800c", ["a", "\x00", "b", "\ud800", "c"]),
        ("", []),
        (" \n\t\u00a0", []),
    ],
)
def test_word_rule(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@given(any_text, st.sampled_from(["word", "spacy"]))
@settings(deadline=None)
def test_every_visible_character_is_in_exactly_one_span(text: str, unit: str) -> None:
    count = np.zeros(len(text), dtype=int)
    ends = 0
    for start, end in words(text, unit):
        assert ends <= start < end
        ends = end
        count[start:end] += 1
    assert [bool(n) for n in count] == [not c.isspace() for c in text]
    assert count.max(initial=0) <= 1


@given(st.text(st.characters(max_codepoint=127), max_size=40))
def test_the_short_way_for_ascii_says_the_same(text: str) -> None:
    assert words(text) == list(align._unicode_words(text))


@pytest.mark.parametrize("text", ["a-" * 200_000, "\u0301" * 200_000, "é'" * 200_000, "\u200d" * 200_000])
def test_no_text_blows_up(text: str) -> None:
    start = time.perf_counter()
    words(text)
    assert time.perf_counter() - start < 5


def test_unknown_units_name_the_known() -> None:
    with pytest.raises(BadInput, match="did you mean 'word'"):
        words("a", "wrod")
    with pytest.raises(BadInput, match=r"made by a model: read the example with model\.read"):
        words("a", "piece")


def test_missing_spacy_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., Any] = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "spacy":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    align._spacy_rules.cache_clear()
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(AssayError, match=re.escape("pip install assay[spacy]")):
        words("a", "spacy")


def test_spacy_splits_as_spacy_does() -> None:
    assert cut("I don't  know.", "spacy") == ["I", "do", "n't", "know", "."]


def test_places_follow_the_fields() -> None:
    example = Example("1", {"premise": "a cat", "hypothesis": "an animal"})
    assert places(example) == (
        Place("premise", 0, 1), Place("premise", 2, 5), Place("hypothesis", 0, 2), Place("hypothesis", 3, 9),
    )  # fmt: skip


# --------------------------------------------------------------------------------------------- pieces

spans_of = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5)), max_size=8).map(
    lambda steps: [(a, b) for a, b in _laid_out(steps)]
)


def _laid_out(steps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out, at = [], 0
    for gap, length in steps:
        out.append((at + gap, at + gap + length))
        at += gap + length
    return out


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), max_size=8), spans_of)
def test_owner_is_the_largest_overlap(starts: list[tuple[int, int]], spans: list[tuple[int, int]]) -> None:
    pieces = [(a, a + n) for a, n in starts]
    for piece, owner in zip(pieces, owner_of_pieces(pieces, spans), strict=True):
        overlaps = [len(set(range(*piece)) & set(range(*span))) for span in spans]
        best = max(overlaps, default=0)
        assert owner == (overlaps.index(best) if best else -1)


def test_pieces_join_by_sum_root_of_squares_and_largest() -> None:
    scores, owner = np.array([3.0, -4.0, 5.0, 7.0]), np.array([0, 0, 2, -1])
    assert to_words(scores, owner, 3).tolist() == [-1.0, 0.0, 5.0]
    assert to_words(scores, owner, 3, "l2").tolist() == [5.0, 0.0, 5.0]
    assert to_words(scores, owner, 3, "max").tolist() == [3.0, 0.0, 5.0]
    assert to_words(np.stack([scores, 2 * scores]), owner, 3).tolist() == [[-1.0, 0.0, 5.0], [-2.0, 0.0, 10.0]]
    with pytest.raises(BadInput, match="sum, l2 or max, not 'mean'"):
        to_words(scores, owner, 3, "mean")  # type: ignore[arg-type]  # the point of the test


# ------------------------------------------------------------------------------------------- transfer


def _places(spans: list[tuple[int, int]]) -> list[Place]:
    return [Place("text", a, b) for a, b in spans]


@given(spans_of, spans_of.filter(bool), st.data())
def test_transfer_keeps_the_sum(source: Spans, goal: Spans, data: st.DataObject) -> None:
    floats = st.floats(-100, 100)
    scores = np.array(data.draw(st.lists(floats, min_size=len(source), max_size=len(source))))
    moved = transfer(scores, _places(source), _places(goal))
    assert moved.shape == (len(goal),)
    assert np.isclose(moved.sum(), scores.sum())


@given(spans_of.filter(bool))
def test_transfer_to_the_same_unit_changes_nothing(spans: list[tuple[int, int]]) -> None:
    scores = np.arange(len(spans), dtype=float)
    assert transfer(scores, _places(spans), _places(spans)).tolist() == scores.tolist()


def test_transfer_of_specials_gaps_and_missing_scores() -> None:
    source = [Place("", 0, 0, "[CLS]"), Place("text", 0, 2), Place("text", 2, 3), Place("text", 4, 6)]
    goal = [Place("text", 0, 2), Place("text", 5, 6), Place("", 0, 0, "[CLS]")]
    scores = np.array([9.0, 1.0, 2.0, np.nan])
    assert transfer(scores, source, goal)[[0, 2]].tolist() == [3.0, 9.0]  # (2, 3) overlaps none: to its neighbour
    assert np.isnan(transfer(scores, source, goal)[1])
    assert transfer(scores, source, goal[:2])[0] == 3.0
    with pytest.raises(BadInput, match="field 'text' have no feature"):
        transfer(np.array([1.0]), [Place("text", 0, 1)], [Place("other", 0, 1)])
    with pytest.raises(ValueError, match="expected 1 scores"):
        transfer(np.zeros(2), [Place("text", 0, 1)], goal)


# --------------------------------------------------------------------------------------------- marks


def _input(text: str) -> Input:
    example = Example("7", {"text": text})
    found = (Place("", 0, 0, "[CLS]"), *places(example))
    return Input(example, "word", found, np.array([False] + [True] * (len(found) - 1)))


def test_half_of_the_characters_counts() -> None:
    x = _input("good film dull")
    assert marked(x, [Mark("text", 0, 2)]).tolist() == [0, 1, 0, 0]
    assert marked(x, [Mark("text", 0, 1)]).tolist() == [0, 0, 0, 0]
    assert marked(x, [Mark("text", 0, 9, 0.5), Mark("text", 5, 14, 2.0)]).tolist() == [0, 0.5, 2.0, 2.0]
    assert marked(x, []).tolist() == [0, 0, 0, 0]
    with pytest.raises(BadInput, match="example 7: a mark names field 'body', fields are text"):
        marked(x, [Mark("body", 0, 2)])
