"""Knows how fast the prediction falls when the highest-scored words go first."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from assay.ask import score
from assay.measures.ranking import complete, without_top
from assay.registry import test
from assay.types import Asking, BadInput, Floats, Input, Output, Removal, Target


@test(
    "deletion",
    of="explanation",
    asks="faithfulness",
    headline="auc",
    better="lower",
    claim="Taking away the words with the highest scores makes the prediction fall fast.",
    view="curve",
    bounds=(0.0, 1.0),
    paper="Petsiuk et al. 2018, RISE; Pham et al. 2022, Double trouble",
)
def deletion(
    x: Input,
    target: Target,
    scores: Floats,
    *,
    removal: Removal = "delete",
    output: Output = "prob",
    steps: int = 50,
    until: float = 1.0,
) -> Asking:
    """Area under the target's probability while words are taken away, highest signed score first.

    ``auc`` = mean height of the trapezoids over f(x), f(x without the top word), ... until a share ``until`` of the
    words is gone (one word at a time, at most ``steps`` points). ``auc_paper`` follows Pham et al. 2022: the first
    m = max(2, ceil(0.2 (n - 1))) deletions, the untouched point left out, x = 1/m ... 1, so its ceiling is 1 - 1/m
    (a text of one word has nothing left for the second deletion: the last value is repeated).
    Low: the map finds what the prediction rests on. Compare methods on the same examples only. Short and cut-up texts
    are out of distribution (Hase et al. 2021), and a method that removes words in the same way is favoured.

    Detail for the view: ``x`` (share of words gone), ``y`` (score there), ``paper`` (points of ``auc_paper``).

    >>> from assay.engine import Engine
    >>> from assay.models.additive import Additive
    >>> from assay.registry import bind
    >>> from assay.types import Example
    >>> toy = Additive(weights={"good": 2.0})
    >>> x = toy.read(Example("1", {"text": "good film"}))
    >>> values, _ = Engine(toy).ask(bind("tests", "deletion")(x, Target((1,)), np.array([2.0, 0.0])))
    >>> {name: round(v, 4) for name, v in values.items()}
    {'auc': 0.5952, 'auc_paper': 0.25}
    """
    scores = complete(x, scores)
    n, m = x.size, paper_steps(x.size)
    counts = grid(n, steps, until)
    paper = np.minimum(np.arange(1, m + 1), n)
    f = yield from score(x, target, output, without_top(scores, np.concatenate([counts, paper])), removal)
    curve, tail = f[: len(counts)], f[len(counts) :]
    values = {"auc": area(counts / counts[-1], curve), "auc_paper": area(np.arange(1, m + 1) / m, tail)}
    return values, {"x": (counts / n).tolist(), "y": curve.tolist(), "paper": tail.tolist()}


def paper_steps(n: int) -> int:
    """How many words Pham et al. 2022 delete from a text of n: ceil(0.2 (n - 1)), at least two.

    >>> [paper_steps(n) for n in (1, 11, 12, 20)]
    [2, 2, 3, 4]
    """
    return max(2, math.ceil(round(0.2 * (n - 1), 9)))


def grid(n: int, steps: int, until: float) -> NDArray[np.int64]:
    """Numbers of words gone: 0 ... until * n, every number where there are no more than ``steps``.

    >>> grid(4, 50, 1.0).tolist(), grid(100, 4, 0.2).tolist(), grid(3, 1, 1.0).tolist()
    ([0, 1, 2, 3, 4], [0, 5, 10, 15, 20], [0, 3])
    """
    if steps < 1 or not 0.0 < until <= 1.0:
        raise BadInput(f"a curve needs steps of at least 1 and until in (0, 1], got steps={steps}, until={until}")
    last = max(1, math.ceil(round(until * n, 9)))
    return np.unique(np.linspace(0, last, min(last, steps) + 1).round().astype(np.int64))


def area(x: Floats, y: Floats) -> float:
    """Trapezoids under the points.

    >>> area(np.array([0.5, 1.0]), np.array([0.75, 0.25]))
    0.25
    """
    return float(((y[1:] + y[:-1]) / 2 * np.diff(x)).sum())
