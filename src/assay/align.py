"""Knows where features stand in a text (character spans) and how scores move from one unit to another."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from assay.registry import did_you_mean
from assay.types import AssayError, BadInput, Example, Floats, Input, Mark, Place

Span = tuple[int, int]
"""Characters [start, end)."""
How = Literal["sum", "l2", "max"]
UNITS = ("word", "spacy")
"""Units that are found without a model; pieces are the model's own."""

_ASCII = re.compile(r"[A-Za-z0-9]+(?:['-][A-Za-z0-9]+)*|\S")  # no two ways to match: linear time
_JOINERS = frozenset("'’-\u2010\u2011")
_ZWJ, _ZWSP = "\u200d", "\u200b"


# -------------------------------------------------------------------------------------- text to spans


def words(text: str, unit: str = "word") -> list[Span]:
    """The features of a text, in order; every character that is not white space is in exactly one of them.

    ``word``: runs of letters, digits and marks, with apostrophes and hyphens inside a word; an ideograph or any
    other symbol stands alone, and what only modifies (marks, variation selectors, joiners) stays with what it
    modifies, so an emoji sequence is one feature. ``spacy``: the tokens of spaCy's English rules.

    >>> [text[a:b] for text in ["Don't re-open: 10%"] for a, b in words(text)]
    ["Don't", 're-open', ':', '10', '%']
    """
    if unit == "word":
        return [m.span() for m in _ASCII.finditer(text)] if text.isascii() else list(_unicode_words(text))
    if unit == "spacy":
        return _spacy_words(text)
    if unit == "piece":
        raise BadInput("unit 'piece' is made by a model: read the example with model.read(example, 'piece')")
    raise BadInput(f"unknown unit '{unit}'{did_you_mean(unit, [*UNITS, 'piece'])}")


def _unicode_words(text: str) -> Iterator[Span]:
    """One pass; ``base`` is the last character of the open span that is not a mere modifier."""
    start, base = -1, -1
    for i, c in enumerate(text):
        if c.isspace():
            if start >= 0:
                yield start, i
            start, base = -1, -1
            continue
        if start >= 0 and not _joins(text, start, base, i):
            yield start, i
            start, base = -1, -1
        start = i if start < 0 else start
        base = base if _modifies(c) else i
    if start >= 0:
        yield start, len(text)


def _joins(text: str, start: int, base: int, i: int) -> bool:
    """Does character i belong to the span open at i - 1?"""
    c, before = text[i], text[i - 1]
    if _modifies(c) or before == _ZWJ:
        return True
    if before == _ZWSP:
        return False
    if base < 0:  # nothing visible yet: a direction mark before its word
        return True
    b = text[base]
    if _lettered(c):
        return _lettered(b) or (b in _JOINERS and base > start)
    if c in _JOINERS:
        return _lettered(b) and i + 1 < len(text) and _lettered(text[i + 1])
    return _flag(c) and _flag(b) and base == start


def _modifies(c: str) -> bool:
    return category(c) in ("Mn", "Me", "Mc", "Cf") or "\U0001f3fb" <= c <= "\U0001f3ff"


def _lettered(c: str) -> bool:
    return category(c)[0] in "LN" and not _ideograph(c)


def _ideograph(c: str) -> bool:
    return "\u3400" <= c <= "\u4dbf" or "\u4e00" <= c <= "\u9fff" or "\uf900" <= c <= "\ufaff" or c >= "\U00020000"


def _flag(c: str) -> bool:
    return "\U0001f1e6" <= c <= "\U0001f1ff"


def _spacy_words(text: str) -> list[Span]:
    readable = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    tokens = ((t.idx, t.idx + len(t.text)) for t in _spacy_rules()(readable))
    return [(a, b) for a, b in tokens if not text[a:b].isspace()]


@functools.cache
def _spacy_rules() -> Any:
    try:
        import spacy
    except ImportError as error:
        raise AssayError("unit 'spacy' needs spaCy, which is not installed: pip install assay[spacy]") from error
    return spacy.blank("en").tokenizer


def places(example: Example, unit: str = "word") -> tuple[Place, ...]:
    """The features of all fields, in the order of the fields."""
    return tuple(Place(name, a, b) for name, text in example.fields.items() for a, b in words(text, unit))


# ------------------------------------------------------------------------------------ pieces and words


def owner_of_pieces(piece_offsets: Sequence[Span], spans: Sequence[Span]) -> NDArray[np.int64]:
    """For each piece the span that it overlaps most (the left one of equals), -1 where it overlaps none.

    ``spans`` are in order and do not overlap one another, as ``words`` gives them.

    >>> owner_of_pieces([(0, 0), (0, 2), (2, 5), (5, 6)], [(0, 5), (6, 9)]).tolist()
    [-1, 0, 0, -1]
    """
    ends = [end for _, end in spans]
    out = np.full(len(piece_offsets), -1, dtype=np.int64)
    for p, (start, end) in enumerate(piece_offsets):
        most, at = 0, bisect.bisect_right(ends, start)
        while at < len(spans) and spans[at][0] < end:
            if (overlap := _overlap((start, end), spans[at])) > most:
                most, out[p] = overlap, at
            at += 1
    return out


