"""Knows how a map is graded at ERASER's shares of words: the mean fall of the score, between its own limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.measures.limits import Limits, Walk, limits
from assay.measures.ranking import complete, without_top
from assay.types import Asking, BadInput, Floats, Input, Target

SHARES = (0.01, 0.05, 0.10, 0.20, 0.50)
"""Shares of the words, as in DeYoung et al. 2020; always at least one word."""


def bins(n: int) -> NDArray[np.int64]:
    """How many of n words each share is.

    >>> bins(7).tolist(), bins(100).tolist()
    ([1, 1, 1, 2, 4], [1, 5, 10, 20, 50])
    """
    return np.array([max(1, math.ceil(round(s * n, 9))) for s in SHARES])


def graded(walk: Walk, scores: Floats, search: bool, width: int, budget: int) -> Asking:
    """``aopc`` = mean over the bins of f(x) - f(set), and ``naopc``, its place between the limits (0 low, 1 high)."""
    if width < 1:
        raise BadInput(f"width must be at least 1, got {width}")
    x = walk.x
    top = ~without_top(complete(x, scores), walk.counts)
    untouched = np.full((1, x.size), walk.kept)
    f = yield from walk.ask(np.vstack([untouched, top]))
    fall = f[0] - f[1:]
    values = {"aopc": float(fall.mean())}
    detail: dict[str, Any] = {"x": list(SHARES), "y": fall.tolist()}
    if not search:
        return values, detail
    found: Limits = yield from limits(walk, width, budget)
    detail["limits_how"] = found.how
    if found.ends is not None:
        low, high = float(f[0]) - found.ends[1], float(f[0]) - found.ends[0]
        detail["limits"] = [low, high]
        if high - low > 1e-9:
            values["naopc"] = float(np.clip((values["aopc"] - low) / (high - low), 0.0, 1.0))
    return values, detail


def walk_of(x: Input, target: Target, output: str, removal: object, kept: bool) -> Walk:
    """The walk through ERASER's bins."""
    return Walk(x, target, output, removal, bins(x.size), kept)
