"""The networks of the attention papers: encoder x attention x linear decoder, for one text or a text with a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from assay.models.attention_layers import ATTENTIONS, ENCODERS, Shape


@dataclass(frozen=True, eq=False, slots=True)
class Text:
    """Ids [B, L] padded on the right with, per place: is it there, may it be attended, is it the query's."""

    ids: Tensor
    there: Tensor
    attend: Tensor
    query: Tensor | None = None
    """[B, L] bool; None when there is no query."""


@dataclass(frozen=True, eq=False, slots=True)
class Encoded:
    """Hidden states [B, L, W] in the order of the ids (0 on the query's places), and the query's vector [B, W]."""

    states: Tensor
    asked: Tensor | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Seen:
    """One forward pass: logits [B, outputs], attention [B, L] and the states that it averaged."""

    logits: Tensor
    attention: Tensor
    states: Tensor


Change = Callable[[Tensor], Tensor]


class AttentionNet(nn.Module):
    """p = softmax(decode(sum_t a_t h_t)): a_t >= 0 sums to one over attended places, exactly 0 elsewhere.

    Without a query the decoder is linear: with one output, z = sum_t a_t s_t + b (see ``place_scores``).
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        half = shape.width // 2
        self.embedding = nn.Embedding(shape.vocab * (2 if shape.query else 1), shape.embed)
        self.encoder = ENCODERS[shape.encoder](shape)
        self.asker = ENCODERS[shape.encoder](shape) if shape.query else None
        self.attention = ATTENTIONS[shape.attention](shape)
        self.of_context = nn.Linear(shape.width, half) if shape.query else None
        self.of_query = nn.Linear(shape.width, half) if shape.query else None
        self.decoder = nn.Linear(half if shape.query else shape.width, shape.outputs)

    def lookup(self, ids: Tensor, query: Tensor | None = None) -> Tensor:
        """Word embeddings [B, L, D]; the query has a table of its own."""
        found: Tensor = self.embedding(ids if query is None else ids + query * self.shape.vocab)
        return found

    def forward(
        self, text: Text, change: Change | None = None, attention: Tensor | None = None, hold: bool = False
    ) -> Seen:
        """Logits with the net's own attention or an imposed one [B, L]; ``hold``: no gradient through attention."""
        encoded = self.encode(text, change)
        weights = self.weights(encoded, text.attend) if attention is None else attention.to(encoded.states.dtype)
        weights = weights.detach() if hold else weights
        return Seen(self.decode(weights, encoded), weights, encoded.states)

    def encode(self, text: Text, change: Change | None = None) -> Encoded:
        """Hidden states; ``change`` acts on the looked-up embeddings [B, L, D]."""
        found = self.lookup(text.ids, text.query)
        found = found if change is None else change(found)
        if self.asker is None or text.query is None:
            return Encoded(self.encoder(found, text.there)[0])
        mine = text.there & ~text.query
        states, _ = self.encoder(*_gathered(found, mine))
        _, asked = self.asker(*_gathered(found, text.there & text.query))
        rank = (mine.long().cumsum(1) - 1).clamp(0, states.shape[1] - 1)
        back = states.gather(1, rank.unsqueeze(-1).expand(-1, -1, states.shape[2]))
        return Encoded(back * mine.unsqueeze(-1), asked)

    def weights(self, encoded: Encoded, attend: Tensor) -> Tensor:
        """Attention [B, L]: a softmax over the attended places; all zero when there are none."""
        scores: Tensor = self.attention(encoded.states, encoded.asked)
        scores = scores.masked_fill(~attend, torch.finfo(scores.dtype).min)
        return torch.softmax(scores, dim=-1) * attend

    def decode(self, weights: Tensor, encoded: Encoded) -> Tensor:
        """Logits [..., B, outputs] of attention [..., B, L]: many attentions over states encoded once."""
        context = (weights.unsqueeze(-2) @ encoded.states).squeeze(-2)
        if self.of_context is not None and self.of_query is not None:
            context = torch.tanh(self.of_context(context) + self.of_query(encoded.asked))
        out: Tensor = self.decoder(context)
        return out

    def place_scores(self, states: Tensor) -> Tensor:
        """What attending one place alone would add, [B, L, outputs], bias left out; exact without a query."""
        return states @ self.decoder.weight.T


def _gathered(found: Tensor, mine: Tensor) -> tuple[Tensor, Tensor]:
    """The places of ``mine`` moved to the front, in order: embeddings [B, l, D] and which are there [B, l]."""
    counts = mine.sum(1)
    longest = max(1, int(counts.max()))
    order = (~mine).to(torch.uint8).argsort(dim=1, stable=True)[:, :longest]
    there = torch.arange(longest, device=mine.device) < counts.unsqueeze(1)
    return found.gather(1, order.unsqueeze(-1).expand(-1, -1, found.shape[2])), there


def new_net(shape: Shape, seed: int) -> AttentionNet:
    """A freshly drawn net: word vectors ~ N(0, 0.1), the first id of each side (padding) zero; same seed, same net."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = AttentionNet(shape)
        nn.init.normal_(net.embedding.weight, std=0.1)
    with torch.no_grad():
        net.embedding.weight[:: shape.vocab] = 0.0
    return net