def to_words(piece_scores: Floats, owner: NDArray[np.integer[Any]], n: int, how: How = "sum") -> Floats:
    """Scores of n words from scores of their pieces (last axis); a word without a piece has 0.

    ``sum`` keeps the total, ``l2`` is the root of the summed squares, ``max`` the largest; owner -1 is left out.

    >>> to_words(np.array([9.0, 1.0, -3.0, 4.0]), np.array([-1, 0, 0, 1]), 2).tolist()
    [-2.0, 4.0]
    """
    scores, owner = np.asarray(piece_scores, dtype=np.float64), np.asarray(owner)
    mine, at = np.moveaxis(scores[..., owner >= 0], -1, 0), owner[owner >= 0]
    out = np.zeros((n, *scores.shape[:-1]))
    if how == "max":
        out[at] = -np.inf
        np.maximum.at(out, at, mine)
    elif how in ("sum", "l2"):
        np.add.at(out, at, mine if how == "sum" else mine**2)
    else:
        raise BadInput(f"pieces can be joined by sum, l2 or max, not '{how}'")
    return np.moveaxis(np.sqrt(out) if how == "l2" else out, 0, -1)


def _overlap(a: Span, b: Span) -> int:
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


# ------------------------------------------------------------------------------------- between units


def transfer(scores: Floats, from_places: Sequence[Place], to_places: Sequence[Place]) -> Floats:
    """Scores of one unit as scores of another: each is shared out over the features it overlaps, by characters.

    The sum over a field stays the same: what overlaps nothing goes to the nearest feature of its field. The score of
    a special token goes to the special token of its name, and belongs to no word where there is none. A score that
    is NaN (none was computed) gives nothing; a feature that received only such scores is NaN.

    >>> word, pieces = [Place("text", 0, 6)], [Place("text", 0, 2), Place("text", 2, 6)]
    >>> transfer(np.array([3.0]), word, pieces).tolist()
    [1.0, 2.0]
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != (len(from_places),):
        raise ValueError(f"expected {len(from_places)} scores, one per feature, got shape {scores.shape}")
    homes = _by_field(to_places)
    out, given, missed = (np.zeros(len(to_places)) for _ in range(3))
    for score, place in zip(scores, from_places, strict=True):
        for at, share in _shares(place, to_places, homes):
            if np.isnan(score):
                missed[at] += 1
            else:
                out[at] += share * score
                given[at] += 1
    out[(missed > 0) & (given == 0)] = np.nan
    return out


def _by_field(to_places: Sequence[Place]) -> dict[str, list[int]]:
    homes: dict[str, list[int]] = {}
    for i, place in enumerate(to_places):
        homes.setdefault(place.name if place.special else "=" + place.field, []).append(i)
    return homes


def _shares(place: Place, to_places: Sequence[Place], homes: dict[str, list[int]]) -> list[tuple[int, float]]:
    if place.special:
        return [(at, 1.0) for at in homes.get(place.name, [])[:1]]
    home = homes.get("=" + place.field, [])
    if not home:
        raise BadInput(f"scores of field '{place.field}' have no feature to go to: the other unit has none there")
    spans = [(to_places[at].start, to_places[at].end) for at in home]
    overlaps = [_overlap((place.start, place.end), span) for span in spans]
    total = sum(overlaps)
    if total:
        return [(at, o / total) for at, o in zip(home, overlaps, strict=True) if o]
    gaps = [max(a - place.end, place.start - b) for a, b in spans]
    return [(home[gaps.index(min(gaps))], 1.0)]


# ----------------------------------------------------------------------------------------- rationales


def marked(x: Input, marks: Iterable[Mark]) -> Floats:
    """Weight of the marked evidence per feature [n]; a feature counts when at least half of its characters are marked.

    Where marks overlap the heaviest counts. Special tokens have 0.
    """
    weights = {name: np.zeros(len(text)) for name, text in x.example.fields.items()}
    for mark in marks:
        if mark.field not in weights:
            there = ", ".join(weights)
            raise BadInput(f"example {x.example.id}: a mark names field '{mark.field}', fields are {there}")
        part = weights[mark.field][mark.start : mark.end]
        np.maximum(part, mark.weight, out=part)
    out = np.zeros(x.n)
    for i, place in enumerate(x.places):
        under = weights[place.field][place.start : place.end] if not place.special else np.zeros(0)
        if under.size and 2 * np.count_nonzero(under) >= under.size:
            out[i] = under.max()
    return out
