"""What the operators with a language model share: asking it for fills, and writing fills into edits."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.ask import rng
from assay.types import FILL, KEEP, MASK, BadInput, Bools, Edit, Floats, Input, Probe, Reading

Int32s = NDArray[np.int32]
WORD = -2
"""Chosen "fill" of a gap that gets its own word back."""
NO_WORD = "the language model offers no word for a gap: use one whose vocabulary has more whole words"


@dataclass(frozen=True, eq=False, slots=True)
class Guesses:
    """For every row and feature the likeliest fills: ids and probabilities [m, n, k]; the own word's [m, n].

    Where there is no gap ids are -1 and probabilities 0; where the own word is not one piece ``own`` is -1 and
    ``own_p`` NaN.
    """

    ids: Int32s
    p: Floats
    own: Int32s
    own_p: Floats

    @property
    def is_own(self) -> Bools:
        """[m, n, k]: this fill is the word that stood there."""
        return np.asarray((self.ids == self.own[..., None]) & (self.ids >= 0))


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """Where fills come from: a language model, how many per gap, whole words or all pieces."""

    lm: Any
    top: int
    pieces: str


def guess(x: Input, edit: Edit, source: Source) -> Generator[Any, Any, Guesses]:
    """Ask the language model what stands in the gaps (code MASK) of ``edit``; other codes are KEEP or fills.

    Its features are matched with those of ``x`` by equal places. Each gap is one mask token, also where the word has
    many pieces.
    """
    lm = source.lm
    read = lm.read(x.example, x.unit)
    where = {(p.field, p.start, p.end): i for i, p in enumerate(read.places) if not p.special}
    at = np.array([where.get((p.field, p.start, p.end), -1) for p in x.places], dtype=np.int64)
    unseen = (edit.codes != KEEP).any(axis=0) & (at < 0)
    if unseen.any():
        raise BadInput(_unseen(x, read, lm, int(unseen.argmax())))
    seen = np.flatnonzero(at >= 0)
    codes = np.full((edit.rows, read.n), KEEP, dtype=np.int32)
    codes[:, at[seen]] = edit.codes[:, seen]
    how = (("pieces", source.pieces), ("top", source.top))
    reading: Reading = yield Probe(read, Edit(codes, edit.fills), frozenset({"fill"}), how=how, to=lm)
    absent = {"fill": -1, "fill_p": 0.0, "own": -1, "own_p": np.nan}
    return Guesses(*(_back(reading[name], at, none) for name, none in absent.items()))


def _back(array: Any, at: NDArray[np.int64], none: float) -> Any:
    """The language model's columns as those of the explained model's input."""
    out = array[:, np.maximum(at, 0)]
    out[:, at < 0] = none
    return out


def _unseen(x: Input, read: Input, lm: Any, feature: int) -> str:
    why = f"it leaves out {read.cut}" if read.cut else f"it cuts the text into other {x.unit}s; use unit word"
    return f"example {x.example.id}: {lm.name} cannot fill '{x.words[feature]}': {why}"


class Book:
    """The fill words of one Edit, each once, and their codes."""

    def __init__(self, lm: Any) -> None:
        self.lm, self.codes = lm, dict[int, int]()

    def code(self, piece: int) -> int:
        """The code of a fill; KEEP for the own word."""
        return KEEP if piece == WORD else self.codes.setdefault(piece, FILL + len(self.codes))

    def write(self, codes: Int32s, at: tuple[Any, ...], pieces: Iterable[int]) -> None:
        """Put the codes of these fills at ``at``."""
        codes[at] = np.array([self.code(i) for i in pieces], dtype=np.int32)

    @property
    def words(self) -> tuple[str, ...]:
        """The words, in the order of their codes."""
        return tuple(self.lm.word(i) for i in self.codes)


def chosen(guesses: Guesses, rows: Any, features: Any, rank: Any) -> list[int]:
    """The fills of that rank in these gaps, WORD for the own word; a gap nobody can fill is an error."""
    ids = guesses.ids[rows, features, rank]
    if (ids < 0).any():
        raise BadInput(NO_WORD)
    return np.where(guesses.is_own[rows, features, rank], WORD, ids).tolist()  # type: ignore[no-any-return]  # ints


def fill_at_once(x: Input, gone: Bools, source: Source, pick: Any) -> Generator[Any, Any, Edit]:
    """All gaps masked, all filled from one look; ``pick(guesses, rows, features, questions)`` gives ranks."""
    codes, book = np.where(gone, MASK, KEEP).astype(np.int32), Book(source.lm)
    rows = np.flatnonzero(gone.any(axis=1))
    if len(rows):
        guesses = yield from guess(x, Edit(codes[rows].copy()), source)
        in_rows, features = gone[rows].nonzero()
        ranks = pick(guesses, in_rows, features, rows[in_rows])
        book.write(codes, (rows[in_rows], features), chosen(guesses, in_rows, features, ranks))
    return Edit(codes, book.words)


def fill_left_to_right(x: Input, gone: Bools, source: Source, pick: Any) -> Generator[Any, Any, Edit]:
    """Gap after gap, each fill seen by the next; all rows side by side."""
    codes, book = np.where(gone, MASK, KEEP).astype(np.int32), Book(source.lm)
    while (codes == MASK).any():
        rows = np.flatnonzero((codes == MASK).any(axis=1))
        features = (codes[rows] == MASK).argmax(axis=1)
        guesses = yield from guess(x, Edit(codes[rows].copy(), book.words), source)
        in_rows = np.arange(len(rows))
        ranks = pick(guesses, in_rows, features, rows)
        book.write(codes, (rows, features), chosen(guesses, in_rows, features, ranks))
    return Edit(codes, book.words)


ORDERS = {"at-once": fill_at_once, "left-to-right": fill_left_to_right}


def spread_draws(seed: int, x: Input, samples: int) -> Floats:
    """Uniform draws [samples, n]: each row is a fair draw, each column is spread over (0, 1) (Latin hypercube).

    They depend on seed and example only, so every question meets the same draws and equal questions equal fills.
    """
    source = rng(seed, x, "fills")
    order = source.permuted(np.tile(np.arange(samples)[:, None], (1, x.n)), axis=0)
    return np.asarray((order + source.random((samples, x.n))) / samples)


def inverse_cdf(p: Floats, u: Floats) -> NDArray[np.int64]:
    """[g]: the rank that a uniform draw u [g] picks from weights p [g, k], which need not sum to one.

    >>> inverse_cdf(np.array([[0.2, 0.2], [0.3, 0.1]]), np.array([0.6, 0.6])).tolist()
    [1, 0]
    """
    edges = np.cumsum(np.asarray(p, dtype=np.float64), axis=1)
    last = np.argmax(edges >= edges[:, -1:], axis=1)  # the last rank that has any weight
    return np.asarray(np.minimum((edges <= u[:, None] * edges[:, -1:]).sum(axis=1), last), dtype=np.int64)
