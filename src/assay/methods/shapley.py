"""Knows how to share the model's output among the words fairly, exactly or by random orders."""

from __future__ import annotations

from math import comb

import numpy as np

from assay.ask import rng, score
from assay.registry import method
from assay.types import Asking, BadInput, Bools, Floats, Input, Output, Removal, Seed, Target

SEED = Seed(0)


@method(
    "shapley",
    family="removal",
    paper="Shapley 1953, A value for n-person games; Mitchell et al. 2022, Sampling permutations",
)
def shapley(
    x: Input,
    target: Target,
    *,
    budget: int = 1024,
    removal: Removal = "delete",
    output: Output = "logodds",
    seed: Seed = SEED,
) -> Asking:
    """What each word adds to the output, averaged over all orders in which the words could arrive.

    a_i = mean over orders of f(words before i, and i) - f(words before i). High: the word supports the target.
    The scores sum to f(x) - f(no words), and words that are alike share alike. Exact where 2^n rows are within the
    ``budget`` (10 words by default), else from random orders, each with its reverse (at least two such pairs),
    with the largest ``standard_error`` in the notes: differences below it mean nothing. Most of the rows are
    fragments of text that the model never met, so the operator matters as much as for ``leave-one-out``.

    >>> from assay.api import explain
    >>> from assay.models.additive import Additive
    >>> toy = Additive(weights={"good": 2.0, "dull": -1.0})
    >>> explain("good but dull", model=toy, method="shapley", target=1).scores.round(4).tolist()
    [2.0, 0.0, -1.0]
    """
    if budget < 4:
        raise BadInput(f"shapley: budget must be at least 4 rows, got {budget}")
    if x.size <= budget.bit_length() - 1:
        keep = subsets(x.size)
        f = yield from score(x, target, output, keep, removal)
        return exact(keep, f), {"how": "exact", "standard_error": 0.0}
    pairs = max(2, (budget - 2) // (2 * (x.size - 1)))
    orders = drawn(rng(seed, x, "orders"), pairs, x.size)
    f = yield from score(x, target, output, prefixes(orders), removal)
    gains = gained(orders, f).reshape(pairs, 2, x.size).mean(axis=1)
    error = gains.std(axis=0, ddof=1) / np.sqrt(pairs)
    return gains.mean(axis=0), {"how": "orders", "orders": 2 * pairs, "standard_error": float(error.max())}


def subsets(n: int) -> Bools:
    """[2^n, n]: every subset, from none to all.

    >>> subsets(2).astype(int).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    return np.asarray((np.arange(2**n)[:, None] >> np.arange(n)) % 2 == 1)


def exact(keep: Bools, f: Floats) -> Floats:
    """Shapley values from the output on every subset: sum over S of |S|! (n - |S| - 1)! / n! (f(S + i) - f(S)).

    >>> exact(subsets(2), np.array([0.0, 1.0, 2.0, 7.0])).tolist()
    [3.0, 4.0]
    """
    n = keep.shape[1]
    weight = np.array([1 / (n * comb(n - 1, s)) for s in range(n)])
    size = keep.sum(axis=1)
    with_i, without_i = weight[size - 1], weight[np.minimum(size, n - 1)]
    values: Floats = (np.where(keep, with_i[:, None], -without_i[:, None]) * f[:, None]).sum(axis=0)
    return values


def drawn(draw: np.random.Generator, pairs: int, n: int) -> np.ndarray:
    """[2 pairs, n]: random orders of the words, each followed by its reverse."""
    orders = draw.random((pairs, n)).argsort(axis=1)
    return np.stack([orders, orders[:, ::-1]], axis=1).reshape(2 * pairs, n)


def prefixes(orders: np.ndarray) -> Bools:
    """Which words are there: none, all, then in each order the first 1 ... n - 1."""
    n = orders.shape[1]
    place = orders.argsort(axis=1)
    inner = place[:, None, :] < np.arange(1, n)[None, :, None]
    ends = np.repeat(np.array([[False], [True]]), n, axis=1)
    return np.vstack([ends, inner.reshape(-1, n)])


def gained(orders: np.ndarray, f: Floats) -> Floats:
    """[orders, n]: what each word added when it came, from the output at ``prefixes(orders)``."""
    inner = f[2:].reshape(len(orders), -1)
    ends = np.broadcast_to(f[:2], (len(orders), 2))
    steps = np.diff(np.concatenate([ends[:, :1], inner, ends[:, 1:]], axis=1), axis=1)
    out = np.empty_like(steps)
    np.put_along_axis(out, orders, steps, axis=1)
    return out
