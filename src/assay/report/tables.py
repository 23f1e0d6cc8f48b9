"""Summary -> plain tables (text, number, interval, mark) that HTML, Markdown and terminal draw each in its way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.figures import DIRECTIONS, SIDES, at_home, count, facts, interval, number, side
from assay.summary import Cell, Summary
from assay.types import Estimate


@dataclass(frozen=True, slots=True)
class Column:
    """Head of a column: its name, the arrow of its direction, and what to say on hovering."""

    name: str
    arrow: str = ""
    hint: str = ""
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One place in a table; ``value`` is what sorting and CSV use instead of the text."""

    text: str
    under: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    mark: str = ""
    tone: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A named table; the first column names the row."""

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    note: str = ""


NONE = Entry("–", hint="not computed")


def of_estimate(estimate: Estimate, mark: str = "", tone: str = "", hint: str = "") -> Entry:
    """A number with its interval below; examples that were left out are said in the cell itself."""
    if estimate.n == 0:
        return Entry("–", count(estimate), hint=hint or "no data")
    under = "\n".join(filter(None, [interval(estimate), count(estimate) if estimate.skipped else ""]))
    said = " · ".join(filter(None, [hint, count(estimate), estimate.how]))
    return Entry(number(estimate.value), under, estimate.value, estimate.low, estimate.high, mark, tone, said)


def tests_of(summary: Summary, plausibility: bool) -> tuple[str, ...]:
    """Tests that ask people's opinion (plausibility), or all the others: they never share a table."""
    return tuple(t for t in summary.tests if (facts(summary, "tests", t).get("asks") == "plausibility") == plausibility)


def scores(summary: Summary) -> Table:
    """Methods x tests: the headline number of each, its interval, and how it stands to random."""
    return _grid(
        summary,
        tests_of(summary, plausibility=False),
        "scores",
        "Every method on every test",
        "✓ better than random, ✗ worse, ≈ not told apart (paired, Holm-corrected). ⌂ home ground: the test takes words "
        "away as the method does, which favours it. Intervals cover 95 %" + _usual_n(summary),
    )


def plausibility(summary: Summary) -> Table:
    """Agreement with marked evidence, apart from faithfulness."""
    return _grid(
        summary,
        tests_of(summary, plausibility=True),
        "plausibility",
        "Agreement with marked evidence",
        "Plausibility: does a map look right to people? A map can look right and say nothing of the model, so this is "
        "no part of a verdict.",
    )


def _usual_n(summary: Summary) -> str:
    sizes = [c.estimate.n for c in summary.cells if c.headline]
    return f"; n = {max(sizes)} where nothing else is said." if sizes else "."


def _grid(summary: Summary, tests: Sequence[str], name: str, title: str, note: str) -> Table:
    rows = tuple((Entry(m), *(_score(summary, summary.cell(m, t)) for t in tests)) for m in summary.methods)
    return Table(name, title, (Column("method"), *(_column(summary, t) for t in tests)), rows if tests else (), note)


def _column(summary: Summary, test: str) -> Column:
    declared = facts(summary, "tests", test)
    arrow, words = DIRECTIONS[declared.get("better") or ""]
    hint = ". ".join(filter(None, [str(declared.get("claim", "")).rstrip("."), words]))
    return Column(test, arrow, hint, numeric=True)


def _score(summary: Summary, cell: Cell | None) -> Entry:
    if cell is None:
        return NONE
    symbol, words = SIDES[side(cell)]
    home = at_home(summary, cell)
    said = words
    if cell.against_control is not None and cell.against_control.n:
        p = "" if cell.p is None else f", p = {cell.p:.3g}"
        said += f" by {number(cell.against_control.value)} {interval(cell.against_control)}{p}"
    said += ", on its home ground" if home else ""
    return of_estimate(cell.estimate, symbol + ("⌂" if home else ""), side(cell), said)


def values(summary: Summary) -> Table:
    """Every other number that a test gave, beside its headline."""
    columns = tuple(Column(n, numeric=n in ("value", "n")) for n in ("method", "test", "name", "value", "n"))
    rows = tuple(
        (Entry(c.method), Entry(c.test), Entry(c.value), of_estimate(c.estimate), _whole(c.estimate.n))
        for c in summary.cells
    )
    return Table("values", "All values", columns, rows, "Every named number of every test, headline or not.")


def agreement(summary: Summary) -> Table:
    """Rank agreement of each two methods; the tone is its strength in tenths."""
    names = [m for m in summary.methods if any(m in pair for pair in summary.agreement)]
    rows = tuple((Entry(a), *(_agree(summary, a, b) for b in names)) for a in names)
    note = (
        "1: same order of words, 0: unrelated, below 0: reversed. Agreement is evidence, not quality: methods can "
        "agree and all be wrong."
    )
    columns = (Column("method"), *(Column(n, numeric=True) for n in names))
    return Table("agreement", "Do the methods agree?", columns, rows, note)


def _agree(summary: Summary, a: str, b: str) -> Entry:
    if a == b:
        return Entry("·", tone="self", hint="the same method")
    estimate = summary.agreement.get((a, b))
    if estimate is None:
        return NONE
    strength = 0 if estimate.n == 0 else min(10, round(abs(estimate.value) * 10))
    sign = "n" if estimate.n and estimate.value < 0 else "p"
    entry = of_estimate(estimate, hint=f"{a} and {b}: {estimate}")
    return Entry(entry.text, "", entry.value, entry.low, entry.high, tone=f"{sign}{strength}", hint=entry.hint)


def gaps(summary: Summary) -> Table:
    """What could not be computed, how often and why."""
    columns = (
        Column("method"),
        Column("test"),
        Column("count", numeric=True),
        Column("reason"),
        Column("first example"),
    )
    rows = tuple(
        (Entry(g.method or "–"), Entry(g.test or "–"), _whole(g.count), Entry(g.reason or "–"), Entry(g.example))
        for g in summary.gaps
    )
    note = "Counted, never dropped: the numbers above rest on what is left."
    return Table("gaps", "What could not be computed", columns, rows, note)


def costs(summary: Summary) -> Table:
    """What each method asked of the model."""
    columns = (
        Column("method"),
        Column("rows", hint="questions asked", numeric=True),
        Column("fresh rows", hint="questions that nobody had asked before", numeric=True),
        Column("tokens", hint="tokens of the fresh rows", numeric=True),
        Column("seconds", hint="seconds of model time", numeric=True),
    )
    rows = tuple(
        (Entry(m), _whole(c.rows), _whole(c.fresh), _whole(c.tokens), Entry(f"{c.seconds:.2f}", value=c.seconds))
        for m, c in summary.costs.items()
    )
    note = "A question that two methods share is answered once: the first to ask pays."
    return Table("costs", "What each method cost", columns, rows, note)


def _whole(value: int) -> Entry:
    return Entry(f"{value:,}", value=value)
