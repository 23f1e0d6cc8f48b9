"""Knows the mean curve of every method on every test that draws one, with its interval, as figures."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from assay import stats
from assay.exhibit import Figure, Series
from assay.report.figures import DIRECTIONS, facts
from assay.summary import Curve, Summary

PLACES = 11
"""Where texts of different length meet: every tenth of the words."""


def mean_curves(summary: Summary) -> tuple[Figure, ...]:
    """One figure per test whose examples have curves."""
    return tuple(f for t in summary.tests if (f := _figure(summary, t)).series)


def _figure(summary: Summary, test: str) -> Figure:
    found = {m: _of(summary, test, m) for m in summary.methods}
    at = places([c for curves in found.values() for c in curves])
    series = tuple(_mean(m, curves, at) for m, curves in found.items() if curves)
    declared = facts(summary, "tests", test)
    _, direction = DIRECTIONS[declared.get("better") or ""]
    note = " ".join(filter(None, [str(declared.get("claim") or ""), f"{direction.capitalize()}." if direction else ""]))
    return Figure("", test, "line", "share of the words, highest scores first", "mean over the examples", series, note)


def _of(summary: Summary, test: str, method: str) -> list[Curve]:
    curves = (e.curves.get(test, {}).get(method) for e in summary.examples)
    return [c for c in curves if c is not None and _drawable(c)]


def _drawable(curve: Curve) -> bool:
    return len(curve.x) > 1 and all(map(isfinite, (*curve.x, *curve.y)))


def places(curves: Sequence[Curve]) -> tuple[float, ...]:
    """Where the mean is taken: the points themselves where all curves share them, else tenths of what all cover.

    >>> places([Curve((0.1, 0.5), (1, 2)), Curve((0.1, 0.5), (3, 4))])
    (0.1, 0.5)
    >>> places([Curve((0.0, 1.0), (1, 2)), Curve((0.0, 0.5, 1.0), (3, 4, 5))])[:3]
    (0.0, 0.1, 0.2)
    """
    grids = {c.x for c in curves}
    if len(grids) <= 1:
        return next(iter(grids), ())
    low, high = max(min(x) for x in grids), min(max(x) for x in grids)
    return tuple(np.linspace(low, high, PLACES).round(9).tolist())


def _mean(method: str, curves: Sequence[Curve], at: Sequence[float]) -> Series:
    """Every curve is read off at the same places, straight between its points."""
    read = np.array([np.interp(at, c.x, c.y) for c in curves])
    made = [stats.mean(column) for column in read.T]
    low, high = (tuple(getattr(e, side) for e in made) for side in ("low", "high"))
    whole = None not in low
    name = f"{method} (n = {len(curves)})"
    return Series(name, tuple(at), tuple(e.value for e in made), low if whole else (), high if whole else ())
