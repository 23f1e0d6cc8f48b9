"""One number per example: what every statistic checks and counts before it starts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.types import BadInput, Floats


def vector(values: ArrayLike) -> Floats:
    """One float64 per example."""
    out = np.asarray(values, dtype=np.float64)
    if out.ndim != 1:
        raise BadInput(f"expected one number per example, got an array of shape {out.shape}")
    return out


def checked(level: float) -> float:
    """A confidence level strictly between 0 and 1."""
    if not 0 < level < 1:
        raise BadInput(f"level must lie between 0 and 1 (0.95, say), got {level}")
    return level


def groups(clusters: Sequence[object] | None, n: int) -> NDArray[np.int64]:
    """A whole number per value: equal for values of one cluster."""
    if clusters is None:
        return np.arange(n)
    if len(clusters) != n:
        raise BadInput(f"clusters must name one group per value: got {len(clusters)} for {n} values")
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(c, len(numbers)) for c in clusters], dtype=np.int64)


def totals(data: Floats, groups: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Sum and size of every cluster."""
    _, place = np.unique(groups, return_inverse=True)
    return np.bincount(place, weights=data).astype(np.float64), np.bincount(place).astype(np.float64)
