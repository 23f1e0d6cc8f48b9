"""Knows how to write an exhibit as Markdown: findings, our numbers with the paper's beside them, the command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import isfinite
from statistics import median

from assay.exhibit import Entry, Exhibit, Figure, Heatmap, Series, Table
from assay.report import exhibit_text as text
from assay.report.figures import number
from assay.report.markdown import escape
from assay.report.provenance import plain
from assay.types import Finding

MOST = 24
"""A figure with more places on its x axis than this is told by its ranges, not as a table."""


def markdown(exhibit: Exhibit, command: str = "") -> str:
    """One exhibit for a pull request, a notebook or a paper's supplement; ``command`` is what made it."""
    parts = [_head(exhibit), *_section("Does it hold?", [_findings(exhibit.findings)])]
    parts += _section("Tables", map(_table, exhibit.tables))
    parts += _section("Figures", map(_figure, exhibit.figures))
    parts += _section("Examples", map(_heatmap, exhibit.heatmaps))
    parts += _section("Notes", [_list(map(escape, exhibit.notes))])
    return "\n\n".join([*parts, *_made(exhibit, command)]) + "\n"


def _section(title: str, parts: Iterable[str]) -> list[str]:
    body = [p for p in parts if p]
    return [f"## {title}", *body] if body else []


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _head(e: Exhibit) -> str:
    said = [f"# {escape(e.title)}", f"{escape(e.data)} · {text.tally(e.findings)}", escape(text.beside(e))]
    return "\n\n".join(filter(None, said))


def _findings(findings: Sequence[Finding]) -> str:
    return _list(map(_finding, findings))


def _finding(f: Finding) -> str:
    symbol, words = text.HOLDS[f.holds]
    subject = f"{escape(f.subject)}: " if f.subject else ""
    paper = f"; paper: {escape(f.published)}" if f.published else ""
    why = f" {escape(f.why)}" if f.why else ""
    return f"{symbol} **{words}**: {subject}{escape(f.claim)} (ours: {escape(text.ours(f))}{paper}){why}"


def _table(t: Table) -> str:
    return _titled(t.id, t.title, _grid(("", *t.columns), [(name, *map(_entry, row)) for name, row in t.rows]), t.note)


def _titled(id: str, title: str, body: str, note: str) -> str:
    return "\n\n".join(filter(None, [f"### {escape(text.name(id, title))}", body, escape(note)]))


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [[*map(escape, columns)], ["---", *["---:"] * (len(columns) - 1)], *([*map(escape, row)] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _entry(e: Entry) -> str:
    """'0.512 [0.487, 0.540] (paper: 0.51)': the paper's number is never bare."""
    paper = f"(paper: {e.published})" if e.published else ""
    left_out = f"({text.left_out(e.ours)})" if text.left_out(e.ours) else ""
    return " ".join(filter(None, [text.value(e.ours), text.around(e.ours), left_out, paper]))


def _figure(f: Figure) -> str:
    xs = sorted({x for s in f.series for x in s.x if isfinite(x)})
    if len(xs) > MOST:
        return _titled(f.id, f.title, _list(_range(f, s) for s in f.series), f.note)
    columns = (f.x, *(s.name for s in f.series))
    rows = [(f"{x:g}", *(_at(f, s, x) for s in f.series)) for x in xs]
    return _titled(f.id, f.title, f"{escape(f.y)}:\n\n{_grid(columns, rows)}", f.note)


def _at(f: Figure, s: Series, x: float) -> str:
    """What a series shows at x: its number with interval, or the median of several."""
    at = [i for i, own in enumerate(s.x) if own == x and isfinite(s.y[i])]
    if not at:
        return "–"
    if len(at) > 1 or f.kind == "violin":
        return f"median {number(median(s.y[i] for i in at))} (n = {len(at)})"
    between = f" [{number(s.low[at[0]])}, {number(s.high[at[0]])}]" if s.low and s.high else ""
    return number(s.y[at[0]]) + between


def _range(f: Figure, s: Series) -> str:
    ys = [y for y in s.y if isfinite(y)]
    if not ys:
        return f"{escape(s.name)}: no value"
    told = f"{number(min(ys))} to {number(max(ys))}, median {number(median(ys))}"
    return f"{escape(s.name)}: {len(ys)} values of {escape(f.y)} from {told}"


def _heatmap(h: Heatmap, most: int = 5) -> str:
    """The strongest words of each map with their scores."""
    lines = []
    for name, scores in h.rows:
        pairs = [(w, s) for w, s in zip(h.words, scores, strict=True) if isfinite(s)]
        best = sorted(pairs, key=lambda pair: -abs(pair[1]))[:most]
        said = ", ".join(f"{w} {s:+.3g}" for w, s in best) or "no score"
        lines.append(f"**{escape(name)}**: {escape(said)}")
    quote = f"> {escape(' '.join(h.words))}"
    return _titled("", h.title, "\n\n".join(filter(None, [quote, _list(lines), _list(map(escape, h.notes))])), "")


def _made(e: Exhibit, command: str) -> list[str]:
    settings = [(k, plain(v)) for k, v in e.settings.items()]
    times = [(k, text.duration(s)) for k, s in e.seconds.items()]
    parts = [_block(command)] if command else []
    parts += [_grid(("setting", "value"), settings)] if settings else []
    parts += [_grid(("step", "time"), [*times, ("all", text.duration(sum(e.seconds.values())))])] if times else []
    return _section("How it was made", parts)


def _block(command: str) -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", command)), default=0))
    return f"{fence}sh\n{command.strip()}\n{fence}"
