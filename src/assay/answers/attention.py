"""One attention weight per feature."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from assay.answers.adversary import Attends
from assay.answers.asked import Arrays, Asked
from assay.registry import answer
from assay.types import BadInput, CannotDo


@answer("attention", paper="Bahdanau et al. 2015; Jain & Wallace 2019")
def attention(
    asked: Asked,
    *,
    layer: Any = "last",
    head: Any = "mean",
    to: Literal["cls", "mean"] = "cls",
    kind: Literal["weights", "rollout", "norms"] = "weights",
) -> Arrays:
    """Attention that each feature receives, summed over its pieces.

    A model with one attention layer gives its weights. A transformer has many: ``layer`` last | mean | a number,
    ``head`` mean | a number, ``to`` cls (what the first token attends to) or mean (over all tokens that attend).
    For a decoder ``cls`` is the last token, the one that is classified. ``kind``: the weights; ``rollout``, their
    product through all layers up to ``layer`` with half of each layer passing straight on (Abnar & Zuidema 2020);
    ``norms``, the length of what is carried from a token, |a_i f(v_i)| (Kobayashi et al. 2020).
    ``attended`` [m, n]: 1 where attention may be paid, given by models whose attention can be replaced.
    """
    single = asked.out.attention is not None
    weights = _one_layer(asked, kind) if single else _many_layers(asked, layer, head, to, kind)
    found = {"attention": asked.features(weights)}
    if isinstance(asked.model, Attends):
        open_places = asked.batch.sum_pieces(asked.model.attended(asked.batch).float())
        found["attended"] = asked.columns((open_places > 0).float())
    return found


def _one_layer(asked: Asked, kind: str) -> Tensor:
    weights, states = asked.out.attention, asked.out.states
    if weights is None or kind == "rollout":
        raise BadInput(f"{asked.model.name} has one attention layer: kind rollout is for models with several")
    if kind == "weights":
        return weights.float()
    if states is None:
        raise CannotDo(f"{asked.model.name} does not show the states that its attention averages: use kind weights")
    lengths: Tensor = torch.linalg.vector_norm(states.float(), dim=-1)
    return weights.float() * lengths


def _many_layers(asked: Asked, layer: Any, head: Any, to: str, kind: str) -> Tensor:
    maps = asked.out.maps
    if not maps:
        raise CannotDo(f"{asked.model.name} does not show its attention")
    if kind == "norms":
        with torch.inference_mode():
            norms = asked.forward(keep=frozenset({"norms"})).norms
        if len(norms) != len(maps):
            raise CannotDo(f"{asked.model.name} does not show what its attention carries: use kind weights or rollout")
        return torch.stack(_layers(norms, layer)).float().mean(0)
    if kind == "rollout":
        up_to = len(maps) if layer in ("last", "mean") else (layer % len(maps)) + 1 if _layers(maps, layer) else 0
        return _queries(rollout([_heads(m, head) for m in maps[:up_to]]), asked, to)
    chosen = [_heads(m, head) for m in _layers(maps, layer)]
    return _queries(torch.stack(chosen).mean(0), asked, to)


def rollout(maps: list[Tensor]) -> Tensor:
    """[B, Q, K]: product over layers, first to last, of (weights + identity) / 2, each [B, Q, K].

    >>> rollout([torch.tensor([[[0.0, 1.0], [0.0, 1.0]]])] * 2)
    tensor([[[0.2500, 0.7500],
             [0.0000, 1.0000]]])
    """
    out = torch.eye(maps[0].shape[-1], device=maps[0].device).expand_as(maps[0])
    for weights in maps:
        out = (weights + torch.eye(weights.shape[-1], device=weights.device)) / 2 @ out
    return out


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
