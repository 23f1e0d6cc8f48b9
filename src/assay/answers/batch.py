"""What a differentiable model is fed and gives back; knows tensors, not questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import torch
from torch import Tensor

Change = Callable[[Tensor], Tensor]
"""Applied to the looked-up word embeddings [B, L, D], before positions, types and normalisation."""
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Batch:
    """B rows of token ids, padded on the right to L."""

    ids: Tensor
    """[B, L] int64."""
    real: Tensor
    """[B, L] bool: False for padding (a pad token that an edit put there is real)."""
    seen: Tensor
    """[B, L] bool: False for padding and for what an edit hides from attention."""
    owner: Tensor
    """[B, L] int64: the feature each piece belongs to, -1 for none."""
    n: int
    """Features of the widest input."""
    gate: Tensor | None = None
    """[B, L] float: 0 where an edit zeroes the embedding, else 1; None when nothing is zeroed."""
    extra: Mapping[str, Tensor] = field(default_factory=dict)
    """[B, L] int64 tensors by name, such as token_type_ids; 0 on padding."""
    where: Mapping[str, Any] = field(default_factory=dict)
    """Which ``layer``, ``head`` and queries (``to``) are meant, in a model with more than one attention."""

    @property
    def lengths(self) -> Tensor:
        """[B] tokens per row, padding not counted."""
        return self.real.sum(dim=1)

    def take(self, rows: Tensor) -> Batch:
        """These rows only."""
        return replace(
            self,
            ids=self.ids[rows],
            real=self.real[rows],
            seen=self.seen[rows],
            owner=self.owner[rows],
            gate=None if self.gate is None else self.gate[rows],
            extra={k: t[rows] for k, t in self.extra.items()},
        )

    def sum_pieces(self, values: Tensor) -> Tensor:
        """[B, n] from [B, L]: sum over the pieces of each feature; 0 for a feature without pieces."""
        columns = torch.where(self.owner >= 0, self.owner, self.n)
        out = values.new_zeros(values.shape[0], self.n + 1)
        return out.scatter_add(1, columns, values * self.real)[:, : self.n]

    def share_pieces(self, values: Tensor) -> Tensor:
        """[B, L] from [B, n]: a feature's value in equal parts on its pieces (0 on pieces of none)."""
        counts = self.sum_pieces(torch.ones_like(self.owner, dtype=values.dtype)).clamp(min=1)
        parts = (values / counts).gather(1, self.owner.clamp(min=0))
        return parts * (self.owner >= 0) * self.real


@dataclass(frozen=True, eq=False)
class Out:
    """What one forward pass gives. Beyond logits only what ``keep`` named."""

    logits: Tensor
    """[B, heads, classes]; differentiable."""
    attention: Tensor | None = None
    """[B, L]: one weight per piece (models with one attention layer)."""
    maps: tuple[Tensor, ...] = ()
    """Per layer [B, heads, L of queries, L of keys] (transformers)."""
    states: Tensor | None = None
    """[B, L, D]: the hidden states that attention averages."""
    norms: tuple[Tensor, ...] = ()
    """Per layer [B, L]: length of what attention carries from each piece (transformers)."""


class Differentiable(Protocol):
    """What an answer needs of a model: a lookup and one differentiable forward pass."""

    name: str
    head: str
    unk_id: int | None
    pad_id: int | None
    mask_id: int | None

    def lookup(self, batch: Batch) -> Tensor:
        """[B, L, D]: the word embeddings of the ids, nothing else."""
        ...

    def forward(
        self,
        batch: Batch,
        change: Change | None = None,
        attention: Tensor | None = None,
        hold: bool = False,
        keep: frozenset[str] = NOTHING,
    ) -> Out:
        """Logits, and what ``keep`` names ("attention", "states", "norms").

        ``change`` acts on the (gated) lookup; ``attention`` [B, L] is imposed in place of the model's own;
        ``hold`` keeps attention at its values but lets no gradient through it.
        """
        ...


def gated(embeddings: Tensor, batch: Batch, change: Change | None) -> Tensor:
    """The lookup as the network shall see it: zeroed pieces at zero, then changed. Every family calls this."""
    if batch.gate is not None:
        embeddings = embeddings * batch.gate.unsqueeze(-1).to(embeddings.dtype)
    return embeddings if change is None else change(embeddings)
