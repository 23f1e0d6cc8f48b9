"""A differentiable model whose attributions are known by arithmetic: a sum of word values and one product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from assay.align import places
from assay.engine import Engine
from assay.models.torch import Batch, Change, Encoding, Out, TorchModel, gated
from assay.registry import bind
from assay.types import Example, Input, Place, Target

VALUES = {"[CLS]": 0.25, "[UNK]": 0.0, "good": 2.0, "not": 1.5, "dull": -1.0, "film": 0.0, "a": 0.5}
WORDS = tuple(VALUES)
TEXT = "a good not dull film"


class Sums(TorchModel):
    """logits (0, z), z = sum of values + ``together`` x (value of good) x (value of not); embeddings of size one."""

    unk_id = pad_id = mask_id = 1

    def __init__(self, together: float = 0.0) -> None:
        super().__init__(nn.Embedding(len(WORDS), 1), name="sums", labels=("no", "yes"), device="cpu")
        self.together = together
        self.net.weight.data = torch.tensor([[VALUES[w]] for w in WORDS])

    def read(self, example: Example, unit: str = "word") -> Input:
        found = (Place("", 0, 0, "[CLS]"), *places(example, unit))
        return Input(example, unit, found, np.array([not p.special for p in found]))

    def encode(self, x: Input) -> Encoding:
        return Encoding(np.array([WORDS.index(w) for w in x.words]), np.arange(x.n))

    def word_ids(self, word: str) -> list[int]:
        return [WORDS.index(word)]

    def lookup(self, batch: Batch) -> Tensor:
        return self.net(batch.ids)  # type: ignore[no-any-return]  # a module's call is untyped

    def forward(
        self,
        batch: Batch,
        change: Change | None = None,
        attention: Tensor | None = None,
        hold: bool = False,
        keep: frozenset[str] = frozenset(),
    ) -> Out:
        e = gated(self.lookup(batch), batch, change)[..., 0] * batch.real
        pair = [(e * (batch.ids == WORDS.index(w))).sum(1) for w in ("good", "not")]
        z = e.sum(1) + self.together * pair[0] * pair[1]
        return Out(torch.stack([torch.zeros_like(z), z], dim=-1)[:, None, :])

    def identity(self) -> Any:
        return [WORDS, self.together]


@pytest.fixture
def explain() -> Callable[..., Any]:
    """Run one method: ``explain("leave-one-out")`` -> scores, or scores and notes, for class 1 of TEXT."""

    def run(method: str, together: float = 0.0, text: str = TEXT, target: Target = Target((1,))) -> Any:  # noqa: B008 frozen
        model = Sums(together)
        return Engine(model).ask(bind("methods", method)(model.read(Example("1", {"text": text})), target))

    return run
