"""What every differentiable family shares: packing edits, answering questions, device, fingerprint.

A family extends TorchModel with ``read``, ``encode``, ``word_ids``, ``lookup`` and one differentiable ``forward``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from inspect import signature
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from assay import registry
from assay.answers.asked import Asked
from assay.answers.batch import NOTHING, Batch, Change, Out, gated
from assay.models.packing import FILL, TOKENS, Block, Encoding, lay_out, sizes
from assay.types import HIDE, ZERO, AssayError, BadInput, CannotDo, Example, Floats, Input, Probe, Reading, content_key

__all__ = ["Batch", "Change", "Encoding", "Out", "TorchModel", "device_of", "dtype_of", "gated"]

PREDICTION = frozenset({"logits", "logp", "choice"})
"""What every reading of a torch model holds."""
GRADED = frozenset({"dot", "norm", "scale", "noise", "zero"})
"""What follows from a lookup that can be changed and differentiated."""

WHERE = ("layer", "head", "to")
"""Settings that say which attention is read or imposed, in a model that has many."""


class TorchModel:
    """A network with a way to read text. Parameters are frozen and the network is in eval mode."""

    budget: int = 2048
    """Tokens per batch that suit the model."""
    coarse: int = 1
    """Lengths that differ by less may share a batch of adversaries: padding is cheaper there than steps."""
    longest: int | None = None
    """Most tokens per row; None when there is no limit."""
    unk_id: int | None = None
    pad_id: int | None = None
    mask_id: int | None = None
    abilities: frozenset[str] = frozenset()
    """What was found to work beyond what follows from a lookup and its special tokens (attention, hold, ...)."""
    lacking: frozenset[str] = frozenset()
    """What was found not to work although a lookup and special tokens promise it."""
    remembered: ClassVar[int] = 512
    """Encodings kept: a case asks many probes of one input."""

    def __init__(
        self,
        net: nn.Module,
        *,
        name: str,
        labels: Sequence[str],
        head: str = "softmax",
        device: str = "auto",
        dtype: str = "auto",
    ) -> None:
        self.device = device_of(device)
        self.dtype = dtype_of(dtype)
        self.net = net.to(device=self.device, dtype=self.dtype).eval().requires_grad_(False)
        self.name, self.labels, self.head = name, tuple(labels), head
        self._encodings: dict[int, tuple[Input, Encoding]] = {}

    # ------------------------------------------------------------------------------ what a family writes

    def read(self, example: Example, unit: str = "word") -> Input:
        """The example as features."""
        raise TypeError(f"{type(self).__name__} must define read(example, unit)")

    def encode(self, x: Input) -> Encoding:
        """The untouched input as pieces; the owner of a piece is an index into ``x.places``."""
        raise TypeError(f"{type(self).__name__} must define encode(x)")

    def word_ids(self, word: str) -> list[int]:
        """The ids of one fill word (at least one)."""
        raise TypeError(f"{type(self).__name__} must define word_ids(word)")

    def lookup(self, batch: Batch) -> Tensor:
        """[B, L, D]: the word embeddings of ``batch.ids``, nothing else."""
        raise TypeError(f"{type(self).__name__} must define lookup(batch)")

    def forward(
        self,
        batch: Batch,
        change: Change | None = None,
        attention: Tensor | None = None,
        hold: bool = False,
        keep: frozenset[str] = NOTHING,
    ) -> Out:
        """See ``assay.answers.batch.Differentiable.forward``; begins with ``gated(lookup, batch, change)``."""
        raise TypeError(f"{type(self).__name__} must define forward(batch, ...)")

    def identity(self) -> Any:
        """What beside the parameters makes the model what it is (configuration, vocabulary), JSON-like."""
        raise TypeError(f"{type(self).__name__} must define identity()")

    # ------------------------------------------------------------------------------ the Model protocol

    @cached_property
    def can(self) -> frozenset[str]:
        """What this model can answer and be asked."""
        tokens = {name for name in TOKENS.values() if getattr(self, f"{name}_id") is not None}
        return PREDICTION | (GRADED | {"replace"} | tokens | self.abilities) - self.lacking

    @cached_property
    def fingerprint(self) -> str | None:
        """Hash of parameters, configuration and vocabulary."""
        digest = hashlib.blake2b(content_key(type(self).__name__, self.identity()).encode(), digest_size=16)
        for name, tensor in sorted(self.net.state_dict().items()):
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()

    def size(self, probe: Probe) -> NDArray[np.int64]:
        """Tokens per row; rounded up to ``coarse`` where an answer takes hundreds of steps, so that rows share them."""
        lengths = self._lengths(probe)
        if self.coarse == 1 or "adversary" not in probe.want:
            return lengths
        return np.asarray(-(-lengths // self.coarse) * self.coarse, dtype=np.int64)

    def _lengths(self, probe: Probe) -> NDArray[np.int64]:
        fills = [len(self.word_ids(word)) for word in probe.edit.fills]
        return sizes(self.encoding(probe.x), probe.edit.codes, fills)

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        """All rows of all probes in one batch; the probes agree in ``want``, ``how`` and ``output``."""
        want = probes[0].want
        if missing := frozenset().union(*(needed(p) for p in probes)) - self.can:
            raise CannotDo(f"{self.name} cannot do this: {', '.join(sorted(missing))}")
        how = dict(probes[0].how)
        batch = replace(self.batch(probes), where={k: how[k] for k in WHERE if k in how})
        asked = Asked(self, batch, probes, want, how)
        _check_settings(asked)
        arrays: dict[str, list[Floats]] = {}
        for name in sorted(want - PREDICTION):
            arrays |= registry.find("answers", name).load()(asked, **_settings(name, asked.how))
        arrays["logits"] = asked.rows(asked.out.logits)
        return [Reading({k: a[i] for k, a in arrays.items()}, self.head) for i in range(len(probes))]

    # ------------------------------------------------------------------------------------------ packing

    def encoding(self, x: Input) -> Encoding:
        """The pieces of an input, remembered for as long as it is asked about."""
        found = self._encodings.get(id(x))
        if found is None or found[0] is not x:
            if len(self._encodings) >= self.remembered:
                self._encodings = {}
            found = self._encodings[id(x)] = (x, self.encode(x))
        return found[1]

    def batch(self, probes: Sequence[Probe]) -> Batch:
        """The probes' rows as one batch, in order."""
        lengths = [self._lengths(p) for p in probes]
        top = max((int(m.max()) for m in lengths if len(m)), default=0)
        if self.longest is not None and top > self.longest:
            raise BadInput(f"an edited text has {top} tokens, {self.name} takes {self.longest}: use shorter fills")
        blocks = [Block(self.encoding(p.x), p.edit, self._stand_in(p)) for p in probes]
        return lay_out(blocks, lengths, self.filler, self.device)

    @property
    def filler(self) -> int:
        """The id on padding, and of the one token that a row of nothing is fed."""
        return next((i for i in (self.pad_id, self.unk_id, self.mask_id) if i is not None), 0)

    def _stand_in(self, probe: Probe) -> dict[int, list[int]]:
        out = {FILL + k: self.word_ids(word) for k, word in enumerate(probe.edit.fills)}
        for code, name in TOKENS.items():
            token = getattr(self, f"{name}_id")
            if token is not None:
                out[code] = [token]
            elif (probe.edit.codes == code).any():
                raise CannotDo(f"{self.name} has no {name} token: use the removal delete or zero")
        return out


