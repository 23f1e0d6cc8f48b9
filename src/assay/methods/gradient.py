"""Knows how to score a word by the gradient of the model's output at its embedding."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from assay.ask import Scores
from assay.registry import method
from assay.types import Edit, Floats, Input, Output, Probe, Reading, Target


@method(
    "gradient",
    family="gradient",
    needs={"dot"},
    paper="Simonyan et al. 2014, Deep inside convolutional networks; Denil et al. 2014",
)
def gradient(
    x: Input,
    target: Target,
    *,
    output: Output = "logodds",
    reduce: Literal["dot", "l2"] = "dot",
    signed: bool = True,
    hold: bool = False,
    normalise: bool = False,
) -> Scores:
    """Gradient times input: how the output would change, to first order, if the word's embedding went to zero.

    a_i = grad_{e_i} f(x) . e_i (``reduce="dot"``), or ||grad_{e_i} f(x)||_2 (``reduce="l2"``, never negative), with f
    the ``output`` at the target and e_i the looked-up embeddings of the word, summed over its pieces.
    High: the word supports the target; below zero: it speaks against it (with ``signed``). Special tokens have scores.
    ``hold`` keeps attention constant. One row. Four conventions go by this name: Feng et al. 2018 = output loss;
    Wang et al. 2020 = output loss, signed=false, normalise=true; AllenNLP's reduction = output loss, reduce l2;
    Jain & Wallace 2019 = output prob, signed=false, hold=true.
    Fails where the output is flat (use logodds or logit rather than prob) or has been made to point elsewhere on
    purpose (Wang et al. 2020): a large gradient need not mean a large effect.

    >>> from assay.api import explain
    >>> from assay.models.additive import Additive
    >>> toy = Additive(weights={"good": 2.0, "dull": -1.0})
    >>> explain("good but dull", model=toy, method="gradient", target=1).scores.round(4).tolist()
    [2.0, 0.0, -1.0]
    """
    want = "dot" if reduce == "dot" else "norm"
    how: tuple[tuple[str, Any], ...] = (("hold", True),) if hold else ()
    reading: Reading = yield Probe(x, Edit.none(x), frozenset({want}), target, output, how=how)
    return convention(reading[want][0], signed, normalise)


def convention(scores: Floats, signed: bool, normalise: bool) -> Floats:
    """Scores as a paper prints them: without their sign, or divided by the sum of their sizes (all features count).

    >>> convention(np.array([3.0, -1.0]), signed=False, normalise=True).tolist()
    [0.75, 0.25]
    """
    out = np.asarray(scores, dtype=np.float64)
    out = out if signed else np.abs(out)
    total = float(np.abs(out).sum())
    return out / total if normalise and total > 0 else out
