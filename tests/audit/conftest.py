"""A driver for tests of explanations: a text, and a model that is a function of the words that are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
