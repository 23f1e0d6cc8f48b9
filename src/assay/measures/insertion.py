"""Knows how fast the prediction returns when the highest-scored words come back first."""

from __future__ import annotations

from assay.ask import score
from assay.measures.deletion import area, grid
from assay.measures.ranking import complete, without_top
from assay.registry import test
from assay.types import Asking, Floats, Input, Output, Removal, Target


@test(
    "insertion",
    of="explanation",
    asks="faithfulness",
    headline="auc",
    better="higher",
    claim="The words with the highest scores alone bring the prediction back.",
    view="curve",
    bounds=(0.0, 1.0),
    paper="Petsiuk et al. 2018, RISE",
)
def insertion(
    x: Input,
    target: Target,
    scores: Floats,
    *,
    removal: Removal = "delete",
    output: Output = "prob",
    steps: int = 50,
    until: float = 1.0,
) -> Asking:
    """Area under the target's probability while words come back to an empty text, highest signed score first.

    ``auc`` = mean height of the trapezoids over f(no words), f(top word), f(top two) ... until a share ``until`` of
    the words is there (one at a time, at most ``steps`` points). High: a few words of the map suffice for the
    prediction. What the model says of an empty text is its prior, so the curve of a likely class starts high:
    compare methods on the same examples only. Fragments are out of distribution (Hase et al. 2021), and a method that
    removes words in the same way is favoured (Pham et al. 2022).

    Detail for the view: ``x`` (share of words there), ``y`` (score there).

    >>> import numpy as np
    >>> from assay.engine import Engine
    >>> from assay.models.additive import Additive
    >>> from assay.registry import bind
    >>> from assay.types import Example
    >>> toy = Additive(weights={"good": 2.0})
    >>> x = toy.read(Example("1", {"text": "good film"}))
    >>> values, _ = Engine(toy).ask(bind("tests", "insertion")(x, Target((1,)), np.array([2.0, 0.0])))
    >>> {name: round(v, 4) for name, v in values.items()}
    {'auc': 0.7856}
    """
    scores = complete(x, scores)
    counts = grid(x.size, steps, until)
    f = yield from score(x, target, output, ~without_top(scores, counts), removal)
    return {"auc": area(counts / counts[-1], f)}, {"x": (counts / x.size).tolist(), "y": f.tolist()}
