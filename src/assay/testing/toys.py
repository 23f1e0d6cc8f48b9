"""Models whose right attributions are known by arithmetic: words add up, or add up and then bend. No torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from assay.align import places
from assay.types import (
    DROP,
    FILL,
    HIDE,
    KEEP,
    MASK,
    PAD,
    UNK,
    ZERO,
    BadInput,
    CannotDo,
    Example,
    Floats,
    Input,
    Model,
    Place,
    Probe,
    Reading,
    content_key,
)

ALL = frozenset(
    {"logits", "logp", "choice", "dot", "norm", "attention", "hold", "scale", "noise"}
    | {"attend", "hide", "zero", "unk", "pad", "mask", "replace"}
)
"""Everything a toy can do."""
SPECIAL = {"[CLS]": 0.3, "unk": 0.1, "pad": -0.1, "mask": 0.05, "zero": 0.0}
"""What the special tokens add to the sum; none but zero is neutral, so a wrong baseline shows."""
_TOKEN = {UNK: "unk", PAD: "pad", MASK: "mask"}
_CODE = {HIDE: "hide", ZERO: "zero", **_TOKEN}


@dataclass(eq=False)
class Toy:
    """Each word adds its weight: S = 0.3 + sum of weights, logit = gain * (S + bend * S^2).

    ``weights``: one number per word (a ``binary`` head: z for class 1, -z for class 0) or one per class (``softmax``).
    Words that are not listed weigh nothing. Every text is read with a special token in front that may not be taken
    away. With bend = 0 leave-one-out, gradient times input, integrated gradients and Shapley values of the logit are
    the weights themselves; ``truth`` gives the Shapley values for any bend. Attention = share of |weight|.

    >>> toy = Toy({"good": 2.0, "dull": -1.0}, bend=0.5)
    >>> x = toy.read(Example("1", {"text": "good but dull"}))
    >>> toy.truth(x, 1).round(3).tolist()
    [3.6, 0.0, -1.8]
    """

    weights: Mapping[str, float | Sequence[float]]
    bend: float = 0.0
    gain: float = 1.0
    name: str = "toy"
    can: frozenset[str] = ALL
    labels: tuple[str, ...] = ("no", "yes")
    budget: int = 256

    head: str = field(init=False)
    """``binary``, or ``softmax`` when words have one weight per class."""
    fingerprint: str | None = field(init=False)

    def __post_init__(self) -> None:
        self.head = "binary" if self._width == 1 else "softmax"
        self.fingerprint = content_key("toy", sorted(self.weights.items()), self.bend, self.gain)

    @property
    def _width(self) -> int:
        return max((np.size(w) for w in self.weights.values()), default=1)

    def without(self, *abilities: str) -> Toy:
        """The same toy that can do less."""
        return replace(self, can=self.can - set(abilities))

    def read(self, example: Example, unit: str = "word") -> Input:
        """The words of all fields behind one special token."""
        found = (Place("", 0, 0, "[CLS]"), *places(example, unit))
        free = np.array([not p.special for p in found])
        return Input(example, unit, found, free)

    def size(self, probe: Probe) -> NDArray[np.int64]:
        """One token per feature that is not dropped."""
        return np.asarray((probe.edit.codes != DROP).sum(axis=1), dtype=np.int64)

    def truth(self, x: Input, label: int) -> Floats:
        """Shapley values of the logit over the free words, nothing being the empty text: gain w_i (1 + bend (2c + S)).

        c: what may not be taken away, S: sum of the free words. In a binary head class 0 has minus those of class 1.
        """
        e = self._embeddings(x)
        fixed, free = e[~x.free].sum(axis=0), e[x.free]
        values = self.gain * free * (1 + self.bend * (2 * fixed + free.sum(axis=0)))
        return np.asarray(values[:, 0] * (2 * label - 1) if self._width == 1 else values[:, label])

    # ------------------------------------------------------------------------------------------ answering

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        """Closed form, in float64."""
        return [self._reading(p) for p in probes]

    def _reading(self, probe: Probe) -> Reading:
        self._refuse(probe)
        clean, base = self._looked_up(probe), SPECIAL[dict(probe.how).get("base", "zero")]
        e = clean + self._noise(probe, clean)
        if probe.scale is not None:
            e = base + probe.scale[:, None, None] * (e - base)
        seen = self._seen(probe, clean)
        total = (e * seen[:, :, None]).sum(axis=1)
        arrays: dict[str, Floats] = {"logits": self._logits(total)[:, None, :]}
        reading = Reading(arrays, self.head)
        if probe.want & {"dot", "norm"}:
            gradient = self._gradient(probe, reading, total)[:, None, :] * seen[:, :, None]
            arrays["dot"] = (gradient * (clean - base)).sum(axis=2)
            arrays["norm"] = np.sqrt((gradient**2).sum(axis=2))
        if "attention" in probe.want:
            arrays["attention"] = self._attention(clean, seen)
        return Reading({k: v for k, v in arrays.items() if k == "logits" or k in probe.want}, self.head)

    def _refuse(self, probe: Probe) -> None:
        used = {"replace" if c >= FILL else _CODE[c] for c in np.unique(probe.edit.codes).tolist() if c >= HIDE}
        asked = {"scale": probe.scale, "noise": probe.noise, "attend": probe.attention}
        used |= {name for name, given in asked.items() if given is not None}
        if missing := (used | probe.want) - self.can:
            raise CannotDo(f"{self.name} cannot give {', '.join(sorted(missing))}")

    def _embeddings(self, x: Input) -> Floats:
        return np.stack([self._word(w, p.special) for w, p in zip(x.words, x.places, strict=True)])

    def _word(self, word: str, special: bool = False) -> Floats:
        value = SPECIAL.get(word, 0.0) if special else self.weights.get(word, 0.0)
        return np.broadcast_to(np.asarray(value, dtype=np.float64), (self._width,))

    def _looked_up(self, probe: Probe) -> Floats:
        """[m, n, width]: what stands in each feature's place after the edit."""
        codes = probe.edit.codes
        out = np.broadcast_to(self._embeddings(probe.x), (*codes.shape, self._width)).copy()
        for code in np.unique(codes[codes != KEEP]).tolist():
            fill = self._word(probe.edit.fills[code - FILL]) if code >= FILL else SPECIAL[_TOKEN.get(code, "zero")]
            out[codes == code] = fill
        return out

    def _noise(self, probe: Probe, clean: Floats) -> Floats:
        if probe.noise is None:
            return np.zeros_like(clean)
        spread = probe.noise.std * (clean.max(axis=(1, 2)) - clean.min(axis=(1, 2)))
        drawn = np.stack([np.random.default_rng(int(s)).standard_normal(clean.shape[1:]) for s in probe.noise.seeds])
        return np.asarray(spread[:, None, None] * drawn)

    def _seen(self, probe: Probe, clean: Floats) -> Floats:
        """[m, n]: 1 for a token that counts; with imposed attention, imposed over own."""
        there = (~np.isin(probe.edit.codes, (DROP, HIDE))).astype(np.float64)
        if probe.attention is None:
            return there
        own = self._attention(clean, there)
        return np.asarray(np.divide(probe.attention, own, out=np.zeros_like(own), where=own > 0) * there)

    def _attention(self, clean: Floats, seen: Floats) -> Floats:
        size = (np.abs(clean).sum(axis=2) + 1e-9) * (seen > 0)
        return np.asarray(size / size.sum(axis=1, keepdims=True))

    def _logits(self, total: Floats) -> Floats:
        z = self.gain * (total + self.bend * total**2)
        return np.concatenate([-z, z], axis=1) if self._width == 1 else np.asarray(z)

    def _gradient(self, probe: Probe, reading: Reading, total: Floats) -> Floats:
        """[m, width]: d score / d token, the same for every token that counts."""
        target = probe.target
        index = reading.choice if target.index is None else np.broadcast_to(np.array(target.index), (probe.rows, 1))
        output = "logprob" if target.against and probe.output == "logodds" else probe.output
        slope = _slope(reading, index[:, 0], output)
        if target.against:
            slope = slope - _slope(reading, np.broadcast_to(np.array(target.against[0]), probe.rows), output)
        inner = slope[:, [1]] - slope[:, [0]] if self._width == 1 else slope
        return np.asarray(inner * self.gain * (1 + 2 * self.bend * total))


