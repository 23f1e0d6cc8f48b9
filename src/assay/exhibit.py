"""What an experiment shows: tables with our number beside the published one, figures, findings. Draws nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.types import Estimate, Finding

Number = Estimate | float | int | str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One place of a table: ours, and what the paper printed there ('' where it printed nothing)."""

    ours: Number
    published: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the paper (``id`` as the paper counts it: T1, A2) or one of our own (id '')."""

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Entry, ...]], ...]
    """(row name, one entry per column)."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Named points of a figure; ``low`` and ``high`` are an interval around y where there is one."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: lines or points over two axes, histograms (y = counts per bin at x), or violins (x = group)."""

    id: str
    title: str
    kind: Literal["line", "points", "histogram", "violin", "bars"]
    x: str
    y: str
    series: tuple[Series, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Heatmap:
    """One text under several maps, as the papers print examples."""

    title: str
    words: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float, ...]], ...]
    """(name of the map, one score per word)."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exhibit:
    """Everything one experiment on one data set shows."""

    name: str
    title: str
    data: str
    nearest: str
    """The paper's data set whose numbers stand beside ours ('' when it is the same)."""
    settings: Mapping[str, Any]
    findings: tuple[Finding, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    heatmaps: tuple[Heatmap, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Where the time went, by step."""


def holds(estimate: Estimate | None, above: float = 0.0) -> Literal["yes", "no", "undecided"]:
    """Does the claim "above this" hold? Only an interval on one side decides.

    >>> holds(Estimate(0.2, 0.1, 0.3, 0.95, 50)), holds(Estimate(0.2, -0.1, 0.5, 0.95, 50))
    ('yes', 'undecided')
    """
    if estimate is None or estimate.low is None or estimate.high is None:
        return "undecided"
    return "yes" if estimate.low > above else "no" if estimate.high < above else "undecided"


def claim(
    text: str, ours: Estimate | None, published: str, *, above: float = 0.0, why: str = "", subject: str = ""
) -> Finding:
    """A finding that holds when our estimate lies above a bound with its whole interval."""
    return Finding(text, ours, published, holds(ours, above), why, subject)


def rows_of(
    names: Sequence[str], *columns: Sequence[Number], published: Mapping[str, Sequence[str]] | None = None
) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
    """Rows of a table from columns of our numbers and, by row name, what the paper printed."""
    out = []
    for i, name in enumerate(names):
        printed = (published or {}).get(name, ())
        entries = tuple(Entry(c[i], printed[j] if j < len(printed) else "") for j, c in enumerate(columns))
        out.append((name, entries))
    return tuple(out)
