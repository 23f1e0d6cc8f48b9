"""Knows how attention, gradients and leave-one-out correlate over many texts: by class, by length, pair by pair.

Pure functions over scores that were made elsewhere. Rank agreement is evidence and no quality score: every pair is
shown, not attention alone (Neely et al. 2021), and significance says mostly how long a text is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.measures.ranking import levels, order
from assay.stats import kendall, paired
from assay.types import BadInput, Estimate, Explanation, Floats

ALL = "all"
LENGTHS = (10, 20, 40, 80, 160)
"""Edges between the length bins: fewer than 10 words, 10 to 19, ... , 160 and more."""
ALPHA = 0.05


@dataclass(frozen=True, eq=False, slots=True)
class Scored:
    """One text: its predicted class and the scores of its words by method, [words] each."""

    predicted: str
    scores: Mapping[str, Floats]

    @property
    def words(self) -> int:
        """How many words there are."""
        return len(next(iter(self.scores.values())))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two methods on one text; tau and p are NaN, with the ``reason``, where one side has no order."""

    first: str
    second: str
    predicted: str
    words: int
    tau: float
    p: float
    distance: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a pair of methods, over the texts of a class and of a length."""

    first: str
    second: str
    predicted: str
    length: str
    n: int
    mean: float
    std: float
    """Population standard deviation, as the paper prints."""
    significant: float
    """Share of texts with p <= 0.05, of those that have a tau."""
    missing: int
    """Texts without a tau (one side all equal, or fewer than two words): counted, never averaged in."""
    distance: float
    """Mean top-k Kendall distance."""


def scored(explanations: Sequence[Explanation]) -> Scored:
    """One text from its explanations by several methods: the class it is given, and the scores of its free words."""
    first = explanations[0]
    if any(e.x.example.id != first.x.example.id or e.words != first.words for e in explanations):
        raise BadInput(f"explanations of example {first.x.example.id} are mixed with those of another text")
    best = int(np.argmax(first.probabilities)) if first.probabilities else 0
    predicted = first.labels[best] if best < len(first.labels) else str(best)
    return Scored(predicted, {e.method: e.scores for e in explanations})


def pair(case: Scored, first: str, second: str, *, top: int = 10, absolute: bool = True) -> Pair:
    """Kendall's tau-b of two methods on one text, near-ties as ties, and the distance of their top words.

    ``absolute``: sizes are compared, as Jain & Wallace (2019) do; attention has no sign.

    >>> case = Scored("yes", {"attention": np.array([0.5, 0.3, 0.2]), "gradient": np.array([-3.0, 1.0, 2.0])})
    >>> round(pair(case, "attention", "gradient").tau, 4)
    0.3333
    """
    a, b = (np.asarray(case.scores[name], dtype=np.float64) for name in (first, second))
    if absolute:
        a, b = np.abs(a), np.abs(b)
    known = np.isfinite(a) & np.isfinite(b)
    found = kendall(levels(a[known]), levels(b[known]))
    far = top_distance(a[known], b[known], top) if known.any() else float("nan")
    tau, p = (float("nan") if v is None else v for v in (found.value, found.p))
    return Pair(first, second, case.predicted, case.words, tau, p, far, found.reason)


def pairs(cases: Iterable[Scored], *, top: int = 10, absolute: bool = True) -> list[Pair]:
    """Every pair of methods on every text."""
    return [
        pair(case, first, second, top=top, absolute=absolute)
        for case in cases
        for first, second in combinations(case.scores, 2)
    ]


def table(found: Sequence[Pair], *, lengths: Sequence[int] = LENGTHS) -> list[Row]:
    """Per pair of methods: all texts, each predicted class, and each length bin that has texts."""
    rows: list[Row] = []
    for names in dict.fromkeys((p.first, p.second) for p in found):
        mine = [p for p in found if (p.first, p.second) == names]
        rows.append(_row(mine, ALL, ALL))
        rows += [_row([p for p in mine if p.predicted == c], c, ALL) for c in sorted({p.predicted for p in mine})]
        bins = {length_bin(p.words, lengths): p.words for p in sorted(mine, key=lambda p: p.words)}
        rows += [_row([p for p in mine if length_bin(p.words, lengths) == b], ALL, b) for b in bins]
    return rows


def _row(mine: Sequence[Pair], predicted: str, length: str) -> Row:
    tau = np.array([p.tau for p in mine])
    there = ~np.isnan(tau)
    n = int(there.sum())
    nan = float("nan")
    mean, std = (float(tau[there].mean()), float(tau[there].std())) if n else (nan, nan)
    sure = float((np.array([p.p for p in mine])[there] <= ALPHA).mean()) if n else nan
    far = np.array([p.distance for p in mine])
    distance = float(np.nanmean(far)) if not np.isnan(far).all() else nan
    return Row(mine[0].first, mine[0].second, predicted, length, n, mean, std, sure, len(mine) - n, distance)


def length_bin(words: int, edges: Sequence[int] = LENGTHS) -> str:
    """The name of a length's bin.

    >>> [length_bin(n) for n in (6, 10, 19, 400)]
    ['under 10', '10 to 19', '10 to 19', '160 and more']
    """
    at = int(np.searchsorted(edges, words, side="right"))
    if at == 0:
        return f"under {edges[0]}"
    return f"{edges[at - 1]} and more" if at == len(edges) else f"{edges[at - 1]} to {edges[at] - 1}"


def needed(words: int) -> float:
    """The |tau| that a text of so many words needs for p <= 0.05, by the normal approximation without ties.

    Significance is mostly length: a tau of 0.2 is nothing at 20 words and "significant" at 60.

    >>> [round(needed(n), 2) for n in (6, 20, 60, 180)]
    [0.7, 0.32, 0.17, 0.1]
    """
    if words < 2:
        raise BadInput(f"a tau needs at least 2 words, got {words}")
    return float(1.959964 * np.sqrt(2 * (2 * words + 5) / (9 * words * (words - 1))))


def matrix(rows: Iterable[Row]) -> dict[tuple[str, str], Row]:
    """The full agreement matrix over all texts, both ways round."""
    whole = [r for r in rows if r.predicted == r.length == ALL]
    return {key: r for r in whole for key in ((r.first, r.second), (r.second, r.first))}


def difference(found: Sequence[Pair], one: tuple[str, str], other: tuple[str, str]) -> Estimate:
    """Mean tau of one pair of methods minus that of another, over the texts that have both, with its interval.

    Jain & Wallace (2019) show (gradient, leave-one-out) - (attention, leave-one-out) and
    (gradient, leave-one-out) - (attention, gradient); their text names the two figures the other way round.
    """
    a, b = (_taus(found, names) for names in (one, other))
    if len(a) != len(b):
        raise BadInput(f"{one} was found on {len(a)} texts and {other} on {len(b)}: give the same texts")
    return paired(a, b)


def _taus(found: Sequence[Pair], names: tuple[str, str]) -> Floats:
    taus = [p.tau for p in found if {p.first, p.second} == set(names)]
    if not taus:
        raise BadInput(f"no text has scores of both {names[0]} and {names[1]}")
    return np.array(taus)


def top_distance(a: Floats, b: Floats, k: int = 10, *, p: float = 0.5) -> float:
    """Kendall distance of the top k words of two maps (Fagin et al. 2003), 0 same list and order, 1 nothing shared.

    Pairs of words in either list: 1 if the lists order them differently (a word outside a list stands behind it), ``p``
    if one list holds both and the other neither; divided by k^2 + p k (k - 1), what two disjoint lists have.

    >>> round(top_distance(np.array([3.0, 2.0, 1.0, 0.0]), np.array([0.0, 1.0, 2.0, 3.0]), 2), 4)
    1.0
    >>> top_distance(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0]), 2)
    0.2
    """
    if k < 1:
        raise BadInput(f"k must be at least 1, got {k}")
    k = min(k, len(a))
    ranks = np.full((2, len(a)), k)
    for side, scores in enumerate((a, b)):
        ranks[side, order(scores)[:k]] = np.arange(k)
    ranks = ranks[:, (ranks < k).any(axis=0)]
    i, j = np.triu_indices(ranks.shape[1], 1)
    first, second = np.sign(ranks[:, i] - ranks[:, j])
    total = (first * second < 0).sum() + p * ((first == 0) != (second == 0)).sum()
    return float(total / (k**2 + p * k * (k - 1)))