def needed(probe: Probe) -> frozenset[str]:
    """What a model must be able to do to answer this probe (special tokens are checked when packing)."""
    asks = {
        "scale": probe.scale is not None,
        "noise": probe.noise is not None,
        "attend": probe.attention is not None,
        "hold": bool(dict(probe.how).get("hold", False)),
        "hide": bool((probe.edit.codes == HIDE).any()),
        "zero": bool((probe.edit.codes == ZERO).any()),
    }
    return probe.want | {name for name, is_asked in asks.items() if is_asked}


def _settings(answer: str, how: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that an answer's signature takes."""
    known = registry.parameters(registry.find("answers", answer).load())
    return {k: v for k, v in how.items() if k in known}


def _check_settings(asked: Asked) -> None:
    known = {"base", "hold"} | (set(WHERE) if asked.probes[0].attention is not None else set())
    for name in asked.want - PREDICTION:
        known |= set(signature(registry.find("answers", name).load()).parameters) - {"asked"}
    if unknown := set(asked.how) - known:
        raise BadInput(f"unknown setting {', '.join(sorted(unknown))}; there are: {', '.join(sorted(known))}")


def device_of(name: str) -> torch.device:
    """The device of that name; ``auto`` takes cuda, then mps, then cpu."""
    has = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        name = next(k for k in ("cuda", "mps", "cpu") if has[k])
    if not has.get(name.partition(":")[0], False):
        there = ", ".join(k for k, ok in has.items() if ok)
        raise AssayError(f"device '{name}' is not available here; there are: auto, {there}")
    return torch.device(name)


def dtype_of(name: str) -> torch.dtype:
    """float32, float16 or bfloat16; ``auto`` is float32 everywhere, so that results do not depend on the device."""
    known = {"auto": torch.float32, "float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
    if name not in known:
        raise BadInput(f"dtype cannot be '{name}'; use one of {', '.join(known)}")
    return known[name]
