"""Knows whether the decision survives when the largest attention weights are set to zero."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.ask import rng, together
from assay.measures.attention_probes import Gaze, How, flipped, groups, look, moved, under, where
from assay.measures.ranking import order
from assay.registry import test
from assay.stats import jsd
from assay.types import Asking, BadInput, Edit, Floats, Input, Probe, Reading, Seed, Target

FIRST = 8
"""Sets asked at once at first; twice as many each time no set flips the decision."""

SEED = Seed(0)


@test(
    "erasure",
    of="input",
    needs={"attend", "attention", "pull"},
    asks="manipulation",
    headline="fraction",
    better="",
    claim="Erasing few of the largest attention weights flips the decision.",
    view="points",
    bounds=(0.0, 1.0),
    paper="Serrano & Smith 2019, Is attention interpretable?",
)
def erasure(
    x: Input,
    target: Target,
    *,
    top: int = 1,
    layer: int | str = "last",
    head: int | str = "mean",
    to: Literal["cls", "mean"] = "cls",
    seed: Seed = SEED,
) -> Asking:
    """What happens to the decision when attention weights are set to zero after the softmax and the rest renormalised.

    ``tvd``, ``jsd``, ``flip``: change of the prediction (and of the decision, 0 or 1) without the ``top`` largest
    weights; ``random_tvd``, ``random_flip``: without as many random ones. ``fraction`` = share of weights erased, in
    descending order, until the decision flips, 1 if it never does; ``fraction_gradient``, ``fraction_product`` and
    ``fraction_random`` the same by d f / d a_i, by a_i times it, and at random. Low = the order names weights that
    the decision needs. If gradient orders flip it sooner, attention is not the best ranking of its own importance.
    With few words all fractions are coarse; one-sided models never flip. A transformer: one layer of many, the
    words' weight stays together on the words; comparable only in name.
    """
    how = where(layer, head, to)
    gaze = yield from look(x, how)
    if not 1 <= top < len(gaze.at):
        raise BadInput(f"top must be between 1 and {len(gaze.at) - 1} (attended words less one), got {top}")
    orders = yield from _orders(x, target, gaze, how, seed)
    firsts = np.stack([without(gaze.words, orders[name][:top]) for name in ("attention", "random")])
    reading = yield from under(x, gaze, firsts, how)
    fractions = yield from together([_until_flip(x, gaze, o, how) for o in orders.values()])
    found = dict(zip(orders, fractions, strict=True))
    fraction = found.pop("attention")
    values = _changes(reading) | {"fraction": fraction} | {f"fraction_{k}": v for k, v in found.items()}
    return values | {"max_attention": float(gaze.words.max())}


def _orders(
    x: Input, target: Target, gaze: Gaze, how: How, seed: int
) -> Generator[Any, Any, dict[str, NDArray[np.int64]]]:
    """Words by descending attention, gradient, attention times gradient, and at random."""
    own = gaze.own[None, :]
    reading: Reading = yield Probe(x, Edit.none(x), frozenset({"pull"}), target, "logodds", attention=own, how=how)
    pull = np.asarray(reading["pull"][0], dtype=np.float64)[gaze.at]
    drawn = rng(seed, x, "erasure").permutation(len(gaze.at))
    ranked = {"attention": gaze.words, "gradient": pull, "product": gaze.words * pull}
    return {name: order(scores) for name, scores in ranked.items()} | {"random": drawn}


def without(words: Floats, gone: NDArray[np.int64]) -> Floats:
    """The distribution with these weights at zero, renormalised; even over the rest where nothing is left of it.

    >>> without(np.array([0.5, 0.3, 0.2]), np.array([0])).round(4).tolist()
    [0.0, 0.6, 0.4]
    """
    left = np.asarray(words, dtype=np.float64).copy()
    left[gone] = 0.0
    if left.sum() <= 0:
        left[np.setdiff1d(np.arange(len(left)), gone)] = 1.0
    return np.asarray(left / left.sum())


def _until_flip(x: Input, gaze: Gaze, ranked: NDArray[np.int64], how: How) -> Generator[Any, Any, float]:
    """Share of the weights erased in this order when the decision first flips; 1 when it never does."""
    done, width, n = 0, FIRST, len(ranked)
    while done < n - 1:
        counts = range(done + 1, min(done + width, n - 1) + 1)
        reading = yield from under(x, gaze, np.stack([without(gaze.words, ranked[:k]) for k in counts]), how)
        hits = np.flatnonzero(flipped(reading))
        if len(hits):
            return (done + 1 + int(hits[0])) / n
        done, width = counts[-1], 2 * width
    return 1.0


def _changes(reading: Reading) -> dict[str, float]:
    p, far, other = groups(reading), moved(reading), flipped(reading)
    return {
        "tvd": float(far[0]),
        "jsd": float(jsd(p[1], p[0]).max()),
        "flip": float(other[0]),
        "random_tvd": float(far[1]),
        "random_flip": float(other[1]),
    }
