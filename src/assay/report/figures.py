"""Knows how one number, interval, direction or comparison is written; every view writes them alike."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, isfinite, log10
from typing import Any, Literal

from assay.summary import Cell, Summary
from assay.types import Estimate
from assay.verdict import ALPHA

Side = Literal["better", "worse", "undecided", ""]
"""A cell beside the random control; '' when they were not compared."""

SIDES: Mapping[str, tuple[str, str]] = {
    "better": ("✓", "better than random"),
    "worse": ("✗", "worse than random"),
    "undecided": ("≈", "not told apart from random"),
    "": ("", ""),
}
"""Side -> symbol and words: a mark is never a colour alone."""

LEVELS: Mapping[str, str] = {
    "supported": "✓",
    "mixed": "◐",
    "not supported": "✗",
    "worse than random": "▼",
    "control": "○",
    "untested": "?",
}
"""Level of a verdict -> its symbol."""

DIRECTIONS: Mapping[str, tuple[str, str]] = {
    "higher": ("↑", "higher is better"),
    "lower": ("↓", "lower is better"),
    "": ("", "evidence, not a score"),
}
"""What a test calls better -> arrow and words."""


def number(value: float | None) -> str:
    """Three decimals, fewer for large numbers, more for tiny ones; '–' for no number.

    >>> [number(v) for v in (0.12345, -2.5, 0.00012345, 1234.5, 0.0, float("nan"))]
    ['0.123', '-2.500', '0.00012', '1,234', '0.000', '–']
    """
    if value is None or not isfinite(value):
        return "–"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    if size >= 100:
        return f"{value:.1f}"
    if 0 < size < 0.0005:
        return f"{value:.2g}"
    return f"{value:.3f}"


def significant(value: float, digits: int = 4) -> float:
    """The value rounded to so many significant digits.

    >>> significant(0.0123456), significant(-98765.4)
    (0.01235, -98770.0)
    """
    if value == 0 or not isfinite(value):
        return value
    return round(value, digits - 1 - floor(log10(abs(value))))


def interval(estimate: Estimate) -> str:
    """'[low, high]', or '' when there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{number(estimate.low)}, {number(estimate.high)}]"


def count(estimate: Estimate) -> str:
    """How many examples stand behind a number, and how many were left out."""
    left_out = f", {estimate.skipped} left out" if estimate.skipped else ""
    return f"n = {estimate.n}{left_out}"


def side(cell: Cell) -> Side:
    """Better or worse than random only when the interval and the corrected p agree, as a verdict counts it."""
    d = cell.against_control
    if d is None:
        return ""
    if d.low is None or d.high is None or cell.p is None or cell.p >= ALPHA:
        return "undecided"
    return "better" if d.low > 0 else "worse" if d.high < 0 else "undecided"


def at_home(summary: Summary, cell: Cell) -> bool:
    """The test takes words away the way the method does, which favours the method (Pham 2022)."""
    mine, test = facts(summary, "methods", cell.method), facts(summary, "tests", cell.test)
    own = mine.get("home", mine.get("removal"))
    return own is not None and own == test.get("home", test.get("removal"))


def facts(summary: Summary, kind: str, name: str) -> Mapping[str, Any]:
    """What a method or test declares, {} when the run wrote nothing of it."""
    declared: Mapping[str, Any] = (summary.meta.get(kind) or {}).get(name) or {}
    return declared
