"""Knows the report in one sentence, and which verdict is read first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.verdict import Verdict


def answer(verdicts: Sequence[Verdict]) -> str:
    """The report in one sentence: how many methods came to which level.

    >>> answer([])
    'No method was judged.'
    """
    judged = Counter(v.level for v in ranked(verdicts) if v.level != "control")
    total, good = sum(judged.values()), judged["supported"]
    if not total:
        return "No method was judged."
    if total == 1:
        return f"The one method that was judged came out as: {next(iter(judged.elements()))}."
    head = f"{good or 'None'} of {total} methods {'is' if good <= 1 else 'are'} supported by the tests"
    return "; ".join([head, *(f"{n} {level}" for level, n in judged.items() if level != "supported")]) + "."


def ranked(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Best level first, controls last; otherwise in the order given."""
    order = {
        level: i for i, level in enumerate(("supported", "mixed", "not supported", "worse than random", "untested"))
    }
    return sorted(verdicts, key=lambda v: order.get(v.level, len(order)))
