"""A batch of questions as an answer sees it: rows, targets, settings; and the explained score in torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from assay.answers.batch import NOTHING, Batch, Change, Differentiable, Out
from assay.types import BadInput, CannotDo, Floats, Probe, Reading

Arrays = dict[str, list[Floats]]
"""What an answer returns: by name, one array of m rows for every probe."""
BASES = ("zero", "pad", "mask", "unk")
"""Where integrated gradients may begin; zero is the embedding of all zeros."""


@dataclass(frozen=True, eq=False)
class Slope:
    """Gradient [B, L, D] of the explained score at the looked-up embeddings, with embedding - base [B, L, D]."""

    gradient: Tensor
    away: Tensor


@dataclass(eq=False)
class Asked:
    """All rows of all probes of one call, packed. Forward passes are made on demand and kept."""

    model: Differentiable
    batch: Batch
    probes: Sequence[Probe]
    want: frozenset[str]
    how: Mapping[str, Any] = field(default_factory=dict)
    _out: Out | None = None
    _slope: Slope | None = None

    @property
    def output(self) -> str:
        """Which output is differentiated."""
        return self.probes[0].output

    def forward(
        self,
        change: Change | None = None,
        attention: Tensor | None = None,
        keep: frozenset[str] = NOTHING,
    ) -> Out:
        """One pass over the batch; scale, noise and imposed attention of the probes unless others are given."""
        change = self.change if change is None else change
        attention = self.imposed if attention is None else attention
        return self.model.forward(self.batch, change, attention, bool(self.how.get("hold", False)), keep)

    @property
    def out(self) -> Out:
        """The pass without gradient, holding what was wanted of it."""
        if self._out is None:
            with torch.inference_mode():
                self._out = self.forward(keep=self.want & {"attention", "states"})
        return self._out

    @property
    def slope(self) -> Slope:
        """The pass with gradient with respect to the looked-up embeddings, as the network saw them."""
        if self._slope is None:
            self._slope = self._differentiate()
        return self._slope

    def _differentiate(self) -> Slope:
        seen: dict[str, Tensor] = {}

        def leaf(embeddings: Tensor) -> Tensor:
            seen["clean"] = embeddings.detach()
            moved = embeddings if self.change is None else self.change(embeddings)
            seen["leaf"] = moved.detach().clone().requires_grad_(True)
            return seen["leaf"]

        with torch.inference_mode(False), torch.enable_grad():
            out = self.forward(change=leaf)
            value = score(out.logits, self.index(out.logits), self.against, self.output, self.model.head)
            (gradient,) = torch.autograd.grad(value.sum(), seen["leaf"])
        self._out = self._out or (None if self.want & {"attention", "states"} else Out(out.logits.detach()))
        return Slope(gradient.float(), (seen["clean"] - self.base(seen["clean"])).float())

    # ------------------------------------------------------------------------------- what is explained

    def index(self, logits: Tensor) -> Tensor:
        """[B, heads]: the explained class of each row; a row's own choice where its probe names none."""
        own = Reading({"logits": logits.detach().float().cpu().numpy()}, self.model.head).choice
        for rows, probe in self.blocks():
            if probe.target.index is not None:
                own[rows] = _fitting(probe.target.index, logits)
        return torch.from_numpy(own).to(logits.device)

    @property
    def against(self) -> list[tuple[int, ...] | None]:
        """Per row: the class to explain against, or None."""
        return [p.target.against for p in self.probes for _ in range(p.rows)]

    def blocks(self) -> list[tuple[slice, Probe]]:
        """Every probe with the rows that are its own."""
        ends = np.cumsum([p.rows for p in self.probes])
        return [(slice(int(e) - p.rows, int(e)), p) for e, p in zip(ends, self.probes, strict=True)]

    # ----------------------------------------------------------------------------- scale, noise, attention

    def base(self, like: Tensor) -> Tensor:
        """[B, L, D] or a zero: the embeddings that ``scale`` moves away from and ``dot`` measures from."""
        kind = self.how.get("base", "zero")
        if kind not in BASES:
            raise BadInput(f"base cannot be {kind!r}; use one of {', '.join(BASES)}")
        if kind == "zero":
            return torch.zeros((), dtype=like.dtype, device=like.device)
        token = getattr(self.model, f"{kind}_id")
        if token is None:
            raise CannotDo(f"{self.model.name} has no {kind} token: use base zero")
        ids = torch.full_like(self.batch.ids, token)
        return self.model.lookup(Batch(ids, self.batch.real, self.batch.seen, self.batch.owner, self.batch.n,
                                       extra=self.batch.extra)).detach().to(like.dtype)  # fmt: skip

    @property
    def change(self) -> Change | None:
        """Noise, then scale, as the probes ask; None when no probe asks for either."""
        noisy = any(p.noise is not None for p in self.probes)
        scaled = any(p.scale is not None for p in self.probes)
        if not noisy and not scaled:
            return None

        def change(embeddings: Tensor) -> Tensor:
            if noisy:
                embeddings = embeddings + self._noise(embeddings)
            if scaled:
                base = self.base(embeddings)
                embeddings = base + self._scale(embeddings) * (embeddings - base)
            return embeddings

        return change

    def _scale(self, like: Tensor) -> Tensor:
        parts = [np.ones(p.rows) if p.scale is None else np.asarray(p.scale) for p in self.probes]
        return torch.as_tensor(np.concatenate(parts), dtype=like.dtype, device=like.device).view(-1, 1, 1)

    def _noise(self, embeddings: Tensor) -> Tensor:
        """Drawn row by row for the real tokens only, so that padding and neighbours change nothing."""
        noise = torch.zeros(embeddings.shape)
        lengths = self.batch.lengths.tolist()
        for rows, probe in self.blocks():
            if probe.noise is None:
                continue
            for row, seed in zip(range(rows.start, rows.stop), probe.noise.seeds, strict=True):
                real = embeddings[row, : lengths[row]]
                std = probe.noise.std * float(real.max() - real.min())
                source = torch.Generator().manual_seed(int(seed))
                noise[row, : lengths[row]] = std * torch.randn(real.shape, generator=source)
        return noise.to(embeddings)

    @property
    def imposed(self) -> Tensor | None:
        """[B, L]: the attention that the probes impose, a feature's weight in equal parts on its pieces."""
        given = [p.attention is not None for p in self.probes]
        if not any(given):
            return None
        if not all(given):
            raise BadInput("either every question of a batch imposes attention or none does")
        weights = np.zeros((sum(p.rows for p in self.probes), self.batch.n), dtype=np.float32)
        for rows, probe in self.blocks():
            weights[rows, : probe.x.n] = probe.attention
        return self.batch.share_pieces(torch.from_numpy(weights).to(self.batch.ids.device))

    # --------------------------------------------------------------------------------------- giving back

    def features(self, values: Tensor) -> list[Floats]:
        """Per probe [m, n] from [B, L]: the sum over the pieces of each feature."""
        return self.columns(self.batch.sum_pieces(values))

    def columns(self, values: Tensor) -> list[Floats]:
        """Per probe [m, n] from [B, n of the widest]."""
        return [a[:, : p.x.n] for a, p in zip(self.rows(values), self.probes, strict=True)]

    def rows(self, values: Tensor) -> list[Floats]:
        """Per probe [m, ...] from [B, ...]."""
        array: Floats = values.detach().float().cpu().numpy()
        return [array[rows] for rows, _ in self.blocks()]


