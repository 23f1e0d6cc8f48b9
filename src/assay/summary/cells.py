"""Records -> cells: the mean of every value with its interval, and how it stands to the random control."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from assay import stats
from assay.summary.shapes import CONTROL, Cell
from assay.types import Estimate, Record


def _columns(rows: list[Record]) -> dict[tuple[str, str, str], dict[str, float]]:
    """(method, test, value name) -> example -> number; a record with no values is NaN, and so counted."""
    out: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    names: dict[str, dict[str, None]] = defaultdict(dict)  # in order: a set's changes with the process
    for r in rows:
        names[r.test] |= dict.fromkeys(r.values or ())
    for r in rows:
        if r.other or not r.example:
            continue
        for name in names[r.test]:
            out[r.method, r.test, name][r.example] = (r.values or {}).get(name, np.nan)
    return out


def cells(rows: list[Record], methods: tuple[str, ...], tests: tuple[str, ...], facts: Mapping[str, Any]) -> list[Cell]:
    """Every value of every test for every method; differences to the control corrected over the headline ones."""
    columns = _columns(rows)
    made: list[Cell] = []
    for test in tests:
        declared = facts[test]
        for method in methods:
            for (m, t, name), column in columns.items():
                if (m, t) == (method, test):
                    control = columns.get((CONTROL, test, name)) if method != CONTROL else None
                    made.append(_cell(method, test, name, column, control, declared))
    return _corrected(made)


def _cell(
    method: str,
    test: str,
    name: str,
    column: Mapping[str, float],
    control: Mapping[str, float] | None,
    declared: Mapping[str, Any],
) -> Cell:
    values = np.array(list(column.values()), dtype=np.float64)
    headline = name == declared.get("headline")
    sign = {"higher": 1.0, "lower": -1.0}.get(declared.get("better", ""))
    against, p = None, None
    if control and sign and headline:
        shared = [e for e in column if e in control]
        mine = sign * np.array([column[e] for e in shared])
        theirs = sign * np.array([control[e] for e in shared])
        against = stats.paired(mine, theirs)
        difference = (mine - theirs)[~np.isnan(mine - theirs)]
        p = stats.sign_flip_test(difference, seed=0) if len(difference) >= 2 else None
    return Cell(method, test, name, stats.mean(values), headline, against, p)


def _corrected(cells: list[Cell]) -> list[Cell]:
    at = [i for i, c in enumerate(cells) if c.p is not None]
    adjusted = stats.holm([cells[i].p or 0.0 for i in at])
    for i, p in zip(at, adjusted, strict=True):
        c = cells[i]
        cells[i] = Cell(c.method, c.test, c.value, c.estimate, c.headline, c.against_control, float(p))
    return cells


def agreement(rows: list[Record], facts: Mapping[str, Any]) -> dict[tuple[str, str], Estimate]:
    """Headline of the first test of two explanations, for each two methods in both orders."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    first = next((t for t, f in facts.items() if f.get("of") == "pair"), "")
    for r in rows:
        if r.other and r.test == first:
            headline = facts[first].get("headline", "")
            found[r.method, r.other].append((r.values or {}).get(headline, np.nan))
    out: dict[tuple[str, str], Estimate] = {}
    for (a, b), values in found.items():
        out[a, b] = out[b, a] = stats.mean(np.array(values))
    return out
