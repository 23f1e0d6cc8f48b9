"""Whether a difference could be chance: paired sign flips, and the correction for asking many times."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from assay.stats.intervals import BLOCK
from assay.stats.rows import vector
from assay.types import BadInput, Floats


def sign_flip_test(
    differences: ArrayLike,
    *,
    seed: int = 0,
    side: Literal["two", "greater", "less"] = "two",
    draws: int = 10_000,
) -> float:
    """p-value of "the paired differences are symmetric around 0": signs are flipped at random (Fisher 1935).

    Exact (all 2^n flips) up to 12 differences, else (1 + flips at least as extreme) / (1 + draws), never 0.
    NaN differences are left out; without any the p-value is 1. ``greater``: is the mean above 0?

    >>> sign_flip_test([1.0, 2.0, 3.0])
    0.25
    """
    data = vector(differences)
    data = data[~np.isnan(data)]
    n = len(data)
    if n <= 12:
        signs = 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        sums, extra = signs @ data, 0
    else:
        rng = np.random.default_rng(seed)
        blocks = np.array_split(np.arange(draws), max(1, draws * n // BLOCK))
        sums = np.concatenate([(1.0 - 2.0 * rng.integers(0, 2, (len(b), n), dtype=np.int8)) @ data for b in blocks])
        extra = 1
    ours, flipped = (abs(data.sum()), np.abs(sums)) if side == "two" else (data.sum(), sums)
    slack = 1e-12 * np.abs(data).sum()  # equal sums may differ by rounding
    extreme = flipped <= ours + slack if side == "less" else flipped >= ours - slack
    return float((extra + extreme.sum()) / (extra + len(sums)))


def holm(pvalues: ArrayLike) -> Floats:
    """p-values adjusted for their number (Holm 1979): rejecting those below alpha errs at all with chance <= alpha.

    NaN stays NaN and is not counted as a test.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = vector(pvalues)
    if ((p < 0) | (p > 1)).any():
        raise BadInput("p-values must lie between 0 and 1")
    out = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    out[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return out
