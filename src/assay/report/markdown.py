"""Knows how to write the report as Markdown: verdicts, tables and how to repeat it; no text of the data."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.grid import grid_of, home_advantage
from assay.report import grid, inputs, provenance, tables
from assay.report.answer import answer
from assay.report.figures import LEVELS, interval, number
from assay.report.tables import Column, Entry, Table
from assay.summary import Summary
from assay.verdict import Verdict

_SPECIAL = re.compile(r"([\\|<>&`*_\[\]])")


def markdown(summary: Summary, verdicts: Sequence[Verdict]) -> str:
    """The report without its examples, for a pull request, an issue or a terminal."""
    shown = (tables.scores, tables.plausibility, tables.agreement, tables.gaps, tables.costs)
    parts = [_head(summary, verdicts), "## What you may trust", *map(_verdict, verdicts)]
    made = [t for make in shown if (t := make(summary)).rows]
    parts += [*map(_section, made[:1]), *_inputs(summary), *_grid(summary), *map(_section, made[1:])]
    return "\n\n".join([*parts, _repeat(summary)]) + "\n"


def _section(t: Table, level: int = 2) -> str:
    return f"{'#' * level} {escape(t.title)}\n\n{table(t)}\n\n{escape(t.note)}"


def _inputs(summary: Summary) -> list[str]:
    careful = [f"> **Careful.** {escape(w)}" for w in inputs.warnings(summary)]
    return [*careful, *map(_section, inputs.tables(summary))]


def _grid(summary: Summary) -> list[str]:
    found = grid_of(summary)
    if not found:
        return []
    said = "\n".join(f"- {escape(s)}" for s in grid.sentences(found, home_advantage(found)))
    return ["## Methods and ways of taking words away", *(_section(t, 3) for t in grid.tables(found)), said, grid.NOTE]


def table(t: Table) -> str:
    """One table with its intervals and marks beside the numbers."""
    lines = [[_named(c) for c in t.columns], ["---:" if c.numeric else "---" for c in t.columns]]
    lines += [[escape(_entry(e)) for e in row] for row in t.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escape(text: str) -> str:
    """Text that shows as itself in Markdown, on one line.

    >>> escape("a|b <i>")
    'a\\\\|b \\\\<i\\\\>'
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _named(column: Column) -> str:
    return escape(f"{column.name} {column.arrow}".strip())


def _entry(entry: Entry) -> str:
    return " ".join(filter(None, [entry.text, entry.under, entry.mark]))


def _head(summary: Summary, verdicts: Sequence[Verdict]) -> str:
    facts = [f"{provenance.size(summary)} examples"]
    if summary.accuracy:
        facts.append(f"model accuracy {number(summary.accuracy.value)} {interval(summary.accuracy)}")
    facts += [provenance.cut(summary)] if provenance.cut(summary) else []
    facts += [provenance.date(summary)] if provenance.date(summary) else []
    return f"# {escape(provenance.title(summary))}\n\n{escape(' · '.join(facts))}\n\n**{escape(answer(verdicts))}**"


def _verdict(v: Verdict) -> str:
    said = [("May be used for", v.may), ("Not for", v.may_not), ("Why", v.why)]
    lines = [f"### {LEVELS.get(v.level, '')} {escape(v.method)}: {v.level}", "", escape(v.headline), ""]
    lines += [f"- {name}: {escape(text)}" for name, text in said if text]
    lines += [f"- Next: {_code(v.next)}"] if v.next else []
    return "\n".join(lines + [f"- Evidence: {escape(e)}" for e in v.evidence])


def _repeat(summary: Summary) -> str:
    versions = ", ".join(f"{k} {v}" for k, v in provenance.versions(summary))
    return f"## How it was made\n\n{_code(provenance.command(summary))}\n\n{escape(versions)}".rstrip()


def _code(text: str) -> str:
    """A code span whose fence is longer than any run of backticks in it (CommonMark 6.1)."""
    line = " ".join(text.split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"
