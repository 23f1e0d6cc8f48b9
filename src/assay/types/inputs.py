"""An example as a model reads it, and variants of it as small integers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.types.examples import Example, Place
from assay.types.words import Bools, Floats, Ints


@dataclass(frozen=True, eq=False, slots=True)
class Input:
    """An example as one model reads it: n features in reading order, those that may be taken away ``free``."""

    example: Example
    unit: str
    places: tuple[Place, ...]
    free: Bools
    cut: str = ""
    """What was left out because the model takes no more ('' when nothing was)."""

    @property
    def n(self) -> int:
        """How many features there are, special tokens and held fields included."""
        return len(self.places)

    @property
    def size(self) -> int:
        """How many features are free."""
        return int(self.free.sum())

    @property
    def words(self) -> tuple[str, ...]:
        """The text of every feature; a special token shows its name."""
        return tuple(p.name if p.special else self.example.fields[p.field][p.start : p.end] for p in self.places)

    @property
    def free_words(self) -> tuple[str, ...]:
        """The text of the free features."""
        return tuple(w for w, f in zip(self.words, self.free, strict=True) if f)

    def hold(self, *fields: str) -> Input:
        """The same input with the words of these fields no longer free."""
        held = np.array([p.field in fields for p in self.places], dtype=bool)
        return replace(self, free=self.free & ~held)

    def spread(self, scores: Floats) -> Floats:
        """One value per feature from one per feature or one per free feature (NaN where none was computed)."""
        scores = np.asarray(scores, dtype=np.float64)
        if scores.shape == (self.n,):
            return scores
        if scores.shape != (self.size,):
            raise ValueError(f"expected {self.size} scores (free features) or {self.n} (all), got shape {scores.shape}")
        out = np.full(self.n, np.nan)
        out[self.free] = scores
        return out


# Codes of an Edit. FILL + k puts the k-th fill word in the feature's place.
KEEP, DROP, HIDE, ZERO, UNK, PAD, MASK, FILL = range(8)


@dataclass(frozen=True, eq=False, slots=True)
class Edit:
    """m variants of one input as small integers [m, n]; the model turns them into ids (or a string) itself."""

    codes: NDArray[np.int32]
    fills: tuple[str, ...] = ()

    @staticmethod
    def none(x: Input, rows: int = 1) -> Edit:
        """The untouched input, ``rows`` times."""
        return Edit(np.full((rows, x.n), KEEP, dtype=np.int32))

    @staticmethod
    def where_gone(x: Input, keep: Bools, code: int) -> Edit:
        """``code`` wherever ``keep`` ([m, n] or [m, free]) is False; what is not free is always kept."""
        return Edit(np.where(full_keep(x, keep), KEEP, code).astype(np.int32))

    @property
    def rows(self) -> int:
        """m."""
        return int(self.codes.shape[0])

    def take(self, rows: Ints) -> Edit:
        """These rows only."""
        return Edit(self.codes[rows], self.fills)


def full_keep(x: Input, keep: Bools) -> Bools:
    """[m, n] from [m, n] or [m, free]; features that are not free count as kept."""
    keep = np.atleast_2d(np.asarray(keep, dtype=bool))
    if keep.shape[1] not in (x.n, x.size):
        raise ValueError(f"keep has {keep.shape[1]} columns, expected {x.size} (free) or {x.n} (all features)")
    out = np.ones((keep.shape[0], x.n), dtype=bool)
    out[:, x.free] = keep if keep.shape[1] == x.size else keep[:, x.free]
    return out
