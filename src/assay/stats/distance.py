"""Distances between distributions (attention, predictions), over the last axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from assay.types import Floats


def tvd(p: ArrayLike, q: ArrayLike) -> Floats:
    """Total variation distance over the last axis: half the sum of |p - q|; 0 same, 1 disjoint.

    >>> float(tvd([0.5, 0.5], [1.0, 0.0]))
    0.5
    """
    return np.asarray(np.abs(np.asarray(p, dtype=np.float64) - np.asarray(q, dtype=np.float64)).sum(axis=-1) / 2)


def jsd(p: ArrayLike, q: ArrayLike) -> Floats:
    """Jensen-Shannon divergence over the last axis, natural log: 0 same, ln 2 = 0.6931 disjoint (Lin 1991).

    >>> round(float(jsd([1.0, 0.0], [0.0, 1.0])), 4)
    0.6931
    """
    a, b = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    middle = (a + b) / 2
    return np.maximum(0.0, (_relative(a, middle) + _relative(b, middle)) / 2)


def _relative(p: Floats, q: Floats) -> Floats:
    """Kullback-Leibler divergence, 0 log 0 = 0."""
    inside = np.where(p > 0, p, 1.0) / np.where(p > 0, q, 1.0)
    return np.asarray((p * np.log(inside)).sum(axis=-1))
