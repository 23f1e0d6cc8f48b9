"""What comes out: explanations, records, estimates, findings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from assay import heat
from assay.types.examples import Example
from assay.types.inputs import Input
from assay.types.questions import FREE, Cost, Target
from assay.types.words import Floats


@dataclass(frozen=True, eq=False, slots=True)
class Explanation:
    """One score per feature of one example, for one target, by one method."""

    x: Input
    model: str
    method: str
    target: Target
    values: Floats
    """One per feature, special tokens included; NaN where the method computes none."""
    labels: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    cost: Cost = FREE

    @property
    def example(self) -> Example:
        """The explained example."""
        return self.x.example

    @property
    def words(self) -> tuple[str, ...]:
        """The free words, in reading order."""
        return self.x.free_words

    @property
    def scores(self) -> Floats:
        """One score per word of ``words``."""
        return np.asarray(self.values[self.x.free])

    @property
    def target_name(self) -> str:
        """The explained class in words."""
        return target_name(self.target, self.labels)

    def to_pandas(self) -> Any:
        """One row per word."""
        import pandas as pd

        return pd.DataFrame({"word": self.words, "score": self.scores})

    def to_json(self) -> dict[str, Any]:
        """Words and scores as plain values, with what they explain."""
        return {
            "method": self.method,
            "target": self.target_name,
            "fields": dict(self.example.fields),
            "words": list(self.words),
            "scores": self.scores.tolist(),
            "probabilities": dict(zip(self.labels, self.probabilities, strict=False)),
            "notes": dict(self.notes),
            "cut": self.x.cut,
        }

    def save(self, path: str | Path) -> None:
        """Write ``to_json()`` to a file."""
        text = json.dumps(self.to_json(), ensure_ascii=False, indent=1)
        Path(path).write_text(text, encoding="utf-8", errors="replace")

    def __str__(self) -> str:
        pairs = " ".join(f"{w}({s:+.2f})" for w, s in zip(self.words, self.scores, strict=True))
        return f"{self.method} for {self.target_name}: {pairs}"

    def _repr_html_(self) -> str:
        head = f"<b>{escape(self.method)}</b> for <i>{escape(self.target_name)}</i>: "
        return f"<div>{head}{heat.html(self.words, self.scores.tolist())}</div>"


def target_name(target: Target, labels: Sequence[str]) -> str:
    """'positive', or 'positive rather than negative'."""

    def one(index: tuple[int, ...] | None) -> str:
        if index is None:
            return "own prediction"
        return ", ".join(labels[i] if i < len(labels) else str(i) for i in index)

    return one(target.index) + (f" rather than {one(target.against)}" if target.against else "")


@dataclass(frozen=True, slots=True)
class Record:
    """Named numbers that one test gave, or None with a reason that is counted and never dropped."""

    test: str
    example: str = ""
    method: str = ""
    other: str = ""
    """The second method of a comparison."""
    replicate: str = ""
    values: Mapping[str, float] | None = None
    reason: str = ""
    detail: Mapping[str, Any] | None = None
    """Feeds one of the report's views (curve, path, heatmap, points)."""
    cost: Cost = FREE


@dataclass(frozen=True, slots=True)
class Estimate:
    """A summary with its uncertainty; no interval when n < 2."""

    value: float
    low: float | None
    high: float | None
    level: float
    n: int
    skipped: int = 0
    how: str = ""

    def __str__(self) -> str:
        if self.n == 0:
            return "no data"
        around = "" if self.low is None or self.high is None else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.value:.3f}{around}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim, our number for it, the published one, and whether it holds."""

    claim: str
    ours: Estimate | None
    published: str
    holds: Literal["yes", "no", "undecided"]
    why: str
    subject: str = ""
