"""Knows the crossing of two methods under two operators: who wins depends on how words are taken away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from assay.grid.tables import Table, difference, flipped, gap, kinds, numbers, table_of
from assay.types import BadInput, Estimate, Finding, Record


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two methods under two operators; every difference is turned so that above zero is as the claim says."""

    kind: str
    a: str
    b: str
    operator_a: str
    operator_b: str
    under_a: Estimate
    """a - b under ``operator_a``."""
    under_b: Estimate
    """b - a under ``operator_b``."""
    interaction: Estimate
    """Their sum per example."""
    p: float | None
    """Of the interaction, by sign flips."""

    @property
    def holds(self) -> Literal["yes", "no", "undecided"]:
        """``yes``: both differences above zero; ``no``: one of them below; else ``undecided``."""
        sides = [(e.low, e.high) for e in (self.under_a, self.under_b)]
        if any(high is not None and high < 0 for _, high in sides):
            return "no"
        return "yes" if all(low is not None and low > 0 for low, _ in sides) else "undecided"

    def finding(self, published: str = "") -> Finding:
        """The claim in words with the interaction as our number."""
        by = f"{self.kind} by"
        claim = f"{self.a} is better under {by} {self.operator_a}, {self.b} under {by} {self.operator_b}"
        p = "" if self.p is None else f", p = {self.p:.3g}"
        why = (
            f"{self.a} ahead by {self.under_a} under {self.operator_a}, {self.b} ahead by {self.under_b} under "
            f"{self.operator_b}; interaction {self.interaction}{p}, paired over {self.interaction.n} examples"
        )
        return Finding(claim, self.interaction, published, self.holds, why, self.kind)


def crossing(
    records: Iterable[Record],
    meta: Mapping[str, Any],
    a: str,
    b: str,
    operator_a: str,
    operator_b: str,
    *,
    kind: str | None = None,
) -> Crossing:
    """Is method a better under its operator and b under its own (Pham 2022, table 1)?

    With v as in ``home_advantage``, over the examples that have all four numbers:

        under_a = v(a, operator_a) - v(b, operator_a),  under_b = v(b, operator_b) - v(a, operator_b),
        interaction = under_a + under_b

    Both above zero: who wins depends on how words are taken away. Only the interaction above zero: the operators
    favour their own, yet one method wins under both. ``kind`` may be left out when one kind of test has both operators.
    """
    table = _four(records, meta, (a, b), (operator_a, operator_b), kind)
    first = gap(table, [a], [b], operator_a)
    second = gap(table, [b], [a], operator_b)
    one, two, both = (difference(v, table.skipped) for v in (first, second, first + second))
    return Crossing(table.kind, a, b, operator_a, operator_b, one, two, both, flipped(first + second))


def _four(
    records: Iterable[Record],
    meta: Mapping[str, Any],
    methods: tuple[str, str],
    operators: tuple[str, str],
    kind: str | None,
) -> Table:
    """The table of two methods and two operators."""
    known = tuple(meta.get("methods", {}))
    for name in methods:
        if name not in known:
            raise BadInput(f"the run has no method '{name}'; it has: {', '.join(known)}")
    found = {k: t for k, t in kinds(meta).items() if kind in (None, k) and set(operators) <= set(t)}
    if len(found) != 1:
        have = "; ".join(f"{k} by {', '.join(t)}" for k, t in kinds(meta).items()) or "no test that takes words away"
        wanted = f"{'one kind of test' if kind is None else kind} by both {' and '.join(operators)}"
        raise BadInput(f"a crossing needs {wanted}, and the run has {have}; name it with kind=...")
    ((name, tests),) = found.items()
    columns, seen = numbers(records, meta)
    table = table_of(name, {o: tests[o] for o in operators}, columns, meta, methods, seen, fewest=0.0)
    if table.left_out:
        raise BadInput(f"no crossing: {'; '.join(f'{k}: {v}' for k, v in table.left_out.items())}")
    return table
