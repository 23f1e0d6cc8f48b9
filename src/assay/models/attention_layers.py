"""The parts of the attention papers' networks: sizes, encoders and attention scores."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

Encoder = Literal["bilstm", "cnn", "average"]
Attention = Literal["additive", "dot", "uniform"]
Sizes = Literal["small", "paper", "code"]
"""``paper``: what Jain & Wallace (2019) print; ``code``: what they released; ``small``: ours, for one core."""
FILTERS = (1, 3, 5, 7)


@dataclass(frozen=True, slots=True)
class Shape:
    """Everything that fixes the parameters of a net; ``width`` counts all directions and filters together."""

    vocab: int
    outputs: int
    encoder: Encoder = "bilstm"
    attention: Attention = "additive"
    query: bool = False
    embed: int = 48
    width: int = 64
    align: int = 32
    squash: Literal["tanh", "relu"] = "tanh"

    @property
    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def sized(shape: Shape, sizes: Sizes) -> Shape:
    """The shape with the dimensions that the paper prints or that its code has.

    They differ for two encoders: 4 x 64 against 4 x 32 filters, and 256 + ReLU against 128 + tanh.

    >>> sized(Shape(9, 1, "cnn"), "paper").width, sized(Shape(9, 1, "cnn"), "code").width
    (256, 128)
    """
    if sizes == "small":
        return shape
    narrow = sizes == "code" and shape.encoder != "bilstm"
    squash: Literal["tanh", "relu"] = "relu" if sizes == "paper" and shape.encoder == "average" else "tanh"
    return replace(shape, embed=300, width=128 if narrow else 256, align=128, squash=squash)


# ----------------------------------------------------------------------------------------------- encoders


class BiLSTM(nn.Module):
    """One layer, width / 2 per direction; padding is packed away, so it never reaches the backward direction."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.rnn = nn.LSTM(shape.embed, shape.width // 2, batch_first=True, bidirectional=True)

    def forward(self, found: Tensor, there: Tensor) -> tuple[Tensor, Tensor]:
        """States [B, L, W] and the last states of the two directions [B, W]."""
        with torch.backends.cudnn.flags(enabled=self.training):  # cuDNN gives no gradients in eval mode, no second ones
            if bool(there.all()):
                states, (last, _) = self.rnn(found)
                return states, torch.cat([last[0], last[1]], dim=-1)
            some = found * there.unsqueeze(-1)
            lengths = there.sum(1).clamp(min=1).cpu()
            packed = pack_padded_sequence(some, lengths, batch_first=True, enforce_sorted=False)
            out, (last, _) = self.rnn(packed)
        states, _ = pad_packed_sequence(out, batch_first=True, total_length=found.shape[1])
        return states, torch.cat([last[0], last[1]], dim=-1)


class CNN(nn.Module):
    """Filters of 1, 3, 5 and 7 words with ReLU; the query vector is the maximum over places."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        each = shape.width // len(FILTERS)
        self.filters = nn.ModuleList(nn.Conv1d(shape.embed, each, k, padding=k // 2) for k in FILTERS)

    def forward(self, found: Tensor, there: Tensor) -> tuple[Tensor, Tensor]:
        """States [B, L, W] and their maximum [B, W]."""
        some = (found * there.unsqueeze(-1)).transpose(1, 2)
        states = torch.relu(torch.cat([f(some) for f in self.filters], dim=1)).transpose(1, 2)
        states = states * there.unsqueeze(-1)
        return states, states.amax(dim=1)


class Average(nn.Module):
    """Each word alone: a projection with tanh or ReLU; the query vector is the mean over places."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.project = nn.Linear(shape.embed, shape.width)
        self.squash = torch.tanh if shape.squash == "tanh" else torch.relu

    def forward(self, found: Tensor, there: Tensor) -> tuple[Tensor, Tensor]:
        """States [B, L, W] and their mean [B, W]."""
        states = self.squash(self.project(found)) * there.unsqueeze(-1)
        return states, states.sum(1) / there.sum(1, keepdim=True).clamp(min=1)


# ---------------------------------------------------------------------------------------------- attentions


class Additive(nn.Module):
    """score_t = v . tanh(W1 h_t + W2 q), without the query term when there is no query."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.of_state = nn.Linear(shape.width, shape.align)
        self.of_query = nn.Linear(shape.width, shape.align, bias=False) if shape.query else None
        self.vector = nn.Linear(shape.align, 1, bias=False)

    def forward(self, states: Tensor, asked: Tensor | None) -> Tensor:
        """Scores [B, L]."""
        inner = self.of_state(states)
        if asked is not None and self.of_query is not None:
            inner = inner + self.of_query(asked).unsqueeze(1)
        out: Tensor = self.vector(torch.tanh(inner)).squeeze(-1)
        return out


class Dot(nn.Module):
    """score_t = h_t . q / sqrt(width); without a query text, q is one learned vector."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        bound = shape.width**-0.5  # as a linear layer of that width begins
        drawn = None if shape.query else nn.Parameter(torch.empty(shape.width, 1).uniform_(-bound, bound))
        self.register_parameter("vector", drawn)
        self.root: float = shape.width**0.5

    def forward(self, states: Tensor, asked: Tensor | None) -> Tensor:
        """Scores [B, L]."""
        query: Tensor = self.get_parameter("vector") if asked is None else asked.unsqueeze(-1)
        dots: Tensor = states @ query
        return dots.squeeze(-1) / self.root


class Uniform(nn.Module):
    """The same score everywhere: exactly 1 / (number of attended places)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()

    def forward(self, states: Tensor, asked: Tensor | None) -> Tensor:
        """Scores [B, L], all zero."""
        return torch.zeros_like(states[..., 0])


ENCODERS: dict[str, type[nn.Module]] = {"bilstm": BiLSTM, "cnn": CNN, "average": Average}
ATTENTIONS: dict[str, type[nn.Module]] = {"additive": Additive, "dot": Dot, "uniform": Uniform}
