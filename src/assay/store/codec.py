"""Explanations and records as rows and back, exactly: NaN, infinities, lone surrogates and all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from assay.types import Cost, Example, Explanation, Floats, Input, Mark, Place, Record, Target, content_key

_ODD = "\x00json:"
"""Starts a text that UTF-8 cannot hold (a lone surrogate), kept as escaped JSON."""


def text(value: str) -> str:
    """A text that SQLite can hold."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return _ODD + json.dumps(value)
    return _ODD + json.dumps(value) if value.startswith(_ODD) else value


def untext(value: str) -> str:
    """The text again."""
    return str(json.loads(value[len(_ODD) :])) if value.startswith(_ODD) else value


def dump(value: object) -> str:
    """Escaped JSON; numpy's numbers and arrays become plain ones, NaN and infinities stay."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} cannot be stored: notes and details hold plain values and arrays")


def floats(values: Sequence[float] | Floats) -> bytes:
    """Every bit of every number."""
    return np.asarray(values, dtype="<f8").tobytes()


def unfloats(blob: bytes) -> Floats:
    """The numbers again, writable."""
    return np.frombuffer(blob, dtype="<f8").astype(np.float64)


# ------------------------------------------------------------------------------------------ examples


def example_row(example: Example) -> tuple[str, str]:
    """(content key, body)."""
    marks = [astuple(m) for m in example.rationale]
    return example.content, dump([example.id, list(example.fields.items()), example.gold, marks])


def to_example(body: str) -> Example:
    """The example again."""
    name, fields, gold, marks = json.loads(body)
    return Example(name, dict(fields), gold, tuple(Mark(*m) for m in marks))


def input_row(x: Input) -> tuple[str, str, str, str, bytes, str]:
    """(key, example content, unit, places, free, cut): shared by all methods on one example."""
    places = dump([astuple(p) for p in x.places])
    free = np.asarray(x.free, dtype=np.uint8).tobytes()
    content = x.example.content
    return content_key("input", content, x.unit, places, free.hex(), x.cut), content, x.unit, places, free, text(x.cut)


def to_input(body: str, unit: str, places: str, free: bytes, cut: str) -> Input:
    """The input again."""
    where = tuple(Place(*p) for p in json.loads(places))
    return Input(to_example(body), unit, where, np.frombuffer(free, dtype=np.uint8).astype(bool), untext(cut))


# ------------------------------------------------------------------------------- explanations, records


def explanation_row(key: str, filed: str, e: Explanation, input_key: str) -> tuple[Any, ...]:
    """One row of ``explanations``."""
    names = (text(filed or e.model), text(e.model), text(e.example.id), text(e.method))
    shown = (dump(e.target.key), floats(e.values), dump(e.labels), floats(e.probabilities))
    return (key, *names, input_key, *shown, dump(e.notes), dump(astuple(e.cost)))


def to_explanation(row: Sequence[Any], x: Input) -> Explanation:
    """From (model, method, target, scores, labels, probabilities, notes, cost)."""
    model, method, target, scores, labels, probabilities, notes, cost = row
    index, against = (None if t is None else tuple(t) for t in json.loads(target))
    return Explanation(
        x,
        untext(model),
        untext(method),
        Target(index, against),
        unfloats(scores),
        tuple(json.loads(labels)),
        tuple(unfloats(probabilities).tolist()),
        json.loads(notes),
        Cost(*json.loads(cost)),
    )


def record_row(key: str, filed: str, r: Record) -> tuple[Any, ...]:
    """One row of ``records``."""
    names = tuple(text(t) for t in (filed, r.example, r.method, r.other, r.test, r.replicate))
    numbers = None if r.values is None else dump({k: float(v) for k, v in r.values.items()})
    detail = None if r.detail is None else dump(r.detail)
    return (key, *names, numbers, text(r.reason), detail, dump(astuple(r.cost)))


def to_record(row: Sequence[Any]) -> Record:
    """From (example, method, other, test, replicate, numbers, reason, detail, cost)."""
    example, method, other, test, replicate = (untext(t) for t in row[:5])
    numbers, reason, detail, cost = row[5:]
    return Record(
        test,
        example,
        method,
        other,
        replicate,
        None if numbers is None else json.loads(numbers),
        untext(reason),
        None if detail is None else json.loads(detail),
        Cost(*json.loads(cost)),
    )


# -------------------------------------------------------------------------------------------- sameness

CLOSE = 1e-4
"""Batches of another shape change the last digits of float32: that much is still the same result."""


def same_numbers(a: Floats, b: Floats) -> bool:
    """Equal up to rounding, relative to the largest finite number; NaN equals NaN."""
    if a.shape != b.shape:
        return False
    size = max((float(np.abs(v[np.isfinite(v)]).max(initial=0.0)) for v in (a, b)), default=0.0)
    return bool(np.allclose(a, b, rtol=0.0, atol=CLOSE * size + 1e-9, equal_nan=True))


def same_explanation(a: Explanation, b: Explanation) -> bool:
    """Same features, target and scores; what things are called and what they cost may differ."""
    agree = (a.x.places, a.target) == (b.x.places, b.target)
    return agree and np.array_equal(a.x.free, b.x.free) and same_numbers(a.values, b.values)


def same_record(a: Record, b: Record) -> bool:
    """Same numbers; what things are called and what they cost may differ, and a failure contradicts nothing."""
    if a.values is None or b.values is None:
        return True
    if a.values.keys() != b.values.keys():
        return False
    names = list(a.values)
    return same_numbers(np.array([a.values[n] for n in names]), np.array([b.values[n] for n in names]))
