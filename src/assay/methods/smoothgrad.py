"""Knows how to average a gradient over noisy copies of the embeddings."""

from __future__ import annotations

import numpy as np

from assay.ask import Scores, rng
from assay.methods.gradient import convention
from assay.registry import method
from assay.types import BadInput, Edit, Input, Noise, Output, Probe, Reading, Seed, Target

SEED = Seed(0)


@method(
    "smoothgrad",
    family="gradient",
    needs={"dot", "noise"},
    paper="Smilkov et al. 2017, SmoothGrad: removing noise by adding noise",
)
def smoothgrad(
    x: Input,
    target: Target,
    *,
    samples: int = 10,
    std: float = 0.01,
    output: Output = "logodds",
    signed: bool = True,
    normalise: bool = False,
    seed: Seed = SEED,
) -> Scores:
    """Gradient averaged over noisy embeddings, times the clean embedding.

    a_i = mean_k grad_{e_i} f(e + noise_k) . e_i, noise_k ~ N(0, (std * (max - min of the embeddings))^2).
    High: the word supports the target; below zero: it speaks against it. With std 0 this is ``gradient``.
    ``samples`` rows. 10 samples of std 0.01 are Wang et al. 2020's (with output loss, signed=false, normalise=true);
    Smilkov et al. recommend 0.1 to 0.2 and 50 samples for images. Differs from seed to seed: see ``stability``.

    >>> from assay.api import explain
    >>> from assay.models.additive import Additive
    >>> toy = Additive(weights={"good": 2.0, "dull": -1.0})
    >>> explain("good but dull", model=toy, method="smoothgrad", target=1).scores.round(4).tolist()
    [2.0, 0.0, -1.0]
    """
    if samples < 1 or std < 0:
        raise BadInput(f"smoothgrad: needs samples of at least 1 and std of at least 0, got {samples} and {std}")
    seeds = rng(seed, x, "noise").integers(0, 2**62, samples)
    noise = Noise(std, seeds)
    reading: Reading = yield Probe(x, Edit.none(x, samples), frozenset({"dot"}), target, output, noise=noise)
    return convention(np.asarray(reading["dot"], dtype=np.float64).mean(axis=0), signed, normalise)
