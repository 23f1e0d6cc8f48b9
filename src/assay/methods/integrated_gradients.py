"""Knows how to integrate a gradient along the straight line from nothing to the input, and how far off it is."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from assay.ask import value
from assay.methods.gradient import convention
from assay.registry import method
from assay.types import Asking, BadInput, Edit, Floats, Input, Output, Probe, Reading, Target

Rule = Literal["gauss-legendre", "left", "trapezoid", "midpoint"]


@method(
    "integrated-gradients",
    family="gradient",
    needs={"dot", "scale"},
    paper="Sundararajan et al. 2017, Axiomatic attribution for deep networks",
)
def integrated_gradients(
    x: Input,
    target: Target,
    *,
    steps: int = 50,
    rule: Rule = "gauss-legendre",
    base: Literal["zero", "pad", "mask", "unk"] = "zero",
    output: Output = "logodds",
    signed: bool = True,
    normalise: bool = False,
) -> Asking:
    """Gradient averaged on the line from a base to the input, times (input - base): scores that add up.

    a_i = (e_i - b_i) . integral_0^1 grad_{e_i} f(b + alpha (e - b)) d alpha, over looked-up embeddings; position and
    type embeddings stay. High: the word supports the target; below zero: it speaks against it.
    Complete: the scores of all features, special tokens included, sum to f(x) - f(base). How far the sum is off is
    noted as ``completeness_error``: with a large one, take more ``steps``. ``steps`` + 2 rows. Wang et al. 2020:
    rule left, 10 steps (5 in their code), output loss, signed=false, normalise=true.
    Fails where the line leaves what the model was trained on, and depends on the base. Complete and linear
    methods may be no better than chance for questions of local behaviour (Bilodeau et al. 2024).

    >>> from assay.api import explain
    >>> from assay.models.additive import Additive
    >>> toy = Additive(weights={"good": 2.0, "dull": -1.0})
    >>> found = explain("good but dull", model=toy, method="integrated-gradients", target=1)
    >>> found.scores.round(4).tolist(), round(found.notes["difference"], 4)
    ([2.0, 0.0, -1.0], 1.0)
    """
    nodes, weights = quadrature(rule, steps)
    how: tuple[tuple[str, Any], ...] = (("base", base),) if base != "zero" else ()
    scale = np.concatenate([[0.0, 1.0], nodes])
    edit = Edit.none(x, len(scale))
    reading: Reading = yield Probe(x, edit, frozenset({"dot"}), target, output, scale=scale, how=how)
    scores: Floats = weights @ np.asarray(reading["dot"][2:], dtype=np.float64)
    ends = value(reading, target, output)[:2]
    total = float(ends[1] - ends[0])
    notes = {"difference": total, "completeness_error": abs(float(scores.sum()) - total)}
    return convention(scores, signed, normalise), notes


def quadrature(rule: Rule, steps: int) -> tuple[Floats, Floats]:
    """Points in [0, 1] and their weights, which sum to one.

    >>> [a.tolist() for a in quadrature("left", 2)], [a.tolist() for a in quadrature("trapezoid", 3)]
    ([[0.0, 0.5], [0.5, 0.5]], [[0.0, 0.5, 1.0], [0.25, 0.5, 0.25]])
    """
    least = 2 if rule == "trapezoid" else 1
    if steps < least:
        raise BadInput(f"integrated-gradients: rule {rule} needs steps of at least {least}, got {steps}")
    if rule == "gauss-legendre":
        points, weights = np.polynomial.legendre.leggauss(steps)
        return (points + 1) / 2, weights / 2
    if rule == "trapezoid":
        weights = np.full(steps, 1 / (steps - 1))
        weights[[0, -1]] /= 2
        return np.linspace(0, 1, steps), weights
    first = 0.0 if rule == "left" else 0.5
    return (np.arange(steps) + first) / steps, np.full(steps, 1 / steps)
