"""Correlations that say why there is none: Kendall, Spearman, Pearson, equal to scipy where it has a number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assay.stats.rows import vector
from assay.types import BadInput, Floats


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation over n pairs, or None with the reason why there is none; ``skipped`` pairs held a NaN."""

    value: float | None
    p: float | None
    n: int
    reason: str = ""
    skipped: int = 0


def kendall(a: ArrayLike, b: ArrayLike) -> Correlation:
    """Kendall's tau-b, ties corrected (Kendall 1945), with scipy's two-sided p-value (exact for short untied inputs).

    1: same order, -1: reversed, 0: unrelated. The p-value says little beyond length: at 180 words |tau| > 0.10 is
    already significant (at 6 words 0.70).

    >>> round(kendall([1, 2, 3, 4], [1, 2, 4, 3]).value, 6)
    0.666667
    """
    first, second, skipped, reason = _pairs(a, b)
    if reason:
        return Correlation(None, None, len(first), reason, skipped)
    from scipy.stats import kendalltau

    result = kendalltau(first, second)
    return Correlation(float(result.statistic), float(result.pvalue), len(first), "", skipped)


def spearman(a: ArrayLike, b: ArrayLike) -> Correlation:
    """Spearman's rho: Pearson's r of the ranks, ties sharing their mean rank (Spearman 1904).

    >>> round(spearman([1, 2, 3, 4], [1, 2, 4, 3]).value, 12)
    0.8
    """
    first, second, skipped, reason = _pairs(a, b)
    if reason:
        return Correlation(None, None, len(first), reason, skipped)
    from scipy.stats import rankdata

    return _linear(rankdata(first), rankdata(second), skipped)


def pearson(a: ArrayLike, b: ArrayLike) -> Correlation:
    """Pearson's r with the two-sided p-value of Student's t; infinite values give a reason instead of a number.

    >>> round(pearson([0, 1, 2], [1, 3, 5]).value, 12)
    1.0
    """
    first, second, skipped, reason = _pairs(a, b)
    if not reason and not (np.isfinite(first).all() and np.isfinite(second).all()):
        reason = "infinite values"
    if reason:
        return Correlation(None, None, len(first), reason, skipped)
    return _linear(first, second, skipped)


def _pairs(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats, int, str]:
    """Both vectors without pairs that hold a NaN, how many those were, and why no correlation is defined."""
    first, second = vector(a), vector(b)
    if len(first) != len(second):
        raise BadInput(f"a correlation needs pairs: got {len(first)} and {len(second)} values")
    known = ~(np.isnan(first) | np.isnan(second))
    first, second = first[known], second[known]
    reason = ""
    if len(first) < 2:
        reason = "fewer than 2 pairs"
    elif (first == first[0]).all() or (second == second[0]).all():
        reason = "all values of one side are equal"
    return first, second, int((~known).sum()), reason


def _linear(a: Floats, b: Floats, skipped: int) -> Correlation:
    from scipy.special import stdtr

    n, first, second = len(a), _unit(a), _unit(b)
    if first is None or second is None:
        return Correlation(None, None, n, "all values of one side are equal up to rounding", skipped)
    r = float(np.clip(first @ second, -1.0, 1.0))
    if n == 2:
        return Correlation(r, 1.0, n, "", skipped)
    with np.errstate(divide="ignore"):
        t = abs(r) * np.sqrt(np.float64(n - 2) / ((1 - r) * (1 + r)))
    return Correlation(r, float(2 * stdtr(n - 2, -t)), n, "", skipped)


def _unit(values: Floats) -> Floats | None:
    """Centred, of length 1; None when nothing but rounding is left."""
    scaled = values / np.abs(values).max()
    centred: Floats = scaled - scaled.mean()
    length = float(np.sqrt((centred**2).sum()))
    return None if length < 1e-13 * np.sqrt(len(values)) else centred / length
