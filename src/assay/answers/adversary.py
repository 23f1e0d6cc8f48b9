"""Other attention that gives the same prediction, found inside the model for all rows of a batch at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from assay.answers.asked import Arrays, Asked
from assay.answers.batch import Batch
from assay.answers.descent import Aim, Decoder, Settings, descend, tvd
from assay.ask import rng
from assay.registry import answer
from assay.types import BadInput, CannotDo

NOISE = 3.0
"""Candidates begin at logits ~ N(0, 3^2), as in the released code."""


class Held(Protocol):
    """A batch whose hidden states are fixed: what may be attended, what is, and what other attention would give."""

    @property
    def attend(self) -> Tensor:
        """[B, L] bool: places that may be attended."""
        ...

    @property
    def attention(self) -> Tensor:
        """[B, L]: the model's own."""
        ...

    def logits(self, attention: Tensor) -> Tensor:
        """[k, B, heads, classes] of attention [k, B, L]; differentiable."""
        ...

    def place_logits(self) -> tuple[Tensor, Tensor] | None:
        """([B, L, heads, classes], [heads, classes]): what each place adds, and the bias; None if not linear."""
        ...


@runtime_checkable
class Attends(Protocol):
    """A model whose attention can be replaced."""

    def held(self, batch: Batch) -> Held:
        """The batch encoded once, to be decoded under many attentions."""
        ...

    def attended(self, batch: Batch) -> Tensor:
        """[B, L] bool: places that may be attended."""
        ...


@answer("adversary", paper="Jain & Wallace 2019, Attention is not explanation")
def adversary(
    asked: Asked,
    *,
    k: int = 5,
    steps: int = 500,
    lr: float = 0.01,
    epsilon: float = 0.01,
    penalty: float = 500.0,
    settings: Settings = "paper",
    seed: int = 0,
    layer: Any = "last",
    head: Any = "mean",
    to: Literal["cls", "mean"] = "cls",
) -> Arrays:
    """k attentions [m, k, n], far from the model's own and from each other, that keep its prediction.

    Only the free words that may be attended take part: they share the mass that they have now, other places keep
    theirs. Where the decoder is linear in attention (one text, one layer) the states are projected once and never
    touched again; elsewhere every step is a pass through what stands above attention. ``layer``, ``head``, ``to``:
    which attention, in a transformer. Whether a candidate is close enough is for the asker to say.
    """
    if not isinstance(asked.model, Attends):
        raise CannotDo(f"{asked.model.name} has no attention that could be replaced")
    if k < 1 or steps < 0:
        raise BadInput(f"adversary needs k >= 1 and steps >= 0, got {k} and {steps}")
    with torch.no_grad():
        view = _view(asked, asked.model.held(asked.batch))
        start = _start(asked, k, seed).to(view.words)
        found = descend(start, view.words, view.places, view.decoder, Aim(steps, lr, epsilon, penalty, settings))
        full = asked.columns(view.full(found).permute(1, 2, 0))
        return {"adversary": [array.swapaxes(1, 2) for array in full]}


@dataclass(frozen=True, eq=False)
class _View:
    """Attention by feature: open places [B, n], their distribution, their mass [B, 1], what stays [B, n]."""

    places: Tensor
    words: Tensor
    mass: Tensor
    rest: Tensor
    decoder: Decoder

    def full(self, a: Tensor) -> Tensor:
        """Attention over all features of one over the open places."""
        return self.rest + self.mass * a


def _view(asked: Asked, held: Held) -> _View:
    batch = asked.batch
    own = batch.sum_pieces(held.attention.float())
    free = np.zeros((own.shape[0], batch.n), dtype=bool)
    for rows, probe in asked.blocks():
        free[rows, : probe.x.n] = probe.x.free
    places = (batch.sum_pieces(held.attend.to(own)) > 0) & torch.from_numpy(free).to(own.device)
    mass = (own * places).sum(-1, keepdim=True)
    rest = own.masked_fill(places, 0.0)
    words = own * places / mass.clamp(min=torch.finfo(own.dtype).tiny)
    return _View(places, words, mass, rest, _decoder(held, batch, rest, mass, asked.model.head))


