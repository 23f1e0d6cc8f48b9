"""Knows the mean curve of every method on every test that draws one: small pictures in one frame, with a band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from assay import stats
from assay.report.figures import facts, number
from assay.report.svg_axes import Scale, tick_text
from assay.report.svg_write import joined, short, tag, text, write
from assay.summary import Curve, Summary
from assay.types import Estimate

PLACES = 11
"""Where texts of different length meet: every tenth of the words."""
WIDE, HIGH, LEFT, BELOW = 220.0, 116.0, 26.0, 16.0


@dataclass(frozen=True, slots=True)
class Means:
    """The mean curves of one test, by method; ``x`` is shared."""

    test: str
    x: tuple[float, ...]
    of: Mapping[str, tuple[Estimate, ...]]


def mean_curves(summary: Summary) -> tuple[Means, ...]:
    """One per test whose examples have curves."""
    return tuple(m for t in summary.tests if (m := _means(summary, t)).of)


def _means(summary: Summary, test: str) -> Means:
    found = {m: curves for m in summary.methods if (curves := _of(summary, test, m))}
    at = places([c for curves in found.values() for c in curves])
    bounds = facts(summary, "tests", test).get("bounds")
    return Means(test, at, {m: _mean(curves, at, bounds) for m, curves in found.items()})


def _of(summary: Summary, test: str, method: str) -> list[Curve]:
    curves = (e.curves.get(test, {}).get(method) for e in summary.examples)
    return [c for c in curves if c is not None and len(c.x) > 1 and all(map(isfinite, (*c.x, *c.y)))]


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


def _mean(curves: Sequence[Curve], at: Sequence[float], bounds: Sequence[float] | None) -> tuple[Estimate, ...]:
    """Every curve is read off at the same places, straight between its points; no band leaves what is possible."""
    read = np.array([np.interp(at, c.x, c.y) for c in curves])
    return tuple(_within(stats.mean(column), column, bounds) for column in read.T)


def _within(e: Estimate, values: np.ndarray, bounds: Sequence[float] | None) -> Estimate:
    """The interval cut at the test's bounds, where the values themselves keep to them (log-odds need not)."""
    if not bounds or e.low is None or e.high is None or values.min() < bounds[0] or values.max() > bounds[1]:
        return e
    return Estimate(e.value, max(e.low, bounds[0]), min(e.high, bounds[1]), e.level, e.n, e.skipped, e.how)


# ----------------------------------------------------------------------------------------------- drawing


def picture(means: Means, method: str) -> str:
    """The method's mean with its band, those of the other methods faint behind it, as SVG."""
    if method not in means.of:
        return ""
    x = Scale(means.x[0], means.x[-1], LEFT, WIDE - 4)
    y = _height(means)
    ghosts = [_line(means.x, e, x, y, "ghost") for m, e in means.of.items() if m != method]
    own = means.of[method]
    drawn = [*_frame(x, y), *ghosts, _band(means.x, own, x, y), _line(means.x, own, x, y, "own")]
    look = {"viewBox": f"0 0 {short(WIDE)} {short(HIGH)}", "class_": "small mean", "role": "img"}
    return tag("svg", *drawn, *_dots(means.x, own, x, y), **look, aria_label=_said(means, method))


def _height(means: Means) -> Scale:
    """From zero to one where that holds everything, else as far as the bands go."""
    ends = [v for of in means.of.values() for e in of for v in (e.low, e.value, e.high) if v is not None]
    low, high = min(0.0, *ends), max(0.0, *ends)
    return Scale(low, 1.0 if 0 < high <= 1 else max(high, low + 1e-9), HIGH - BELOW, 6.0)


def _frame(x: Scale, y: Scale) -> list[str]:
    levels = [y.high, 0.0, *([y.low] if y(y.low) - y(0.0) > 9 else [])]
    rules = [
        tag("path", d=f"M{short(LEFT)} {short(y(v))}H{short(WIDE - 4)}", class_="rule" if v else "rule zero")
        for v in levels
    ]
    named = [write(tick_text(float(f"{v:.2g}"), 0.1 if v % 1 else 1.0), LEFT - 4, y(v) + 3, "end") for v in levels]
    ends = [write(f"{100 * v:.0f} %", x(v), HIGH - 4, a) for v, a in ((x.low, "start"), (x.high, "end"))]
    return [*rules, *named, *ends]


def _line(at: Sequence[float], of: Sequence[Estimate], x: Scale, y: Scale, look: str) -> str:
    return tag("path", d=joined([(x(a), y(e.value)) for a, e in zip(at, of, strict=True)]), class_=look)


def _band(at: Sequence[float], of: Sequence[Estimate], x: Scale, y: Scale) -> str:
    if any(e.low is None or e.high is None for e in of):
        return ""
    low = [(x(a), y(e.low or 0.0)) for a, e in zip(at, of, strict=True)]
    high = [(x(a), y(e.high or 0.0)) for a, e in zip(at, of, strict=True)]
    return tag("path", d=joined(low + high[::-1]) + "Z", class_="band")


def _dots(at: Sequence[float], of: Sequence[Estimate], x: Scale, y: Scale) -> list[str]:
    """A place to point at: the number with its interval."""
    return [
        tag(
            "circle",
            tag("title", text(f"{e} at {100 * a:.0f} % of the words")),
            cx=x(a),
            cy=y(e.value),
            r=2.4,
            class_="dot",
        )
        for a, e in zip(at, of, strict=True)
    ]


def _said(means: Means, method: str) -> str:
    own = means.of[method]
    first, last = own[0], own[-1]
    start, end = (f"{number(e.value)} at {100 * at:.0f} %" for e, at in ((first, means.x[0]), (last, means.x[-1])))
    return f"{means.test} by {method}: mean over {first.n} examples from {start} of the words to {end}"
