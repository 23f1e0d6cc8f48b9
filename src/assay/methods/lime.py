"""Knows how to score words by a small linear model fitted to the big one's answers on cut-up copies of the text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.ask import LONGEST, rng, score
from assay.registry import method
from assay.sampling import neighbours
from assay.types import Asking, BadInput, Bools, Floats, Input, Output, Removal, Seed, Target

SEED = Seed(0)


@method("lime", family="removal", paper="Ribeiro et al. 2016, Why should I trust you?")
def lime(
    x: Input,
    target: Target,
    *,
    samples: int = 1000,
    removal: Removal = "delete",
    bow: bool = False,
    width: float = 25.0,
    alpha: float = 1.0,
    output: Output = "prob",
    seed: Seed = SEED,
) -> Asking:
    """Coefficients of a weighted ridge regression from which words are there to what the model says.

    a = argmin_a sum_s k_s (f(x_s) - a_0 - a . z_s)^2 + alpha |a|^2; z_s says which of the d words are
    there (the first sample is the text itself; from the others a number uniform in 1..d is taken away at random),
    k_s = sqrt(exp(-D_s^2 / width^2)) with D_s = 100 (1 - cos(z_s, 1)).
    High: the word's presence raises the output. Sampling, kernel and regression are those of the ``lime`` package;
    ``bow`` switches all occurrences of a word at once, its default and Pham et al. 2022's (its author advises false
    for models that read order). ``samples`` rows. Notes: the intercept and ``r2``, the weighted share of variance that
    the linear model explains; a low one says that no such scores fit. Differs from seed to seed: see ``stability``.
    Half of the words are missing in the average sample, so the fit describes the model far from the text.

    >>> from assay.api import explain
    >>> from assay.models.additive import Additive
    >>> toy = Additive(weights={"good": 2.0, "dull": -1.0})
    >>> found = explain("good but dull", model=toy, method="lime(output=logit, alpha=0.0)", target=1)
    >>> (found.scores.round(3) + 0).tolist(), round(found.notes["r2"], 3)
    ([2.0, 0.0, -1.0], 1.0)
    """
    if samples < 2 or width <= 0 or alpha < 0:
        raise BadInput(f"lime: needs samples >= 2, width > 0, alpha >= 0, got {samples}, {width}, {alpha}")
    if x.size > LONGEST:
        raise BadInput(
            f"lime: {x.size} words are too many for one linear model, it takes up to {LONGEST}; cut the text"
        )
    kind = switches(x, bow)
    z = neighbours(rng(seed, x, "lime"), samples, int(kind.max(initial=-1)) + 1)
    f = yield from score(x, target, output, z[:, kind], removal)
    weights, intercept, r2 = surrogate(z, f, width, alpha)
    return weights[kind], {"intercept": intercept, "r2": r2}


def switches(x: Input, bow: bool) -> NDArray[np.int64]:
    """For each free feature the number of its switch: one per place, or one per distinct word of a field."""
    if not bow:
        return np.arange(x.size)
    found: dict[tuple[str, str], int] = {}
    fields = [p.field for p, free in zip(x.places, x.free, strict=True) if free]
    pairs = zip(fields, x.free_words, strict=True)
    return np.array([found.setdefault(pair, len(found)) for pair in pairs], dtype=np.int64)


def surrogate(z: Bools, f: Floats, width: float = 25.0, alpha: float = 1.0) -> tuple[Floats, float, float]:
    """Coefficients, intercept and weighted R2 of the ridge regression of f on z, near samples counting more.

    >>> z = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=bool)
    >>> a, a0, r2 = surrogate(z, np.array([4.0, 3.0, 2.0, 1.0]), width=1e9, alpha=0.0)
    >>> a.round(6).tolist(), round(a0, 6), round(r2, 6)
    ([2.0, 1.0], 1.0, 1.0)
    """
    far = 100 * (1 - np.sqrt(z.mean(axis=1)))
    k = np.sqrt(np.exp(-((far / width) ** 2)))
    share = k / k.sum()
    mean_z, mean_f = share @ z, float(share @ f)
    dz, df = z - mean_z, f - mean_f
    a: Floats = np.linalg.lstsq((dz.T * k) @ dz + alpha * np.eye(z.shape[1]), (dz.T * k) @ df, rcond=None)[0]
    spread, left = float(share @ df**2), float(share @ (df - dz @ a) ** 2)
    return a, mean_f - float(mean_z @ a), 1 - left / spread if spread > 0 else 1.0