def _start(asked: Asked, k: int, seed: int) -> Tensor:
    """[k, B, n]: the same draws for the same example, whatever the batch."""
    out = np.zeros((k, asked.batch.ids.shape[0], asked.batch.n), dtype=np.float32)
    for rows, probe in asked.blocks():
        drawn = NOISE * rng(seed, probe.x, "adversary").standard_normal((k, 1, probe.x.n))
        out[:, rows, : probe.x.n] = drawn
    return torch.from_numpy(out)


# ----------------------------------------------------------------------------------------------- decoders


def _decoder(held: Held, batch: Batch, rest: Tensor, mass: Tensor, head: str) -> Decoder:
    linear = held.place_logits()
    if linear is None:
        return ThroughTheModel(held, batch, rest, mass, head)
    per, bias = linear
    flat = per.float().flatten(2)
    by_feature = torch.stack([batch.sum_pieces(flat[..., c]) for c in range(flat.shape[2])], dim=-1)
    counts = batch.sum_pieces(torch.ones_like(flat[..., 0])).clamp(min=1).unsqueeze(-1)
    scores = by_feature / counts
    fixed = (rest.unsqueeze(-1) * scores).sum(1) + bias.float().flatten()
    return Linear(scores * mass.unsqueeze(-1), fixed, tuple(per.shape[2:]), head)


def grouped(z: Tensor, head: str) -> Tensor:
    """[..., G, C] probabilities of logits [..., heads, classes]; each label of a multi-label head is a group."""
    if head == "softmax":
        return z.softmax(-1)
    p = torch.sigmoid(z)
    return torch.stack([1 - p, p], dim=-1).flatten(-3, -2) if head == "multilabel" else p


@dataclass(frozen=True, eq=False)
class Linear:
    """logits = fixed + sum_n a_n scores_n: the decoder of the attention papers. Gradients are written out."""

    scores: Tensor
    """[B, n, heads * classes]."""
    fixed: Tensor
    """[B, heads * classes]."""
    shape: tuple[int, ...]
    head: str

    def _logits(self, a: Tensor) -> Tensor:
        flat = (a.transpose(0, 1) @ self.scores).transpose(0, 1) + self.fixed
        return flat.view(*flat.shape[:2], *self.shape)

    def probabilities(self, a: Tensor) -> Tensor:
        """[k, B, G, C]."""
        return grouped(self._logits(a), self.head)

    def pull(self, a: Tensor, original: Tensor, epsilon: float) -> Tensor:
        """[k, B, n]; by hand for one distribution, else by differentiating the few logits."""
        if self.head == "multilabel" or self.shape[0] > 1:
            return _differentiated(self.probabilities, a, original, epsilon)
        p = self.probabilities(a)
        gap = p - original
        beyond = gap.abs().sum(-1, keepdim=True) > 2 * epsilon
        q = gap.sign_().mul_(p)
        q = q - p * q.sum(-1, keepdim=True) if self.head == "softmax" else q * (1 - p)
        q = (q * beyond).flatten(2).div_(2)
        return (q.transpose(0, 1) @ self.scores.transpose(1, 2)).transpose(0, 1)


@dataclass(frozen=True, eq=False)
class ThroughTheModel:
    """Any decoder: attention is spread over pieces and the model is asked, with gradient."""

    held: Held
    batch: Batch
    rest: Tensor
    mass: Tensor
    head: str

    def probabilities(self, a: Tensor) -> Tensor:
        """[k, B, G, C]."""
        pieces = torch.stack([self.batch.share_pieces(w) for w in self.rest + self.mass * a])
        return grouped(self.held.logits(pieces).float(), self.head)

    def pull(self, a: Tensor, original: Tensor, epsilon: float) -> Tensor:
        """[k, B, n]."""
        return _differentiated(self.probabilities, a, original, epsilon)


def _differentiated(probabilities: Any, a: Tensor, original: Tensor, epsilon: float) -> Tensor:
    with torch.inference_mode(False), torch.enable_grad():
        leaf = a.detach().clone().requires_grad_(True)
        loss = torch.relu(tvd(probabilities(leaf), original) - epsilon).sum()
        (gradient,) = torch.autograd.grad(loss, leaf)
    return gradient