def _fitting(index: tuple[int, ...], logits: Tensor) -> tuple[int, ...]:
    heads, classes = logits.shape[1:]
    if len(index) != heads or not all(0 <= i < classes for i in index):
        raise BadInput(f"target {index} does not fit a model with {heads} head(s) of {classes} classes")
    return index


def score(logits: Tensor, index: Tensor, against: Sequence[tuple[int, ...] | None], output: str, head: str) -> Tensor:
    """The explained score per row [B], equal to ``assay.ask.value`` and differentiable."""
    z = logits.float() if logits.device.type == "mps" else logits.double()
    logp = z.log_softmax(-1) if head == "softmax" else logsigmoid(z)
    plain = _at(z, logp, index, output, head)
    rows = [i for i, a in enumerate(against) if a is not None]
    if not rows:
        return plain
    other = index.clone()
    for i in rows:
        other[i] = torch.tensor(_fitting(against[i] or (), logits), device=index.device)
    kind = "logprob" if output == "logodds" else output
    contrast = _at(z, logp, index, kind, head) - _at(z, logp, other, kind, head)
    chosen = torch.zeros(len(against), dtype=torch.bool, device=z.device)
    chosen[rows] = True
    return torch.where(chosen, contrast, plain)


def _at(z: Tensor, logp: Tensor, index: Tensor, output: str, head: str) -> Tensor:
    """[B]: one output at ``index`` [B, heads], summed over heads."""
    at = index.unsqueeze(-1)
    own = logp.gather(2, at).squeeze(-1)
    if output == "logit":
        return z.gather(2, at).squeeze(-1).sum(1)
    if output in ("logprob", "loss"):
        return own.sum(1)
    if output == "prob":
        return own.exp().sum(1)
    if output != "logodds":
        raise BadInput(f"unknown output '{output}'; use loss, prob, logit, logprob or logodds")
    if head == "multilabel":
        return z.gather(2, at).squeeze(-1).sum(1)
    rest = logp.scatter(2, at, float("-inf"))
    return (own - rest.logsumexp(-1)).sum(1)
