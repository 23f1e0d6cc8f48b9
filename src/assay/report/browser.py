"""Knows how examples travel inside the page: compact JSON that no text can break out of."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10
from typing import Any

import numpy as np

from assay.heat import largest
from assay.report.figures import significant
from assay.summary import CONTROL, ExampleView, Summary

BUDGET = 4_200_000
"""Bytes of example data that a page may carry; what does not fit is said on the page."""
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Embedded:
    """Example data as text that is safe inside a script element, and how many examples it holds."""

    text: str
    shown: int
    total: int


def embed(summary: Summary, *, text: bool = True, budget: int = BUDGET) -> Embedded:
    """The first examples that fit the budget (they come in hashed order: a fair sample)."""
    parts: list[str] = []
    left = budget
    for e in summary.examples:
        part = safe_json(pack(e, summary.methods, text=text))
        left -= len(part.encode("utf-8", "replace")) + 1
        if left < 0:
            break
        parts.append(part)
    head = safe_json({"methods": summary.methods, "tests": _directions(summary), "text": text})
    body = f'{head[:-1]},"examples":[{",".join(parts)}]}}'
    return Embedded(body, len(parts), len(summary.examples))


def _directions(summary: Summary) -> dict[str, str]:
    declared: Mapping[str, Any] = summary.meta.get("tests") or {}
    return {t: str((declared.get(t) or {}).get("better") or "") for t in summary.tests}


def safe_json(value: Any) -> str:
    """JSON in which ``<``, ``>``, ``&``, line separators and lone surrogates are escaped; NaN must not occur.

    >>> safe_json("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign, escaped in _UNSAFE.items():
        text = text.replace(sign, escaped)
    return _LONE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


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
        "fields": fields(e) if text else [["", ["", *(s for i in range(len(e.words)) for s in (str(i + 1), " "))]]],
        "scores": [pack_scores([e.scores[m][i] for i in order]) if m in e.scores else None for m in methods],
        "evidence": [i for i, is_marked in enumerate(marked) if is_marked],
        "values": {m: {t: significant(v) for t, v in of.items() if isfinite(v)} for m, of in e.values.items()},
        "disagreement": disagreement(e),
        "cut": e.cut if text else ("something was cut" if e.cut else ""),
    }


def reading_order(e: ExampleView) -> list[int]:
    """Words field after field: the order in which the page meets them."""
    names = list(e.fields)
    return sorted(range(len(e.words)), key=lambda i: (names.index(e.places[i][0]), e.places[i][1]))


def fields(e: ExampleView) -> list[list[Any]]:
    """[name, [before, word, between, word, ..., after]] per field: every second piece is a scored word."""
    out: list[list[Any]] = []
    for name, whole in e.fields.items():
        pieces, at = [], 0
        for i in reading_order(e):
            field, start, end = e.places[i]
            if field == name:
                pieces += [whole[at:start] if start > at else "", e.words[i]]
                at = max(at, end)
        out.append([name, [*pieces, whole[at:]]])
    return out


def pack_scores(scores: Sequence[float]) -> list[int | None]:
    """[exponent, whole numbers ...]: score = number * 10 ** exponent, four digits for the map's largest score.

    >>> pack_scores([0.12345, -0.5, float("nan"), 0.0])
    [-4, 1234, -5000, None, 0]
    """
    top = largest(scores)
    exponent = floor(log10(top)) - 3 if top > 0 else 0
    return [exponent, *(round(s * 10.0**-exponent) if isfinite(s) else None for s in scores)]


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
