"""Knows the terminal: verdicts, tables and heatmaps that read well at 80 columns and without colour."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from assay import heat
from assay.grid import grid_of, home_advantage
from assay.report import grid, inputs, provenance, tables
from assay.report.answer import answer, ranked
from assay.report.figures import LEVELS
from assay.report.tables import Column, Entry, Table
from assay.summary import Summary
from assay.types import Explanation
from assay.verdict import Verdict

STYLES = {
    "supported": "bold green",
    "mixed": "bold yellow",
    "not supported": "bold red",
    "worse than random": "bold red",
    "control": "dim",
    "untested": "dim",
}
_MARKS = {"better": "green", "worse": "red", "undecided": "dim", "": ""}
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TOLD = 0.25
"""Without colour, a word of at least this strength carries its number."""


def clean(text: str) -> str:
    """Text that cannot steer a terminal: white space becomes a blank, control and direction characters become '�'.

    >>> clean("a\\x1b[31m\\nb")
    'a�[31m b'
    """
    return _CONTROL.sub("�", re.sub(r"[\t\n\r\v\f]+", " ", text))


# ------------------------------------------------------------------------------------------------ verdicts


def verdict_lines(verdicts: Sequence[Verdict]) -> RenderableType:
    """The answer in one sentence, then each verdict in one line, with the next command where there is one."""
    rows: list[RenderableType] = [Text(answer(verdicts), style="bold")]
    for v in ranked(verdicts):
        line = Text.assemble((f"{LEVELS.get(v.level, ' ')} {v.level:<18}", STYLES.get(v.level, "")), clean(v.headline))
        rows.append(_hanging(line, 20))
        if v.next:
            rows.append(Padding(Text("next: " + clean(v.next), style="dim"), (0, 0, 0, 20)))
    return Group(*rows)


def _hanging(line: Text, indent: int) -> RenderableType:
    grid = Grid.grid()
    grid.add_column(width=indent, no_wrap=True)
    grid.add_column()
    grid.add_row(*line.divide([indent]))
    return grid


# -------------------------------------------------------------------------------------------------- tables


def audit_table(summary: Summary, verdicts: Sequence[Verdict]) -> RenderableType:
    """Methods x tests with intervals, in blocks as wide as the terminal; then plausibility, home advantage and gaps."""
    levels = {v.method: v.level for v in verdicts}
    parts: list[RenderableType] = []
    for t in (tables.scores(summary), tables.plausibility(summary)):
        if t.rows:
            parts += [Text(f"\n{t.title}", style="bold"), Blocks(t, levels), Text(t.note, style="dim")]
    if found := grid_of(summary):
        parts.append(Text("\nWhat being at home is worth", style="bold"))
        said = grid.sentences(found, home_advantage(found))
        parts += [Padding(Text(clean(s)), (0, 0, 0, 2)) for s in said]
    parts += [*_inputs(summary)]
    if cut := provenance.cut(summary):
        parts.append(Text(f"\n{cut}", style="bold"))
    missing = sum(g.count for g in summary.gaps)
    if missing:
        parts.append(Text(f"\n{missing} numbers could not be computed:", style="bold"))
        parts += [Text(f"  {g.count} x {clean(g.method)} {clean(g.test)}: {clean(g.reason)}") for g in summary.gaps[:5]]
        parts += [Text(f"  and {len(summary.gaps) - 5} more reasons")] if len(summary.gaps) > 5 else []
    return Group(*parts)


def _inputs(summary: Summary) -> Iterator[RenderableType]:
    """Tests of the inputs, a line for each value; before them what must be said of fills."""
    for warning in inputs.warnings(summary):
        yield Text(f"\nCareful. {clean(warning)}", style="bold yellow")
    for t in inputs.tables(summary):
        yield Text(f"\n{t.title}", style="bold")
        for row in t.rows:
            said = [f"{e.text} {e.under}".strip() for e in row]
            yield Padding(Text(clean(" · ".join(filter(None, said)))), (0, 0, 0, 2))


@dataclass(frozen=True, slots=True)
class Blocks:
    """One table, cut into blocks of as many columns as the terminal is wide."""

    table: Table
    levels: Mapping[str, str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        first = 3 + max(_widest(_broken(row[0].text)) for row in self.table.rows)
        for columns in self._cuts(options.max_width - first):
            yield Text()
            yield self._block(columns, first)

    def _cuts(self, room: int) -> Iterator[list[int]]:
        block: list[int] = []
        used = 0
        for i in range(1, len(self.table.columns)):
            width = self._width(i)
            if block and used + width > room:
                yield block
                block, used = [], 0
            block.append(i)
            used += width
        if block:
            yield block

    def _width(self, i: int) -> int:
        """Widest line of a column, its head included, with the space beside it."""
        lines = [line for row in self.table.rows for line in (_number(row[i]), *row[i].under.splitlines())]
        return 2 + max(_widest(_head(self.table.columns[i])), *map(cell_len, lines))

    def _block(self, columns: list[int], first: int) -> Grid:
        grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
        grid.add_column("method", width=first - 1, overflow="fold")
        for i in columns:
            grid.add_column(
                Text(_head(self.table.columns[i])), justify="right", width=self._width(i) - 1, overflow="fold"
            )
        for row in self.table.rows:
            symbol = LEVELS.get(self.levels.get(row[0].text, ""), " ")
            name = _broken(row[0].text).replace("\n", "\n  ")
            grid.add_row(Text(f"{symbol} {name}"), *(_cell(row[i]) for i in columns))
        return grid


def _broken(name: str) -> str:
    """A name with its settings on a line of their own, no line longer than 30."""
    lines = [
        line[i : i + 30] for line in clean(name).replace("(", "\n(", 1).split("\n") for i in range(0, len(line), 30)
    ]
    return "\n".join(lines)


def _widest(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def _head(column: Column) -> str:
    return f"{_broken(column.name)} {column.arrow}".strip()


def _number(entry: Entry) -> str:
    return f"{entry.text} {entry.mark}".strip()


def _cell(entry: Entry) -> Text:
    out = Text.assemble(clean(entry.text), (f" {entry.mark}" if entry.mark else "", _MARKS.get(entry.tone, "")))
    for line in entry.under.splitlines():
        out.append(f"\n{line}", style="dim")
    return out


# ------------------------------------------------------------------------------------------------ heatmaps


def heatmaps(explanations: Sequence[Explanation]) -> RenderableType:
    """One example by several methods: target and confidence on top, names left, each map with its own scale."""
    if not explanations:
        return Text("no explanation to show")
    first = explanations[0]
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for e in explanations:
        grid.add_row(Text(_broken(e.method), style="bold"), Heatmap(e))
    return Group(_about(first), grid)


def _about(e: Explanation) -> Text:
    line = Text.assemble("why ", (clean(e.target_name), "bold"))
    index = e.target.index[0] if e.target.index and len(e.target.index) == 1 else None
    if e.probabilities:
        best = max(range(len(e.probabilities)), key=e.probabilities.__getitem__)
        at = best if index is None else index
        line.append(f" · confidence {e.probabilities[at]:.3f}")
        if at != best:
            line.append(f" · predicted {clean(e.labels[best] if e.labels else str(best))} {e.probabilities[best]:.3f}")
    if e.x.cut:
        line.append(f" · cut: {clean(e.x.cut)}")
    return line


@dataclass(frozen=True, slots=True)
class Heatmap:
    """One map: background colour where there is colour, numbers relative to the largest where there is none."""

    explanation: Explanation

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        words, scores = self.explanation.words, self.explanation.scores.tolist()
        coloured = console.color_system is not None and not console.no_color
        out = Text()
        for i, (word, style) in enumerate(heat.rich_markup(words, scores)):
            out.append(" " if i else "").append(clean(word), style=style if coloured else "")
            out.append("" if coloured else _told(scores[i], heat.largest(scores)))
        yield out


def _told(score: float, top: float) -> str:
    """'(+0.82)' for a strong word, '' for a weak one; '(?)' for one with no score."""
    if not isfinite(score):
        return "(?)"
    return f"({score / top:+.2f})" if heat.shade(score, top) >= _TOLD else ""
