"""Knows how to draw a figure as one SVG that stands alone in a file and takes a page's colours when set into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from assay.exhibit import Figure, Series
from assay.report import svg_marks as marks
from assay.report.exhibit_text import name, spoken
from assay.report.svg_axes import Axis, Scale, numeric, ordinal
from assay.report.svg_write import INK, fit, group, marker, path, short, tag, text, width_of, write
from assay.types import BadInput

WIDTH, RIGHT, PLOT = 480.0, 466.0, 230.0
"""Width of the paper, where a plot ends, how high it is."""
ROW, LINE = 26.0, 19.0
"""Height of a lying bar with its gap, and of a line of the legend."""
PLAIN: Mapping[str, Callable[[Sequence[Series], Axis, Axis], Iterator[str]]] = {
    "line": marks.line,
    "points": marks.points,
    "histogram": marks.histogram,
}
"""Kinds whose x axis is numbers; bars and violins stand at groups."""
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure with its axes: what is left to do is draw."""

    figure: Figure
    x: Axis
    y: Axis
    named: bool = True
    """Whether a legend must name the series."""


def draw(figure: Figure, uid: str = "figure") -> str:
    """The figure as SVG; ``uid`` keeps the names of title and description apart on a page with several."""
    check(figure)
    plot = _plot(figure)
    legend, taken = _legend(figure) if plot.named else ("", 0.0)
    height = taken + _bottom(plot) + 44
    body = tag("g", *_frame(plot), *_marks(plot), transform=f"translate(0 {short(taken)})")
    return tag(
        "svg",
        tag("title", text(name(figure.id, figure.title)), id=f"{uid}-title"),
        tag("desc", text(spoken(figure)), id=f"{uid}-desc"),
        tag("rect", width=WIDTH, height=height, fill="#ffffff", class_="ground"),
        legend,
        body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {short(WIDTH)} {short(height)}",
        width=WIDTH,
        height=height,
        role="img",
        aria_labelledby=f"{uid}-title {uid}-desc",
        class_="chart",
        color=INK,
        fill="currentColor",
        font_family=FONT,
        font_size=12.5,
    )


def check(figure: Figure) -> None:
    """Refuse series whose numbers do not belong together."""
    for s in figure.series:
        sizes = {len(s.x), len(s.y), *(len(b) for b in (s.low, s.high) if b)}
        if len(sizes) > 1:
            place = f"figure {figure.title!r}, series {s.name!r}"
            raise BadInput(f"{place}: x, y, low and high have lengths {sorted(sizes)}; give as many of each")


# -------------------------------------------------------------------------------------------------- axes


def _values(series: Sequence[Series]) -> list[float]:
    return [v for s in series for v in (*s.y, *s.low, *s.high)]


def groups_of(figure: Figure) -> list[float]:
    """The places on the x axis at which bars or violins stand."""
    return sorted({v for s in figure.series for v in s.x if isfinite(v)})


def lying(figure: Figure) -> bool:
    """Bars that each have a name of their own lie, so that the name has room."""
    return figure.kind == "bars" and len(figure.series) > 1 and all(len(s.x) == 1 for s in figure.series)


def _plot(figure: Figure) -> Plot:
    if lying(figure):
        return _lying(figure)
    top, bottom = 30.0, 30.0 + PLOT
    y = numeric(_values(figure.series), bottom, top, figure.y, zero=figure.kind in ("bars", "histogram"))
    left = 18 + max((width_of(t) for _, t in y.ticks), default=0)
    if figure.kind in ("bars", "violin"):
        x = ordinal([f"{g:g}".replace("-", "−") for g in groups_of(figure)], left, RIGHT, figure.x)
    else:
        half = marks.bin_width(figure.series) / 2 if figure.kind == "histogram" else 0.0
        x = numeric([v + d for s in figure.series for v in s.x for d in (-half, half)], left, RIGHT, figure.x)
    return Plot(figure, x, y, len(figure.series) > 1)


