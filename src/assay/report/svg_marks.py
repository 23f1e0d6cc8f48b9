"""Knows how each kind of figure puts its series on paper, once the axes are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from assay.exhibit import Series
from assay.report.figures import number
from assay.report.svg_axes import Axis
from assay.report.svg_write import group, joined, marker, path, short, tag, text

MANY = 300
"""Beyond so many points a series is drawn as one path of dots: small file, fast page."""
GRID = 64
"""Places at which a density is computed."""


def interval_at(s: Series, i: int) -> tuple[float, float] | None:
    """The finite interval around the i-th value, None where there is none."""
    if not s.low or not s.high or not (isfinite(s.low[i]) and isfinite(s.high[i])):
        return None
    return s.low[i], s.high[i]


def _said(s: Series, i: int, x: str = "") -> str:
    around = interval_at(s, i)
    told = f" [{number(around[0])}, {number(around[1])}]" if around else ""
    return f"{s.name}: {number(s.y[i])}{told}{f' at {x}' if x else ''}"


def _finite(s: Series) -> list[int]:
    """Places of the values that can be drawn."""
    return [i for i in range(len(s.y)) if isfinite(s.x[i]) and isfinite(s.y[i])]


def line(series: Sequence[Series], x: Axis, y: Axis) -> Iterator[str]:
    """Bands of intervals below, then lines that break where a value is missing, then about a dozen marks on each."""
    runs = [_runs(s) for s in series]
    for k, s in enumerate(series):
        yield group(k, *(_band(s, run, x, y) for run in runs[k]))
    for k, s in enumerate(series):
        paths = [path(joined([(x.scale(s.x[i]), y.scale(s.y[i])) for i in run]), k) for run in runs[k] if len(run) > 1]
        dots = _dots(k, s, x, y) if len(s.x) <= MANY else []
        yield group(k, *paths, *dots[:: max(1, round(len(dots) / 12))])


def _runs(s: Series) -> list[list[int]]:
    """Stretches of neighbouring finite values, in the order of x."""
    runs: list[list[int]] = [[]]
    for i in sorted((i for i in range(len(s.x)) if isfinite(s.x[i])), key=lambda i: s.x[i]):
        if isfinite(s.y[i]):
            runs[-1].append(i)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _band(s: Series, run: Sequence[int], x: Axis, y: Axis) -> str:
    around = [(x.scale(s.x[i]), b) for i in run if (b := interval_at(s, i))]
    if len(around) < 2:
        return ""
    low = [(at, y.scale(b[0])) for at, b in around]
    high = [(at, y.scale(b[1])) for at, b in reversed(around)]
    return tag("path", d=joined(low + high) + "Z", fill="currentColor", fill_opacity=0.16, class_="band")


def points(series: Sequence[Series], x: Axis, y: Axis) -> Iterator[str]:
    """One mark per point, with its interval as a whisker."""
    for k, s in enumerate(series):
        whiskers = [_whisker(x.scale(s.x[i]), y, b) for i in _finite(s) if (b := interval_at(s, i))]
        yield group(k, *whiskers, *_dots(k, s, x, y))


def _dots(k: int, s: Series, x: Axis, y: Axis) -> list[str]:
    at = _finite(s)
    if len(at) > MANY:
        d = "".join(f"M{short(x.scale(s.x[i]))} {short(y.scale(s.y[i]))}h0" for i in at)
        return [path(d, 0, stroke_width=4, stroke_linecap="round", stroke_opacity=0.5, class_="dots")]
    return [marker(k, x.scale(s.x[i]), y.scale(s.y[i]), _said(s, i, f"{s.x[i]:.4g}")) for i in at]


def _whisker(at: float, y: Axis, bounds: tuple[float, float], half: float = 4.0) -> str:
    low, high = (short(y.scale(b)) for b in bounds)
    ends = f"M{short(at - half)} {low}h{short(2 * half)}M{short(at - half)} {high}h{short(2 * half)}"
    return path(f"M{short(at)} {low}V{high}{ends}", 0, stroke_width=1.5, class_="whisker")


def histogram(series: Sequence[Series], x: Axis, y: Axis) -> Iterator[str]:
    """Outlines over a light fill, so that several can lie over each other."""
    for k, s in enumerate(series):
        if d := _steps(s, bin_width(series) / 2, x, y):
            yield group(k, path(d, k, fill="currentColor", fill_opacity=0.16, stroke_width=1.8))


def _steps(s: Series, half: float, x: Axis, y: Axis) -> str:
    """The outline of the bins; it comes down to zero wherever the next bin does not touch."""
    base, d, end = short(y.scale(0.0)), "", ""
    for i in sorted(_finite(s), key=lambda i: s.x[i]):
        left, right = (short(x.scale(s.x[i] + h)) for h in (-half, half))
        if left != end:
            d += (f"V{base}" if d else "") + f"M{left} {base}"
        d += f"V{short(y.scale(s.y[i]))}H{right}"
        end = right
    return f"{d}V{base}" if d else ""


def bin_width(series: Sequence[Series]) -> float:
    """The smallest distance between two bins of a histogram (1 when there is one bin)."""
    at = np.unique([v for s in series for v in s.x if isfinite(v)])
    return float(np.diff(at).min()) if at.size > 1 else 1.0


def bars(series: Sequence[Series], x: Axis, y: Axis, groups: Sequence[float]) -> Iterator[str]:
    """Bars of one group side by side, whiskers for intervals."""
    wide = 0.78 / max(len(series), 1)
    base = y.scale(0.0)
    for k, s in enumerate(series):
        made = []
        for i in _finite(s):
            left = groups.index(s.x[i]) - 0.39 + k * wide
            made.append(
                _bar(k, s, i, (x.scale(left + 0.06 * wide), x.scale(left + 0.94 * wide)), (base, y.scale(s.y[i])))
            )
            around = interval_at(s, i)
            made += [_ink(_whisker(x.scale(left + wide / 2), y, around))] if around else []
        yield group(k, *made)


def strength(k: int) -> float:
    """How full the bars of the i-th series are: neighbours differ without colour too."""
    return (0.85, 0.5, 0.68, 0.35)[k % 4]


def _ink(drawn: str) -> str:
    return tag("g", drawn, class_="ink", color="#1c1e21")


def _bar(k: int, s: Series, i: int, across: tuple[float, float], along: tuple[float, float]) -> str:
    title = tag("title", text(_said(s, i)))
    (left, right), (top, bottom) = sorted(across), sorted(along)
    return tag("rect", title, x=left, y=top, width=right - left, height=max(bottom - top, 0.5), fill="currentColor",
               fill_opacity=strength(k), class_="mark")  # fmt: skip


def ranked(series: Sequence[Series], value: Axis, name: Axis) -> Iterator[str]:
    """One lying bar per series, named on the left."""
    for k, s in enumerate(series):
        for i in _finite(s):
            middle = name.scale(float(k))
            bar = _bar(0, s, i, (value.scale(0.0), value.scale(s.y[i])), (middle - 8, middle + 8))
            around = interval_at(s, i)
            ends = [value.scale(b) for b in around] if around else []
            d = f"M{short(ends[0])} {short(middle)}H{short(ends[1])}" if ends else ""
            caps = "".join(f"M{short(e)} {short(middle - 4)}v8" for e in ends)
            yield group(0, bar, *([_ink(path(d + caps, 0, stroke_width=1.5, class_="whisker"))] if ends else []))


def violins(series: Sequence[Series], x: Axis, y: Axis, groups: Sequence[float]) -> Iterator[str]:
    """The density of each group's values, cut at their range, with quartiles and a mark at the median."""
    wide = 0.84 / max(len(series), 1)
    for k, s in enumerate(series):
        made = []
        for g, at in enumerate(groups):
            values = np.array([s.y[i] for i in _finite(s) if s.x[i] == at])
            middle = x.scale(g - 0.42 + (k + 0.5) * wide)
            half = abs(x.scale(0.46 * wide) - x.scale(0.0))
            made += [_violin(k, s.name, f"{at:g}", values, (middle, half), y)] if values.size else []
        yield group(k, *made)


