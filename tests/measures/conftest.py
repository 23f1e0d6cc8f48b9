"""A driver for tests of explanations: a text, and a model that is a function of the words that are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from assay.align import places
from assay.engine import Engine
from assay.registry import bind
from assay.types import KEEP, Example, Input, Mark, Probe, Reading, Target


class Function:
    """Class 1 has the probability that a function gives to the tuple of the words that are there."""

    name, fingerprint, labels, head = "function", "function", ("no", "yes"), "softmax"
    can = frozenset({"mask"})

    def __init__(self, probability: Callable[[tuple[str, ...]], float]) -> None:
        self.probability = probability
        self.asked: list[tuple[str, ...]] = []

    def read(self, example: Example, unit: str = "word") -> Input:
        found = places(example, unit)
        return Input(example, unit, found, np.ones(len(found), dtype=bool))

    def size(self, probe: Probe) -> np.ndarray:
        return np.full(probe.rows, probe.x.n)

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        return [Reading({"logp": np.log(np.array([self._row(p, c) for c in p.edit.codes]))}) for p in probes]

    def _row(self, probe: Probe, codes: np.ndarray) -> list[list[float]]:
        there = tuple(w for w, c in zip(probe.x.words, codes, strict=True) if c == KEEP)
        self.asked.append(there)
        p = self.probability(there)
        return [[1 - p, p]]


@pytest.fixture
def grade() -> Callable[..., Any]:
    """Run one test on one map: ``grade("deletion", "a b", [2, 1], probability)`` -> values, detail."""

    def run(test: str, text: str, scores: Any, probability: Any = lambda there: 0.5, **rest: Any) -> Any:
        model = probability if isinstance(probability, Function) else Function(probability)
        example = Example("1", {"text": text}, rest.get("gold"), tuple(Mark("text", *m) for m in rest.get("marks", ())))
        x = model.read(example)
        more = [rest["other"]] if "other" in rest else []
        return Engine(model).ask(bind("tests", test)(x, Target((1,)), np.array(scores, dtype=float), *more))

    return run


@pytest.fixture
def function() -> type[Function]:
    """The model class, for tests that look at what was asked."""
    return Function


def attending_model(words: Mapping[str, tuple[float, float]], *, bias: float = 0.0) -> Any:
    """A classifier with one attention layer whose parts are known: {word: (score s, attention weight w)}.

    z = sum_t a_t s_t + bias with a_t = w_t / sum of w over the text; a word of weight 0 underflows to exactly 0.
    """
    import torch

    from assay.models.attention_layers import Shape
    from assay.models.attention_net import AttentionNet
    from assay.models.attention_rnn import AttentionRNN
    from assay.models.attention_text import SPECIALS, Reader, Vocabulary

    shape = Shape(len(words) + len(SPECIALS), 1, "average", "additive", embed=3, width=3, align=1, squash="relu")
    with torch.random.fork_rng(devices=[]):
        net = AttentionNet(shape)
    reader = Reader(Vocabulary(tuple(words)))
    with torch.no_grad():
        for name, p in net.named_parameters():
            p.zero_()
            if name == "encoder.project.weight":
                p.copy_(torch.eye(3))
        net.decoder.weight.copy_(torch.tensor([[1.0, -1.0, 0.0]]))
        net.decoder.bias.fill_(bias)
        net.attention.of_state.weight.copy_(torch.tensor([[0.0, 0.0, 1.0]]))  # type: ignore[union-attr,operator]  # a layer
        net.attention.vector.weight.fill_(400.0)  # type: ignore[union-attr,operator]  # a layer
        for word, (score, weight) in words.items():
            log = max(-200.0, float(np.log(weight))) if weight > 0 else -200.0
            row = [max(score, 0.0), max(-score, 0.0), float(np.arctanh((log + 200) / 400))]
            net.embedding.weight[reader.vocabulary.id(word)] = torch.tensor(row)
    return AttentionRNN(net, reader, labels=("no", "yes"), device="cpu")


@pytest.fixture
def attending() -> Callable[..., Any]:
    """The maker of classifiers with known attention and known scores per word."""
    return attending_model
