"""Knows the report as plain values under the canonical names; a number that is none is null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np

from assay.grid import grid_of, home_advantage
from assay.report import grid, inputs
from assay.report.figures import side
from assay.summary import Cell, ExampleView, Summary
from assay.verdict import Verdict

FORMAT = 1
"""Grows when a name changes its meaning."""


def to_json(summary: Summary, verdicts: Sequence[Verdict], *, text: bool = True) -> dict[str, Any]:
    """Everything the report shows, ready for ``json.dumps(..., allow_nan=False)``."""
    pairs = [{"method": a, "other": b, "estimate": asdict(e)} for (a, b), e in summary.agreement.items()]
    found = grid_of(summary)
    out = {
        "format": FORMAT,
        "meta": summary.meta,
        "methods": summary.methods,
        "tests": summary.tests,
        "accuracy": asdict(summary.accuracy) if summary.accuracy else None,
        "verdicts": [asdict(v) for v in verdicts],
        "cells": [_cell(c) for c in summary.cells],
        "of_inputs": [_cell(c) for c in summary.of_inputs],
        "warnings": inputs.warnings(summary),
        "grid": grid.plain(found, home_advantage(found)),
        "agreement": pairs,
        "gaps": [asdict(g) for g in summary.gaps],
        "costs": {m: asdict(c) for m, c in summary.costs.items()},
        "examples": [_example(e, text) for e in summary.examples],
    }
    plain: dict[str, Any] = _plain(out)
    return plain


def _cell(cell: Cell) -> dict[str, Any]:
    return {**asdict(cell), "side": side(cell) or None}


def _example(e: ExampleView, text: bool) -> dict[str, Any]:
    words = {"fields": e.fields, "words": e.words, "places": e.places, "cut": e.cut, **_views(e)} if text else {}
    return {
        "id": e.id,
        "gold": e.gold,
        "predicted": e.predicted,
        "target": e.target,
        "confidence": e.confidence,
        **words,
        "scores": e.scores,
        "evidence": e.evidence,
        "values": e.values,
    }


def _views(e: ExampleView) -> dict[str, Any]:
    """What the example browser shows below the maps; what is not there is left out."""
    made = {
        "whole": e.whole._asdict() if e.whole else None,
        "removals": {m: [s._asdict() for s in of] for m, of in e.removals.items()},
        "fills": e.fills,
        "curves": {t: {m: c._asdict() for m, c in of.items()} for t, of in e.curves.items()},
        "highlights": e.highlights,
        "uncompared": e.uncompared,
    }
    return {name: view for name, view in made.items() if view}


def _plain(value: Any) -> Any:
    """Only dict, list, str, int, float, bool and None; NaN and infinity become None, sets become sorted lists."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(map(str, value))
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Sequence):
        return [_plain(v) for v in value]
    return str(value)
