"""Knows whether entirely different attention would have given the same prediction."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from assay.measures.attention_probes import Gaze, gaze_of, moved, under, where
from assay.registry import test
from assay.stats import jsd
from assay.types import Asking, BadInput, Edit, Floats, Input, Probe, Reading, Seed, Target

SLACK = 1e-6
"""Rounding of single precision, when a distance is held against epsilon."""
REPORTED = 0.05
"""Epsilon that the released code reports with, whatever it optimised with."""

SEED = Seed(0)


@test(
    "adversarial-attention",
    of="input",
    needs={"attend", "attention", "adversary"},
    asks="manipulation",
    headline="jsd",
    better="",
    claim="No very different attention gives the same prediction.",
    view="heatmap",
    bounds=(0.0, 0.6932),
    paper="Jain & Wallace 2019, Attention is not explanation",
)
def adversarial_attention(
    x: Input,
    target: Target,
    *,
    k: int = 5,
    steps: int = 500,
    lr: float = 0.01,
    epsilon: float = 0.01,
    penalty: float = 500.0,
    settings: Literal["paper", "code"] = "paper",
    layer: int | str = "last",
    head: int | str = "mean",
    to: Literal["cls", "mean"] = "cls",
    seed: Seed = SEED,
) -> Asking:
    """How far attention can go from the model's own while the prediction stays within ``epsilon``.

    k candidates minimise -sum_k JSD(a_k, a) + penalty relu(TVD(p_k, p) - epsilon) - (distance from each other), by
    gradient steps from random starts, states being fixed; each is then imposed and the model asked. ``jsd`` =
    largest JSD (natural log, at most ln 2 = 0.6931) among candidates within epsilon, over the words' distribution;
    absent, not 0, when none is. ``feasible`` = share of candidates within epsilon, ``found`` = 1 if any is, ``tvd`` =
    distance of the prediction at that candidate, ``apart`` = mean JSD between candidates, ``max_attention`` = largest
    weight. High jsd: attention is not the only explanation of its kind for this prediction; the model itself was not
    changed, so nothing is said of what it would have learnt (Wiegreffe & Pinter 2019). Low: weights are held in place
    by the states. ``settings`` paper | code: penalty per candidate 1/k | 1 times ``penalty``, weight of a pair
    1/(k(k-1)) | 2/k^2, reported within epsilon | 0.05. A transformer: one layer of many, special tokens keep their
    weight, and every step is a pass through the model; comparable only in name.

    Detail for the view: ``words``, ``original`` and ``adversarial`` weights of the farthest feasible candidate (of
    none: empty), ``tvds`` and ``jsds`` of all candidates.
    """
    if k < 1 or steps < 1 or not 0 < epsilon < 1:
        raise BadInput(f"expected k >= 1, steps >= 1 and 0 < epsilon < 1, got {k}, {steps} and {epsilon}")
    how = where(layer, head, to)
    aim: dict[str, Any] = {"k": k, "steps": steps, "lr": lr, "epsilon": epsilon, "penalty": penalty}
    aim |= {"settings": settings, "seed": int(seed)} | dict(how)
    want = frozenset({"adversary", "attention"})  # at once: examples then take their steps together
    reading: Reading = yield Probe(x, Edit.none(x), want, how=tuple(sorted(aim.items())))
    gaze = gaze_of(x, reading)
    words = distributions(reading["adversary"][0], gaze)
    imposed = yield from under(x, gaze, words, how)
    limit = max(epsilon, REPORTED) if settings == "code" else epsilon
    return judged(x, gaze, words, moved(imposed), limit)


def distributions(found: Floats, gaze: Gaze) -> Floats:
    """[k, w]: candidates [k, n] as distributions over the words, in double precision."""
    words = np.asarray(found, dtype=np.float64)[:, gaze.at]
    return np.asarray(words / words.sum(axis=1, keepdims=True))


def judged(x: Input, gaze: Gaze, words: Floats, tvds: Floats, limit: float) -> tuple[dict[str, float], dict[str, Any]]:
    """The numbers and the detail of k candidates [k, w] with their distances of prediction [k]."""
    far, within = jsd(words, gaze.words), tvds <= limit + SLACK
    values = {"feasible": float(within.mean()), "found": float(within.any()), "max_attention": float(gaze.words.max())}
    if len(words) > 1:
        pairs = np.triu_indices(len(words), 1)
        values["apart"] = float(jsd(words[pairs[0]], words[pairs[1]]).mean())
    detail: dict[str, Any] = {"words": [x.words[i] for i in gaze.at], "original": gaze.words.tolist()}
    detail |= {"adversarial": [], "tvds": tvds.tolist(), "jsds": far.tolist()}
    if within.any():
        best = int(np.where(within, far, -1.0).argmax())
        values |= {"jsd": float(far[best]), "tvd": float(tvds[best])}
        detail["adversarial"] = words[best].tolist()
    return values, detail