def _lying(figure: Figure) -> Plot:
    n = len(figure.series)
    left = 14 + min(150.0, max(width_of(s.name) for s in figure.series))
    names = tuple((float(i), fit(s.name, 150)) for i, s in enumerate(figure.series))
    y = Axis(Scale(-0.5, n - 0.5, 30, 30 + ROW * n), names, figure.x)
    return Plot(figure, numeric(_values(figure.series), left, RIGHT, figure.y, zero=True), y, False)


def _bottom(plot: Plot) -> float:
    return max(plot.y.scale.start, plot.y.scale.end)


# -------------------------------------------------------------------------------------------------- drawing


def _frame(plot: Plot) -> list[str]:
    """Light lines at the ticks, a firm one at zero, the names of the axes."""
    x, y = plot.x.scale, plot.y.scale
    top, bottom = sorted((y.start, y.end))
    out = [write(fit(plot.y.label, WIDTH - 10), 4, 16, class_="axis")]
    out.append(write(fit(plot.x.label, RIGHT - x.start), (x.start + RIGHT) / 2, bottom + 38, "middle", class_="axis"))
    for v, t in plot.y.ticks:
        out.append(write(t, x.start - 7, y(v) + 4.2, "end", class_="tick"))
        out += [] if lying(plot.figure) else [_rule(f"M{short(x.start)} {short(y(v))}H{short(RIGHT)}", v == 0)]
    for v, t in plot.x.ticks:
        out.append(write(t, x(v), bottom + 18, "middle", class_="tick"))
        if plot.figure.kind not in ("bars", "violin") or lying(plot.figure):
            out.append(_rule(f"M{short(x(v))} {short(top)}V{short(bottom)}", v == 0))
    return [*out, _rule(f"M{short(x.start)} {short(bottom)}H{short(RIGHT)}", not lying(plot.figure))]


def _rule(d: str, firm: bool) -> str:
    return tag("path", d=d, fill="none", stroke="currentColor", stroke_opacity=0.55 if firm else 0.14)


def _marks(plot: Plot) -> list[str]:
    figure, x, y = plot.figure, plot.x, plot.y
    if not any(isfinite(v) for s in figure.series for v in s.y):
        return [
            write("no data", (x.scale.start + RIGHT) / 2, (y.scale.start + y.scale.end) / 2, "middle", class_="axis")
        ]
    if lying(figure):
        return list(marks.ranked(figure.series, x, y))
    if figure.kind in ("bars", "violin"):
        drawn = marks.bars if figure.kind == "bars" else marks.violins
        return list(drawn(figure.series, x, y, groups_of(figure)))
    return list(PLAIN[figure.kind](figure.series, x, y))


def _legend(figure: Figure) -> tuple[str, float]:
    """Names beside the look they belong to, in as many lines as they need; and the height of it all."""
    items, x, y = [], 4.0, 15.0
    wide = 28.0 if figure.kind == "line" else 13.0
    for k, s in enumerate(figure.series):
        shown = fit(s.name, 380)
        need = wide + 6 + width_of(shown) + 18
        if x > 4 and x + need - 18 > WIDTH:
            x, y = 4.0, y + LINE
        words = write(shown, x + wide + 6, y)
        items.append(tag("g", tag("title", text(s.name)), _sample(figure.kind, k, x, y - 4.5, wide), words))
        x += need
    return tag("g", *items, class_="legend"), y + 7


def _sample(kind: str, k: int, x: float, y: float, wide: float) -> str:
    """How the series looks in the plot: line and mark, mark alone, or a box with its outline."""
    if kind == "line":
        return group(k, path(f"M{short(x)} {short(y)}h{short(wide)}", k), marker(k, x + wide / 2, y))
    if kind in ("points", "violin"):
        return group(k, marker(k, x + wide / 2, y, r=4.5))
    fill = marks.strength(k) if kind == "bars" else 0.16
    d = f"M{short(x)} {short(y - 5)}h{short(wide)}v10h{short(-wide)}Z"
    return group(k, path(d, k if kind == "histogram" else 0, fill="currentColor", fill_opacity=fill, stroke_width=1.6))
