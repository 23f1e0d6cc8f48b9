"""The attention papers' classifiers as a model family: words in, one attention weight per word out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.align import owner_of_pieces, words
from assay.answers.batch import NOTHING
from assay.models.attention_files import is_folder, read_folder, write_folder
from assay.models.attention_layers import Shape
from assay.models.attention_net import AttentionNet, Encoded, Text
from assay.models.attention_text import EOS, MASK, PAD, SOS, SPECIALS, UNK, Reader
from assay.models.torch import Batch, Change, Encoding, Out, TorchModel, gated
from assay.registry import family
from assay.types import BadInput, Example, Input, Place

__all__ = ["AttentionRNN", "Held", "is_folder", "load"]


class AttentionRNN(TorchModel):
    """Encoder, attention, linear decoder. ``head`` binary: one logit z, kept as the columns (-z, z).

    A hidden word is still read by the encoder but gets no attention. A word of the query is never attended, so a
    model with a query cannot hide.
    """

    budget = 16384
    coarse = 16
    unk_id, pad_id, mask_id = UNK, PAD, MASK
    net: AttentionNet

    def __init__(
        self,
        net: AttentionNet,
        reader: Reader,
        *,
        labels: Sequence[str],
        name: str = "attention-rnn",
        notes: Mapping[str, Any] | None = None,
        device: str = "auto",
        dtype: str = "auto",
    ) -> None:
        super().__init__(net, name=name, labels=labels, device=device, dtype=dtype)
        self.head = "binary" if net.shape.outputs == 1 else "softmax"
        self.reader = reader
        self.notes = dict(notes or {})
        """How it was trained and what it reached."""
        shown = {"attention", "attend", "hold", "states", "pull", "adversary"}
        self.abilities = frozenset(shown | (set() if reader.query else {"hide"}))

    def read(self, example: Example, unit: str = "word") -> Input:
        """Every field's words in order, between [SOS] and [EOS] where the model has them."""
        self._roles(example)
        unit = self.reader.unit if unit == "piece" else unit
        places: list[Place] = []
        for name, text in example.fields.items():
            spans = [Place(name, a, b) for a, b in words(text, unit)]
            if not spans:
                raise BadInput(f"example {example.id}: field '{name}' has no words; give it some text or leave it out")
            places += [_edge(SOS), *spans, _edge(EOS)] if self.reader.edges else spans
        return Input(example, unit, tuple(places), np.array([not p.special for p in places], dtype=bool))

    def _roles(self, example: Example) -> dict[str, bool]:
        """Field -> is it the query: by name, or by position where the names differ."""
        known, given = self.reader.fields, tuple(example.fields)
        if set(known) == set(given):
            return {name: name == self.reader.query for name in given}
        if len(known) == len(given):
            return {name: known[i] == self.reader.query for i, name in enumerate(given)}
        raise BadInput(
            f"example {example.id} has the fields {', '.join(given)}; {self.name} was trained on {', '.join(known)}"
        )

    def encode(self, x: Input) -> Encoding:
        """One id per word of the model's own unit."""
        roles, ids, owner, query = self._roles(x.example), [], [], []
        for name, text in x.example.fields.items():
            at = [i for i, p in enumerate(x.places) if p.field == name]
            spans = words(text, self.reader.unit)
            mine = owner_of_pieces(spans, [(x.places[i].start, x.places[i].end) for i in at])
            found = [self.reader.vocabulary.id(text[a:b]) for a, b in spans]
            homes = [at[o] if o >= 0 else -1 for o in mine.tolist()]
            if self.reader.edges:
                found, homes = [SOS, *found, EOS], [at[0] - 1, *homes, at[-1] + 1]
            ids += found
            owner += homes
            query += [int(roles[name])] * len(found)
        extra = {"query": np.array(query, dtype=np.int64)} if self.reader.query else {}
        return Encoding(np.array(ids, dtype=np.int64), np.array(owner, dtype=np.int64), extra)

    def word_ids(self, word: str) -> list[int]:
        """The ids of a fill: one per word of the model's unit."""
        return [self.reader.vocabulary.id(word[a:b]) for a, b in words(word, self.reader.unit)] or [UNK]

    def lookup(self, batch: Batch) -> Tensor:
        """Word embeddings [B, L, D]."""
        return self.net.lookup(batch.ids, _query(batch))

    def text(self, batch: Batch) -> Text:
        """The batch as the net reads it: attended is what an input owns, is seen, is no edge and not the query's."""
        query = _query(batch)
        attend = batch.seen & (batch.owner >= 0) & (batch.ids != SOS) & (batch.ids != EOS)
        return Text(batch.ids, batch.real, attend if query is None else attend & ~query, query)

    def forward(
        self,
        batch: Batch,
        change: Change | None = None,
        attention: Tensor | None = None,
        hold: bool = False,
        keep: frozenset[str] = NOTHING,
    ) -> Out:
        """Logits [B, 1, classes], the attention and the states it averages."""
        if attention is not None and change is None and not keep:
            return Out(self._decoded(batch, attention.detach() if hold else attention))
        seen = self.net(self.text(batch), lambda e: gated(e, batch, change), attention, hold)
        return Out(self.columns(seen.logits), seen.attention, states=seen.states)

    def _decoded(self, batch: Batch, attention: Tensor) -> Tensor:
        """Logits under imposed attention: rows that differ in nothing else are encoded once (permutations, erasure)."""
        alike = [batch.ids, batch.owner, batch.real, batch.seen, *batch.extra.values()]
        alike += [] if batch.gate is None else [batch.gate.bool()]
        _, which = torch.unique(torch.cat([t.long() for t in alike], dim=1), dim=0, return_inverse=True)
        first = torch.full((int(which.max()) + 1,), len(which), device=which.device)
        first = first.scatter_reduce(0, which, torch.arange(len(which), device=which.device), "amin")
        held = self.held(batch.take(first))
        linear = held.place_logits()
        if linear is not None:
            per, bias = linear
            return torch.einsum("bl,blhc->bhc", attention.to(per), per[which]) + bias
        encoded = Encoded(held.encoded.states[which], _at(held.encoded.asked, which))
        return self.columns(self.net.decode(attention.to(encoded.states), encoded))

    def attended(self, batch: Batch) -> Tensor:
        """[B, L] bool: the words that may be attended."""
        return self.text(batch).attend

    def held(self, batch: Batch) -> Held:
        """The batch encoded once, to be decoded under many attentions (permutation, adversaries)."""
        text = self.text(batch)
        encoded = self.net.encode(text, lambda e: gated(e, batch, None))
        return Held(self, encoded, text.attend, self.net.weights(encoded, text.attend))

    def columns(self, logits: Tensor) -> Tensor:
        """[..., 1, classes] from the net's outputs: one logit z becomes (-z, z)."""
        both = torch.cat([-logits, logits], dim=-1) if self.head == "binary" else logits
        return both.unsqueeze(-2)

    def identity(self) -> Any:
        """Shape, vocabulary and how text is read."""
        return [self.net.shape.facts, self.reader.facts, self.labels]

    def save(self, folder: str | Path) -> Path:
        """Write config.json and model.safetensors; ``load`` gives the same model back, to the bit."""
        facts = {
            "shape": self.net.shape.facts,
            "reader": self.reader.facts,
            "labels": list(self.labels),
            "name": self.name,
            "notes": self.notes,
        }
        return write_folder(Path(folder), facts, self.net.state_dict())


