"""A closed-form toy: the logit is a sum of word weights, so every faithful attribution is known."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from assay import align
from assay.answers.batch import NOTHING
from assay.models.torch import Batch, Change, Encoding, Out, TorchModel, gated
from assay.registry import family
from assay.types import BadInput, CannotDo, Example, Floats, Input, Target

PAD, UNK, MASK, WORDS = range(4)
"""Ids; PAD, UNK and MASK have weight 0, so every removal operator equals deletion."""
BUCKETS = 1024
Weights = Mapping[str, float | Sequence[float]]


class Table(nn.Module):
    """One row of numbers per id, pair strengths [pairs, classes] and a bias [classes]."""

    def __init__(self, rows: Floats, strengths: Floats, bias: Floats) -> None:
        super().__init__()
        self.rows = nn.Parameter(torch.from_numpy(np.asarray(rows, dtype=np.float32)))
        self.strengths = nn.Parameter(torch.from_numpy(np.asarray(strengths, dtype=np.float32)))
        self.bias = nn.Parameter(torch.from_numpy(np.asarray(bias, dtype=np.float32)))


@family("additive", builtin=True)
class Additive(TorchModel):
    """logit_c = bias_c + sum of w_c(word): a toy whose attributions are its weights.

    With output logit: leave-one-out, gradient x input, integrated gradients and Shapley all equal w_c(word), for any
    removal. ``weights``: word -> number per class, or one number for the last class; other words weigh 0. Without
    ``weights`` every word is hashed to a fixed random weight.

    >>> toy = Additive(weights={"good": 2.0, "bad": -3.0})
    >>> toy.truth(toy.read(Example("1", {"text": "good , not bad"})), Target((1,))).tolist()
    [2.0, 0.0, 0.0, -3.0]
    """

    unk_id, pad_id, mask_id = UNK, PAD, MASK
    abilities = frozenset({"hide"})
    budget = 16384

    def __init__(
        self,
        *,
        weights: Weights | None = None,
        labels: Sequence[str] = ("negative", "positive"),
        bias: Sequence[float] | None = None,
        seed: int = 0,
        device: str = "auto",
        dtype: str = "auto",
    ) -> None:
        classes = len(labels)
        rows, self._ids = table(weights, classes, seed)
        net = Table(rows, np.zeros((0, classes)), np.zeros(classes) if bias is None else np.asarray(bias))
        super().__init__(net, name="additive", labels=labels, device=device, dtype=dtype)

    def read(self, example: Example, unit: str = "word") -> Input:
        """All words of all fields, all free; a piece is a word."""
        places = align.places(example, "word" if unit == "piece" else unit)
        if not places:
            raise BadInput(f"example {example.id} has no text in {', '.join(example.fields)}: leave it out")
        return Input(example, unit, places, np.ones(len(places), dtype=bool))

    def encode(self, x: Input) -> Encoding:
        """One piece per word."""
        ids = np.array([self.word_ids(w)[0] for w in x.words], dtype=np.int64)
        return Encoding(ids, np.arange(x.n, dtype=np.int64))

    def word_ids(self, word: str) -> list[int]:
        """The id of a word, in lower case."""
        known = self._ids.get(word.lower())
        return [hashed(word) if known is None and not self._ids else UNK if known is None else known]

    def identity(self) -> Any:
        """The vocabulary and labels."""
        return [self.name, self.labels, sorted(self._ids.items())]

    def lookup(self, batch: Batch) -> Tensor:
        """Rows of the table."""
        return nn.functional.embedding(batch.ids, self.net.get_parameter("rows"))

    def forward(
        self,
        batch: Batch,
        change: Change | None = None,
        attention: Tensor | None = None,
        hold: bool = False,
        keep: frozenset[str] = NOTHING,
    ) -> Out:
        """Sums of what is seen, pair products, bias."""
        if attention is not None or hold:
            raise CannotDo(f"{self.name} has no attention")
        seen = gated(self.lookup(batch), batch, change) * batch.seen.unsqueeze(-1)
        total = seen.sum(1)
        strengths = self.net.get_parameter("strengths")
        classes, pairs = strengths.shape[1], strengths.shape[0]
        left, right = total[:, classes : classes + pairs], total[:, classes + pairs :]
        logits = total[:, :classes] + (left * right) @ strengths + self.net.get_parameter("bias")
        return Out(logits.unsqueeze(1))

    # -------------------------------------------------------------------------------------- what is true

    def truth(self, x: Input, target: Target) -> Floats:
        """Shapley values [n] of the target's logit (minus that of ``against``): here the weights themselves."""
        shares, _ = self._parts(x)
        return self._of(shares, target)

    def fall(self, x: Input, target: Target) -> Floats:
        """Fall of the target's logit [n] when one word is taken away: leave-one-out in closed form."""
        shares, own = self._parts(x)
        return self._of(shares + own, target)

    def _parts(self, x: Input) -> tuple[Floats, Floats]:
        """[n, classes] twice: Shapley values, and what leave-one-out has beyond them.

        For a product v (sum a)(sum b): Shapley v (a_i B + A b_i) / 2, leave-one-out v (a_i B + A b_i - a_i b_i).
        """
        rows = self.net.get_parameter("rows").double().cpu().numpy()[self.encode(x).ids]
        v = self.net.get_parameter("strengths").double().cpu().numpy()
        words, a, b = np.split(rows, [v.shape[1], v.shape[1] + v.shape[0]], axis=1)
        half = (a * b.sum(0) + a.sum(0) * b) / 2
        return words + half @ v, (half - a * b) @ v

    def _of(self, per_class: Floats, target: Target) -> Floats:
        if target.index is None:
            raise BadInput("the truth needs a named target: the model's own choice is not the same in every row")
        at: Floats = per_class[:, target.index[0]]
        return at - per_class[:, target.against[0]] if target.against else at


def hashed(word: str) -> int:
    """The id of a word without a vocabulary: the same everywhere."""
    digest = hashlib.blake2b(word.lower().encode(), digest_size=8).digest()
    return WORDS + int.from_bytes(digest, "big") % BUCKETS


def table(weights: Weights | None, classes: int, seed: int, pairs: int = 0) -> tuple[Floats, dict[str, int]]:
    """Rows of numbers by id [ids, classes + 2 pairs], and the vocabulary ({} when words are hashed)."""
    width = classes + 2 * pairs
    if weights is None:
        rows = np.random.default_rng(seed).normal(0.0, 0.5, (WORDS + BUCKETS, width))
        rows[:WORDS] = 0.0
        return rows, {}
    ids = {word.lower(): WORDS + i for i, word in enumerate(weights)}
    rows = np.zeros((WORDS + len(weights), width))
    for word, given in weights.items():
        per_class = [0.0] * (classes - 1) + [given] if isinstance(given, int | float) else list(given)
        if len(per_class) != classes:
            raise BadInput(f"the weight of '{word}' has {len(per_class)} numbers, expected {classes}: one per label")
        rows[ids[word.lower()], :classes] = per_class
    return rows, ids
