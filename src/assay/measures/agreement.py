"""Knows how alike two maps of the same prediction are."""

from __future__ import annotations

import numpy as np

from assay.measures.ranking import complete, levels, order
from assay.registry import test
from assay.stats import Correlation, kendall, spearman
from assay.types import Asking, BadInput, Floats, Input, Target


@test(
    "agreement",
    of="pair",
    asks="agreement",
    headline="kendall",
    better="",
    claim="Two methods order the words alike.",
    view="matrix",
    bounds=(-1.0, 1.0),
    paper="Jain & Wallace 2019, Attention is not explanation; Neely et al. 2021, Order in the court",
)
def agreement(x: Input, target: Target, scores: Floats, other: Floats, *, top: int = 5) -> Asking:
    """Rank correlation of two methods' scores, and the overlap of their ``top`` words.

    ``kendall`` = tau-b, ``spearman`` = rho, over the free words, near-ties counting as ties: 1 same order, 0 unrelated,
    -1 reversed. ``overlap`` = |top_a and top_b| / top; two random maps of n words reach top / n.
    Evidence, not a quality score: two methods may agree and both be wrong, and a low value does not say which one is
    (Neely et al. 2021). A map with one value for all words has no order and gives no number.
    """
    yield from ()
    a, b = complete(x, scores), complete(x, other)
    return {"kendall": tau(a, b), "spearman": _value(spearman(levels(a), levels(b))), "overlap": overlap(a, b, top)}


def tau(a: Floats, b: Floats) -> float:
    """Kendall's tau-b with near-ties as ties.

    >>> tau(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.3, 0.2])).__round__(4)
    0.3333
    """
    return _value(kendall(levels(a), levels(b)))


def overlap(a: Floats, b: Floats, top: int) -> float:
    """Share of the ``top`` words of one map (all, if there are fewer) that are top words of the other.

    >>> overlap(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0]), 2)
    0.5
    """
    if top < 1:
        raise BadInput(f"top must be at least 1, got {top}")
    top = min(top, len(a))
    return len(np.intersect1d(order(a)[:top], order(b)[:top])) / top


def _value(found: Correlation) -> float:
    if found.value is None:
        raise BadInput(found.reason)
    return found.value
