"""Reads attention inside any Hugging Face model, or holds it constant, through the library's own interface."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor

NAME = "assay"
"""Our attention function in the library's table."""


@dataclass(eq=False)
class Watch:
    """What to do with the weights of the current pass, and those seen so far, layer by layer."""

    hold: bool = False
    keep: bool = False
    maps: list[Tensor] = field(default_factory=list)


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
    if watch is not None and watch.hold:
        weights = weights.detach()
    if watch is not None and watch.keep:
        watch.maps.append(weights)
    return (weights @ value).transpose(1, 2).contiguous(), weights


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
    try:
        with attention_by(net, NAME):
            yield
    finally:
        _WATCH.reset(token)
