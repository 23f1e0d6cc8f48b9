"""Knows which examples a page carries: all that fit a budget of bytes, their views as far as there is room left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from assay.report.figures import significant
from assay.report.packing import pack_scores, reading_order, safe_json
from assay.report.views import pack_views
from assay.summary import CONTROL, ExampleView, Summary

BUDGET = 4_200_000
"""Bytes of example data that a page may carry; what does not fit is said on the page."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """Example data as text that is safe inside a script element; how many examples it holds, how many with views."""

    text: str
    shown: int
    total: int
    detailed: int


def embed(summary: Summary, *, text: bool = True, budget: int = BUDGET) -> Embedded:
    """The first examples that fit the budget (they come in hashed order: a fair sample), then their views."""
    parts, left = _fitting((safe_json(pack(e, summary.methods, text=text)) for e in summary.examples), budget)
    held = summary.examples[: len(parts)] if text else ()
    views, _ = _fitting((safe_json(pack_views(e, summary.methods)) for e in held), left - 9 * len(parts))
    for i, view in enumerate(views):
        parts[i] = f'{parts[i][:-1]},"views":{view}}}'
    told = {"methods": summary.methods, "tests": _directions(summary), "text": text, "detailed": len(views)}
    body = f'{safe_json(told)[:-1]},"examples":[{",".join(parts)}]}}'
    return Embedded(body, len(parts), len(summary.examples), len(views) if text else len(parts))


def _fitting(parts: Iterable[str], budget: int) -> tuple[list[str], int]:
    """The first parts that fit, and what is left of the budget."""
    out: list[str] = []
    for part in parts:
        size = len(part.encode("utf-8", "replace")) + 1
        if size > budget:
            break
        budget -= size
        out.append(part)
    return out, budget


def _directions(summary: Summary) -> dict[str, str]:
    declared: Mapping[str, Any] = summary.meta.get("tests") or {}
    return {t: str((declared.get(t) or {}).get("better") or "") for t in summary.tests}


def pack(e: ExampleView, methods: Sequence[str], *, text: bool = True) -> dict[str, Any]:
    """One example for the browser. Without text no word, no field and no length of a word leaves the run."""
    order = reading_order(e)
    marked = [bool(e.evidence[i]) for i in order] if e.evidence else []
    return {
        "id": e.id,
        "gold": e.gold,
        "predicted": e.predicted,
        "target": e.target,
        "confidence": significant(e.confidence) if isfinite(e.confidence) else None,
        "fields": fields(e) if text else [["", ["", *(s for i in range(len(e.words)) for s in (str(i + 1), " "))], ""]],
        "scores": [pack_scores([e.scores[m][i] for i in order]) if m in e.scores else None for m in methods],
        "evidence": [i for i, is_marked in enumerate(marked) if is_marked],
        "values": {m: {t: significant(v) for t, v in of.items() if isfinite(v)} for m, of in e.values.items()},
        "disagreement": disagreement(e),
        "cut": e.cut if text else ("something was cut" if e.cut else ""),
    }


def fields(e: ExampleView) -> list[list[Any]]:
    """[name, [before, word, between, word, ..., after], what the model did not read] per field.

    Every second piece is a scored word.
    """
    out: list[list[Any]] = []
    for name, whole in e.fields.items():
        pieces, at = [], 0
        for i in reading_order(e):
            field, start, end = e.places[i]
            if field == name:
                pieces += [whole[at:start] if start > at else "", e.words[i]]
                at = max(at, end)
        end = max(at, e.ends.get(name, len(whole)))
        end = end if whole[end:].strip() else len(whole)
        out.append([name, [*pieces, whole[at:end]], whole[end:]])
    return out


def disagreement(e: ExampleView) -> float | None:
    """One minus the mean rank correlation (Spearman) of each two maps, the control left out; None for fewer than two.

    0: all methods order the words alike, 1: unrelated, towards 2: reversed. A constant map has no order: left out.
    """
    from scipy.stats import rankdata

    maps = np.array([s for m, s in e.scores.items() if m.split("(")[0] != CONTROL], dtype=np.float64)
    if maps.ndim != 2 or len(maps) < 2:
        return None
    ranks = rankdata(maps[:, np.isfinite(maps).all(axis=0)], axis=1)
    ranks = ranks[ranks.std(axis=1) > 0] if ranks.shape[1] > 1 else ranks[:0]
    if len(ranks) < 2:
        return None
    r = np.corrcoef(ranks)
    return round(1.0 - float(r[np.triu_indices(len(r), 1)].mean()), 3)
