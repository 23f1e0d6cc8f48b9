"""Knows the order of words by score: highest first, near-ties to the left; and refuses maps with holes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.types import BadInput, Floats, Input

NEAR = 1e-6
"""Scores that differ by less than this share of the largest |score| are equal: batching alone moves them so much."""


def complete(x: Input, scores: Floats) -> Floats:
    """One finite score per free feature, or the reason why this map cannot be ranked."""
    scores = np.asarray(scores, dtype=np.float64)
    if x.size == 0:
        raise BadInput("the input has no free words, so nothing can be ranked")
    if scores.shape != (x.size,):
        raise BadInput(f"the map has {scores.shape} scores for {x.size} free words")
    holes = np.flatnonzero(~np.isfinite(scores))
    if len(holes):
        raise BadInput(f"the method gives no score for '{x.free_words[holes[0]]}' (word {holes[0] + 1} of {x.size})")
    return scores


def levels(scores: Floats) -> NDArray[np.int64]:
    """Ranks from 0 (lowest) upwards; near-ties share one.

    >>> levels(np.array([0.5, 2.0, 0.5 + 1e-9, -1.0])).tolist()
    [1, 2, 1, 0]
    """
    if not len(scores):
        return np.zeros(0, dtype=np.int64)
    order = np.argsort(scores, kind="stable")
    gap = NEAR * float(np.abs(scores).max())
    out = np.zeros(len(scores), dtype=np.int64)
    level, first = 0, scores[order[0]]
    for i in order:
        if scores[i] > first + gap:
            level, first = level + 1, scores[i]
        out[i] = level
    return out


def order(scores: Floats) -> NDArray[np.int64]:
    """Positions by descending score, near-ties from left to right.

    >>> order(np.array([0.5, 2.0, 0.5 + 1e-9, -1.0])).tolist()
    [1, 0, 2, 3]
    """
    return np.argsort(-levels(scores), kind="stable")


def without_top(scores: Floats, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[len(counts), words]: row k keeps all but the ``counts[k]`` words of highest score.

    >>> without_top(np.array([0.1, 0.9, 0.5]), np.array([0, 2])).tolist()
    [[True, True, True], [True, False, False]]
    """
    place = np.empty(len(scores), dtype=np.int64)
    place[order(scores)] = np.arange(len(scores))
    return np.asarray(place[None, :] >= np.asarray(counts)[:, None])
