"""Knows how much of the prediction is lost with the highest-scored words."""

from __future__ import annotations

from typing import Literal

from assay.measures.bins import graded, walk_of
from assay.registry import test
from assay.types import Asking, Floats, Input, Output, Removal, Target


@test(
    "comprehensiveness",
    of="explanation",
    asks="faithfulness",
    headline="aopc",
    better="higher",
    claim="Without the words with the highest scores the prediction is lost.",
    view="curve",
    bounds=(-1.0, 1.0),
    paper="DeYoung et al. 2020, ERASER; Edin et al. 2024, Normalized AOPC",
)
def comprehensiveness(
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
    """Mean fall of the target's probability when the top 1, 5, 10, 20, 50 % of the words are taken away.

    ``aopc`` = mean_k f(x) - f(x without the top k), at least one word each (DeYoung et al. write 1/(bins + 1) with an
    empty first bin; their code takes the mean, as here). High: the map names what the prediction rests on; below zero:
    it names words that held it back. ``naopc`` puts it between the lowest (0) and the highest (1) value that any order
    of the words reaches on this input, because those limits differ by model and input: use it to compare models. The
    limits are exact for up to 10 words, else found by beam search of ``width`` while that takes no more than
    ``budget`` rows; they are the same for every method, so they cost once per example. No ``naopc`` where all orders
    are equal or the text is too long; ``limits=none`` does without. Cut-up texts are out of distribution.

    Detail for the view: ``x`` (share of words gone), ``y`` (fall there), ``limits`` and how they were found.

    >>> import numpy as np
    >>> from assay.engine import Engine
    >>> from assay.models.additive import Additive
    >>> from assay.registry import bind
    >>> from assay.types import Example
    >>> toy = Additive(weights={"good": 2.0})
    >>> x = toy.read(Example("1", {"text": "good film"}))
    >>> values, _ = Engine(toy).ask(bind("tests", "comprehensiveness")(x, Target((1,)), np.array([2.0, 0.0])))
    >>> {name: round(v, 4) for name, v in values.items()}
    {'aopc': 0.3808, 'naopc': 1.0}
    """
    walk = walk_of(x, target, output, removal, kept=False)
    return (yield from graded(walk, scores, limits == "auto", width, budget))
