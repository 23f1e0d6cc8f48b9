"""Knows how large, how dense and how signed a map's scores are; says nothing of whether they are right."""

from __future__ import annotations

import numpy as np

from assay.measures.highlights import DEFAULT_TAU, shown
from assay.measures.ranking import NEAR, complete
from assay.registry import test
from assay.types import Asking, Floats, Input, Target


@test(
    "magnitude",
    of="explanation",
    asks="size",
    headline="mean",
    better="",
    claim="Many words of a map have large scores.",
    view="points",
    bounds=(0.0, 1.0),
    paper="Pham et al. 2022, Double trouble",
)
def magnitude(x: Input, target: Target, scores: Floats) -> Asking:
    """Size of a map's scores.

    ``mean`` = mean |a_i| / max |a|; near 1: all words score alike, near 1 / n: one word has it all, 0: a map of zeros.
    ``raw`` = mean |a_i| in the method's own unit, so it compares one method under several operators, not methods.
    ``coverage`` = share of words with a_i >= 0.05 max a (0 if no score is above zero), ``zero`` and ``negative`` =
    shares of words with no score (up to rounding) and with one below zero. Evidence, not a score: a masked language
    model that puts the same word back makes scores small without making them better (Pham et al. 2022, Table A1).

    >>> values = magnitude_of(np.array([2.0, 0.0, -1.0, 1.0]))
    >>> {name: round(v, 4) for name, v in values.items()}
    {'mean': 0.5, 'raw': 1.0, 'coverage': 0.5, 'zero': 0.25, 'negative': 0.25}
    """
    yield from ()
    return magnitude_of(complete(x, scores))


def magnitude_of(scores: Floats) -> dict[str, float]:
    """The numbers of ``magnitude`` for one map."""
    size = np.abs(scores)
    top = float(size.max())
    zero = size <= NEAR * top
    return {
        "mean": float(size.mean() / top) if top > 0 else 0.0,
        "raw": float(size.mean()),
        "coverage": float(shown(scores, [DEFAULT_TAU])[0].mean()),
        "zero": float(zero.mean()),
        "negative": float(((scores < 0) & ~zero).mean()),
    }
