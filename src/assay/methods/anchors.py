"""Knows how to find the fewest words that hold a prediction, whatever happens to the other words."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.ask import outcomes, predict, rng
from assay.methods.shapley import subsets
from assay.registry import method
from assay.types import Asking, BadInput, Bools, Floats, Input, Removal, Seed, Target

SEED = Seed(0)
Words = tuple[int, ...]
"""Free words in the order in which they joined."""
TOLERANCE = 0.1
"""Two sets whose precisions cannot differ by more than this are equally good for the beam."""


@method("anchors", family="removal", paper="Ribeiro et al. 2018, Anchors: high-precision model-agnostic explanations")
def anchors(
    x: Input,
    target: Target,
    *,
    precision: float = 0.95,
    removal: Removal = "delete",
    width: int = 2,
    budget: int = 2000,
    check: int = 200,
    batch: int = 10,
    delta: float = 0.05,
    signed: Literal[False] = False,
    seed: Seed = SEED,
) -> Asking:
    """The shortest set of words that keeps the choice when each of the other words is taken away by a coin toss.

    precision(A) = P(the model chooses the target | the words of A stay, every other one stays with chance 1/2).
    Sets grow word by word; the ``width`` best of a size are kept, told apart by KL-LUCB with ``batch`` tosses at a time
    (the same tosses for all). A set is an anchor when, on ``check`` fresh tosses, the lower bound of its precision is
    at least ``precision`` (all checks of a text together err with chance ``delta``; where the other words have no
    more than ``check`` subsets, all are asked and the bound is exact). At most ``budget`` distinct rows.
    Score: 1, 1/2, 1/3 ... in the order in which the words of the anchor joined, and a true 0 outside; never
    negative (``signed``), since an anchor says what holds a choice and not what speaks against it. High: the word
    holds the choice. All zero: the choice holds without any word (an empty anchor).
    Notes: ``anchor`` (words), ``precision``, ``at_least`` (its lower bound), ``coverage`` = 2^-|A| (share of tosses to
    which the rule applies), ``reached`` (is it an anchor; if not, it is the best set found), ``how``, ``rows``. Fails
    on long texts, where the budget ends before the set is large enough, and for a class the model does not choose.
    Which words could be missing depends on the operator; the coin's texts are out of distribution.

    >>> from assay.api import explain
    >>> from assay.models.additive import Additive
    >>> toy = Additive(weights={"superb": 9.0, "good": 2.0, "dull": -1.0, "slow": -2.0})
    >>> found = explain("good but slow and dull , superb", model=toy, method="anchors", target=1)
    >>> found.scores.tolist(), found.notes["anchor"], found.notes["at_least"], found.notes["coverage"]
    ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], ['superb'], 1.0, 0.5)
    """
    if not (0.5 <= precision < 1 and 0 < delta < 1 and width >= 1 and batch >= 1 and check >= 1):
        raise BadInput("anchors: needs precision in [0.5, 1), delta in (0, 1), and width, batch, check of at least 1")
    if budget < 2 * check:
        raise BadInput(f"anchors: budget must be at least twice check ({2 * check} rows), got {budget}")
    goal = yield from _goal(x, target)
    search = _Search(x, goal, removal, rng(seed, x, "anchors"), precision, width, budget, check, batch, delta)
    found = yield from search.run()
    scores = np.zeros(x.size)
    scores[list(found.words)] = 1 / np.arange(1, len(found.words) + 1)
    return scores, {
        "anchor": [x.free_words[i] for i in found.words],
        "precision": found.precision,
        "at_least": found.at_least,
        "coverage": 0.5 ** len(found.words),
        "reached": found.at_least >= precision,
        "how": "exact" if found.exact else "sampled",
        "rows": len(search.seen),
    }


def _goal(x: Input, target: Target) -> Generator[Any, Any, NDArray[np.int64]]:
    """The class to hold, per head."""
    if target.index is not None:
        return np.array(target.index)
    reading = yield from predict(x)
    return np.asarray(reading.choice[0])


@dataclass(frozen=True, slots=True)
class Measured:
    """A set of words with its precision; ``at_least`` from tosses that had no part in finding it, -1 before those."""

    words: Words
    precision: float
    at_least: float = -1.0
    exact: bool = False


@dataclass(eq=False, slots=True)
class _Search:
    """One search: what was asked, what is left of the budget."""

    x: Input
    goal: NDArray[np.int64]
    removal: Any
    draw: np.random.Generator
    precision: float
    width: int
    budget: int
    check: int
    batch: int
    delta: float
    seen: set[bytes] = field(default_factory=set)
    tosses: Bools = field(init=False)
    sampled: int = 0
    """Checks made so far that were not exact."""

    def __post_init__(self) -> None:
        """Tosses shared by all sets: every one there is, where they are few."""
        n = self.x.size
        few = 2 ** min(n, 62) <= self.check
        self.tosses = subsets(n) if few else self.draw.random((self.budget, n)) < 0.5
        self.batch = len(self.tosses) if few else self.batch

    @property
    def left(self) -> int:
        """Rows left, with a last check kept in reserve."""
        return self.budget - self.check - len(self.seen)

    def run(self) -> Generator[Any, Any, Measured]:
        """The shortest anchor, or the best set found."""
        likeliest = yield from self.checked(())
        reached = [likeliest] if likeliest.at_least >= self.precision else []
        beam: list[Words] = [()]
        while not reached and len(beam[0]) < self.x.size:
            sets = grown(beam, self.x.size)
            if len(sets) * self.batch > self.left:
                break
            mean, high = yield from self.race(sets)
            order = np.argsort(-mean, kind="stable")[: self.width]
            beam = [sets[i] for i in order]
            for i in order:
                hopeful = high[i] >= self.precision and self.left >= self.check
                found = (yield from self.checked(sets[i])) if hopeful else Measured(sets[i], float(mean[i]))
                reached += [found] if found.at_least >= self.precision else []
                likeliest = found if found.precision > likeliest.precision + 1e-9 else likeliest
        if reached:
            return max(reached, key=lambda found: found.precision)
        return likeliest if likeliest.at_least >= 0 else (yield from self.checked(likeliest.words))

    def race(self, sets: Sequence[Words]) -> Generator[Any, Any, tuple[Floats, Floats]]:
        """Estimated precision of each set and its upper bound; tosses go where it is unclear who is in the beam."""
        keep = np.zeros((len(sets), self.x.size), dtype=bool)
        for row, words in enumerate(sets):
            keep[row, list(words)] = True
        hits, tried = np.zeros(len(sets)), np.zeros(len(sets), dtype=np.int64)
        stop = len(self.seen) + len(sets) * self.batch + (self.left - len(sets) * self.batch) // 4
        due = np.arange(len(sets))
        while len(due):
            rows = [keep[a] | self.tosses[tried[a] : tried[a] + self.batch] for a in due]
            held = yield from self.ask(np.vstack(rows))
            hits[due] += held.reshape(len(due), -1).sum(axis=1)
            tried[due] += self.batch
            room = len(self.seen) + 2 * self.batch <= stop and tried.max() + self.batch <= len(self.tosses)
            due = doubtful(hits, tried, self.width, self.delta) if room else due[:0]
        level = np.zeros(len(sets)) if self.batch == len(self.tosses) else log(len(sets) / self.delta) / tried
        return hits / tried, kl_bounds(hits / tried, level)[1]

    def checked(self, words: Words) -> Generator[Any, Any, Measured]:
        """The precision of one set on all subsets of the other words, or on fresh tosses with its lower bound."""
        others = np.setdiff1d(np.arange(self.x.size), words)
        exact = 2 ** min(len(others), 62) <= self.check
        tossed = subsets(len(others)) if exact else self.draw.random((self.check, len(others))) < 0.5
        keep = np.ones((len(tossed), self.x.size), dtype=bool)
        keep[:, others] = tossed
        mean = float((yield from self.ask(keep)).mean())
        if exact:
            return Measured(words, mean, mean, True)
        self.sampled += 1  # shares of delta 1/2, 1/6, 1/12 ... sum to it
        level = log(self.sampled * (self.sampled + 1) / self.delta) / self.check
        return Measured(words, mean, float(kl_bounds(mean, level)[0]), False)

    def ask(self, keep: Bools) -> Generator[Any, Any, Bools]:
        """Rows in which the choice holds."""
        self.seen |= {row.tobytes() for row in keep}
        reading = yield from outcomes(self.x, keep, self.removal)
        return np.asarray((reading.choice == self.goal).all(axis=1))


def grown(beam: Sequence[Words], n: int) -> list[Words]:
    """Every set of the beam with one word more, each set once.

    >>> grown([(0,), (2,)], 3)
    [(0, 1), (0, 2), (2, 1)]
    """
    found: dict[frozenset[int], Words] = {}
    for words in beam:
        for i in range(n):
            if i not in words:
                found.setdefault(frozenset((*words, i)), (*words, i))
    return list(found.values())


def doubtful(hits: Floats, tried: NDArray[np.int64], width: int, delta: float) -> NDArray[np.int64]:
    """KL-LUCB: the weakest set of the beam and the strongest outside it, or none when they are clear enough.

    >>> doubtful(np.array([9.0, 8.0, 1.0]), np.array([10, 10, 10]), 1, 0.05).tolist()
    [0, 1]
    """
    mean = hits / tried
    low, high = kl_bounds(mean, log(len(mean) / delta) / tried)
    order = np.argsort(-mean, kind="stable")
    inside, outside = order[:width], order[width:]
    if not len(outside):
        return order[:0]
    weakest, strongest = inside[low[inside].argmin()], outside[high[outside].argmax()]
    clear = high[strongest] - low[weakest] < TOLERANCE
    return order[:0] if clear else np.array([weakest, strongest])


def kl_bounds(mean: ArrayLike, level: ArrayLike) -> tuple[Floats, Floats]:
    """Lowest and highest chance q with KL(mean, q) <= level, for a coin that showed ``mean``; by bisection.

    >>> low, high = kl_bounds(1.0, 0.03)
    >>> round(float(low), 4), float(high)
    (0.9704, 1.0)
    """
    p, limit = np.broadcast_arrays(np.asarray(mean, dtype=np.float64), np.asarray(level, dtype=np.float64))
    return _edge(p, limit, np.zeros_like(p)), _edge(p, limit, np.ones_like(p))


def _edge(p: Floats, limit: Floats, far: Floats) -> Floats:
    """Where KL(p, q) reaches the limit between q = p and q = far."""
    near = p.copy()
    for _ in range(50):
        middle = (near + far) / 2
        inside = _kl(p, middle) <= limit
        near, far = np.where(inside, middle, near), np.where(inside, far, middle)
    return np.where(_kl(p, far) <= limit, far, near)


def _kl(p: Floats, q: Floats) -> Floats:
    q = np.clip(q, 1e-300, 1 - 1e-16)
    yes = np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0) / q), 0.0)
    no = np.where(p < 1, (1 - p) * np.log(np.where(p < 1, 1 - p, 1.0) / (1 - q)), 0.0)
    return np.asarray(yes + no)
