"""The values that terminal, report and verdict are made from: cells, gaps, views of examples, and all together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from assay.types import Cost, Estimate

CONTROL = "random"
"""The method that every other one must beat."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of one test for one method."""

    method: str
    test: str
    value: str
    estimate: Estimate
    headline: bool
    against_control: Estimate | None = None
    """Paired difference to the random control, turned so that above zero is better."""
    p: float | None = None
    """That difference by sign flips, Holm-corrected over the headline cells of the run."""


@dataclass(frozen=True, slots=True)
class Gap:
    """What could not be computed, how often, and why."""

    method: str
    test: str
    reason: str
    count: int
    example: str = ""


class Said(NamedTuple):
    """A prediction: the class in words and its probability."""

    label: str
    confidence: float


class Curve(NamedTuple):
    """Points that a test went through on one example."""

    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ExampleView:
    """One example with its prediction and all its heatmaps."""

    id: str
    fields: Mapping[str, str]
    gold: str
    predicted: str
    target: str
    confidence: float
    words: tuple[str, ...]
    places: tuple[tuple[str, int, int], ...]
    scores: Mapping[str, tuple[float, ...]]
    evidence: tuple[bool, ...] = ()
    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """method -> {test: headline value}."""
    cut: str = ""
    """What the model was not given because it takes no more, in words ('' when nothing was)."""
    ends: Mapping[str, int] = field(default_factory=dict)
    """Where the model stopped reading a cut field, in characters."""
    whole: Said | None = None
    """The prediction on the untouched text, told with ``removals``."""
    removals: Mapping[str, tuple[Said, ...]] = field(default_factory=dict)
    """method -> what the model says without each word."""
    fills: Mapping[str, tuple[tuple[tuple[str, float], ...], ...]] = field(default_factory=dict)
    """method -> the likeliest fills of each word with their probabilities."""
    curves: Mapping[str, Mapping[str, Curve]] = field(default_factory=dict)
    """test -> method -> its curve on this example."""
    highlights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """method -> agreement with what people marked, as a test recorded it."""
    uncompared: str = ""
    """Why that test says nothing of this example ('' where it does, or where there was none)."""


@dataclass(frozen=True, slots=True)
class Summary:
    """All that a report shows of one set of cases."""

    meta: Mapping[str, Any]
    methods: tuple[str, ...]
    tests: tuple[str, ...]
    cells: tuple[Cell, ...]
    agreement: Mapping[tuple[str, str], Estimate]
    gaps: tuple[Gap, ...]
    examples: tuple[ExampleView, ...]
    costs: Mapping[str, Cost]
    accuracy: Estimate | None = None
    of_inputs: tuple[Cell, ...] = ()
    """Tests of the model and the input, whatever the explanation; their cells name no method."""

    def cell(self, method: str, test: str) -> Cell | None:
        """The headline cell of a method and a test."""
        return next((c for c in self.cells if c.method == method and c.test == test and c.headline), None)
