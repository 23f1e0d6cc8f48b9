"""Knows the grid of methods and removal operators as tables, sentences and plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from assay import grid
from assay.grid import Advantage, Grid
from assay.report.figures import DIRECTIONS, count, interval, number
from assay.report.tables import Column, Entry, Table, of_estimate

BEST, CLOSE = "★", "☆"
"""Best of a column; not told apart from the best of its column."""


def tables(found: Grid) -> list[Table]:
    """One table of methods x operators per kind of test."""
    return [_table(t, i) for i, t in enumerate(found.tables)]


def _table(t: grid.Table, i: int) -> Table:
    arrow, words = DIRECTIONS[t.better]
    columns = (Column("method"), *(Column(o, arrow, f"{t.tests[o]}; {words}", numeric=True) for o in t.operators))
    rows = [[_cell(t, m, o) for o in t.operators] for m in t.methods]
    named = tuple((Entry(m, hint=_home(t, m)), *row) for m, row in zip(t.methods, rows, strict=True))
    note = (
        f"{words.capitalize()}. Framed, home: the test takes words away as the method does, which favours it. "
        f"{BEST} best of its column, {CLOSE} not told apart from it (paired, 95 %). The stronger the colour, the "
        f"better within the column. {_based_on(t)}"
    )
    return Table(f"grid-{i}", f"{t.kind} under every way of taking words away", columns, named, note)


def _home(t: grid.Table, method: str) -> str:
    home = t.homes[method]
    return f"takes words away by {home}" if home else "takes no words away"


def _based_on(t: grid.Table) -> str:
    skipped = f"; {t.skipped} lack a number somewhere and are left out" if t.skipped else ""
    out = "".join(f" Left out: {name} ({reason})." for name, reason in t.left_out.items())
    same = "".join(f" {a} and {b} give this model the same numbers: read them as one." for a, b in t.twins)
    return f"Every cell rests on the same {len(t.examples)} examples{skipped}.{out}{same}"


def _cell(t: grid.Table, method: str, operator: str) -> Entry:
    estimate, home = t.estimate(method, operator), t.homes[method] == operator
    place = _place(t, method, operator)
    words = {BEST: "best under", CLOSE: "not told apart from the best under", "": "behind the best under"}[place]
    said = f"{method}: {words} {operator}" + (", at home" if home else "")
    made = of_estimate(estimate, place, f"p{_strength(t, method, operator)}" + (" home" if home else ""), said)
    under = "\n".join(filter(None, [interval(estimate), "home" if home else ""]))
    hint = f"{said} · {count(estimate)}"
    return Entry(made.text, under, made.value, made.low, made.high, made.mark, made.tone, hint)


def _place(t: grid.Table, method: str, operator: str) -> str:
    if not t.examples or method == t.best(operator):
        return BEST if t.examples else ""
    return "" if t.told_apart(method, operator) else CLOSE


def _strength(t: grid.Table, method: str, operator: str) -> int:
    """0 (worst of the column) to 10 (best)."""
    if not t.examples:
        return 0
    means = {m: float(t.at(m, operator).mean()) for m in t.methods}
    low, high = min(means.values()), max(means.values())
    return round(10 * (means[method] - low) / (high - low)) if high > low else 0


# ------------------------------------------------------------------------------------------------- sentences


def sentences(found: Grid, advantages: Sequence[Advantage]) -> list[str]:
    """What being at home is worth, one sentence per kind of test and operator."""
    known = {(a.kind, a.operator): a for a in advantages}
    return [_sentence(t, o, known.get((t.kind, o))) for t in found.tables for o in t.operators]


def _sentence(t: grid.Table, operator: str, a: Advantage | None) -> str:
    where = f"{t.kind} by {operator}"
    if a is None:
        own = operator in t.homes.values()
        lack = "no method here takes words away otherwise" if own else "no method here takes words away that way"
        return f"{where}: home advantage not known, for {lack}."
    p = "" if a.p is None else f", p = {a.p:.3g}"
    sign = "+" if a.estimate.value > 0 else ""
    size = f"{sign}{number(a.estimate.value)} {interval(a.estimate)}, {count(a.estimate)}{p}"
    verb = {"home": "favours", "away": "works against", "undecided": "shows no sure advantage for"}[a.favours]
    return f"{where} {verb} methods that take words away that way ({', '.join(a.home)}): {size}."


NOTE = (
    "Home advantage: what methods at home gain over the others under their operator, beyond what they gain under the "
    "other operators. Above zero favours home; paired over examples, p by sign flips, Holm-corrected over operators. "
    "A lead that is won at home only says how the test takes words away, not what the model depends on (Pham 2022)."
)


# ---------------------------------------------------------------------------------------------- plain values


def plain(found: Grid, advantages: Sequence[Advantage]) -> list[dict[str, Any]]:
    """Every table with its cells and the home advantages of its operators."""
    return [
        {
            "kind": t.kind,
            "better": t.better,
            "methods": t.methods,
            "operators": t.operators,
            "homes": t.homes,
            "n": len(t.examples),
            "skipped": t.skipped,
            "left_out": t.left_out,
            "twins": t.twins,
            "cells": [_plain_cell(t, m, o) for m in t.methods for o in t.operators],
            "home_advantage": [{**asdict(a), "favours": a.favours} for a in advantages if a.kind == t.kind],
        }
        for t in found.tables
    ]


def _plain_cell(t: grid.Table, method: str, operator: str) -> dict[str, Any]:
    return {
        "method": method,
        "operator": operator,
        "test": t.tests[operator],
        "estimate": asdict(t.estimate(method, operator)),
        "home": t.homes[method] == operator,
        "best": {BEST: "best", CLOSE: "not told apart"}.get(_place(t, method, operator)),
    }
