"""Knows how to score a word by what the model loses without it."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from assay.ask import all_then_each_left_out, outcomes, value
from assay.registry import method
from assay.types import Floats, Input, Output, Reading, Removal, Target


@method(
    "leave-one-out",
    family="removal",
    paper="Li et al. 2016, Understanding neural networks through representation erasure",
)
def leave_one_out(
    x: Input, target: Target, *, removal: Removal = "delete", output: Output = "logodds"
) -> Generator[Any, Any, tuple[Floats, dict[str, Any]]]:
    """Fall of the score when one word is taken away.

    a_i = f(x) - f(x without i), with f the ``output`` at the target (natural logarithm; Pham et al. 2022 use base 2).
    High: the model needs the word; below zero: the word speaks against the target. Costs one row per word.
    Fails where two words say the same: each alone can go, so both score near zero. What is measured depends on
    the operator, and a test that removes words in the same way favours this method (Pham et al. 2022).

    Notes: what the model says without each word, ``choice`` (index of the class; one per head where there are several)
    and ``confidence`` (its probability), and in ``whole`` both for the untouched text.

    >>> from assay.api import explain
    >>> from assay.models.additive import Additive
    >>> toy = Additive(weights={"good": 2.0, "dull": -1.0})
    >>> explain("good but dull", model=toy, method="leave-one-out", target=1).scores.round(4).tolist()
    [2.0, 0.0, -1.0]
    """
    reading = yield from outcomes(x, all_then_each_left_out(x), removal)
    f = value(reading, target, output)
    fall: Floats = f[0] - f[1:]
    return fall, _said(reading)


def _said(reading: Reading) -> dict[str, Any]:
    """The prediction of every row: the first is that of the untouched text."""
    picked = reading.choice
    sure = np.exp(np.take_along_axis(reading.logp, picked[..., None], axis=-1)[..., 0].sum(axis=1)).round(6).tolist()
    choice = picked[:, 0].tolist() if picked.shape[1] == 1 else picked.tolist()
    return {"choice": choice[1:], "confidence": sure[1:], "whole": {"choice": choice[0], "confidence": sure[0]}}
