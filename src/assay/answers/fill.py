"""What a masked language model puts into gaps; knows probabilities over a vocabulary, not texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from assay.answers.asked import Arrays, Asked
from assay.answers.batch import Batch
from assay.registry import answer
from assay.types import MASK, BadInput, CannotDo, Input, Ints, Probe

Pieces = Literal["whole", "all"]


@runtime_checkable
class FillsGaps(Protocol):
    """What the answer needs of a masked language model beyond a differentiable pass."""

    def gap_logits(self, batch: Batch, at: Tensor) -> Tensor:
        """[M, V]: logits over the vocabulary at the M True places of ``at`` [B, L], in reading order."""
        ...

    def candidates(self, pieces: Pieces) -> Tensor:
        """[2, V] bool: pieces that may fill a gap; row 1 for a gap after a space, row 0 for any other gap."""
        ...

    def own(self, x: Input) -> Ints:
        """[n]: the id of every word that is one piece, -1 for the others."""
        ...

    def spaced(self, x: Input) -> Ints:
        """[n]: 1 for a word with a space before it, else 0."""
        ...


@answer("fill", paper="Devlin et al. 2019; Kim et al. 2020, Interpretation of NLP models through input marginalization")
def fill(asked: Asked, *, top: int = 10, pieces: Pieces = "whole") -> Arrays:
    """The likeliest single-piece fills of every gap (a feature with code MASK), with their probabilities.

    ``fill`` [m, n, top] ids, likeliest first (-1 where there is no gap); ``fill_p`` [m, n, top] their probabilities
    under the whole vocabulary, so their sum is honest (0 where there is none); ``own`` [m, n] the id of the word that
    stood in the gap (-1: no gap, or not one piece); ``own_p`` [m, n] its probability (NaN where ``own`` is -1).
    ``pieces`` whole: only pieces that are whole words; all: also word endings, as Pham et al. 2022 paste them.
    """
    if not isinstance(asked.model, FillsGaps):
        raise CannotDo(f"{asked.model.name} is no masked language model: it cannot fill gaps")
    if top < 1:
        raise BadInput(f"top must be 1 or more, got {top}")
    found = _gaps(asked, asked.model)
    shape = (asked.batch.ids.shape[0], asked.batch.n)
    ids = torch.full((*shape, top), -1.0)
    p = torch.zeros((*shape, top))
    own, own_p = torch.full(shape, -1.0), torch.full(shape, torch.nan)
    if found is not None:
        at = (found.rows, found.features)
        own[at] = found.own.float()
        k = min(top, found.logits.shape[1])
        ids_at, p_at, own_p[at] = _likeliest(found, asked.model.candidates(pieces), k)
        ids[(*at, slice(k))], p[(*at, slice(k))] = ids_at, p_at
    whole = [a.astype(np.int32) for a in asked.columns(ids)]
    owned = [a.astype(np.int32) for a in asked.columns(own)]
    return {"fill": whole, "fill_p": asked.columns(p), "own": owned, "own_p": asked.columns(own_p)}  # type: ignore[dict-item]  # ids are whole numbers


@dataclass(frozen=True, eq=False)
class _Gaps:
    """M gaps: row, feature, id of the word that stood there, 1 if a space is before it; their logits [M, V]."""

    rows: Tensor
    features: Tensor
    own: Tensor
    spaced: Tensor
    logits: Tensor


def _gaps(asked: Asked, lm: FillsGaps) -> _Gaps | None:
    batch = asked.batch
    gone = _columns(asked.probes, batch.n, lambda p: p.edit.codes == MASK).to(batch.owner.device)
    at = (batch.owner >= 0) & batch.real & gone.gather(1, batch.owner.clamp(min=0)).bool()
    if not at.any():
        return None
    rows, features = at.nonzero()[:, 0].cpu(), batch.owner[at].cpu()
    own = _columns(asked.probes, batch.n, lambda p: lm.own(p.x))[rows, features]
    spaced = _columns(asked.probes, batch.n, lambda p: lm.spaced(p.x))[rows, features]
    with torch.inference_mode():
        return _Gaps(rows, features, own, spaced, lm.gap_logits(batch, at).float())


def _columns(probes: Sequence[Probe], n: int, per: Any) -> Tensor:
    """[B, n] int64 from [m, n] or [n] per probe; 0 beyond a probe's own features."""
    out = np.zeros((sum(p.rows for p in probes), n), dtype=np.int64)
    top = 0
    for p in probes:
        out[top : top + p.rows, : p.x.n] = per(p)
        top += p.rows
    return torch.from_numpy(out)


def _likeliest(gaps: _Gaps, allowed: Tensor, k: int) -> tuple[Tensor, Tensor, Tensor]:
    """([M, k] ids, [M, k] probabilities, [M] probability of the own word)."""
    with torch.inference_mode():
        z = gaps.logits
        total = z.logsumexp(-1, keepdim=True)
        own = gaps.own.to(z.device)
        own_p = (z.gather(1, own.clamp(min=0)[:, None]) - total).exp()[:, 0].masked_fill(own < 0, torch.nan)
        z.masked_fill_(~allowed.to(z.device)[gaps.spaced.to(z.device)], -torch.inf)
        best, ids = z.topk(k, dim=-1)
        ids = ids.masked_fill(best == -torch.inf, -1)
        return ids.float().cpu(), (best - total).exp().cpu(), own_p.cpu()
