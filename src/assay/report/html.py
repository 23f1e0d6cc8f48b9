"""Knows how to write the report as ONE page: no network, opens from a file, text can never become code."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from assay.grid import grid_of, home_advantage
from assay.report import browser, grid, inputs, provenance, tables
from assay.report.answer import answer, ranked
from assay.report.curves import mean_curves, picture
from assay.report.figures import DIRECTIONS, LEVELS, count, facts, interval, number
from assay.report.page import Page
from assay.report.words import top_words
from assay.summary import Summary
from assay.verdict import Verdict

PAGE = Page(
    "report.html.j2",
    ("report.css", "charts.css", "views.css"),
    ("page.js", "tables.js", "heatmap.js", "views.js", "curves.js", "examples.js"),
    "".join(f".p{i},.n{i}{{--s:{i / 10}}}" for i in range(11)),
)
"""The steps are those of agreement, in tenths."""


def render(summary: Summary, verdicts: Sequence[Verdict], *, text: bool = True) -> str:
    """The whole report as one self-contained page; ``text=False`` leaves every text and word of the data out."""
    data = browser.embed(summary, text=text)
    found = grid_of(summary)
    return PAGE.render(
        summary=summary,
        ranked=ranked(verdicts),
        answer=answer(verdicts),
        main=[t for t in (tables.scores(summary), tables.plausibility(summary)) if t.rows],
        curves=[(m.test, {name: Markup(picture(m, name)) for name in m.of}) for m in mean_curves(summary)],
        inputs=inputs.tables(summary),
        warnings=inputs.warnings(summary),
        grids=grid.tables(found),
        home=grid.sentences(found, home_advantage(found)),
        home_note=grid.NOTE,
        values=tables.values(summary),
        agreement=tables.agreement(summary),
        gaps=tables.gaps(summary),
        costs=tables.costs(summary),
        words=top_words(summary) if text and summary.examples else None,
        data=data,
        with_text=text,
        json=Markup(data.text),
        labels=sorted({x for e in summary.examples for x in (e.gold, e.predicted) if x}),
        provenance=provenance,
        facts=facts,
        levels=LEVELS,
        directions=DIRECTIONS,
        number=number,
        interval=interval,
        count=count,
    )
