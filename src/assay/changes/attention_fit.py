"""Fits an attention model by any loss over its batches: what guides, adversaries and deception share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from assay.changes.encoded import Encoded, Labelled
from assay.models.attention_layers import Shape
from assay.models.attention_net import AttentionNet, new_net
from assay.models.attention_rnn import AttentionRNN
from assay.models.attention_text import PAD, vectors_for
from assay.training import Fit, Select, Stream, fit
from assay.types import CannotDo

Progress = Callable[[float], None]
Loss = Callable[[Labelled], Tensor]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast: at most ``epochs``, fewer when ``patience`` of them in a row are no better."""

    epochs: int = 8
    lr: float = 5e-3
    rows: int = 32
    decay: float = 1e-5
    patience: int | None = None


def attention_model(model: Any) -> AttentionRNN:
    """The model, if it is one whose attention can be trained here."""
    if isinstance(model, AttentionRNN):
        return model
    name = getattr(model, "name", type(model).__name__)
    raise CannotDo(f"{name} is no attention-rnn model; train one with 'assay train classifier' first")


def fresh(
    like: AttentionRNN,
    seed: int,
    shape: Shape | None = None,
    *,
    vectors: Any = None,
    missing: Literal["zero", "normal"] = "zero",
) -> AttentionRNN:
    """An untrained model that reads as ``like`` does, of its shape or another; with word vectors when given."""
    shape = shape or like.net.shape
    if vectors is None:
        net = new_net(shape, seed)
    else:
        given, found = vectors_for(like.reader.vocabulary, vectors)
        net = new_net(replace(shape, embed=given.shape[1]), seed)
        table = torch.from_numpy(given)
        if missing == "normal":
            drawn = torch.randn(table.shape, generator=torch.Generator().manual_seed(seed))
            table = torch.where(torch.from_numpy(found)[:, None], table, drawn)
            table[PAD] = 0.0
        with torch.no_grad():
            net.embedding.weight.copy_(table.repeat(2 if shape.query else 1, 1))
    name = f"{shape.encoder}-{shape.attention}"
    return AttentionRNN(net, like.reader, labels=like.labels, name=name, device=str(like.device))


def fit_attention(
    model: AttentionRNN,
    train: Encoded,
    loss: Loss,
    *,
    select: Select,
    schedule: Schedule,
    seed: int,
    progress: Progress | None = None,
) -> Fit:
    """Train the model in place; the epoch that ``select`` likes best is kept, and the weights are frozen again."""
    model.net.requires_grad_(True)
    model.__dict__.pop("fingerprint", None)
    stream = Stream(lambda rng: train.batches(rng, rows=schedule.rows), loss, adam(model.net, schedule))
    total = schedule.epochs * -(-len(train.lengths) // schedule.rows)
    done = fit(
        model.net,
        [stream],
        epochs=schedule.epochs,
        select=select,
        seed=seed,
        patience=schedule.patience,
        on_step=None if progress is None else lambda step: progress(step.step / total),
    )
    model.net.requires_grad_(False)
    return done


def adam(net: AttentionNet, schedule: Schedule) -> torch.optim.Optimizer:
    """Adam with amsgrad in one pass over the weights; decay on everything but attention, as the papers' code has it."""
    attention = set(net.attention.parameters())
    groups = [{"params": [p for p in net.parameters() if p not in attention], "weight_decay": schedule.decay}]
    if attention:
        groups.append({"params": list(net.attention.parameters()), "weight_decay": 0.0})
    return torch.optim.Adam(groups, lr=schedule.lr, amsgrad=True, fused=True)
