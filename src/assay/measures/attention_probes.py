"""Knows how to read a model's attention over the words, and what the model says when other attention is imposed.

In a model with one attention layer this replaces all that the decoder sees. In a transformer it replaces one layer's
attention of many: states below are fixed, layers above see the words by other ways. The same names there are
comparable only in name. Neither shows a cause: attention is part of what it is changed in (Grimsley et al. 2020).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.stats import tvd
from assay.types import BadInput, Edit, Floats, Input, Probe, Reading

How = tuple[tuple[str, Any], ...]
USUAL = {"layer": "last", "head": "mean", "to": "cls"}


def where(layer: int | str, head: int | str, to: str) -> How:
    """Which attention is meant, as a probe says it; what holds anyway is left out."""
    if layer == "mean":
        raise BadInput("attention of one layer is replaced: layer must be last or a number, not mean")
    chosen = {"layer": layer, "head": head, "to": to}
    return tuple(sorted((k, v) for k, v in chosen.items() if v != USUAL[k]))


@dataclass(frozen=True, eq=False, slots=True)
class Gaze:
    """Attention over all features, and which of them are free words that may be attended."""

    own: Floats
    """[n]."""
    at: NDArray[np.int64]
    """Places of the w words that take part."""

    @property
    def mass(self) -> float:
        """Attention on these words together; the rest stays on special tokens."""
        return float(self.own[self.at].sum())

    @property
    def words(self) -> Floats:
        """[w]: attention over these words, summing to one."""
        return np.asarray(self.own[self.at] / self.mass)

    def put(self, words: Floats) -> Floats:
        """[m, n]: attention over all features of m distributions [m, w] over the words.

        >>> Gaze(np.array([0.5, 0.2, 0.3]), np.array([1, 2])).put(np.array([[0.0, 1.0]])).tolist()
        [[0.5, 0.0, 0.5]]
        """
        rows = np.tile(self.own, (len(words), 1))
        rows[:, self.at] = words * self.mass
        return rows


def look(x: Input, how: How) -> Generator[Any, Any, Gaze]:
    """The model's own attention; a reason where there is no choice of words."""
    reading: Reading = yield Probe(x, Edit.none(x), frozenset({"attention"}), how=how)
    return gaze_of(x, reading)


def gaze_of(x: Input, reading: Reading) -> Gaze:
    """The attention that a reading of the untouched input holds."""
    own = np.asarray(reading["attention"][0], dtype=np.float64)
    may = reading.arrays.get("attended")
    at = np.flatnonzero(x.free if may is None else x.free & (may[0] > 0))
    if len(at) < 2:
        raise BadInput(f"{len(at)} word may be attended: no other attention is possible")
    gaze = Gaze(own, at)
    if not gaze.mass > 0:
        raise BadInput("no attention stands on any word: nothing to move")
    return gaze


def under(x: Input, gaze: Gaze, words: Floats, how: How) -> Generator[Any, Any, Reading]:
    """What the model says under its own attention (row 0) and under each row of ``words`` [m, w]."""
    rows = gaze.put(np.vstack([gaze.words, words]))
    reading: Reading = yield Probe(x, Edit.none(x, len(rows)), attention=rows, how=how)
    return reading


def groups(reading: Reading) -> Floats:
    """Probabilities [m, groups, outcomes]: one group per head; every label of a multi-label model is one."""
    p = np.exp(reading.logp)
    if reading.head != "multilabel":
        return p
    return np.stack([1 - p, p], axis=-1).reshape(len(p), -1, 2)


def moved(reading: Reading) -> Floats:
    """[m - 1]: total variation distance of every row to row 0, the largest over heads."""
    p = groups(reading)
    return np.asarray(tvd(p[1:], p[:1]).max(axis=-1))


def flipped(reading: Reading) -> NDArray[np.bool_]:
    """[m - 1]: does the row decide otherwise than row 0?"""
    choice = reading.choice
    return np.asarray((choice[1:] != choice[:1]).any(axis=1))
