"""Knows how to fit Shapley values by one regression over random sets of words."""

from __future__ import annotations

import numpy as np

from assay.ask import rng, score
from assay.registry import method
from assay.types import Asking, BadInput, Bools, Floats, Input, Output, Removal, Seed, Target

SEED = Seed(0)
GROUPS = 8
"""Parts of the sample whose separate fits give the standard error."""


@method(
    "kernel-shap",
    family="removal",
    slow=True,
    paper="Lundberg & Lee 2017, A unified approach to interpreting model predictions; Covert & Lee 2021",
)
def kernel_shap(
    x: Input,
    target: Target,
    *,
    samples: int = 1024,
    removal: Removal = "delete",
    output: Output = "logodds",
    seed: Seed = SEED,
) -> Asking:
    """Shapley values as the least-squares fit of a sum of words to the output on random sets of words.

    a = argmin_a sum_S (f(S) - f(none) - sum_{i in S} a_i)^2 subject to sum a = f(x) - f(none); sets S have size s with
    probability proportional to 1 / (s (n - s)) and come with their complement. High: the word supports the target.
    Approaches ``shapley`` as ``samples`` grow; where that one can be exact, or with few samples, prefer it. Notes: the
    largest ``standard_error``, from separate fits to eighths of the sample (above the truth when those are small).

    >>> from assay.api import explain
    >>> from assay.models.additive import Additive
    >>> toy = Additive(weights={"good": 2.0, "dull": -1.0})
    >>> (explain("good but dull", model=toy, method="kernel-shap", target=1).scores.round(4) + 0).tolist()
    [2.0, 0.0, -1.0]
    """
    if samples < 2:
        raise BadInput(f"kernel-shap: samples must be at least 2, got {samples}")
    sets = coalitions(rng(seed, x, "coalitions"), samples // 2, x.size)
    ends = np.repeat(np.array([[False], [True]]), x.size, axis=1)
    f = yield from score(x, target, output, np.vstack([ends, sets]), removal)
    total, gains = float(f[1] - f[0]), f[2:] - f[0]
    notes = {"base": float(f[0]), **_error(sets, gains, total)}
    return fitted(sets, gains, total), notes


def _error(sets: Bools, gains: Floats, total: float) -> dict[str, float]:
    """The largest standard error of a score; nothing where there are too few sets to part."""
    pairs = np.arange(len(sets)).reshape(-1, 2)
    if len(pairs) < GROUPS:
        return {}
    parts = [p.ravel() for p in np.array_split(pairs, GROUPS)]
    fits = np.stack([fitted(sets[p], gains[p], total) for p in parts])
    return {"standard_error": float(fits.std(axis=0, ddof=1).max() / np.sqrt(GROUPS))}


def coalitions(draw: np.random.Generator, pairs: int, n: int) -> Bools:
    """[2 pairs, n]: random sets, neither empty nor full, each followed by its complement."""
    if n < 2:
        return np.zeros((0, n), dtype=bool)
    sizes = np.arange(1, n)
    chance = 1 / (sizes * (n - sizes))
    size = draw.choice(sizes, pairs, p=chance / chance.sum())
    sets = draw.random((pairs, n)).argsort(axis=1).argsort(axis=1) < size[:, None]
    return np.stack([sets, ~sets], axis=1).reshape(2 * pairs, n)


def fitted(sets: Bools, gains: Floats, total: float) -> Floats:
    """The scores that sum to ``total`` and are nearest to the gains of the sets; of several the shortest.

    >>> fitted(np.array([[True, False], [False, True]]), np.array([1.0, 3.0]), 6.0).round(6).tolist()
    [2.0, 4.0]
    """
    n = sets.shape[1]
    level = np.full(n, total / n)
    centre = np.eye(n) - 1 / n
    left = gains - sets @ level
    moved: Floats = level + centre @ np.linalg.lstsq(sets @ centre, left, rcond=None)[0]
    return moved
