"""Knows the highest and lowest mean score that any order of words can reach: exact when short, beam search else.

A map is graded at a few numbers of words, so it walks a chain of growing sets S_1 in S_2 in ... of sizes ``counts``.
The limits are the extremes of mean_k f(S_k) over all chains. They depend on the input, not on the map: every method's
questions are equal, so they are asked once per example.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.ask import score, together
from assay.types import Bools, Floats, Input, Target

EXACT_ROWS = 1024
"""All subsets are asked where there are no more than this."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Lowest and highest mean score over all chains and how they were found, or None and why they were not sought."""

    ends: tuple[float, float] | None
    how: str


@dataclass(frozen=True, eq=False, slots=True)
class Walk:
    """What is asked of a set of words: the output when they alone are kept, or when they alone are gone."""

    x: Input
    target: Target
    output: str
    removal: Any
    counts: NDArray[np.int64]
    kept: bool

    def ask(self, sets: Bools) -> Generator[Any, Any, Floats]:
        """The output for each set [m, words]."""
        return score(self.x, self.target, self.output, sets if self.kept else ~sets, self.removal)

    @property
    def share(self) -> Floats:
        """[1 + largest count]: how much a set of each size counts in the mean."""
        return np.bincount(self.counts) / len(self.counts)


def limits(walk: Walk, width: int, budget: int) -> Generator[Any, Any, Limits]:
    """The limits, exact by dynamic programming over subsets or by two beam searches (then they are inner bounds)."""
    n, deepest = walk.x.size, int(walk.counts.max())
    if 2**n <= EXACT_ROWS:
        return Limits((yield from _exact(walk)), "exact")
    rows = 2 * sum(width * (n - k) for k in range(deepest))
    if rows > budget:
        return Limits(None, f"not sought: a beam search over {n} words takes {rows} rows, budget {budget}")
    ends = yield from together([_beam(walk, width, sign) for sign in (-1.0, 1.0)])
    return Limits((ends[0], ends[1]), f"beam of width {width}")


def _exact(walk: Walk) -> Generator[Any, Any, tuple[float, float]]:
    n, share = walk.x.size, walk.share
    sets: Bools = np.asarray((np.arange(2**n)[:, None] >> np.arange(n)) % 2 == 1)
    size = sets.sum(axis=1)
    asked = np.flatnonzero(np.isin(size, walk.counts))
    f = np.zeros(2**n)
    f[asked] = yield from walk.ask(sets[asked])
    low, high = np.zeros(2**n), np.zeros(2**n)
    for k in range(1, len(share)):
        here = np.flatnonzero(size == k)
        before = here[:, None] ^ (1 << np.arange(n))[None, :]
        low[here] = share[k] * f[here] + np.where(sets[here], low[before], np.inf).min(axis=1)
        high[here] = share[k] * f[here] + np.where(sets[here], high[before], -np.inf).max(axis=1)
    return float(low[here].min()), float(high[here].max())


def _beam(walk: Walk, width: int, sign: float) -> Generator[Any, Any, float]:
    """Best mean found; between graded sizes a set is judged by its own score."""
    share = walk.share
    sets, total = np.zeros((1, walk.x.size), dtype=bool), np.zeros(1)
    for k in range(1, len(share)):
        parent, new = np.nonzero(~sets)
        grown = sets[parent]
        grown[np.arange(len(new)), new] = True
        f = yield from walk.ask(grown)
        reached = total[parent] + share[k] * f
        merit = sign * (reached if share[k] else total[parent] + f / len(walk.counts))
        order = np.argsort(-merit, kind="stable")
        _, first = np.unique(grown[order], axis=0, return_index=True)
        best = order[np.sort(first)[:width]]
        sets, total = grown[best], reached[best]
    return float((sign * total).max() * sign)
