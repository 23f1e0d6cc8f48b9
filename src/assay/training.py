"""One training loop for everything that trains: streams of batches in turns, best epoch kept; knows no model."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from assay.types import AssayError, BadInput, Ints


@dataclass(frozen=True, eq=False, slots=True)
class Stream:
    """Where updates come from: one epoch of batches, their loss, an optimiser of its own, updates per turn.

    ``batches`` draws the order of an epoch from the generator it is given. Streams alternate: ``turns`` updates of
    the first, then of the second, and so on. The first stream leads: an epoch is one pass over it; the others start
    again when they run out. ``after``: updates of the leading stream before this one joins.
    """

    batches: Callable[[np.random.Generator], Iterable[Any]]
    loss: Callable[[Any], Tensor]
    optimiser: torch.optim.Optimizer
    turns: int = 1
    name: str = "loss"
    schedule: torch.optim.lr_scheduler.LRScheduler | None = None
    clip: float | None = None
    """Largest norm of the gradient; None = as it comes."""
    after: int = 0


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass over the leading stream: its number (from 1), the mean loss of every stream, what ``select`` gave."""

    number: int
    losses: Mapping[str, float]
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """Progress: which epoch of how many, updates so far, and the loss of the latest one."""

    epoch: int
    epochs: int
    step: int
    stream: str
    loss: float


@dataclass(frozen=True, slots=True)
class Fit:
    """What a training came to: all epochs, the number of the kept one, updates and seconds."""

    epochs: tuple[Epoch, ...]
    kept: int
    steps: int
    seconds: float
    seed: int

    @property
    def best(self) -> Epoch:
        """The epoch whose weights were kept."""
        return self.epochs[self.kept - 1]


Select = Callable[[Epoch], float]
"""Score of an epoch, higher is better: on held-out data, or from the epoch's own losses."""


def fit(
    net: nn.Module,
    streams: Sequence[Stream],
    *,
    epochs: int,
    select: Select | None = None,
    seed: int = 0,
    patience: int | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Fit:
    """Train the net in place and leave it with the weights of its best epoch, in eval mode.

    The best is the earliest epoch with the highest ``select`` (without one: the last). ``patience``: stop after so
    many epochs without a better one. Order and dropout come from the seed; no global generator is touched.
    """
    if epochs < 1 or not streams:
        raise BadInput(f"training needs at least one epoch and one stream, got {epochs} and {len(streams)}")
    start, done, best = time.perf_counter(), [], _Best(net)
    devices = sorted({p.device.index or 0 for p in net.parameters() if p.device.type == "cuda"})
    with torch.random.fork_rng(devices=devices), torch.enable_grad():
        torch.manual_seed(seed)
        loop = _Loop(net, streams, np.random.default_rng(seed), epochs, on_step)
        for number in range(1, epochs + 1):
            epoch = _judged(Epoch(number, loop.epoch(number)), select)
            done.append(epoch)
            best.offer(epoch)
            if patience is not None and number - best.kept >= patience:
                break
    best.restore()
    return Fit(tuple(done), best.kept, loop.steps, time.perf_counter() - start, seed)


def _judged(epoch: Epoch, select: Select | None) -> Epoch:
    if select is None:
        return epoch
    with torch.no_grad():
        return replace(epoch, score=float(select(epoch)))


class _Loop:
    """The updates of one training and what they have come to."""

    def __init__(
        self,
        net: nn.Module,
        streams: Sequence[Stream],
        rng: np.random.Generator,
        epochs: int,
        on_step: Callable[[Step], None] | None,
    ) -> None:
        self.net, self.rng, self.epochs, self.on_step = net, rng, epochs, on_step
        self.lead = streams[0]
        self.others = [(s, _endless(s, rng)) for s in streams[1:]]
        self.steps = self.led = self.number = 0
        self.losses: dict[str, list[float]] = {}

    def epoch(self, number: int) -> dict[str, float]:
        """One pass over the leading stream; the mean loss of every stream."""
        self.number, self.losses = number, {}
        self.net.train()
        for batch in self.lead.batches(self.rng):
            self._update(self.lead, batch)
            self.led += 1
            if self.led % self.lead.turns == 0:
                self._others()
        self.net.eval()
        if not self.losses:
            raise BadInput(f"the stream '{self.lead.name}' has no batches: there is nothing to train on")
        return {name: float(np.mean(values)) for name, values in self.losses.items()}

    def _others(self) -> None:
        for stream, batches in self.others:
            for _ in range(stream.turns if self.led > stream.after else 0):
                self._update(stream, next(batches))

    def _update(self, stream: Stream, batch: Any) -> None:
        stream.optimiser.zero_grad(set_to_none=True)
        loss = stream.loss(batch)
        value = float(loss.detach())
        if not math.isfinite(value):
            where = f"epoch {self.number}, update {self.steps + 1}"
            raise AssayError(f"training stopped: {stream.name} is {value} at {where}; try a smaller learning rate")
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        if stream.clip is not None:
            nn.utils.clip_grad_norm_(self.net.parameters(), stream.clip)
        stream.optimiser.step()
        if stream.schedule is not None:
            stream.schedule.step()
        self.steps += 1
        self.losses.setdefault(stream.name, []).append(value)
        if self.on_step is not None:
            self.on_step(Step(self.number, self.epochs, self.steps, stream.name, value))


def _endless(stream: Stream, rng: np.random.Generator) -> Iterator[Any]:
    while True:
        empty = True
        for batch in stream.batches(rng):
            empty = False
            yield batch
        if empty:
            raise BadInput(f"the stream '{stream.name}' has no batches: there is nothing to train on")


class _Best:
    """The weights of the best epoch so far."""

    def __init__(self, net: nn.Module) -> None:
        self.net, self.kept, self.score = net, 0, -math.inf
        self.weights: dict[str, Tensor] | None = None

    def offer(self, epoch: Epoch) -> None:
        """Keep these weights when they are better; without a score the latest are."""
        if epoch.score is None:
            self.kept = epoch.number
        elif self.kept == 0 or epoch.score > self.score:
            self.kept, self.score = epoch.number, epoch.score
            self.weights = {k: v.detach().clone() for k, v in self.net.state_dict().items()}

    def restore(self) -> None:
        """Put the best weights back."""
        if self.weights is not None:
            self.net.load_state_dict(self.weights)


def buckets(
    lengths: Ints | Sequence[int], *, rows: int, rng: np.random.Generator, tokens: int | None = None, noise: float = 0.0
) -> list[NDArray[np.int64]]:
    """Row numbers in batches of near-equal length, in random order; ties and batch order are shuffled.

    ``tokens``: at most so many padded tokens per batch. ``noise`` 0.1 sorts by length +- 10 % (Jain & Wallace 2019).

    >>> sorted(sorted(b.tolist()) for b in buckets([2, 9, 2, 9], rows=2, rng=np.random.default_rng(1), tokens=12))
    [[0, 2], [1], [3]]
    """
    lengths = np.asarray(lengths)
    shuffled = rng.permutation(len(lengths))
    around = lengths[shuffled] * (1 + rng.uniform(-noise, noise, len(lengths)))
    order = shuffled[np.argsort(around, kind="stable")]
    out: list[list[int]] = []
    longest = 0
    for i in order.tolist():
        longest = max(longest, int(lengths[i]))
        full = not out or len(out[-1]) == rows or (tokens is not None and longest * (len(out[-1]) + 1) > tokens)
        if full:
            out.append([])
            longest = int(lengths[i])
        out[-1].append(i)
    return [np.array(out[i], dtype=np.int64) for i in rng.permutation(len(out))]
