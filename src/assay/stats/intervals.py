"""How intervals are made: bootstrap-t, BCa, Student's t, Wilson. Knows no examples, only clean numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from assay.types import Floats

DRAWS = 2000
"""Resamples behind an interval: the ends of a 95 % interval then rest on 50 draws each."""
FEW = 8
"""Below this many units a resample repeats itself too often to tell anything: Student's t instead."""
BLOCK = 50_000
"""Numbers drawn at once, so that memory does not grow with the data."""
Statistic = Callable[..., float]
Interval = tuple[float | None, float | None, str]


def of_mean(sums: Floats, sizes: Floats, value: float, level: float, seed: int, shares: bool) -> Interval:
    """Low, high and how for a mean, from the sum and size of each unit (a value, or a cluster of values)."""
    n = len(sizes)
    if n < 2:
        return None, None, "no interval: fewer than 2 values" if n else "no data"
    if not np.isfinite(sums).all():
        return None, None, "no interval: infinite values"
    if shares and sizes.max() == 1 and np.isin(sums, (0.0, 1.0)).all():
        return *wilson(value, n, level), "Wilson"
    gaps = sums - value * sizes
    spread = float(np.sqrt(n / (n - 1) * (gaps**2).sum()) / sizes.sum())
    low, high = value - _student(n, level) * spread, value + _student(n, level) * spread
    if spread <= 1e-14 * abs(value) or n < FEW:
        return low, high, "Student's t"
    shifts, spreads = _resampled_means(gaps, sizes, seed)
    flat = spreads <= 1e-9 * spread
    if flat.mean() > 0.001:  # neither keeps its coverage alone on such data
        third = float((gaps**3).sum() / (6 * (gaps**2).sum() ** 1.5))
        below, above = _bca(shifts, 0.0, third, level)
        return min(low, value + below), max(high, value + above), "wider of BCa and Student's t"
    t = shifts[~flat] / spreads[~flat]
    left, right = np.quantile(t, [0.5 - level / 2, 0.5 + level / 2])
    return value - float(right) * spread, value - float(left) * spread, "bootstrap-t"


def _student(n: int, level: float) -> float:
    """Standard errors on each side of a mean of n."""
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, 0.5 + level / 2))


def _resampled_means(gaps: Floats, sizes: Floats, seed: int) -> tuple[Floats, Floats]:
    """How far each resample's mean lies from ours, and its own standard error."""
    n, rng = len(gaps), np.random.default_rng(seed)
    shifts, spreads = np.empty(DRAWS), np.empty(DRAWS)
    step = max(1, BLOCK // n)
    for at in range(0, DRAWS, step):
        part = slice(at, min(DRAWS, at + step))
        drawn = rng.integers(0, n, (part.stop - at, n))
        gap, size = gaps[drawn], sizes[drawn]
        total = size.sum(axis=1)
        shifts[part] = gap.sum(axis=1) / total
        rest = gap - shifts[part, None] * size
        spreads[part] = np.sqrt(n / (n - 1) * (rest**2).sum(axis=1)) / total
    return shifts, spreads


def of_statistic(
    statistic: Statistic,
    columns: list[Floats],
    rows: list[NDArray[np.int64]],
    value: float,
    level: float,
    seed: int,
    draws: int,
) -> Interval:
    """Low, high and how for any statistic of columns; ``rows`` lists what belongs to each unit."""
    n, rng = len(rows), np.random.default_rng(seed)
    if n < 2:
        return None, None, "no interval: fewer than 2 values" if n else "no data"
    if not np.isfinite(value):
        return None, None, "no interval: the statistic is not finite here"

    def at(picked: NDArray[np.int64]) -> float:
        index = np.concatenate([rows[i] for i in picked])
        return float(statistic(*(c[index] for c in columns)))

    drawn = np.array([at(rng.integers(0, n, n)) for _ in range(draws)])
    good = drawn[np.isfinite(drawn)]
    if len(good) < 0.9 * draws:
        return None, None, f"no interval: undefined on {draws - len(good)} of {draws} resamples"
    left = np.array([at(np.delete(np.arange(n), i)) for i in range(n)])
    low, high = _bca(good, value, _acceleration(left[np.isfinite(left)]), level)
    return low, high, "BCa" if len(good) == draws else f"BCa; undefined on {draws - len(good)} of {draws} resamples"


def _acceleration(left_out: Floats) -> float:
    """Jackknife estimate of how fast the standard error changes with the value."""
    gaps = left_out.mean() - left_out if len(left_out) else np.zeros(1)
    power = float((gaps**2).sum() ** 1.5)
    return float((gaps**3).sum() / (6 * power)) if power > 0 else 0.0


def _bca(drawn: Floats, value: float, acceleration: float, level: float) -> tuple[float, float]:
    from scipy.special import ndtr, ndtri

    near = 1e-9 * float(np.abs(drawn - value).max())  # rounding must not decide what is a tie
    share = float((drawn < value - near).mean() + (np.abs(drawn - value) <= near).mean() / 2)
    shift = float(ndtri(np.clip(share, 0.5 / len(drawn), 1 - 0.5 / len(drawn))))
    z = shift + ndtri(np.array([0.5 - level / 2, 0.5 + level / 2]))
    low, high = np.quantile(drawn, ndtr(shift + z / (1 - acceleration * z)))
    return float(low), float(high)


def wilson(share: float, n: int, level: float) -> tuple[float, float]:
    """Wilson's score interval for a share of n."""
    from scipy.special import ndtri

    z2 = float(ndtri(0.5 + level / 2)) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    reach = (z2 * (share * (1 - share) / n + z2 / (4 * n * n))) ** 0.5 / (1 + z2 / n)
    return max(0.0, middle - reach), min(1.0, middle + reach)
