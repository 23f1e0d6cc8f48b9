"""Knows whether the prediction notices that attention was shuffled."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Literal

import numpy as np

from assay.ask import rng
from assay.measures.attention_probes import How, look, moved, under, where
from assay.registry import test
from assay.types import Asking, BadInput, CannotDo, Edit, Input, Probe, ProbeFailed, Reading, Seed, Target

SEED = Seed(0)


@test(
    "permutation",
    of="input",
    needs={"attend", "attention"},
    asks="manipulation",
    headline="median",
    better="",
    claim="Which word gets which attention makes a difference to the prediction.",
    view="points",
    bounds=(0.0, 1.0),
    paper="Jain & Wallace 2019, Attention is not explanation; Vashishth et al. 2019; Mohankumar et al. 2020",
)
def permutation(
    x: Input,
    target: Target,
    *,
    times: int = 100,
    layer: int | str = "last",
    head: int | str = "mean",
    to: Literal["cls", "mean"] = "cls",
    seed: Seed = SEED,
) -> Asking:
    """Change of the prediction when the attention weights are dealt out anew among the words, states being fixed.

    d_r = TVD(p under permuted weights, p) for ``times`` random permutations of the weights of the free words;
    ``median``, ``mean`` and ``largest`` of them. ``max_attention`` = the largest weight (of the words' share).
    ``conicity`` = mean cosine of the hidden states to their mean, where the model shows its states. Low d with a high
    maximum: the weights are not what the prediction rests on; unless conicity is near 1, when all states say the same
    and no weights could matter (Mohankumar et al. 2020). High d does not show that the weights are the reason. A
    transformer: one layer of many is shuffled, special tokens keep their weight; comparable only in name.
    """
    if times < 1:
        raise BadInput(f"times must be at least 1, got {times}")
    how = where(layer, head, to)
    gaze = yield from look(x, how)
    draws = rng(seed, x, "permutation")
    reading = yield from under(x, gaze, draws.permuted(np.tile(gaze.words, (times, 1)), axis=1), how)
    d = moved(reading)
    values = {"median": float(np.median(d)), "mean": float(d.mean()), "largest": float(d.max())}
    alike = yield from _conicity(x, how)
    return values | {"max_attention": float(gaze.words.max())} | alike


def _conicity(x: Input, how: How) -> Generator[Any, Any, dict[str, float]]:
    """Nothing, for a model that does not show its states."""
    try:
        reading: Reading = yield Probe(x, Edit.none(x), frozenset({"states"}), how=how)
    except ProbeFailed as failure:
        if isinstance(failure.__cause__, CannotDo):
            return {}
        raise
    return {"conicity": float(reading["conicity"][0])}
