"""Knows how the numbers, findings and figures of an exhibit are said in words; every view says them alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from statistics import median

from assay.exhibit import Exhibit, Figure, Number
from assay.report.figures import count, interval, number
from assay.types import Estimate, Finding

HOLDS: Mapping[str, tuple[str, str]] = {
    "yes": ("✓", "holds"),
    "no": ("✗", "does not hold"),
    "undecided": ("?", "undecided"),
}
"""What a finding says -> symbol and words: never a colour alone."""


def value(ours: Number) -> str:
    """Our number without its interval; text stays text, no number is '–'.

    >>> [value(v) for v in (0.25, 12, "GRU", None, Estimate(0.5, 0.4, 0.6, 0.95, 30))]
    ['0.250', '12', 'GRU', '–', '0.500']
    """
    if isinstance(ours, str):
        return ours
    if isinstance(ours, Estimate):
        return number(ours.value) if ours.n else "–"
    return f"{ours:,}" if isinstance(ours, int) and not isinstance(ours, bool) else number(ours)


def around(ours: Number) -> str:
    """The interval of our number, '' where there is none."""
    return interval(ours) if isinstance(ours, Estimate) and ours.n else ""


def left_out(ours: Number) -> str:
    """How many stand behind a number from which some were left out, '' when none were."""
    return count(ours) if isinstance(ours, Estimate) and ours.skipped else ""


def ours(finding: Finding) -> str:
    """Our number for a claim with interval and n, or that there is none."""
    if finding.ours is None:
        return "no number"
    said = [value(finding.ours), around(finding.ours)]
    return " ".join(filter(None, said)) + f", {count(finding.ours)}"


def tally(findings: Sequence[Finding]) -> str:
    """How many claims hold, in one line.

    >>> tally([Finding("a", None, "", "yes", ""), Finding("b", None, "", "undecided", "")])
    '1 of 2 claims holds, 1 undecided'
    """
    held = Counter(f.holds for f in findings)
    if not findings:
        return "no claim was put to the test"
    parts = [f"{held['yes']} of {len(findings)} claims {'holds' if held['yes'] == 1 else 'hold'}"]
    parts += [f"{held['no']} {'does' if held['no'] == 1 else 'do'} not"] if held["no"] else []
    parts += [f"{held['undecided']} undecided"] if held["undecided"] else []
    return ", ".join(parts)


def beside(exhibit: Exhibit) -> str:
    """Whose numbers stand beside ours, '' when it is the same data set."""
    if not exhibit.nearest or exhibit.nearest == exhibit.data:
        return ""
    return f"The paper did not use {exhibit.data}; its numbers shown here are those for {exhibit.nearest}."


def name(id: str, title: str) -> str:
    """'T1: title', or the title of one of our own."""
    return f"{id}: {title}" if id else title


def spoken(figure: Figure) -> str:
    """What a figure shows, for those who cannot see it: kind, axes, and the range of every series."""
    kinds = {"line": "Line chart", "points": "Scatter chart", "histogram": "Histogram", "bars": "Bar chart"}
    parts = [f"{kinds.get(figure.kind, 'Violin chart')} of {figure.y} over {figure.x}."]
    for s in figure.series:
        ys = [y for y in s.y if isfinite(y)]
        told = f"{number(min(ys))} to {number(max(ys))}, median {number(median(ys))}" if ys else "no value"
        parts.append(f"{s.name}: {len(ys)} {'value' if len(ys) == 1 else 'values'}, {told}.")
    return " ".join(parts)


def duration(seconds: float) -> str:
    """Time a person can read.

    >>> [duration(s) for s in (0.04, 3.21, 75, 7260)]
    ['0.04 s', '3.2 s', '1 min 15 s', '2 h 1 min']
    """
    if not isfinite(seconds):
        return "–"
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
