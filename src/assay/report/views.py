"""Knows the views of one example beyond its maps (removals, fills, people's marks, curves) and how they travel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from assay.measures.highlights import DEFAULT_TAU, at_thresholds, shown
from assay.report.packing import pack_scores, reading_order
from assay.summary import Curve, ExampleView, Said

POINTS = 26
"""A curve of one example is thinned to so many points."""


def pack_views(e: ExampleView, methods: Sequence[str]) -> dict[str, Any]:
    """What the browser shows of one example below its maps; a view that nothing feeds is not there."""
    made = {
        "removals": _removals(e, methods),
        "fills": _fills(e, methods),
        "people": _people(e, methods),
        "curves": [_curves(t, of, methods) for t, of in e.curves.items()],
    }
    return {name: view for name, view in made.items() if view}


# ---------------------------------------------------------------------------------------- removals, fills


def _removals(e: ExampleView, methods: Sequence[str]) -> dict[str, Any] | None:
    """{labels, whole: [label, confidence], of: [labels, confidences] per method}; confidences in ten-thousandths."""
    if not e.removals or e.whole is None:
        return None
    labels = list(dict.fromkeys(s.label for s in (e.whole, *(s for of in e.removals.values() for s in of))))

    def packed(said: Sequence[Said]) -> list[list[int]]:
        return [[labels.index(s.label) for s in said], [round(1e4 * s.confidence) for s in said]]

    order = reading_order(e)
    whole = [labels.index(e.whole.label), round(1e4 * e.whole.confidence)]
    of = [packed([e.removals[m][i] for i in order]) if m in e.removals else None for m in methods]
    return {"labels": labels, "whole": whole, "of": of}


def _fills(e: ExampleView, methods: Sequence[str]) -> list[Any] | None:
    """Per method and word [fill, probability in ten-thousandths, fill, ...]."""
    if not e.fills:
        return None

    def packed(fills: Sequence[tuple[str, float]]) -> list[str | int]:
        return [part for word, p in fills for part in (word, round(1e4 * p))]

    order = reading_order(e)
    return [[packed(e.fills[m][i]) for i in order] if m in e.fills else None for m in methods]


# ------------------------------------------------------------------------------------------------ people


def _people(e: ExampleView, methods: Sequence[str]) -> dict[str, Any] | None:
    """{why, of: [iou, precision, recall, [words shown]] per method}; numbers are null where nothing was compared."""
    if not any(e.evidence):
        return None
    of = [_shown(e, m) if m in e.scores and all(map(isfinite, e.scores[m])) else None for m in methods]
    return {"tau": DEFAULT_TAU, "why": not_compared(e), "of": of}


def _shown(e: ExampleView, method: str) -> list[Any]:
    scores = np.array([e.scores[method][i] for i in reading_order(e)])
    numbers = [None if v is None else round(v, 3) for v in compared(e, method)]
    return [*numbers, np.flatnonzero(shown(scores, [DEFAULT_TAU])[0]).tolist()]


def not_compared(e: ExampleView) -> str:
    """Why the maps of an example are not compared with people's marks ('' where they are)."""
    if e.uncompared or e.highlights:
        return e.uncompared
    right = not e.gold or e.gold == e.target
    return "" if right else "the explained class is not the right answer, for which people marked words"


def compared(e: ExampleView, method: str) -> tuple[float | None, float | None, float | None]:
    """IoU, precision and recall of a map against people's marks: as a test recorded them, else by the same rule."""
    if method in e.highlights:
        told = e.highlights[method]
        return told["iou"], told["precision"], told["recall"]
    if not_compared(e) or e.highlights:
        return None, None, None
    at = at_thresholds(np.array(e.scores[method]), np.array(e.evidence), [DEFAULT_TAU])
    return float(at["iou"][0]), float(at["precision"][0]), float(at["recall"][0])


# ------------------------------------------------------------------------------------------------ curves


def _curves(test: str, of: Mapping[str, Curve], methods: Sequence[str]) -> list[Any]:
    """[test, x in thousandths, y per method]; every method of one test went through the same x."""
    first: Curve = next(iter(of.values()))
    at = thinned(len(first.x))
    x = [round(1e3 * first.x[i]) for i in at]
    same = {m: c for m, c in of.items() if c.x == first.x}
    return [test, x, [pack_scores([same[m].y[i] for i in at], 3) if m in same else None for m in methods]]


def thinned(n: int, most: int = POINTS) -> list[int]:
    """Places of at most ``most`` of n points, the first and the last among them.

    >>> thinned(3), thinned(101, 5)
    ([0, 1, 2], [0, 25, 50, 75, 100])
    """
    return list(range(n)) if n <= most else np.unique(np.linspace(0, n - 1, most).round().astype(int)).tolist()
