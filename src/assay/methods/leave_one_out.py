"""Knows how to score a word by what the model loses without it."""

from __future__ import annotations

from assay.ask import Scores, all_then_each_left_out, score
from assay.registry import method
from assay.types import Floats, Input, Output, Removal, Target


@method(
    "leave-one-out",
    family="removal",
    paper="Li et al. 2016, Understanding neural networks through representation erasure",
)
def leave_one_out(x: Input, target: Target, *, removal: Removal = "delete", output: Output = "logodds") -> Scores:
    """Fall of the score when one word is taken away.

    a_i = f(x) - f(x without i), with f the ``output`` at the target (natural logarithm; Pham et al. 2022 use base 2).
    High: the model needs the word; below zero: the word speaks against the target. Costs one row per word.
    Fails where two words say the same: each alone can go, so both score near zero. What is measured depends on
    the operator, and a test that removes words in the same way favours this method (Pham et al. 2022).

    >>> from assay.api import explain
    >>> from assay.models.additive import Additive
    >>> toy = Additive(weights={"good": 2.0, "dull": -1.0})
    >>> explain("good but dull", model=toy, method="leave-one-out", target=1).scores.round(4).tolist()
    [2.0, 0.0, -1.0]
    """
    f = yield from score(x, target, output, all_then_each_left_out(x), removal)
    fall: Floats = f[0] - f[1:]
    return fall
