"""Finds attention far from the original, and from each other, that keeps the prediction; knows vectors, not models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor

Settings = Literal["paper", "code"]
TINY = 1e-10
"""Inside every logarithm, as in the released code: a weight that underflows to zero stays harmless."""


class Decoder(Protocol):
    """What turns attention over the open places into probabilities, states being fixed."""

    def probabilities(self, a: Tensor) -> Tensor:
        """[k, B, G, C] of attention [k, B, n]: G distributions over C outcomes."""
        ...

    def pull(self, a: Tensor, original: Tensor, epsilon: float) -> Tensor:
        """[k, B, n]: gradient of relu(TVD(p(a), original) - epsilon), summed over everything."""
        ...


@dataclass(frozen=True, slots=True)
class Aim:
    """What is minimised: -sum_k JSD(a_k, o) + penalty relu(TVD - epsilon) - spread sum over pairs JSD(a_i, a_j)."""

    steps: int = 500
    lr: float = 0.01
    epsilon: float = 0.01
    penalty: float = 500.0
    settings: Settings = "paper"

    def weights(self, k: int) -> tuple[float, float]:
        """Penalty per candidate and weight of every unordered pair, as the paper prints or as its code has them.

        >>> Aim().weights(5), Aim(settings="code").weights(5)
        ((100.0, 0.05), (500.0, 0.08))
        """
        if self.settings == "code":
            return self.penalty, 2.0 / k**2
        return self.penalty / k, 1.0 / (k * (k - 1)) if k > 1 else 0.0


def tvd(p: Tensor, q: Tensor) -> Tensor:
    """Total variation distance over the last axis, the largest over the groups before it: [..., G, C] -> [...]."""
    return (p - q).abs().sum(-1).amax(-1) / 2


def attention_of(z: Tensor, places: Tensor) -> Tensor:
    """Softmax over the open ``places`` [B, n], exactly zero elsewhere (all zero where none is open)."""
    return torch.softmax(z.masked_fill(~places, torch.finfo(z.dtype).min), dim=-1) * places


def descend(start: Tensor, original: Tensor, places: Tensor, decoder: Decoder, aim: Aim) -> Tensor:
    """k candidates [k, B, n] from logits ``start`` [k, B, n]; rows of a batch do not touch each other.

    Adam with AMSGrad, a fixed number of steps, no restarts. The gradient of the distances is written out: a batch
    of short sentences costs what its few operations cost.
    """
    k = start.shape[0]
    penalty, spread = aim.weights(k)
    wanted = decoder.probabilities(original.unsqueeze(0))
    z, adam = start.clone(), Amsgrad(start, aim.lr)
    for _ in range(aim.steps):
        a = attention_of(z, places)
        slope = penalty * decoder.pull(a, wanted, aim.epsilon) - distance_slope(a, original, spread)
        adam.step(z, a * (slope - (a * slope).sum(-1, keepdim=True)))
    return attention_of(z, places)


def distance_slope(a: Tensor, original: Tensor, spread: float) -> Tensor:
    """Gradient of sum_k JSD(a_k, o) + spread sum_{i<j} JSD(a_i, a_j): d JSD(a, b) / da = log(a / mean(a, b)) / 2."""
    log = (a + TINY).log_()
    out = log - ((a + original) / 2 + TINY).log_()
    if spread:
        middle = ((a.unsqueeze(0) + a.unsqueeze(1)) / 2).add_(TINY).log_().sum(0)
        out += spread * (a.shape[0] * log - middle)
    return out.div_(2)


class Amsgrad:
    """Adam (Kingma & Ba 2015) with the maximum of Reddi et al. (2018), for one tensor and ready-made gradients."""

    def __init__(self, like: Tensor, lr: float, betas: tuple[float, float] = (0.9, 0.999)) -> None:
        self.first, self.second, self.top = (torch.zeros_like(like) for _ in range(3))
        self.lr, self.betas, self.count = lr, betas, 0

    def step(self, z: Tensor, gradient: Tensor) -> None:
        """Move ``z`` in place."""
        one, two = self.betas
        self.count += 1
        self.first.lerp_(gradient, 1 - one)
        self.second.mul_(two).addcmul_(gradient, gradient, value=1 - two)
        torch.maximum(self.top, self.second, out=self.top)
        root = self.top.sqrt().div_((1 - two**self.count) ** 0.5).add_(1e-8)
        z.addcdiv_(self.first, root, value=-self.lr / (1 - one**self.count))
