"""Explanations and details of records -> what a report shows of one example; nothing is computed anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.summary.shapes import Curve, ExampleView, Said
from assay.types import Explanation, Input, Record, Target, target_name

COMPARED = ("iou", "precision", "recall")
"""Values of a test of people's marks, whose detail tells the marks that it counted."""


def views(
    made: Sequence[Explanation], rows: Sequence[Record], facts: Mapping[str, Any], evidence: Mapping[str, Any]
) -> tuple[ExampleView, ...]:
    """One view per explained example, in the order in which they come."""
    explained: dict[str, list[Explanation]] = defaultdict(list)
    for e in made:
        explained[e.example.id].append(e)
    recorded: dict[str, list[Record]] = defaultdict(list)
    for r in rows:
        if r.example and not r.other:
            recorded[r.example].append(r)
    return tuple(_view(group, recorded[i], facts, evidence.get(i, ())) for i, group in explained.items())


def _view(
    group: Sequence[Explanation], rows: Sequence[Record], facts: Mapping[str, Any], evidence: tuple[bool, ...]
) -> ExampleView:
    first = group[0]
    labels = first.labels or tuple(str(i) for i in range(len(first.probabilities)))
    best = int(np.argmax(first.probabilities)) if first.probabilities else 0
    gold = first.example.gold
    free = [p for p, f in zip(first.x.places, first.x.free, strict=True) if f]
    compared = {r.method: r for r in rows if _of_marks(r)}
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
        next((tuple(r.detail["evidence"]) for r in compared.values() if r.detail), evidence),
        _headlines(rows, facts),
        first.x.cut,
        _ends(first.x) if first.x.cut else {},
        next((_said(e, e.notes["whole"]) for e in group if "whole" in e.notes), None),
        {e.method: _removals(e) for e in group if {"choice", "confidence"} <= set(e.notes)},
        {e.method: _fills(e) for e in group if "fills" in e.notes},
        _curves(rows, facts),
        {m: {k: float((r.values or {})[k]) for k in COMPARED} for m, r in compared.items()},
        "" if compared else _uncompared(rows, facts),
    )


# --------------------------------------------------------------------------------------- from records


def _headlines(rows: Sequence[Record], facts: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """method -> {test: headline value}."""
    out: dict[str, dict[str, float]] = defaultdict(dict)
    for r in rows:
        headline = facts.get(r.test, {}).get("headline", "")
        if r.values and headline in r.values:
            out[r.method][r.test] = r.values[headline]
    return dict(out)


def _curves(rows: Sequence[Record], facts: Mapping[str, Any]) -> dict[str, dict[str, Curve]]:
    """Of the tests that say their detail is a curve."""
    out: dict[str, dict[str, Curve]] = defaultdict(dict)
    for r in rows:
        if r.detail and facts.get(r.test, {}).get("view") == "curve" and {"x", "y"} <= set(r.detail):
            out[r.test][r.method] = Curve(tuple(r.detail["x"]), tuple(r.detail["y"]))
    return dict(out)


def _of_marks(r: Record) -> bool:
    return bool(r.values and r.detail and "evidence" in r.detail and set(COMPARED) <= set(r.values))


def _uncompared(rows: Sequence[Record], facts: Mapping[str, Any]) -> str:
    """The reason that a test of plausibility gave for leaving the example out."""
    asked = (r for r in rows if facts.get(r.test, {}).get("asks") == "plausibility" and r.method)
    return next((r.reason for r in asked if r.values is None), "")


# ------------------------------------------------------------------------------------ from explanations


def _ends(x: Input) -> dict[str, int]:
    """Where the last word that was read ends, for every field."""
    return {name: max((p.end for p in x.places if p.field == name), default=0) for name in x.example.fields}


def _said(e: Explanation, told: Mapping[str, Any]) -> Said:
    choice = told["choice"]
    index = tuple(choice) if isinstance(choice, list | tuple) else (int(choice),)
    return Said(target_name(Target(index), e.labels), float(told["confidence"]))


def _removals(e: Explanation) -> tuple[Said, ...]:
    pairs = zip(e.notes["choice"], e.notes["confidence"], strict=True)
    return tuple(_said(e, {"choice": c, "confidence": p}) for c, p in pairs)


def _fills(e: Explanation) -> tuple[tuple[tuple[str, float], ...], ...]:
    return tuple(tuple((str(word), float(p)) for word, p in fills) for fills in e.notes["fills"])
