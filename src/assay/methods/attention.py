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
    paper="Jain & Wallace 2019, Attention is not explanation",
)
def attention(
    x: Input,
    target: Target,
    *,
    layer: int | str = "last",
    head: int | str = "mean",
    to: Literal["cls", "mean"] = "cls",
) -> Scores:
    """Attention that the model pays to each feature, special tokens included.

    a_i = alpha_i, in a transformer the weight of ``layer`` ("last", "mean" or a number) and ``head`` ("mean" or a
    number) from the first position (``to="cls"``) or from all positions on average; a model with one attention layer
    has nothing to choose. Never negative, and the same for every target: it cannot say
    what a word speaks for. High means looked at, which need not mean relied on: weights can often be permuted or
    replaced without a change of the prediction, and can be trained to deceive (Pruthi et al. 2020).
    """
    chosen = {"layer": layer, "head": head, "to": to}
    usual = {"layer": "last", "head": "mean", "to": "cls"}
    how = tuple(sorted((k, v) for k, v in chosen.items() if v != usual[k]))
    reading: Reading = yield Probe(x, Edit.none(x), frozenset({"attention"}), how=how)
    weights: Floats = reading["attention"][0]
    return weights
