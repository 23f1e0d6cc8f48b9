"""Knows what tells several exhibits apart, and how their claims fare over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.exhibit import Exhibit

MOST = 5
"""So many facets at most; further differences are told by the settings of each exhibit."""


@dataclass(frozen=True, slots=True)
class Facet:
    """Something in which the exhibits differ: its value for each of them, in their order."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim over all exhibits that put it to the test: their labels, by what they say."""

    text: str
    yes: tuple[str, ...]
    no: tuple[str, ...]
    undecided: tuple[str, ...]

    @property
    def all(self) -> int:
        """How many put it to the test."""
        return len(self.yes) + len(self.no) + len(self.undecided)


def facets(exhibits: Sequence[Exhibit]) -> tuple[Facet, ...]:
    """Title, data and plain settings that are not the same everywhere; the experiment's name if nothing differs."""
    names = dict.fromkeys(
        k for e in exhibits for k, v in e.settings.items() if v is None or isinstance(v, str | int | float)
    )
    found = [Facet("experiment", tuple(e.title for e in exhibits)), Facet("data", tuple(e.data for e in exhibits))]
    found += [Facet(str(k), tuple(_said(e.settings.get(k)) for e in exhibits)) for k in names]
    telling = [f for f in found if len(set(f.values)) > 1][:MOST]
    return tuple(telling) or (Facet("name", tuple(e.name for e in exhibits)),)


def _said(value: object) -> str:
    return "–" if value is None or isinstance(value, list | tuple | dict) else str(value)


def label(exhibit: Exhibit, values: Sequence[str]) -> str:
    """A short name among the others: 'sst · bilstm · tanh'."""
    return " · ".join(v for v in values if v != "–") or exhibit.name


def claims(labelled: Sequence[tuple[str, Exhibit]]) -> tuple[Claim, ...]:
    """Claims that two or more exhibits make, with who says what; in the order in which they are met."""
    said: dict[str, list[tuple[str, str]]] = {}
    for name, exhibit in labelled:
        for f in exhibit.findings:
            subject = f"{name} ({f.subject})" if f.subject else name
            said.setdefault(f.claim, []).append((f.holds, subject))
    return tuple(
        Claim(text, *(tuple(who for held, who in found if held == kind) for kind in ("yes", "no", "undecided")))
        for text, found in said.items()
        if len(found) > 1
    )