def _violin(k: int, name: str, at: str, values: NDArray[np.float64], place: tuple[float, float], y: Axis) -> str:
    middle, half = place
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    parts = [_shape(values, middle, half, y)]
    parts.append(path(f"M{short(middle)} {short(y.scale(low))}V{short(y.scale(high))}", 0, stroke_width=2.5))
    said = f"{name} at {at}: median {number(median)}, quartiles {number(low)} and {number(high)}, n = {values.size}"
    parts.append(marker(k, middle, y.scale(median), said, 4.2))
    return tag("g", *parts)


def _shape(values: NDArray[np.float64], middle: float, half: float, y: Axis) -> str:
    where, height = density(values)
    if where.size == 0:
        return "".join(marker(0, middle, y.scale(v), number(v), 2.0) for v in values)
    right = [(middle + half * h, y.scale(v)) for v, h in zip(where, height, strict=True)]
    left = [(2 * middle - across, at) for across, at in reversed(right)]
    return path(joined(right + left) + "Z", 0, fill="currentColor", fill_opacity=0.18, stroke_width=1.2)


def density(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gaussian kernel density over the range of the values, highest = 1; nothing for fewer than 5 or no spread.

    Bandwidth by Silverman's rule (1986): 0.9 min(s, IQR / 1.34) n^(-1/5); where the IQR is 0, s alone.

    >>> where, height = density(np.arange(9.0))
    >>> float(where[0]), float(where[-1]), float(height.max())
    (0.0, 8.0, 1.0)
    """
    spread = float(values.std(ddof=1)) if values.size >= 5 else 0.0
    if spread <= 0:
        return np.empty(0), np.empty(0)
    quarter, rest = np.quantile(values, [0.25, 0.75])
    narrow = min(spread, float(rest - quarter) / 1.34) or spread
    where = np.linspace(values.min(), values.max(), GRID)
    apart = (where[:, None] - values[None, :]) / (0.9 * narrow * values.size**-0.2)
    height = np.exp(-0.5 * apart**2).sum(axis=1)
    return where, height / height.max()
