"""Knows how much of the prediction the highest-scored words give alone."""

from __future__ import annotations

from typing import Literal

from assay.measures.bins import graded, walk_of
from assay.registry import test
from assay.types import Asking, Floats, Input, Output, Removal, Target


@test(
    "sufficiency",
    of="explanation",
    asks="faithfulness",
    headline="aopc",
    better="lower",
    claim="The words with the highest scores alone give the prediction.",
    view="curve",
    bounds=(-1.0, 1.0),
    paper="DeYoung et al. 2020, ERASER; Edin et al. 2024, Normalized AOPC",
)
def sufficiency(
    x: Input,
    target: Target,
    scores: Floats,
    *,
    removal: Removal = "delete",
    output: Output = "prob",
    limits: Literal["auto", "none"] = "auto",
    width: int = 3,
    budget: int = 3000,
) -> Asking:
    """Mean fall of the target's probability when only the top 1, 5, 10, 20, 50 % of the words are kept.

    ``aopc`` = mean_k f(x) - f(top k alone), at least one word each. It is a loss, so LOW is good: 0 says that the top
    words alone give the whole prediction, below zero that they give it more surely than the full text. ``naopc``
    keeps that direction: 0 is the best that any order of the words reaches on this input, 1 the worst (limits as in
    ``comprehensiveness``: exact for up to 10 words, else by beam search of ``width`` within ``budget`` rows, the same
    for every method). A model that is sure of any fragment makes every map look sufficient (Feng et al. 2018):
    read it beside the random control.

    Detail for the view: ``x`` (share of words kept), ``y`` (fall there), ``limits`` and how they were found.

    >>> import numpy as np
    >>> from assay.engine import Engine
    >>> from assay.models.additive import Additive
    >>> from assay.registry import bind
    >>> from assay.types import Example
    >>> toy = Additive(weights={"good": 2.0})
    >>> x = toy.read(Example("1", {"text": "good film"}))
    >>> values, _ = Engine(toy).ask(bind("tests", "sufficiency")(x, Target((1,)), np.array([2.0, 0.0])))
    >>> {name: round(v, 4) for name, v in values.items()}
    {'aopc': 0.0, 'naopc': 0.0}
    """
    walk = walk_of(x, target, output, removal, kept=True)
    return (yield from graded(walk, scores, limits == "auto", width, budget))
