"""What an attention model says of labelled data and where it looks, all at once; and attention imposed on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay import stats
from assay.changes.encoded import Encoded, Ids
from assay.models.attention_rnn import AttentionRNN
from assay.types import BadInput, Floats, Reading

Ragged = Sequence[Floats]
"""One array per example: a weight for each attended word, in reading order."""
ATTENTION = frozenset({"attention"})


@dataclass(frozen=True, eq=False, slots=True)
class Shown:
    """Answers [N, classes] and attention of N examples; attention is kept without padding, one after another."""

    logp: Floats
    weights: Floats
    """All attended words of all examples."""
    sizes: NDArray[np.int64]
    """Attended words per example."""

    @property
    def p(self) -> Floats:
        """Probabilities [N, classes]."""
        return np.asarray(np.exp(self.logp))

    @property
    def choice(self) -> NDArray[np.int64]:
        """The chosen class of every example."""
        return np.asarray(self.logp.argmax(axis=1), dtype=np.int64)

    @property
    def attention(self) -> list[Floats]:
        """One array per example."""
        return np.split(self.weights, np.cumsum(self.sizes)[:-1])

    @property
    def top(self) -> Floats:
        """The largest attention weight of every example."""
        return np.asarray(self.padded().max(axis=1))

    def padded(self) -> Floats:
        """[N, longest], zero beyond an example's end."""
        out = np.zeros((len(self.sizes), max(1, int(self.sizes.max(initial=0)))))
        out[np.arange(out.shape[1]) < self.sizes[:, None]] = self.weights
        return out


def jsd(a: Shown, b: Shown) -> Floats:
    """Jensen-Shannon divergence of two models' attention, per example: 0 the same words, ln 2 other words."""
    if not np.array_equal(a.sizes, b.sizes):
        raise BadInput("attention can be compared only over the same words: the two models read other examples")
    return stats.jsd(a.padded(), b.padded())


def tvd(a: Shown, b: Shown) -> Floats:
    """Total variation distance of two models' answers, per example: half the sum of |p - p'| over all classes."""
    return stats.tvd(a.p, b.p)


def shown(model: AttentionRNN, data: Encoded, imposed: Ragged | None = None) -> Shown:
    """Answers and attention of the model as it is now, with its own attention or an imposed one."""
    n = len(data.lengths)
    logp, attention = np.zeros((n, len(model.labels))), [np.zeros(0)] * n
    order = np.argsort(data.lengths, kind="stable")
    parts = min(n, 1 + int(data.lengths.sum()) // model.budget)
    with torch.inference_mode():
        for chosen in np.array_split(order, parts):
            batch = data.batch(chosen).batch
            attend = model.text(batch).attend
            given = None if imposed is None else spread(imposed, chosen, attend)
            out = model.forward(batch, attention=given, keep=ATTENTION)
            logp[chosen] = Reading({"logits": out.logits.float().cpu().numpy()}, model.head).logp[:, 0]
            looked, there = _numbers(out.attention), attend.cpu().numpy()
            for row, i in enumerate(chosen.tolist()):
                attention[i] = looked[row, there[row]].astype(np.float64)
    return Shown(logp, np.concatenate(attention), np.array([len(a) for a in attention], dtype=np.int64))


def _numbers(attention: Tensor | None) -> Any:
    if attention is None:  # an attention model always has one
        raise TypeError("the model gave no attention")
    return attention.float().cpu().numpy()


def spread(weights: Ragged, chosen: Ids, attend: Tensor) -> Tensor:
    """[B, L] from one array per example: the weights on the attended places, 0 elsewhere; nothing is stripped."""
    counts = attend.sum(1).tolist()
    for i, count in zip(chosen.tolist(), counts, strict=True):
        if len(weights[i]) != count:
            raise BadInput(f"example number {i}: {len(weights[i])} weights for {count} attended words")
    out = torch.zeros(attend.shape, dtype=torch.float32, device=attend.device)
    flat = np.concatenate([np.asarray(weights[i], dtype=np.float32) for i in chosen.tolist()])
    out[attend] = torch.from_numpy(flat).to(attend.device)
    return out
