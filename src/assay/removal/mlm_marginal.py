"""Knows what it means to average over the words that a language model could put in the place of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.registry import removal
from assay.removal.fills import NO_WORD, Book, Guesses, Int32s, Source, chosen, guess, inverse_cdf, spread_draws
from assay.types import KEEP, MASK, Asking, BadInput, Bools, Edit, Floats, Input, ModelName, Seed, Variants, full_keep

SEED = Seed(0)
Ints64 = NDArray[np.int64]
Part = tuple[Int32s, Ints64, Floats]
"""Codes, owner and weight of some rows."""


@removal("mlm-marginal", needs={"replace"}, kin="mlm", paper="Kim et al. 2020; Pham et al. 2022, Double trouble")
def mlm_marginal(
    x: Input,
    keep: Bools,
    *,
    lm: ModelName = "builtin:mlm",
    top: int = 10,
    threshold: float = 0.0,
    original: Literal["keep", "leave-out"] = "keep",
    pieces: Literal["whole", "all"] = "whole",
    seed: Seed = SEED,
) -> Asking:
    """Averages the prediction over the words that could stand there, weighted by the language model.

    One gap: E = sum over fills w of p(w) f(x with w) / sum of p(w), over the ``top`` likeliest whole words that reach
    ``threshold`` (the likeliest one always counts). Several gaps: ``top`` joint fills drawn from the gaps' own
    distributions (seeded, all gaps masked at once), each with weight 1 / top. The original word is one of the fills,
    so where the language model is certain of it nothing changes; ``original`` leave-out averages over the others only.

    Detail, for questions with one gap: ``fills`` {feature: [(word, probability), ...]}, ``mass`` {feature: sum of the
    probabilities of the top fills}, ``left_out`` {feature: probability of the original word where it is not averaged
    over}; probabilities are those under the whole vocabulary. ``pieces`` all also offers word endings, pasted as they
    are ("##ing"), as the code of Pham et al. does.
    """
    if top < 1 or not 0 <= threshold < 1:
        raise BadInput(f"mlm-marginal: top must be 1 or more and threshold in [0, 1), got {top} and {threshold}")
    gone = ~full_keep(x, keep)
    rows = np.flatnonzero(gone.any(axis=1))
    if not len(rows):
        return Variants.plain(Edit.none(x, len(gone)))
    masked = np.where(gone[rows], MASK, KEEP).astype(np.int32)
    source = Source(lm, top + (original == "leave-out"), pieces)
    guesses: Guesses = yield from guess(x, Edit(masked), source)
    weights = _weights(guesses, top, threshold, original == "leave-out")
    if (weights.sum(axis=-1)[gone[rows]] <= 0).any():
        raise BadInput(NO_WORD)
    return _variants(_Asked(x, gone, rows, guesses, weights, top, seed), lm)


def _weights(guesses: Guesses, top: int, threshold: float, leave_out: bool) -> Floats:
    """[m, n, k]: the probabilities that count, not yet renormalised."""
    usable = (guesses.p > 0) & ~(guesses.is_own if leave_out else np.zeros_like(guesses.is_own))
    usable &= np.cumsum(usable, axis=-1) <= top
    first = usable & (np.cumsum(usable, axis=-1) == 1)
    return np.asarray(np.where(usable & ((guesses.p >= threshold) | first), guesses.p, 0.0), dtype=np.float64)


@dataclass(frozen=True, eq=False, slots=True)
class _Asked:
    x: Input
    gone: Bools
    rows: Ints64
    """The questions that take something away; guesses and weights are theirs."""
    guesses: Guesses
    weights: Floats
    top: int
    seed: int


def _variants(asked: _Asked, lm: Any) -> Variants:
    book = Book(lm)
    many = asked.gone.sum(axis=1)[asked.rows]
    whole = np.setdiff1d(np.arange(len(asked.gone)), asked.rows)
    parts: list[Part] = [(np.zeros((len(whole), asked.x.n), dtype=np.int32), whole, np.ones(len(whole)))]
    parts.append(_exact(asked, np.flatnonzero(many == 1), book))
    parts.append(_drawn(asked, np.flatnonzero(many > 1), book))
    codes, owner, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(owner, kind="stable")
    return Variants(Edit(codes[order], book.words), owner[order], weight[order], _detail(asked, many == 1, lm))


def _exact(asked: _Asked, single: Ints64, book: Book) -> Part:
    """Every fill of questions with one gap, with its renormalised probability."""
    feature = asked.gone[asked.rows[single]].argmax(axis=1)
    p = asked.weights[single, feature]
    p = p / p.sum(axis=1, keepdims=True)
    i, rank = p.nonzero()
    codes = np.full((len(i), asked.x.n), KEEP, dtype=np.int32)
    book.write(codes, (np.arange(len(i)), feature[i]), chosen(asked.guesses, single[i], feature[i], rank))
    return codes, asked.rows[single[i]], p[i, rank]


def _drawn(asked: _Asked, several: Ints64, book: Book) -> Part:
    """``top`` joint fills of questions with several gaps."""
    u = spread_draws(asked.seed, asked.x, asked.top)
    codes = np.full((len(several) * asked.top, asked.x.n), KEEP, dtype=np.int32)
    row, feature = np.repeat(asked.gone[asked.rows[several]], asked.top, axis=0).nonzero()
    of = several[row // asked.top]
    rank = inverse_cdf(asked.weights[of, feature], u[row % asked.top, feature])
    book.write(codes, (row, feature), chosen(asked.guesses, of, feature, rank))
    return codes, np.repeat(asked.rows[several], asked.top), np.full(len(codes), 1.0 / asked.top)


def _detail(asked: _Asked, single: Bools, lm: Any) -> dict[str, Any]:
    out: dict[str, dict[int, Any]] = {"fills": {}, "mass": {}, "left_out": {}}
    for i in np.flatnonzero(single).tolist():
        feature = int(asked.gone[asked.rows[i]].argmax())
        ids, p = asked.guesses.ids[i, feature], asked.guesses.p[i, feature]
        used = asked.weights[i, feature] > 0
        own = not (asked.guesses.is_own[i, feature] & used).any() and asked.guesses.own[i, feature] >= 0
        out["fills"][feature] = [(lm.word(int(a)), float(b)) for a, b in zip(ids[used], p[used], strict=True)]
        out["mass"][feature] = float(p[: asked.top].sum())
        out["left_out"][feature] = float(asked.guesses.own_p[i, feature]) if own else 0.0
    return out
