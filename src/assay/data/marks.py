"""Knows the ways in which data sets write down marked evidence, and turns them into character spans."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from assay.types import BadInput, Mark

Span = tuple[int, int]


def join_tokens(tokens: Sequence[str], between: str = " ") -> tuple[str, list[Span]]:
    """The text of tokens or sentences joined by a space, and the span of each in it.

    >>> join_tokens(["a", "dull", "film"])
    ('a dull film', [(0, 1), (2, 6), (7, 11)])
    """
    spans, at = [], 0
    for token in tokens:
        spans.append((at, at + len(token)))
        at += len(token) + len(between)
    return between.join(tokens), spans


def token_marks(
    field: str, spans: Sequence[Span], chosen: Sequence[Span], label: str | None = None
) -> tuple[Mark, ...]:
    """Marks for stretches [first, end) of tokens."""
    return tuple(Mark(field, spans[a][0], spans[b - 1][1], label=label) for a, b in chosen if a < b)


def runs(indices: Sequence[int]) -> list[Span]:
    """Stretches of neighbouring indices.

    >>> runs([4, 1, 2, 7])
    [(1, 3), (4, 5), (7, 8)]
    """
    out: list[Span] = []
    for i in sorted(set(indices)):
        if out and out[-1][1] == i:
            out[-1] = (out[-1][0], i + 1)
        else:
            out.append((i, i + 1))
    return out


def read_marks(
    value: Any, texts: Mapping[str, str], tokens: Mapping[str, Sequence[Span]], place: str
) -> tuple[Mark, ...]:
    """Marks from a rationale cell.

    A table {field: marks}, or for the first field: spans [[start, end], ...] in characters (in tokens where the text
    came as tokens), a list of 0 and 1 per token, a list of quoted passages, or one passage. JSON text is read first.
    """
    if isinstance(value, str):
        value = _json(value, place) if value.lstrip()[:1] in ("[", "{") else [value] if value.strip() else []
    if value is None:
        return ()
    if isinstance(value, Mapping):
        for field in value:
            if field not in texts:
                raise BadInput(f"{place}: the rationale names field '{field}', fields are {', '.join(texts)}")
        return tuple(m for field, v in value.items() for m in _in_field(field, v, texts, tokens, place))
    return tuple(_in_field(next(iter(texts)), value, texts, tokens, place))


def _json(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"{place}: the rationale is broken JSON at column {error.colno} ({error.msg})") from error


def _in_field(
    field: str, value: Any, texts: Mapping[str, str], tokens: Mapping[str, Sequence[Span]], place: str
) -> Sequence[Mark]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise BadInput(f"{place}: expected a list of spans, of 0 and 1, or of passages as rationale, got {value!r:.60}")
    if all(isinstance(v, str) for v in value):
        return [_passage(field, v, texts, place) for v in value]
    if all(isinstance(v, int) for v in value):
        spans = tokens.get(field)
        if spans is None or len(spans) != len(value):
            there = "the text is not a list of tokens" if spans is None else f"the text has {len(spans)} tokens"
            raise BadInput(f"{place}: the rationale has {len(value)} values, but {there}")
        return token_marks(field, spans, runs([i for i, v in enumerate(value) if v]))
    return [_span(field, v, texts, tokens, place) for v in value]


def _passage(field: str, passage: str, texts: Mapping[str, str], place: str) -> Mark:
    start = texts[field].find(passage)
    if start < 0:
        raise BadInput(f"{place}: the rationale '{passage:.60}' does not occur in field '{field}'")
    return Mark(field, start, start + len(passage))


def _span(field: str, value: Any, texts: Mapping[str, str], tokens: Mapping[str, Sequence[Span]], place: str) -> Mark:
    spans, size = tokens.get(field), len(tokens.get(field, texts[field]))
    if not (isinstance(value, Sequence) and len(value) == 2 and all(isinstance(v, int) for v in value)):
        raise BadInput(f"{place}: expected [start, end] in the rationale, got {value!r:.60}")
    start, end = value
    if not 0 <= start < end <= size:
        what = "characters" if spans is None else "tokens"
        raise BadInput(f"{place}: the rationale span {[start, end]} is outside field '{field}' of {size} {what}")
    return Mark(field, start, end) if spans is None else token_marks(field, spans, [(start, end)])[0]
