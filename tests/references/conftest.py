"""Two small networks with random weights: one of our own torch family, one through transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from assay.align import places
from assay.models.torch import Batch, Change, Encoding, Out, TorchModel, gated
from assay.types import Example, Input

TEXT = "the film was not as dull as its quiet title suggests"


class Pooled(TorchModel):
    """Embeddings -> tanh of a layer -> mean over words -> three logits."""

    unk_id = pad_id = mask_id = 0

    def __init__(self) -> None:
        with torch.random.fork_rng():
            torch.manual_seed(11)  # inside the fork: no other test sees it
            net = nn.ModuleDict({"look": nn.Embedding(40, 6), "mix": nn.Linear(6, 8), "out": nn.Linear(8, 3)})
        super().__init__(net, name="pooled", labels=("a", "b", "c"), device="cpu")
        self.vocabulary: dict[str, int] = {}

    def read(self, example: Example, unit: str = "word") -> Input:
        found = places(example, unit)
        return Input(example, unit, found, np.ones(len(found), dtype=bool))

    def encode(self, x: Input) -> Encoding:
        ids = [self.vocabulary.setdefault(w, 1 + len(self.vocabulary)) for w in x.words]
        return Encoding(np.array(ids), np.arange(x.n))

    def word_ids(self, word: str) -> list[int]:
        return [self.vocabulary[word]]

    def lookup(self, batch: Batch) -> Tensor:
        return self.net["look"](batch.ids)  # type: ignore[index, no-any-return]  # a ModuleDict is untyped

    def logits(self, embeddings: Tensor, real: Tensor) -> Tensor:
        """[B, 3] from [B, L, 6]: what the reference library differentiates."""
        states = torch.tanh(self.net["mix"](embeddings)) * real[..., None]  # type: ignore[index]  # as above
        return self.net["out"](states.sum(1) / real.sum(1, keepdim=True))  # type: ignore[index, no-any-return]

    def forward(
        self,
        batch: Batch,
        change: Change | None = None,
        attention: Tensor | None = None,
        hold: bool = False,
        keep: frozenset[str] = frozenset(),
    ) -> Out:
        return Out(self.logits(gated(self.lookup(batch), batch, change), batch.real)[:, None, :])

    def identity(self) -> Any:
        return "pooled"


@pytest.fixture
def pooled() -> Pooled:
    return Pooled()


@pytest.fixture
def sentence() -> Example:
    return Example("1", {"text": TEXT})


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a BERT classifier of two layers and random weights, with its tokenizer."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("bert")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(set(TEXT.split()) - {"suggests"}), "suggest", "##s"]
    (folder / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(words), num_labels=2, **sizes)
    with torch.random.fork_rng():
        torch.manual_seed(5)  # inside the fork: no other test sees it
        net = BertForSequenceClassification(config)
    with torch.no_grad():
        for parameter in net.parameters():
            if parameter.dim() > 1:
                parameter *= 6  # weights at initialisation are so small that the output is nearly linear
    net.save_pretrained(folder)
    return folder
