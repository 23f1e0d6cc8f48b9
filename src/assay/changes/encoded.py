"""Labelled data as one torch model reads it: batches to train on, a loss, answers to be measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from assay.changes.quality import golds, measured
from assay.models.torch import Batch, TorchModel
from assay.training import buckets
from assay.types import BadInput, Dataset, Floats, Reading

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Labelled:
    """A batch with its right answers [B] and the numbers of its rows in the data."""

    batch: Batch
    gold: Tensor
    rows: Ids


class Encoded:
    """Every example read and encoded once; batches are padded on the right."""

    def __init__(self, model: TorchModel, data: Dataset) -> None:
        self.model = model
        self.gold = golds(data, model.labels)
        inputs = [model.read(e) for e in data.examples]
        made = [model.encode(x) for x in inputs]
        self.ids, self.owner = [e.ids for e in made], [e.owner for e in made]
        self.free = [np.append(x.free, False)[e.owner] for x, e in zip(inputs, made, strict=True)]
        self.extra = {name: [e.extra[name] for e in made] for name in made[0].extra}
        self.features = np.array([x.n for x in inputs])
        self.lengths = np.array([len(i) for i in self.ids], dtype=np.int64)
        self.cut = sum(bool(x.cut) for x in inputs)
        """How many texts were longer than the model takes."""

    def batches(self, rng: np.random.Generator, *, rows: int, hidden_words: float = 0.0) -> Iterator[Labelled]:
        """One epoch: batches of near-equal length (+- 10 %), in random order; a share of the words hidden."""
        for chosen in buckets(self.lengths, rows=rows, rng=rng, noise=0.1):
            yield self.batch(chosen, rng, hidden_words)

    def batch(self, chosen: Ids, rng: np.random.Generator | None = None, hidden_words: float = 0.0) -> Labelled:
        """These rows; with a generator, words are shown as [UNK] or [MASK] at the rate ``hidden_words``."""
        ids = self._padded(self.ids, chosen, self.model.filler)
        if rng is not None and hidden_words:
            draw = rng.random(ids.shape)
            free = self._padded(self.free, chosen, 0)
            for share, token in ((hidden_words, self.model.mask_id), (hidden_words / 2, self.model.unk_id)):
                ids[free & (draw < share)] = self.model.filler if token is None else token
        real = self._tensor(np.arange(ids.shape[1]) < self.lengths[chosen, None])
        owner = self._tensor(self._padded(self.owner, chosen, -1))
        extra = {name: self._tensor(self._padded(arrays, chosen, 0)) for name, arrays in self.extra.items()}
        made = Batch(self._tensor(ids), real, real, owner, int(self.features[chosen].max()), extra=extra)
        return Labelled(made, self._tensor(self.gold[chosen]), chosen)

    def loss(self, labelled: Labelled) -> Tensor:
        """Mean cross-entropy; with one logit the second class counts N/N+ - 1 times (Jain & Wallace 2019)."""
        logits = self.model.forward(labelled.batch).logits[:, 0]
        if self.model.head == "binary":
            gold = labelled.gold.to(logits.dtype)
            return binary_cross_entropy_with_logits(logits[:, 1], gold, pos_weight=self._weight.to(logits))
        return cross_entropy(logits, labelled.gold)

    @cached_property
    def _weight(self) -> Tensor:
        return torch.tensor(len(self.gold) / max(1, int(self.gold.sum())) - 1)

    def logp(self) -> Floats:
        """Log-probabilities [N, classes] of the model as it is now."""
        out = np.zeros((len(self.gold), len(self.model.labels)))
        order = np.argsort(self.lengths, kind="stable")
        parts = min(len(order), 1 + int(self.lengths.sum()) // self.model.budget)
        with torch.inference_mode():
            for chosen in np.array_split(order, parts):
                logits = self.model.forward(self.batch(chosen).batch).logits
                out[chosen] = Reading({"logits": logits.float().cpu().numpy()}, self.model.head).logp[:, 0]
        return out

    def scores(self) -> dict[str, float]:
        """Accuracy, F1 and (for two classes) ROC-AUC of the model as it is now."""
        return measured(self.logp(), self.gold)

    def score(self, name: str) -> float:
        """One of the scores."""
        scores = self.scores()
        if name not in scores:
            raise BadInput(f"cannot select by '{name}' on these held-out examples; there are: {', '.join(scores)}")
        return scores[name]

    def _padded(self, arrays: list[Any], chosen: Ids, filler: int) -> Any:
        out = np.full((len(chosen), int(self.lengths[chosen].max())), filler, dtype=arrays[0].dtype)
        for row, i in enumerate(chosen.tolist()):
            out[row, : self.lengths[i]] = arrays[i]
        return out

    def _tensor(self, array: NDArray[np.int64] | NDArray[np.bool_]) -> Tensor:
        return torch.from_numpy(array).to(self.model.device)
