"""A masked language model in closed form: it offers the same few words for every gap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assay.testing.toys import Toy
from assay.types import MASK, Example, Floats, Input, Probe, Reading, content_key

OFFERS: Mapping[str, float] = {"foxtrot": 0.5, "golf": 0.3, "hotel": 0.2}
"""Words that weigh nothing in the toys of the bench: a word that they replace is gone."""


@dataclass(eq=False)
class ToyLM:
    """For every gap the words of ``offers`` with their probabilities, whatever stands beside it."""

    offers: Mapping[str, float] = field(default_factory=lambda: OFFERS)
    name: str = "toy-lm"
    can: frozenset[str] = frozenset({"fill"})
    labels: tuple[str, ...] = ()
    head: str = "softmax"
    fingerprint: str | None = field(init=False)

    def __post_init__(self) -> None:
        self.fingerprint = content_key("toy-lm", sorted(self.offers.items()))
        self.words = sorted(self.offers, key=lambda w: -self.offers[w])

    def read(self, example: Example, unit: str = "word") -> Input:
        """As the toys read it."""
        return Toy({}).read(example, unit)

    def size(self, probe: Probe) -> NDArray[np.int64]:
        """One token per feature."""
        return np.full(probe.rows, probe.x.n, dtype=np.int64)

    def word(self, number: int) -> str:
        """The word of an id."""
        return self.words[number]

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        """``fill`` and ``fill_p`` [m, n, top], ``own`` and ``own_p`` [m, n]: see ``assay.answers.fill``."""
        return [self._reading(p) for p in probes]

    def _reading(self, probe: Probe) -> Reading:
        top = int(dict(probe.how).get("top", 10))
        ids = np.full(top, -1)
        p = np.zeros(top)
        k = min(top, len(self.words))
        ids[:k], p[:k] = np.arange(k), [self.offers[w] for w in self.words[:k]]
        gap = probe.edit.codes == MASK
        own = np.array([self.words.index(w) if w in self.words else -1 for w in probe.x.words])
        owned = np.where(gap, own, -1)
        arrays: dict[str, Floats] = {
            "fill": np.where(gap[..., None], ids, -1),
            "fill_p": np.where(gap[..., None], p, 0.0),
            "own": owned,
            "own_p": np.where(owned >= 0, [self.offers.get(w, 0.0) for w in probe.x.words], np.nan),
        }
        return Reading(arrays)
