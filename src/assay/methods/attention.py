"""Knows how to read a word's score off the model's own attention."""

from __future__ import annotations

from typing import Literal

from assay.ask import Scores
from assay.registry import method
from assay.types import Edit, Floats, Input, Probe, Reading, Target


@method(
    "attention",
    family="attention",
    needs={"attention"},
    paper="Jain & Wallace 2019, Attention is not explanation; Abnar & Zuidema 2020; Kobayashi et al. 2020",
)
def attention(
    x: Input,
    target: Target,
    *,
    layer: int | str = "last",
    head: int | str = "mean",
    to: Literal["cls", "mean"] = "cls",
    kind: Literal["weights", "rollout", "norms"] = "weights",
) -> Scores:
    """Attention that the model pays to each feature, special tokens included.

    a_i = alpha_i, in a transformer the weight of ``layer`` ("last", "mean" or a number) and ``head`` ("mean" or a
    number) from the first position (``to="cls"``) or from all positions on average; a model with one attention layer
    has nothing to choose. ``kind`` rollout: the product of (weights + identity) / 2 over all layers up to ``layer``, as
    if information only mixed (Abnar & Zuidema 2020); norms: |sum_h alpha_h,i W_h v_h,i|, the length of what is carried
    from a token, so that a large weight on a short vector counts little (Kobayashi et al. 2020). Never negative, and
    the same for every target: it cannot say what a word speaks for. High means looked at, which need not mean relied
    on: weights can often be permuted or replaced without a change of the prediction, and can be trained to deceive
    (Pruthi et al. 2020).
    """
    chosen = {"layer": layer, "head": head, "to": to, "kind": kind}
    usual = {"layer": "last", "head": "mean", "to": "cls", "kind": "weights"}
    how = tuple(sorted((k, v) for k, v in chosen.items() if v != usual[k]))
    reading: Reading = yield Probe(x, Edit.none(x), frozenset({"attention"}), how=how)
    weights: Floats = reading["attention"][0]
    return weights
