"""How alike the hidden states are that attention averages."""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor
from torch.nn.functional import cosine_similarity

from assay.answers.adversary import Attends
from assay.answers.asked import Arrays, Asked
from assay.registry import answer
from assay.types import CannotDo


@answer("states", paper="Mohankumar et al. 2020, Towards transparent and explainable attention models")
def states(asked: Asked, *, layer: Any = "last", head: Any = "mean", to: Literal["cls", "mean"] = "cls") -> Arrays:
    """Cosine of each feature's state to the mean state [m, n], and ``conicity`` [m], its mean over attended places.

    conicity = (1/T) sum_t cos(h_t, mean h). Near 1: all states point the same way, so attention cannot matter much
    whatever its weights. In a transformer the states are the value vectors of ``layer`` (all heads side by side, or
    those of one ``head``). 0 where a feature may not be attended.
    """
    out = asked.out
    if out.states is None or not isinstance(asked.model, Attends):
        raise CannotDo(f"{asked.model.name} does not show the states that its attention averages")
    attend = asked.model.attended(asked.batch)
    alike = cosine_to_mean(out.states.float(), attend)
    count = attend.sum(1).clamp(min=1)
    by_feature = asked.batch.sum_pieces(alike) / asked.batch.sum_pieces(attend.to(alike)).clamp(min=1)
    return {"states": asked.columns(by_feature), "conicity": asked.rows(alike.sum(1) / count)}


def cosine_to_mean(states: Tensor, attend: Tensor) -> Tensor:
    """[B, L]: cosine of every attended state [B, L, D] to their mean, 0 elsewhere.

    >>> import torch
    >>> cosine_to_mean(torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]), torch.ones(1, 2, dtype=torch.bool)).round(decimals=4)
    tensor([[0.7071, 0.7071]])
    """
    inside = states * attend.unsqueeze(-1)
    middle = inside.sum(1, keepdim=True) / attend.sum(1).clamp(min=1).view(-1, 1, 1)
    return cosine_similarity(states, middle, dim=-1) * attend
