"""Questions, answers, and what the engine needs of a model."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from assay.types.examples import Example
from assay.types.inputs import Edit, Input
from assay.types.words import Floats, Ints


@dataclass(frozen=True, slots=True)
class Cost:
    """What something asked for: rows, rows nobody had asked before, tokens of those, seconds of model time."""

    rows: int = 0
    fresh: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.rows + other.rows,
            self.fresh + other.fresh,
            self.tokens + other.tokens,
            self.seconds + other.seconds,
        )


FREE = Cost()


@dataclass(frozen=True, slots=True)
class Target:
    """The explained class: one index per output head, or None = each row's own argmax; ``against`` = rather than."""

    index: tuple[int, ...] | None = None
    against: tuple[int, ...] | None = None

    @property
    def key(self) -> list[Any]:
        """For hashing and storing."""
        return [self.index, self.against]


OWN = Target()


@dataclass(frozen=True, eq=False, slots=True)
class Noise:
    """Gaussian noise on the looked-up embeddings, one seed per row: the same seed draws the same noise.

    ``std`` is a share of (largest - smallest) of the row's looked-up embeddings, as SmoothGrad defines it.
    """

    std: float
    seeds: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Probe:
    """m questions about one input. ``want`` names what the Reading must hold beside the prediction."""

    x: Input
    edit: Edit
    want: frozenset[str] = frozenset()
    target: Target = OWN
    output: str = "logit"
    scale: Floats | None = None
    """[m]: looked-up embeddings become base + scale * (embedding - base)."""
    noise: Noise | None = None
    attention: Floats | None = None
    """[m, n]: attention to impose instead of the model's own."""
    how: tuple[tuple[str, Any], ...] = ()
    """Settings of the wanted answers, sorted by name; part of the question's identity."""
    to: Model | None = None
    """Another model than the explained one (a masked language model, say)."""

    @property
    def rows(self) -> int:
        """m."""
        return self.edit.rows

    def take(self, rows: Ints) -> Probe:
        """These rows only."""
        return replace(
            self,
            edit=self.edit.take(rows),
            scale=None if self.scale is None else self.scale[rows],
            noise=None if self.noise is None else Noise(self.noise.std, self.noise.seeds[rows]),
            attention=None if self.attention is None else self.attention[rows],
        )


@dataclass(frozen=True, eq=False, slots=True)
class Reading:
    """Named arrays of m rows. ``logits`` [m, heads, classes] where the model has them, else ``logp``."""

    arrays: Mapping[str, Floats]
    head: str = "softmax"
    cost: Cost = FREE

    def __getitem__(self, name: str) -> Floats:
        return self.arrays[name]

    @property
    def rows(self) -> int:
        """m."""
        return int(next(iter(self.arrays.values())).shape[0])

    @property
    def logp(self) -> Floats:
        """Log-probabilities [m, heads, classes] in float64, from logits unless they were read or averaged as such."""
        if "logp" in self.arrays:
            return np.asarray(self.arrays["logp"], dtype=np.float64)
        z = np.asarray(self.arrays["logits"], dtype=np.float64)
        if self.head != "softmax":
            return np.asarray(-np.logaddexp(0.0, -z))
        top = z.max(axis=-1, keepdims=True)
        shifted = z - top
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))

    @property
    def choice(self) -> NDArray[np.int64]:
        """Chosen class per head [m, heads]; near-ties (1e-6 relative) go to the left."""
        p = self.logp
        top = p.max(axis=-1, keepdims=True)
        return np.asarray((p >= top - 1e-6 * (1 + np.abs(top))).argmax(axis=-1), dtype=np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class Variants:
    """What a removal operator returns: k edited rows; row i stands for question ``owner[i]`` with ``weight[i]``.

    Weights of one owner sum to one. Most operators give one row per question (``Variants.plain``).
    """

    edit: Edit
    owner: NDArray[np.int64]
    weight: Floats
    detail: Mapping[str, Any] = field(default_factory=dict)
    """What a view may show: fills with their probabilities, say."""

    @staticmethod
    def plain(edit: Edit) -> Variants:
        """One row per question, weight one."""
        return Variants(edit, np.arange(edit.rows), np.ones(edit.rows))


@runtime_checkable
class Model(Protocol):
    """What the engine needs of a model. ``can`` is tried at load, never declared from a class name."""

    name: str

    @property
    def fingerprint(self) -> str | None:
        """Key of the model's content; None for a nameless black box, whose results cannot be resumed."""
        ...

    @property
    def can(self) -> frozenset[str]:
        """What it can answer or be asked under, beyond a prediction."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes."""
        ...

    @property
    def head(self) -> str:
        """How its logits become probabilities."""
        ...

    def read(self, example: Example, unit: str = "word") -> Input:
        """The example as features."""
        ...

    def size(self, probe: Probe) -> NDArray[np.int64]:
        """Tokens per row."""
        ...

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        """All rows of all probes in one batch; the probes agree in ``want``, ``how`` and ``output``."""
        ...


Asks = Probe | list[Probe]
Asking = Generator[Any, Any, Any]
"""A generator that yields a Probe (and receives its Reading) or a list of Probes (and receives a list)."""
