"""What data is made of: places and marks in texts, examples, data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay.types.errors import content_key


@dataclass(frozen=True, slots=True)
class Place:
    """Where a feature stands: characters [start, end) of a field; a special token has a name and no field."""

    field: str
    start: int
    end: int
    name: str = ""

    @property
    def special(self) -> bool:
        """True for a token that no text produced, such as [CLS]."""
        return not self.field


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of text that a person (or a label rule) marked as evidence."""

    field: str
    start: int
    end: int
    weight: float = 1.0
    label: str | None = None
    votes: int | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """One item of a data set: named fields in order, a right answer, marked evidence."""

    id: str
    fields: Mapping[str, str]
    gold: int | None = None
    rationale: tuple[Mark, ...] = ()

    @property
    def content(self) -> str:
        """Key of what the example says, whatever it is called and whichever set it stands in."""
        marks = [(m.field, m.start, m.end, m.weight, m.label, m.votes) for m in self.rationale]
        return content_key(list(self.fields.items()), self.gold, marks)


@dataclass(frozen=True, slots=True)
class Dataset:
    """Examples with the names of their labels and where they came from."""

    name: str
    examples: tuple[Example, ...]
    labels: tuple[str, ...] = ()
    split: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.examples)

    def sample(self, limit: int | None) -> Dataset:
        """The first ``limit`` examples in hashed order: a fair sample, and 100 are part of 200."""
        ranked = sorted(self.examples, key=lambda e: content_key("order", e.id, e.content))
        return replace(self, examples=tuple(ranked if limit is None else ranked[:limit]))
