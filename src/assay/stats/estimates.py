"""Means, differences, shares and any other statistic over examples, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from assay.stats.intervals import DRAWS, Statistic, of_mean, of_statistic, wilson
from assay.stats.rows import checked, groups, totals, vector
from assay.types import BadInput, Estimate, Floats


def mean(
    values: ArrayLike, *, level: float = 0.95, seed: int = 0, skipped: int = 0, clusters: Sequence[object] | None = None
) -> Estimate:
    """The mean with a bootstrap-t interval (Efron 1979, Hall 1988), which keeps its coverage on skewed data.

    NaN is skipped and counted, never averaged in. ``clusters`` names what each value belongs to (the example of a
    replicate): clusters are resampled whole, and ``n`` counts them. Values that are all 0 or 1 get Wilson's interval;
    fewer than 8 units Student's t; data so lumpy that resamples lose all spread the wider of BCa and Student's t.
    ``how`` says which. Known failure: below 30 units, most of them equal, coverage falls to about 0.8.

    >>> print(mean([1.0, 2.0, 3.0, float("nan")]))
    2.000 [-0.484, 4.484]
    """
    return _mean(vector(values), level, seed, skipped, clusters, shares=True)


def _mean(
    data: Floats, level: float, seed: int, skipped: int, clusters: Sequence[object] | None, *, shares: bool
) -> Estimate:
    """``shares``: values that are all 0 or 1 are yes and no, not differences that happen to be whole."""
    known = ~np.isnan(data)
    owners = groups(clusters, len(data))[known]
    data, skipped = data[known], skipped + int((~known).sum())
    sums, sizes = totals(data, owners)
    n = len(sizes)
    value = float(data.mean()) if n else float("nan")
    low, high, how = of_mean(sums, sizes, value, checked(level), seed, shares)
    return Estimate(value, low, high, level, n, skipped, how)


def paired(
    a: ArrayLike,
    b: ArrayLike,
    *,
    level: float = 0.95,
    seed: int = 0,
    skipped: int = 0,
    clusters: Sequence[object] | None = None,
) -> Estimate:
    """Mean of a - b over shared examples, as ``mean`` estimates it; a pair with a NaN is skipped and counted.

    >>> paired([3.0, 2.0], [1.0, 2.0]).value
    1.0
    """
    first, second = vector(a), vector(b)
    if len(first) != len(second):
        raise BadInput(f"paired values must share their examples: got {len(first)} and {len(second)} values")
    with np.errstate(invalid="ignore"):  # inf - inf is NaN: a pair without a difference
        gaps = first - second
    return _mean(gaps, level, seed, skipped, clusters, shares=False)


def proportion(k: int, n: int, *, level: float = 0.95, skipped: int = 0) -> Estimate:
    """k of n with Wilson's score interval (1927): right for small n and for shares near 0 and 1.

    >>> print(proportion(0, 10))
    0.000 [0.000, 0.278]
    """
    if not 0 <= k <= n:
        raise BadInput(f"a proportion needs 0 <= k <= n, got k = {k} and n = {n}")
    if n == 0:
        return Estimate(float("nan"), None, None, checked(level), 0, skipped, "no data")
    low, high = wilson(k / n, n, checked(level))
    return Estimate(k / n, low, high, level, n, skipped, "Wilson")


def bootstrap(
    statistic: Statistic,
    arrays: Sequence[ArrayLike],
    *,
    level: float = 0.95,
    seed: int = 0,
    skipped: int = 0,
    clusters: Sequence[object] | None = None,
    draws: int = DRAWS,
) -> Estimate:
    """Any ``statistic(*arrays)`` over examples (AUC, F1 of means) with a BCa interval (Efron 1987).

    Row i of every array belongs to example i; rows with a NaN are skipped and counted; ``clusters`` are resampled
    whole. Resamples on which the statistic is NaN (AUC without negatives) are left out and named in ``how``; when they
    are more than one in ten there is no interval.

    >>> bootstrap(np.median, [[1.0, 2.0, 9.0]]).value
    2.0
    """
    columns = [vector(a) for a in arrays]
    if not columns or len({len(c) for c in columns}) > 1:
        raise BadInput(f"arrays must have one row per example each: got lengths {[len(c) for c in columns]}")
    known = ~np.any([np.isnan(c) for c in columns], axis=0)
    owners = groups(clusters, len(known))[known]
    columns, skipped = [c[known] for c in columns], skipped + int((~known).sum())
    rows = [np.flatnonzero(owners == g) for g in np.unique(owners)]
    value = float(statistic(*columns)) if rows else float("nan")
    low, high, how = of_statistic(statistic, columns, rows, value, checked(level), seed, draws)
    return Estimate(value, low, high, level, len(rows), skipped, how)
