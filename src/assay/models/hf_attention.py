"""Reads, holds or replaces attention inside any Hugging Face model, through the library's own interface."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor

from assay.answers.batch import Batch
from assay.types import BadInput

NAME = "assay"
"""Our attention function in the library's table."""


TINY = 1e-12
"""Attention below this is none: what is imposed there is dealt out evenly instead of in proportion."""


@dataclass(frozen=True, eq=False)
class Which:
    """One attention of many: a layer, a head (None: their mean) and the queries (None: their mean)."""

    layer: int
    head: int | None
    query: Tensor | None
    """[B]: the place that attends."""
    batch: Batch

    @staticmethod
    def of(batch: Batch, depth: int, heads: int, decoder: bool) -> Which:
        """What ``batch.where`` says; else what the classified token attends to in the last layer, all heads."""
        layer, head, to = (batch.where.get(k, v) for k, v in (("layer", "last"), ("head", "mean"), ("to", "cls")))
        layer = depth - 1 if layer == "last" else layer
        if not isinstance(layer, int) or not -depth <= layer < depth:
            raise BadInput(f"layer cannot be {layer!r}; use last or 0 to {depth - 1}")
        if head != "mean" and (not isinstance(head, int) or not -heads <= head < heads):
            raise BadInput(f"head cannot be {head!r}; use mean or 0 to {heads - 1}")
        if to not in ("cls", "mean"):
            raise BadInput(f"to cannot be {to!r}; use cls or mean")
        last = batch.lengths - 1 if decoder else torch.zeros_like(batch.lengths)
        return Which(layer % depth, None if head == "mean" else head % heads, last if to == "cls" else None, batch)

    def chosen(self, like: Tensor) -> Tensor:
        """Bool, broadcasting to ``like`` [B, heads, queries, keys]: the weights that are meant."""
        heads, queries = (torch.arange(size, device=like.device) for size in like.shape[1:3])
        by_head = (heads == self.head) if self.head is not None else torch.ones_like(heads, dtype=torch.bool)
        real = self.batch.real if self.query is None else queries == self.query.unsqueeze(1)
        return by_head.view(1, -1, 1, 1) & real.view(like.shape[0], 1, -1, 1)

    def read(self, weights: Tensor) -> Tensor:
        """[B, keys]: the mean of the meant weights."""
        chosen = self.chosen(weights).expand(*weights.shape[:3], 1).to(weights.dtype)
        return (weights * chosen).sum((1, 2)) / chosen.sum((1, 2))

    def put(self, weights: Tensor, imposed: Tensor, mask: Tensor | None) -> Tensor:
        """The weights with ``imposed`` [B, keys] as what ``read`` gives: heads, queries and pieces keep their shares.

        a'_hqi = a_hqi * imposed_i / read_i, so the model's own attention gives back the model's own prediction, and
        the layer's result is linear in what is imposed: sum_i imposed_i u_i with fixed u_i.
        """
        sums = self.batch.sum_pieces
        now, then = sums(self.read(weights).float()), sums(imposed.float())
        there = now > TINY
        ratio = torch.where(there, then / now.clamp(min=TINY), 0.0)
        owner, owned = self.batch.owner.clamp(min=0), (self.batch.owner >= 0) & self.batch.real
        factor = torch.where(owned, ratio.gather(1, owner), 1.0)
        bare = torch.where(owned & ~there.gather(1, owner), imposed.float(), 0.0)
        out = weights * factor[:, None, None, :].to(weights.dtype)
        visible = 1.0 if mask is None else (mask > torch.finfo(mask.dtype).min / 2).to(weights.dtype)
        out = out + bare[:, None, None, :].to(weights.dtype) * visible
        return torch.where(self.chosen(weights), out, weights)


