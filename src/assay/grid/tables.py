"""Knows methods x removal operators: every test of one kind under every operator, over exactly the same examples.

A test that takes words away the way a method does favours that method (Pham 2022, Ju 2022). So one number per method
and test is not enough: what counts is the whole grid, and how much of a method's lead is won at home.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isfinite, nan
from typing import Any

import numpy as np

from assay import stats
from assay.summary import Summary
from assay.types import Estimate, Floats, Record

FEWEST = 0.5
"""A method with numbers for a smaller share of the examples would shrink everybody's table: left out, and named."""
SAME = 1e-5
"""Numbers nearer than this are one number: as far as batches and devices may move it."""

Columns = Mapping[tuple[str, str], Mapping[str, float]]
"""(method, test) -> example -> headline value."""


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """Methods x operators for one kind of test; every number rests on the same examples."""

    kind: str
    """The test without its operator: ``deletion``."""
    better: str
    """``higher`` or ``lower``."""
    methods: tuple[str, ...]
    operators: tuple[str, ...]
    homes: Mapping[str, str | None]
    """Each method's own operator; None for one that takes no words away."""
    tests: Mapping[str, str]
    """Operator -> label of the test."""
    examples: tuple[str, ...]
    values: Floats
    """[examples, methods, operators], as the tests gave them."""
    skipped: int = 0
    """Examples that lack at least one number of the table."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Methods and tests that the table does without -> the reason."""

    def at(self, method: str, operator: str) -> Floats:
        """One number per example, turned so that higher is better."""
        raw = self.values[:, self.methods.index(method), self.operators.index(operator)]
        return np.asarray(raw if self.better == "higher" else -raw)

    def estimate(self, method: str, operator: str) -> Estimate:
        """One cell, as the test gave it."""
        raw = self.values[:, self.methods.index(method), self.operators.index(operator)]
        return stats.mean(raw, skipped=self.skipped)

    @property
    def twins(self) -> tuple[tuple[str, str], ...]:
        """Operators that are one and the same on this model (``pad`` and ``zero`` where padding is a zero vector)."""
        pairs = combinations(range(len(self.operators)), 2) if self.examples else ()
        same = [(i, j) for i, j in pairs if np.allclose(self.values[:, :, i], self.values[:, :, j], rtol=0, atol=SAME)]
        return tuple((self.operators[i], self.operators[j]) for i, j in same)

    def best(self, operator: str) -> str:
        """The method with the best mean under an operator, the control included; '' without examples."""
        if not self.examples:
            return ""
        return max(self.methods, key=lambda m: float(self.at(m, operator).mean()))

    def told_apart(self, method: str, operator: str) -> bool:
        """Is the best method of the column better than this one (paired interval above zero, not corrected)?"""
        behind = difference(self.at(self.best(operator), operator) - self.at(method, operator))
        return behind.low is not None and behind.low > 0


@dataclass(frozen=True, eq=False, slots=True)
class Grid:
    """One table per kind of test that a run has under two operators or more."""

    tables: tuple[Table, ...]

    def __bool__(self) -> bool:
        return bool(self.tables)


# ------------------------------------------------------------------------------------------------ building


def grid(records: Iterable[Record], meta: Mapping[str, Any]) -> Grid:
    """Tables from the records of a run; ``meta`` says which operator each method and each test uses.

    Only complete cases enter: an example that lacks one number of a table is skipped in all its cells and counted.
    """
    columns, seen = numbers(records, meta)
    return _grid(columns, meta, seen)


def numbers(records: Iterable[Record], meta: Mapping[str, Any]) -> tuple[Columns, tuple[str, ...]]:
    """The headline values of a run, and every example that it met."""
    declared, seen = meta.get("tests", {}), dict[str, None]()
    columns: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for r in records:
        if r.example and not r.other:
            seen[r.example] = None
            name = declared.get(r.test, {}).get("headline", "")
            columns[r.method, r.test][r.example] = (r.values or {}).get(name, nan)
    return columns, tuple(seen)


def grid_of(summary: Summary) -> Grid:
    """The same from what a summary keeps of every example."""
    columns: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for view in summary.examples:
        for method, values in view.values.items():
            for test, value in values.items():
                columns[method, test][view.id] = value
    everyone = summary.meta.get("examples", ()) if summary.meta.get("finished") else ()
    seen = dict.fromkeys([*(v.id for v in summary.examples), *everyone])
    return _grid(columns, summary.meta, tuple(seen))


