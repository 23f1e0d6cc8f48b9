"""Records and explanations -> one Summary; what could not be computed is counted with its reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from assay import stats
from assay.summary.cells import agreement, cells
from assay.summary.shapes import Gap, Summary
from assay.summary.views import views
from assay.types import Cost, Estimate, Explanation, Record


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
        tuple(cells(rows, methods, tests, facts)),
        agreement(rows, facts),
        _gaps(rows),
        views(made, rows, facts, evidence or {}),
        _costs(made),
        _accuracy(rows),
        tuple(cells(rows, ("",), tuple(t for t, f in facts.items() if f.get("of") == "input"), facts)),
    )


def _gaps(rows: list[Record]) -> tuple[Gap, ...]:
    counted: Counter[tuple[str, str, str]] = Counter()
    first: dict[tuple[str, str, str], str] = {}
    for r in rows:
        if r.values is None:
            key = (r.method, r.test, r.reason)
            counted[key] += 1
            first.setdefault(key, r.example)
    return tuple(Gap(*key, count, first[key]) for key, count in counted.most_common())


def _costs(made: list[Explanation]) -> dict[str, Cost]:
    out: dict[str, Cost] = defaultdict(Cost)
    for e in made:
        out[e.method] = out[e.method] + e.cost
    return dict(out)


def _accuracy(rows: list[Record]) -> Estimate | None:
    right = [r.values["correct"] for r in rows if r.test == "prediction" and r.values and "correct" in r.values]
    return stats.proportion(int(sum(right)), len(right)) if right else None
