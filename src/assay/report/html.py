"""Knows how to write the report as ONE page: no network, opens from a file, text can never become code."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Sequence
from importlib import resources

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from assay import heat
from assay.grid import grid_of, home_advantage
from assay.report import browser, grid, provenance, tables
from assay.report.answer import answer, ranked
from assay.report.figures import DIRECTIONS, LEVELS, count, facts, interval, number
from assay.report.words import top_words
from assay.summary import Summary
from assay.verdict import Verdict

SCRIPTS = ("page.js", "tables.js", "heatmap.js", "examples.js")
"""One scope, in this order: a later file may call an earlier one."""


def render(summary: Summary, verdicts: Sequence[Verdict], *, text: bool = True) -> str:
    """The whole report as one self-contained page; ``text=False`` leaves every text and word of the data out."""
    style, script = _style(), _script()
    data = browser.embed(summary, text=text)
    found = grid_of(summary)
    page = _template().render(
        summary=summary,
        ranked=ranked(verdicts),
        answer=answer(verdicts),
        main=[t for t in (tables.scores(summary), tables.plausibility(summary)) if t.rows],
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
        style=Markup(style),
        script=Markup(script),
        policy=policy(style, script),
        provenance=provenance,
        facts=facts,
        levels=LEVELS,
        directions=DIRECTIONS,
        number=number,
        interval=interval,
        count=count,
    )
    return page.encode("utf-8", "replace").decode("utf-8")


def policy(style: str, script: str) -> str:
    """Content security policy: nothing is loaded, and only this very style and script may act."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _read(name: str) -> str:
    return (resources.files("assay.report") / name).read_text(encoding="utf-8").replace("\r\n", "\n")


@functools.cache
def _style() -> str:
    """The style sheet, with the two colours of every heatmap in Assay and the ten steps of agreement."""
    hot, cold = (" ".join(map(str, c)) for c in (heat.SUPPORTS, heat.OPPOSES))
    steps = "".join(f".p{i},.n{i}{{--s:{i / 10}}}" for i in range(11))
    return f":root{{--hot:{hot};--cold:{cold}}}\n{_read('report.css')}{steps}\n"


@functools.cache
def _script() -> str:
    return '(() => {\n"use strict";\n' + "\n".join(map(_read, SCRIPTS)) + "})();\n"


@functools.cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_read("report.html.j2"))
