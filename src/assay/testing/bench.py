"""The bench on which contracts are tried: texts and toys with known weights, and one way to run a thing on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.engine import Engine
from assay.registry import Bound
from assay.testing.result import Broken, NotTried
from assay.testing.toys import ALL, Toy
from assay.types import Example, Floats, Input, Mark, Model, Target

WEIGHTS: dict[str, float] = {"alpha": 0.7, "bravo": -0.4, "charlie": 2.0, "delta": -1.3, "echo": 0.15}
"""Well apart in size and in no order, so that a score in the wrong place shows."""
TEXT = " ".join(WEIGHTS)
LONG = " ".join([*WEIGHTS, "foxtrot", "golf"] * 5)
"""35 words: too many to enumerate."""
CLASSES = {"alpha": (2.0, 0.0, 0.0), "bravo": (0.0, 2.0, 0.0), "charlie": (0.0, 0.0, 2.0)}
"""Three classes, one word for each."""
NEAR = 1e-5
"""What batching and the order of a sum may change."""


def additive(gain: float = 1.0) -> Toy:
    """Words that add up."""
    return Toy(WEIGHTS, gain=gain)


def bent() -> Toy:
    """Words that add up and then bend: interactions between all words."""
    return Toy(WEIGHTS, bend=0.2)


def of_three() -> Toy:
    """Three classes, each with its own word."""
    return Toy(CLASSES, labels=("a", "b", "c"))


def read(model: Model, text: str = TEXT, name: str = "bench") -> Input:
    """A text as the model reads it."""
    return model.read(Example(name, {"text": text}))


@dataclass(frozen=True, eq=False, slots=True)
class Scored:
    """What a method gave: one score per feature (NaN for none), those of the free ones, and its notes."""

    all: Floats
    free: Floats
    notes: Mapping[str, Any]


def explain(method: Bound, model: Model, x: Input, label: int = 1, budget: int | None = None) -> Scored:
    """Run one method on one input."""
    return unpacked(Engine(model, budget=budget).ask(method(x, Target((label,)))), x)


def unpacked(result: Any, x: Input) -> Scored:
    """A method returns scores or (scores, notes); scores must fit the features."""
    scores, notes = result if isinstance(result, tuple) else (result, {})
    try:
        values = x.spread(scores)
    except (ValueError, TypeError) as error:
        raise Broken(f"scores do not fit: {error}") from error
    return Scored(values, values[x.free], notes)


def require(bound: Bound) -> None:
    """No toy can do everything: what none can give is not tried."""
    if missing := bound.needs - ALL:
        raise NotTried(f"no toy can give {', '.join(sorted(missing))}")


# ------------------------------------------------------------------------------------------ for tests


@dataclass(frozen=True, eq=False, slots=True)
class Exhibit:
    """One input with the true scores of its predicted class, random ones and the true ones turned round."""

    x: Input
    target: Target
    true: Floats
    random: Floats

    @property
    def inverted(self) -> Floats:
        """The worst map."""
        return -self.true


VOCABULARY = tuple(f"word{i}" for i in range(40))


def exhibit_model() -> Toy:
    """A toy over forty words with drawn weights."""
    draw = np.random.default_rng(20)
    return Toy(dict(zip(VOCABULARY, draw.normal(0.0, 0.8, len(VOCABULARY)).tolist(), strict=True)))


def exhibits(model: Toy, count: int = 30, words: int = 8) -> list[Exhibit]:
    """Random texts, with the words that speak most for the predicted class marked as evidence."""
    draw = np.random.default_rng(21)
    return [_exhibit(model, draw, i, words) for i in range(count)]


def _exhibit(model: Toy, draw: np.random.Generator, number: int, words: int) -> Exhibit:
    text = " ".join(draw.choice(VOCABULARY, words, replace=False).tolist())
    plain = read(model, text)
    label = int(model.truth(plain, 1).sum() + 0.3 > 0)
    best = np.argsort(-model.truth(plain, label))[:2]
    free = [p for p, f in zip(plain.places, plain.free, strict=True) if f]
    marks = tuple(Mark("text", free[i].start, free[i].end) for i in best)
    x = model.read(Example(f"exhibit{number}", {"text": text}, label, marks))
    return Exhibit(x, Target((label,)), model.truth(x, label), draw.normal(size=words))


def headline(test: Bound, values: Sequence[Mapping[str, float]]) -> Floats:
    """The number that tables show, of every exhibit."""
    name = test.entry.facts["headline"]
    try:
        return np.array([v[name] for v in values], dtype=np.float64)
    except KeyError as error:
        raise Broken(f"the declared headline '{name}' is not among the values {sorted(values[0])}") from error
