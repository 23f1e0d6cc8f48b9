"""Knows how to write experiments as ONE page: claims first, our numbers with the paper's, figures; no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from markupsafe import Markup

from assay import heat
from assay.exhibit import Entry, Exhibit, Figure, Heatmap, Table
from assay.report import exhibit_text as text
from assay.report.exhibit_index import Facet, claims, facets, label
from assay.report.figures import count, significant
from assay.report.packing import safe_json
from assay.report.page import Page
from assay.report.provenance import plain
from assay.report.svg import draw
from assay.types import BadInput, Estimate

SHADES = 20
"""Steps of a heatmap's colour: the page allows no style of its own on a word."""
PAGE = Page(
    "exhibit.html.j2",
    ("report.css", "charts.css", "exhibit.css"),
    ("page.js", "tables.js", "exhibit.js"),
    "".join(f".q{i}{{--s:{i / SHADES}}}" for i in range(SHADES + 1)),
)


@dataclass(frozen=True, slots=True)
class View:
    """One exhibit, ready for the page."""

    uid: str
    exhibit: Exhibit
    label: str
    values: tuple[str, ...]
    """What tells it from the others, one per facet."""
    charts: tuple[tuple[str, Figure, Markup], ...]


def render(exhibits: Sequence[Exhibit], *, command: str = "") -> str:
    """One self-contained page; several exhibits get an index that opens each. ``command`` is what made them."""
    if not exhibits:
        raise BadInput("exhibits: none were given, so there is nothing to show; run an experiment first")
    found = facets(exhibits)
    views = [_view(i, e, found) for i, e in enumerate(exhibits)]
    data = {uid: _data(figure) for v in views for uid, figure, _ in v.charts}
    return PAGE.render(
        views=views,
        one=len(views) == 1,
        facets=found,
        claims=claims([(v.label, v.exhibit) for v in views]),
        command=command,
        json=Markup(safe_json(data)),
        holds=text.HOLDS,
        text=text,
        plain=plain,
        numeric=numeric,
        attributes=attributes,
        hint=hint,
        words=words,
    )


def _view(i: int, exhibit: Exhibit, found: Sequence[Facet]) -> View:
    uid = f"e{i + 1}"
    values = tuple(f.values[i] for f in found)
    named = [(f"{uid}-f{j + 1}", f) for j, f in enumerate(exhibit.figures)]
    charts = tuple((name, f, Markup(draw(f, name))) for name, f in named)
    return View(uid, exhibit, label(exhibit, values), values, charts)


def _data(figure: Figure) -> dict[str, Any]:
    """What the CSV of a figure holds."""
    rows = [
        (s.name, {k: [_number(v) for v in getattr(s, k)] for k in ("x", "y", "low", "high")}) for s in figure.series
    ]
    return {"x": figure.x, "y": figure.y, "series": [{"name": name, **values} for name, values in rows]}


def _number(value: float) -> float | None:
    return significant(float(value), 7) if isfinite(value) else None


# -------------------------------------------------------------------------------------------------- entries


def numeric(table: Table, column: int) -> bool:
    """Whether a column holds numbers, and at least one."""
    ours = [row[column].ours for _, row in table.rows if column < len(row)]
    return any(not isinstance(v, str | None) for v in ours) and not any(isinstance(v, str) and v for v in ours)


def attributes(entry: Entry) -> dict[str, str | float]:
    """What sorting and CSV use instead of the shown text."""
    ours = entry.ours
    out: dict[str, str | float] = {"data-paper": entry.published} if entry.published else {}
    value = ours.value if isinstance(ours, Estimate) else ours
    if isinstance(value, int | float) and isfinite(value):
        out["data-value"] = value
    if isinstance(ours, Estimate) and ours.low is not None and ours.high is not None:
        out |= {"data-low": ours.low, "data-high": ours.high}
    return out


def hint(entry: Entry) -> str:
    """How many examples stand behind a number and how its interval was made."""
    if not isinstance(entry.ours, Estimate):
        return ""
    level = f"{100 * entry.ours.level:g} % interval" if entry.ours.low is not None else ""
    return " · ".join(filter(None, [count(entry.ours), level, entry.ours.how]))


def words(heatmap: Heatmap, scores: Sequence[float]) -> list[tuple[str, str, str]]:
    """(word, class, score as text) of one map; each map is shaded against its own largest score."""
    top = heat.largest(scores)
    return [(w, *_shaded(s, top)) for w, s in zip(heatmap.words, scores, strict=True)]


def _shaded(score: float, top: float) -> tuple[str, str]:
    if not isfinite(score):
        return "w none", "no score"
    step = round(SHADES * heat.shade(score, top))
    side = "supports" if score > 0 else "opposes"
    return (f"w {side} q{step}" if step else "w"), f"{score:+.3g}".replace("-", "−")
