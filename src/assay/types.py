"""The core values that every room shares: frozen data, no torch, no behaviour beyond small views.

data -> Example -> (a model reads) Input -> (a method asks) Probe -> Reading -> Explanation -> (a test) Record
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from types import MappingProxyType
from typing import Annotated, Any, Literal, NewType, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from assay import heat

Bools = NDArray[np.bool_]
Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]

Unit = Literal["word", "piece", "spacy"]
"""What one feature is. Words are found without the model, so two models and a person mean the same."""
Output = Literal["loss", "prob", "logit", "logprob", "logodds"]
"""What is differentiated or differenced; high always supports the target (``loss`` is minus the loss)."""
Head = Literal["softmax", "binary", "multilabel"]
"""How logits become probabilities. ``binary``: one logit z kept as the two columns (-z, z)."""
Seed = NewType("Seed", int)
"""Annotation of a parameter that seeds draws: who has one is random, who has none is deterministic."""


@dataclass(frozen=True, slots=True)
class Names:
    """Marks a parameter that names another thing: the registry replaces the name by the thing itself."""

    kind: str


Removal = Annotated[Any, Names("removals")]
"""A removal operator, called as ``removal(x, keep)``: a generator that returns Variants."""
Method = Annotated[Any, Names("methods")]
"""An attribution method, called as ``method(x, target)``: a generator that returns scores."""
ModelName = Annotated[Any, Names("models")]
"""Another model than the explained one (a masked language model, say)."""


class AssayError(Exception):
    """Something a user can mend: the message names the place and the remedy, in one line."""


class UnknownName(AssayError):
    """A name that no registry entry has."""


class BadInput(AssayError):
    """A text, file, label or setting that cannot be used."""


class CannotDo(AssayError):
    """A model lacks what a method or test needs."""


class ProbeFailed(AssayError):
    """The model could not answer a question (raised at the ``yield`` that asked it)."""


def content_key(*parts: object) -> str:
    """A short stable hash of JSON-like values; the same on every machine and in every process."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


# --------------------------------------------------------------------------------------------- data


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


# ------------------------------------------------------------------------------------------- inputs


@dataclass(frozen=True, eq=False, slots=True)
class Input:
    """An example as one model reads it: n features in reading order, those that may be taken away ``free``."""

    example: Example
    unit: str
    places: tuple[Place, ...]
    free: Bools
    cut: str = ""
    """What was left out because the model takes no more ('' when nothing was)."""

    @property
    def n(self) -> int:
        """How many features there are, special tokens and held fields included."""
        return len(self.places)

    @property
    def size(self) -> int:
        """How many features are free."""
        return int(self.free.sum())

    @property
    def words(self) -> tuple[str, ...]:
        """The text of every feature; a special token shows its name."""
        return tuple(p.name if p.special else self.example.fields[p.field][p.start : p.end] for p in self.places)

    @property
    def free_words(self) -> tuple[str, ...]:
        """The text of the free features."""
        return tuple(w for w, f in zip(self.words, self.free, strict=True) if f)

    def hold(self, *fields: str) -> Input:
        """The same input with the words of these fields no longer free."""
        held = np.array([p.field in fields for p in self.places], dtype=bool)
        return replace(self, free=self.free & ~held)

    def spread(self, scores: Floats) -> Floats:
        """One value per feature from one per feature or one per free feature (NaN where none was computed)."""
        scores = np.asarray(scores, dtype=np.float64)
        if scores.shape == (self.n,):
            return scores
        if scores.shape != (self.size,):
            raise ValueError(f"expected {self.size} scores (free features) or {self.n} (all), got shape {scores.shape}")
        out = np.full(self.n, np.nan)
        out[self.free] = scores
        return out


# Codes of an Edit. FILL + k puts the k-th fill word in the feature's place.
KEEP, DROP, HIDE, ZERO, UNK, PAD, MASK, FILL = range(8)


@dataclass(frozen=True, eq=False, slots=True)
class Edit:
    """m variants of one input as small integers [m, n]; the model turns them into ids (or a string) itself."""

    codes: NDArray[np.int32]
    fills: tuple[str, ...] = ()

    @staticmethod
    def none(x: Input, rows: int = 1) -> Edit:
        """The untouched input, ``rows`` times."""
        return Edit(np.full((rows, x.n), KEEP, dtype=np.int32))

    @staticmethod
    def where_gone(x: Input, keep: Bools, code: int) -> Edit:
        """``code`` wherever ``keep`` ([m, n] or [m, free]) is False; what is not free is always kept."""
        return Edit(np.where(full_keep(x, keep), KEEP, code).astype(np.int32))

    @property
    def rows(self) -> int:
        """m."""
        return int(self.codes.shape[0])

    def take(self, rows: Ints) -> Edit:
        """These rows only."""
        return Edit(self.codes[rows], self.fills)


def full_keep(x: Input, keep: Bools) -> Bools:
    """[m, n] from [m, n] or [m, free]; features that are not free count as kept."""
    keep = np.atleast_2d(np.asarray(keep, dtype=bool))
    if keep.shape[1] not in (x.n, x.size):
        raise ValueError(f"keep has {keep.shape[1]} columns, expected {x.size} (free) or {x.n} (all features)")
    out = np.ones((keep.shape[0], x.n), dtype=bool)
    out[:, x.free] = keep if keep.shape[1] == x.size else keep[:, x.free]
    return out


# ---------------------------------------------------------------------------------- questions, answers


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
    cost: Cost = field(default_factory=lambda: Cost())

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


# ------------------------------------------------------------------------------------------- results


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
    cost: Cost = Cost()

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
    cost: Cost = Cost()


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