def _grid(columns: Columns, meta: Mapping[str, Any], seen: tuple[str, ...]) -> Grid:
    methods = tuple(meta.get("methods", {}))
    made = (table_of(kind, tests, columns, meta, methods, seen) for kind, tests in kinds(meta).items())
    return Grid(tuple(t for t in made if len(t.operators) > 1 and t.methods))


def kinds(meta: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Kind -> operator -> test, for tests of explanations that take words away and call a direction better."""
    out: dict[str, dict[str, str]] = defaultdict(dict)
    for label, facts in meta.get("tests", {}).items():
        if facts.get("of") == "explanation" and facts.get("removal") and facts.get("better"):
            out[kind_of(label)][facts["removal"]] = label
    return out


def kind_of(label: str) -> str:
    """A test's label without its operator; other settings stay, for they make another test.

    >>> kind_of("deletion(removal=mlm(k=2), steps=5)"), kind_of("deletion(removal=mask)"), kind_of("deletion")
    ('deletion(steps=5)', 'deletion', 'deletion')
    """
    name, bracket, inner = label.partition("(")
    parts, depth = [""], 0
    for c in inner.removesuffix(")"):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    rest = [p.strip() for p in parts if not p.strip().startswith("removal=")]
    return f"{name}({', '.join(rest)})" if bracket and any(rest) else name


def table_of(
    kind: str,
    tests: Mapping[str, str],
    columns: Columns,
    meta: Mapping[str, Any],
    methods: Sequence[str],
    seen: tuple[str, ...],
    fewest: float = FEWEST,
) -> Table:
    """One table; ``fewest`` is the share of examples that a method needs."""

    def known(method: str, test: str) -> set[str]:
        return {e for e, v in columns.get((method, test), {}).items() if isfinite(v)}

    left_out = {t: "no method has a number" for t in tests.values() if not any(known(m, t) for m in methods)}
    tests = {o: t for o, t in tests.items() if t not in left_out}
    for m in methods:
        count, test = min(((len(known(m, t)), t) for t in tests.values()), default=(0, kind))
        if count < max(1.0, fewest * len(seen)):
            left_out[m] = f"{test} has numbers for {count} of {len(seen)} examples"
    kept = tuple(m for m in methods if m not in left_out)
    shared = set(seen).intersection(*(known(m, t) for m in kept for t in tests.values()))
    complete = tuple(e for e in seen if e in shared)
    values = np.array([[[columns[m, t][e] for t in tests.values()] for m in kept] for e in complete])
    return Table(
        kind,
        next((meta["tests"][t]["better"] for t in tests.values()), ""),
        kept,
        tuple(tests),
        {m: _home(meta, m, tests) for m in kept},
        tests,
        complete,
        values.reshape(len(complete), len(kept), len(tests)),
        len(seen) - len(complete),
        left_out,
    )


def _home(meta: Mapping[str, Any], method: str, tests: Mapping[str, str]) -> str | None:
    """The column in which a method is at home: its own operator, else one of the same kind (fills by another rule)."""
    facts = meta["methods"][method]
    own: str | None = facts.get("removal")
    if own is None or own in tests:
        return own
    kin = [o for o, t in tests.items() if facts.get("home") and meta["tests"][t].get("home") == facts["home"]]
    return kin[0] if kin else own


# ----------------------------------------------------------------------------------------------- comparing


def gap(table: Table, some: Sequence[str], others: Sequence[str], operator: str) -> Floats:
    """Mean of some methods minus mean of others under an operator, per example; above zero favours the first."""
    mine = np.mean([table.at(m, operator) for m in some], axis=0)
    return np.asarray(mine - np.mean([table.at(m, operator) for m in others], axis=0))


def difference(values: Floats, skipped: int = 0) -> Estimate:
    """Mean of a difference per example.

    >>> print(difference(np.zeros(10)))
    0.000 [0.000, 0.000]
    """
    return stats.paired(values, np.zeros_like(values), skipped=skipped)


def flipped(values: Floats) -> float | None:
    """p of "symmetric around zero" by sign flips; None for fewer than two values."""
    return stats.sign_flip_test(values, seed=0) if len(values) >= 2 else None
