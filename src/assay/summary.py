"""Records and explanations -> the tables that terminal, report and verdict show; every number with its interval."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay import stats
from assay.types import Cost, Estimate, Explanation, Record

CONTROL = "random"
"""The method that every other one must beat."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of one test for one method."""

    method: str
    test: str
    value: str
    estimate: Estimate
    headline: bool
    against_control: Estimate | None = None
    """Paired difference to the random control, turned so that above zero is better."""
    p: float | None = None
    """That difference by sign flips, Holm-corrected over the headline cells of the run."""


@dataclass(frozen=True, slots=True)
class Gap:
    """What could not be computed, how often, and why."""

    method: str
    test: str
    reason: str
    count: int
    example: str = ""


@dataclass(frozen=True, slots=True)
class ExampleView:
    """One example with its prediction and all its heatmaps."""

    id: str
    fields: Mapping[str, str]
    gold: str
    predicted: str
    target: str
    confidence: float
    words: tuple[str, ...]
    places: tuple[tuple[str, int, int], ...]
    scores: Mapping[str, tuple[float, ...]]
    evidence: tuple[bool, ...] = ()
    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """method -> {test: headline value}."""
    cut: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """All that a report shows of one set of cases."""

    meta: Mapping[str, Any]
    methods: tuple[str, ...]
    tests: tuple[str, ...]
    cells: tuple[Cell, ...]
    agreement: Mapping[tuple[str, str], Estimate]
    gaps: tuple[Gap, ...]
    examples: tuple[ExampleView, ...]
    costs: Mapping[str, Cost]
    accuracy: Estimate | None = None
    of_inputs: tuple[Cell, ...] = ()
    """Tests of the model and the input, whatever the explanation; their cells name no method."""

    def cell(self, method: str, test: str) -> Cell | None:
        """The headline cell of a method and a test."""
        return next((c for c in self.cells if c.method == method and c.test == test and c.headline), None)


def summarise(
    records: Iterable[Record],
    explanations: Iterable[Explanation],
    meta: Mapping[str, Any],
    evidence: Mapping[str, tuple[bool, ...]] | None = None,
) -> Summary:
    """Tables of one set of cases. ``meta`` holds what the run wrote: methods and tests with what they declare."""
    rows = list(records)
    facts: Mapping[str, Any] = meta.get("tests", {})
    methods = tuple(meta.get("methods", {}))
    tests = tuple(t for t, f in facts.items() if f.get("of") == "explanation")
    made = list(explanations)
    return Summary(
        meta,
        methods,
        tests,
        tuple(_cells(rows, methods, tests, facts)),
        _agreement(rows, facts),
        _gaps(rows),
        _views(made, rows, facts, evidence or {}),
        _costs(made),
        _accuracy(rows),
        tuple(_cells(rows, ("",), tuple(t for t, f in facts.items() if f.get("of") == "input"), facts)),
    )


# ------------------------------------------------------------------------------------------------ cells

Column = dict[str, dict[str, float]]


def _columns(rows: list[Record]) -> dict[tuple[str, str, str], dict[str, float]]:
    """(method, test, value name) -> example -> number; a record with no values is NaN, and so counted."""
    out: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    names: dict[str, set[str]] = defaultdict(set)
    for r in rows:
        names[r.test] |= set(r.values or ())
    for r in rows:
        if r.other or not r.example:
            continue
        for name in names[r.test]:
            out[r.method, r.test, name][r.example] = (r.values or {}).get(name, np.nan)
    return out


def _cells(
    rows: list[Record], methods: tuple[str, ...], tests: tuple[str, ...], facts: Mapping[str, Any]
) -> list[Cell]:
    columns = _columns(rows)
    cells: list[Cell] = []
    for test in tests:
        declared = facts[test]
        for method in methods:
            for (m, t, name), column in columns.items():
                if (m, t) == (method, test):
                    control = columns.get((CONTROL, test, name)) if method != CONTROL else None
                    cells.append(_cell(method, test, name, column, control, declared))
    return _corrected(cells)


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


def _agreement(rows: list[Record], facts: Mapping[str, Any]) -> dict[tuple[str, str], Estimate]:
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for r in rows:
        if r.other:
            headline = facts.get(r.test, {}).get("headline", "")
            found[r.method, r.other].append((r.values or {}).get(headline, np.nan))
    out: dict[tuple[str, str], Estimate] = {}
    for (a, b), values in found.items():
        out[a, b] = out[b, a] = stats.mean(np.array(values))
    return out


# -------------------------------------------------------------------------------------- gaps, views, costs


def _gaps(rows: list[Record]) -> tuple[Gap, ...]:
    counted: Counter[tuple[str, str, str]] = Counter()
    first: dict[tuple[str, str, str], str] = {}
    for r in rows:
        if r.values is None:
            key = (r.method, r.test, r.reason)
            counted[key] += 1
            first.setdefault(key, r.example)
    return tuple(Gap(*key, count, first[key]) for key, count in counted.most_common())


def _views(
    made: list[Explanation], rows: list[Record], facts: Mapping[str, Any], evidence: Mapping[str, tuple[bool, ...]]
) -> tuple[ExampleView, ...]:
    by_example: dict[str, list[Explanation]] = defaultdict(list)
    for e in made:
        by_example[e.example.id].append(e)
    values: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for r in rows:
        headline = facts.get(r.test, {}).get("headline", "")
        if r.values and headline in r.values and not r.other:
            values[r.example][r.method][r.test] = r.values[headline]
    return tuple(_view(group, values.get(name, {}), evidence.get(name, ())) for name, group in by_example.items())


def _view(group: list[Explanation], values: Mapping[str, Any], evidence: tuple[bool, ...]) -> ExampleView:
    first = group[0]
    labels = first.labels or tuple(str(i) for i in range(len(first.probabilities)))
    best = int(np.argmax(first.probabilities)) if first.probabilities else 0
    gold = first.example.gold
    free = [p for p, f in zip(first.x.places, first.x.free, strict=True) if f]
    return ExampleView(
        first.example.id,
        dict(first.example.fields),
        labels[gold] if isinstance(gold, int) and gold < len(labels) else "",
        labels[best] if labels else "",
        first.target_name,
        float(first.probabilities[best]) if first.probabilities else float("nan"),
        first.words,
        tuple((p.field, p.start, p.end) for p in free),
        {e.method: tuple(e.scores.tolist()) for e in group},
        evidence,
        {m: dict(t) for m, t in values.items()},
        first.x.cut,
    )


def _costs(made: list[Explanation]) -> dict[str, Cost]:
    out: dict[str, Cost] = defaultdict(Cost)
    for e in made:
        out[e.method] = out[e.method] + e.cost
    return dict(out)


def _accuracy(rows: list[Record]) -> Estimate | None:
    right = [r.values["correct"] for r in rows if r.test == "prediction" and r.values and "correct" in r.values]
    return stats.proportion(int(sum(right)), len(right)) if right else None
