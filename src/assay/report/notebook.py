"""Knows how verdicts and scores look inside a notebook: one escaped fragment with no script and no style sheet."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from assay.report import provenance, tables
from assay.report.answer import answer
from assay.report.figures import LEVELS
from assay.report.tables import Entry
from assay.summary import Summary
from assay.verdict import Verdict

_QUIET = Markup('<div style="opacity:.7;font-size:.85em">{}</div>')
_VERDICT = Markup("<tr><td>{} <b>{}</b></td><td><code>{}</code></td><td style='text-align:left'>{}</td></tr>")
_HEAD = Markup('<th style="text-align:right">{} {}</th>')
_CELL = Markup('<td style="text-align:right" title="{}">{} {}{}</td>')
_ROW = Markup("<tr><td><code>{}</code></td>{}</tr>")


def fragment(summary: Summary, verdicts: Sequence[Verdict]) -> str:
    """Verdicts and the table of scores as HTML for ``_repr_html_``."""
    judged = Markup("").join(_VERDICT.format(LEVELS.get(v.level, ""), v.level, v.method, v.headline) for v in verdicts)
    grid = tables.scores(summary)
    heads = Markup("").join(_HEAD.format(c.name, c.arrow) for c in grid.columns[1:])
    rows = Markup("").join(_ROW.format(row[0].text, Markup("").join(map(_cell, row[1:]))) for row in grid.rows)
    page = Markup("<div><b>{}</b><p>{}</p><table>{}</table><table><tr><th></th>{}</tr>{}</table>{}</div>")
    return str(page.format(provenance.title(summary), answer(verdicts), judged, heads, rows, _QUIET.format(grid.note)))


def _cell(entry: Entry) -> Markup:
    under = Markup("").join(map(_QUIET.format, entry.under.splitlines()))
    return _CELL.format(entry.hint, entry.text, entry.mark, under)
