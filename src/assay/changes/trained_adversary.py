"""An attack: a model trained to answer as another does while it attends to other words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor

from assay.changes.attention_fit import Progress, Schedule, attention_model, fit_attention, fresh
from assay.changes.encoded import Encoded, Labelled
from assay.changes.quality import measured, training_notes
from assay.changes.shown import Ragged, Shown, shown, spread
from assay.models.attention_rnn import AttentionRNN
from assay.registry import change
from assay.training import Epoch
from assay.types import BadInput, Dataset, Floats, Seed

SEED = Seed(10)
FLOOR = 1e-10
"""Smallest attention inside a logarithm."""


@change("trained-adversary", paper="Wiegreffe & Pinter 2019, Attention is not not Explanation", purpose="attack")
def trained_adversary(
    model: AttentionRNN,
    data: Dataset,
    dev: Dataset,
    *,
    weight: float = 1e-3,
    epochs: int = 40,
    patience: int = 10,
    lr: float = 5e-3,
    rows: int = 32,
    decay: float = 1e-5,
    select_on: Literal["dev", "train-loss"] = "dev",
    vectors: Any = None,
    seed: Seed = SEED,
    progress: Progress | None = None,
) -> AttentionRNN:
    """A model of the same shape, trained from scratch to give the same answers with other attention.

    loss = mean TVD(p, p_base) - weight * mean KL(attention || attention_base), over attended words only; TVD is half
    the sum of |p - p'| over all classes, twice what the paper's code prints, so its lambda is half of ``weight``. Right
    labels are never seen: data is labelled with the base's own choices first. Attention that can be moved far at
    little cost in TVD is no unique account of the decision. Known failure: KL has no upper bound, so beyond some
    weight a few examples dominate and answers are given up; the change from one to the other is abrupt.
    ``select_on``: the epoch of lowest loss on ``dev``, or on the training batches as the released code does.
    """
    base = attention_model(model)
    if weight < 0:
        raise BadInput(f"trained-adversary: weight must be 0 or more, got {weight}")
    (train, seen), (held, held_seen) = (_copied(base, d) for d in (data, dev))
    made = fresh(base, seed, vectors=vectors)
    made.name = f"{base.name} (trained adversary)"

    p_base, a_base = seen.p, seen.attention

    def loss(labelled: Labelled) -> Tensor:
        return _batch_loss(made, labelled, p_base, a_base, weight)

    def score(epoch: Epoch) -> float:
        if select_on == "train-loss":
            return -epoch.losses["loss"]
        return -whole_loss(made, held, held_seen, weight)

    schedule = Schedule(epochs, lr, rows, decay, patience)
    done = fit_attention(made, train, loss, select=score, schedule=schedule, seed=seed, progress=progress)
    agreement = measured(shown(made, held).logp, held.gold)
    settings = {"weight": weight, "lr": lr, "rows": rows, "decay": decay, "select_on": select_on}
    made.notes = training_notes(done, data, agreement, len(dev), settings)
    return made


def _copied(base: AttentionRNN, data: Dataset) -> tuple[Encoded, Shown]:
    """The data labelled by the base's own choices, and what the base says of it."""
    blank = replace(data, examples=tuple(replace(e, gold=0) for e in data.examples))
    encoded = Encoded(base, blank)
    seen = shown(base, encoded)
    encoded.gold = seen.choice
    return encoded, seen


def _batch_loss(model: AttentionRNN, labelled: Labelled, p_base: Floats, a_base: Ragged, weight: float) -> Tensor:
    attend = model.text(labelled.batch).attend
    out = model.forward(labelled.batch)
    if out.attention is None:  # an attention model always has one
        raise TypeError("the model gave no attention")
    logits = out.logits[:, 0]
    p = torch.sigmoid(logits) if model.head == "binary" else torch.softmax(logits, dim=-1)
    wanted = torch.from_numpy(p_base[labelled.rows]).to(p)
    return adversary_loss(p, wanted, out.attention, spread(a_base, labelled.rows, attend), attend, weight)


def adversary_loss(p: Tensor, p_base: Tensor, a: Tensor, a_base: Tensor, attend: Tensor, weight: float) -> Tensor:
    """Mean over the batch of TVD(p, p_base) - weight * KL(a || a_base); masked places count nothing and stay finite.

    >>> p, q = torch.tensor([[0.9, 0.1]]), torch.tensor([[0.4, 0.6]])
    >>> a, b = torch.tensor([[1.0, 0.0, 0.0]]), torch.tensor([[0.5, 0.5, 0.0]])
    >>> round(float(adversary_loss(p, q, a, b, torch.tensor([[True, True, False]]), 1.0)), 4)  # 0.5 - ln 2
    -0.1931
    """
    apart = (p - p_base).abs().sum(-1) / 2
    ratio = a.clamp_min(FLOOR).log() - a_base.clamp_min(FLOOR).log()
    moved = torch.where(attend, a * ratio, torch.zeros_like(a)).sum(-1)
    return (apart - weight * moved).mean()


def whole_loss(model: AttentionRNN, data: Encoded, aim: Shown, weight: float) -> float:
    """The adversary's loss over all of a data set."""
    mine = shown(model, data)
    there = torch.arange(mine.padded().shape[1]) < torch.from_numpy(mine.sizes).unsqueeze(1)
    p, wanted, a, b = (torch.from_numpy(x) for x in (mine.p, aim.p, mine.padded(), aim.padded()))
    return float(adversary_loss(p, wanted, a, b, there, weight))