def _slope(reading: Reading, index: NDArray[np.int64], output: str) -> Floats:
    """[m, classes]: derivative of the output at ``index`` with respect to every logit."""
    p = np.exp(reading.logp[:, 0])
    one = np.eye(p.shape[1])[index]
    own = p[np.arange(len(index)), index][:, None]
    if output == "logit" or (output == "logodds" and reading.head != "softmax"):
        # (-z, z) are two columns of one number: log-odds of the binary head move with z once, not twice
        return one
    away = one - p if reading.head == "softmax" else one * (1 - own)
    factors = {"loss": 1.0, "logprob": 1.0, "prob": own, "logodds": 1 / np.maximum(1 - own, 1e-300)}
    if output not in factors:
        raise BadInput(f"unknown output '{output}'; use loss, prob, logit, logprob or logodds")
    return np.asarray(away * factors[output])


@dataclass(eq=False)
class Recorder:
    """A model that remembers what it was asked, batch by batch, and answers as the one inside."""

    inside: Model
    batches: list[tuple[Probe, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name, self.labels, self.head = self.inside.name, self.inside.labels, self.inside.head
        self.fingerprint, self.can = self.inside.fingerprint, self.inside.can
        self.budget = getattr(self.inside, "budget", 256)

    def read(self, example: Example, unit: str = "word") -> Input:
        """As the model inside."""
        return self.inside.read(example, unit)

    def size(self, probe: Probe) -> NDArray[np.int64]:
        """As the model inside."""
        return self.inside.size(probe)

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        """As the model inside, and noted."""
        self.batches.append(tuple(probes))
        return self.inside.answer(probes)

    @property
    def probes(self) -> list[Probe]:
        """All that was asked, in order."""
        return [p for batch in self.batches for p in batch]

    @property
    def rows(self) -> list[tuple[object, ...]]:
        """Every row that reached the model, as a value that can be compared."""
        return [row for p in self.probes for row in _rows(p)]


def _rows(p: Probe) -> list[tuple[object, ...]]:
    codes = [tuple(p.edit.fills[c - FILL] if c >= FILL else c for c in row) for row in p.edit.codes.tolist()]
    scale = [None] * p.rows if p.scale is None else p.scale.tolist()
    seeds = [None] * p.rows if p.noise is None else p.noise.seeds.tolist()
    shares = [None] * p.rows if p.attention is None else [tuple(a) for a in p.attention.tolist()]
    about = (p.x.example.id, tuple(sorted(p.want)), p.how)
    return [(*about, *row) for row in zip(codes, scale, seeds, shares, strict=True)]