@dataclass(eq=False)
class Watch:
    """What to do with the weights of the current pass, and what was seen so far, layer by layer."""

    hold: bool = False
    keep: bool = False
    which: Which | None = None
    """The attention meant by ``imposed``, ``values`` and ``norms``."""
    imposed: Tensor | None = None
    """[B, L]: to replace what ``which`` reads."""
    carry: bool = False
    """Measure what attention carries from each piece."""
    maps: list[Tensor] = field(default_factory=list)
    values: Tensor | None = None
    """[B, L, D]: the value vectors of the layer that is meant."""
    norms: list[Tensor] = field(default_factory=list)
    layer: int = 0
    """The number of the layer that comes next."""
    carried: tuple[Tensor, Tensor, Tensor] | None = None
    """Weights, values and result of the layer whose output projection comes next."""

    def seen(self, weights: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """One layer's weights [B, heads, queries, keys] as they shall be used."""
        which, here = self.which, self.layer
        self.layer += 1
        if self.hold:
            weights = weights.detach()
        if which is not None and here == which.layer:
            if self.imposed is not None:
                weights = which.put(weights, self.imposed, mask)
            value = value if which.head is None else value[:, which.head : which.head + 1]
            self.values = value.transpose(1, 2).flatten(2)
        if self.keep:
            self.maps.append(weights)
        return weights

    def project(self, module: torch.nn.Module, given: Tensor) -> None:
        """Called before every linear module: the first that is fed a layer's result is its output projection."""
        if self.carried is None or self.which is None or given.data_ptr() != self.carried[2].data_ptr():
            return
        weights, value, _ = self.carried
        self.carried = None
        self.norms.append(carried_lengths(weights, value, self.which, module))


def carried_lengths(weights: Tensor, value: Tensor, which: Which, project: torch.nn.Module) -> Tensor:
    """[B, keys]: |sum over heads of a_hqi W_h v_hi|, for the meant query or as a mean over queries; bias left out."""
    if which.head is not None:
        only = torch.arange(value.shape[1], device=value.device) == which.head
        value = value * only.view(1, -1, 1, 1)
    rows = torch.arange(weights.shape[0], device=weights.device)
    bias = project(value.new_zeros(1, value.shape[1] * value.shape[3]))

    def lengths(query: Tensor) -> Tensor:
        moved = (weights[rows, :, query].unsqueeze(-1) * value).transpose(1, 2).flatten(2)
        out: Tensor = torch.linalg.vector_norm((project(moved) - bias).float(), dim=-1)
        return out

    if which.query is not None:
        return lengths(which.query)
    real = which.batch.real
    each = [lengths(torch.full_like(rows, q)) * real[:, q : q + 1] for q in range(weights.shape[2])]
    return torch.stack(each).sum(0) / real.sum(1, keepdim=True)


_WATCH: ContextVar[Watch | None] = ContextVar("assay_watch", default=None)


def attend(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """softmax(q k' * scaling + mask) v, with the weights shown to the current watch."""
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    scores = query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    if attention_mask is not None:
        scores = scores + attention_mask
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)
    weights = torch.nn.functional.dropout(weights, p=dropout, training=module.training)
    watch = _WATCH.get()
    if watch is not None:
        weights = watch.seen(weights, value, attention_mask)
    out = (weights @ value).transpose(1, 2).contiguous()
    if watch is not None and watch.carry:
        watch.carried = (weights, value, out)
    return out, weights


@cache
def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, eager_mask)


@contextmanager
def attention_by(net: Any, implementation: str) -> Iterator[None]:
    """The network with another attention implementation, put back afterwards whatever happens."""
    before = net.config._attn_implementation
    if implementation == before:
        yield
        return
    if implementation == NAME:
        _register()
    net.set_attn_implementation(implementation)
    try:
        yield
    finally:
        net.set_attn_implementation(before)


@contextmanager
def watching(net: Any, watch: Watch) -> Iterator[None]:
    """The network with our attention function, its weights shown to ``watch``."""
    token = _WATCH.set(watch)
    hooks = [m.register_forward_pre_hook(_projecting(watch)) for m in net.modules() if watch.carry and _linear(m)]
    try:
        with attention_by(net, NAME):
            yield
    finally:
        _WATCH.reset(token)
        for hook in hooks:
            hook.remove()


def _linear(module: torch.nn.Module) -> bool:
    """A leaf with a matrix: the library's families use two classes of them."""
    weight = getattr(module, "weight", None)
    leaf = next(module.children(), None) is None and not isinstance(module, torch.nn.Embedding)
    return leaf and isinstance(weight, Tensor) and weight.dim() == 2


def _projecting(watch: Watch) -> Any:
    def before(module: torch.nn.Module, given: tuple[Any, ...]) -> None:
        if given and isinstance(given[0], Tensor):
            watch.project(module, given[0])

    return before
