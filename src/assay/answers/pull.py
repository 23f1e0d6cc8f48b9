"""Gradient of the explained score with respect to attention."""

from __future__ import annotations

from typing import Any, Literal

import torch

from assay.answers.adversary import Attends
from assay.answers.asked import Arrays, Asked, score
from assay.registry import answer
from assay.types import CannotDo


@answer("pull", paper="Serrano & Smith 2019, Is attention interpretable?")
def pull(asked: Asked, *, layer: Any = "last", head: Any = "mean", to: Literal["cls", "mean"] = "cls") -> Arrays:
    """How the explained score rises with the attention weight of a feature, hidden states being fixed: [m, n].

    d_i = d f / d a_i at the imposed attention, or at the model's own: signed, high = more weight there supports the
    target. Several pieces: their mean. In a transformer the weight is that of ``layer``, ``head`` and ``to``.
    """
    if not isinstance(asked.model, Attends):
        raise CannotDo(f"{asked.model.name} has no attention that could be replaced")
    with torch.inference_mode(False), torch.enable_grad():
        with torch.no_grad():
            held = asked.model.held(asked.batch)
        at = held.attention if asked.imposed is None else asked.imposed
        leaf = at.detach().clone().requires_grad_(True)
        logits = held.logits(leaf.unsqueeze(0))[0]
        value = score(logits, asked.index(logits), asked.against, asked.output, asked.model.head)
        (gradient,) = torch.autograd.grad(value.sum(), leaf)
    pieces = asked.batch.sum_pieces(torch.ones_like(gradient)).clamp(min=1)
    return {"pull": asked.columns(asked.batch.sum_pieces(gradient) / pieces)}
