"""One attention weight per feature."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from assay.answers.asked import Arrays, Asked
from assay.registry import answer
from assay.types import BadInput, CannotDo


@answer("attention", paper="Bahdanau et al. 2015; Jain & Wallace 2019")
def attention(asked: Asked, *, layer: Any = "last", head: Any = "mean", to: Literal["cls", "mean"] = "cls") -> Arrays:
    """Attention that each feature receives, summed over its pieces.

    A model with one attention layer gives its weights. A transformer has many: ``layer`` last | mean | a number,
    ``head`` mean | a number, ``to`` cls (what the first token attends to) or mean (over all tokens that attend).
    For a decoder ``cls`` is the last token, the one that is classified.
    """
    out = asked.out
    if out.attention is not None:
        return {"attention": asked.features(out.attention.float())}
    if not out.maps:
        raise CannotDo(f"{asked.model.name} does not show its attention")
    chosen = [_heads(m, head) for m in _layers(out.maps, layer)]
    return {"attention": asked.features(_queries(torch.stack(chosen).mean(0), asked, to))}


def _layers(maps: tuple[Tensor, ...], layer: Any) -> tuple[Tensor, ...]:
    if layer == "mean":
        return maps
    number = len(maps) - 1 if layer == "last" else layer
    if not isinstance(number, int) or not -len(maps) <= number < len(maps):
        raise BadInput(f"layer cannot be {layer!r}; use last, mean or 0 to {len(maps) - 1}")
    return (maps[number],)


def _heads(weights: Tensor, head: Any) -> Tensor:
    """[B, Q, K] from [B, heads, Q, K]."""
    if head == "mean":
        return weights.float().mean(1)
    if not isinstance(head, int) or not -weights.shape[1] <= head < weights.shape[1]:
        raise BadInput(f"head cannot be {head!r}; use mean or 0 to {weights.shape[1] - 1}")
    return weights[:, head].float()


def _queries(weights: Tensor, asked: Asked, to: str) -> Tensor:
    """[B, K] from [B, Q, K]."""
    if to == "mean":
        real = asked.batch.real.to(weights.dtype)
        return (weights * real.unsqueeze(-1)).sum(1) / real.sum(1, keepdim=True)
    if to != "cls":
        raise BadInput(f"to cannot be {to!r}; use cls or mean")
    at = asked.batch.lengths - 1 if getattr(asked.model, "decoder", False) else torch.zeros_like(asked.batch.lengths)
    return weights[torch.arange(len(at), device=at.device), at]