@dataclass(frozen=True, eq=False, slots=True)
class Held:
    """Fixed hidden states: which places may be attended [B, L], the model's own attention, and the decoder."""

    model: AttentionRNN
    encoded: Encoded
    attend: Tensor
    attention: Tensor

    def logits(self, attention: Tensor) -> Tensor:
        """[..., B, 1, classes] of attention [..., B, L]."""
        return self.model.columns(self.model.net.decode(attention, self.encoded))

    def place_logits(self) -> tuple[Tensor, Tensor] | None:
        """What attending each place alone adds [B, L, 1, classes], and the bias [1, classes]; None with a query."""
        net = self.model.net
        if net.shape.query:
            return None
        return self.model.columns(net.place_scores(self.encoded.states)), self.model.columns(net.decoder.bias)


def _at(values: Tensor | None, rows: Tensor) -> Tensor | None:
    return None if values is None else values[rows]


def _edge(token: int) -> Place:
    return Place("", 0, 0, SPECIALS[token])


def _query(batch: Batch) -> Tensor | None:
    query = batch.extra.get("query")
    return None if query is None else query.bool()


@family("attention-rnn", paper="Jain & Wallace 2019; Wiegreffe & Pinter 2019")
def load(folder: str | Path, *, device: str = "auto", dtype: str = "auto") -> AttentionRNN:
    """A classifier that attends to words (BiLSTM, CNN or average), from the folder that training wrote."""
    path = Path(folder)
    facts, weights = read_folder(path)
    try:
        net = AttentionNet(Shape(**facts["shape"]))
        reader = Reader.of(facts["reader"])
        labels, name, notes = tuple(facts["labels"]), str(facts["name"]), dict(facts["notes"])
        net.load_state_dict(weights)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:160]
        raise BadInput(f"{path}: config.json and model.safetensors do not fit ({reason}); train it again") from error
    return AttentionRNN(net, reader, labels=labels, name=name, notes=notes, device=device, dtype=dtype)
