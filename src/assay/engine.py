"""Runs cases: pools their questions, asks nothing twice, packs equal lengths to a token budget, answers.

A case is a generator that yields Probes and receives Readings; all methods and tests on one example are one case,
and what was asked is remembered for as long as the case lives. Batching has its only home here.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from assay.ask import resume
from assay.types import FILL, Asking, AssayError, BadInput, CannotDo, Cost, Floats, Model, Probe, ProbeFailed, Reading

K = TypeVar("K")

DEFAULT_BUDGET = 2048
"""Tokens per batch where a model does not say what suits it."""


@dataclass(frozen=True, slots=True)
class Done(Generic[K]):
    """A finished case: its result, or the error that ended it."""

    key: K
    result: Any
    error: Exception | None = None


@dataclass(eq=False, slots=True)
class _Block:
    """The rows of one probe that nobody had asked before."""

    probe: Probe
    model: Model
    left: int
    arrays: dict[str, Floats] = field(default_factory=dict)
    head: str = "softmax"
    failed: dict[int, Exception] = field(default_factory=dict)
    tokens: int = 0
    seconds: float = 0.0

    def fill(self, rows: np.ndarray, reading: Reading, tokens: int, seconds: float) -> None:
        for name, array in reading.arrays.items():
            if name not in self.arrays:
                self.arrays[name] = np.zeros((self.probe.rows, *array.shape[1:]), dtype=array.dtype)
            self.arrays[name][rows] = array
        self.head = reading.head
        self.left -= len(rows)
        self.tokens += tokens
        self.seconds += seconds

    def fail(self, row: int, error: Exception) -> None:
        self.failed[row] = error
        self.left -= 1


@dataclass(eq=False, slots=True)
class _Question:
    """One yielded probe: for each of its rows, the block and row that hold the answer."""

    blocks: list[_Block]
    at: np.ndarray  # [m, 2]: block, row
    fresh: _Block | None
    refused: ProbeFailed | None = None

    @property
    def ready(self) -> bool:
        return all(b.left == 0 for b in self.blocks)

    def collect(self) -> Reading | ProbeFailed:
        if self.refused is not None:
            return self.refused
        for i, b in enumerate(self.blocks):
            mine = self.at[self.at[:, 0] == i, 1]
            hit = next((b.failed[r] for r in mine.tolist() if r in b.failed), None) if b.failed else None
            if hit is not None:
                return hit if isinstance(hit, ProbeFailed) else ProbeFailed(str(hit))
        arrays = self._gathered()
        new = self.fresh
        cost = Cost(len(self.at), new.probe.rows, new.tokens, new.seconds) if new else Cost(len(self.at))
        return Reading(arrays, self.blocks[0].head, cost)

    def _gathered(self) -> dict[str, Floats]:
        if len(self.blocks) == 1:
            return {name: a[self.at[:, 1]] for name, a in self.blocks[0].arrays.items()}
        out: dict[str, Floats] = {}
        for name, first in self.blocks[0].arrays.items():
            out[name] = np.empty((len(self.at), *first.shape[1:]), dtype=first.dtype)
            for i, b in enumerate(self.blocks):
                mine = self.at[:, 0] == i
                out[name][mine] = b.arrays[name][self.at[mine, 1]]
        return out


@dataclass(eq=False, slots=True)
class _Case(Generic[K]):
    key: K
    generator: Asking
    model: Model
    known: dict[Any, tuple[_Block, int]] = field(default_factory=dict)
    yielded: Any = None
    asked: list[_Question] = field(default_factory=list)


class Engine:
    """Answers the questions of many cases with one model (and whatever other models the probes name)."""

    def __init__(self, model: Model, *, budget: int | None = None, window: int = 64) -> None:
        self.model = model
        self.window = window
        """How many cases are open at once; memory is bounded by it, not by the data."""
        self._budget = budget
        self._groups: dict[Any, list[tuple[_Block, np.ndarray]]] = defaultdict(list)
        self._rows: dict[Any, int] = defaultdict(int)
        self.total = Cost()

    def run(self, cases: Iterable[tuple[K, Asking]]) -> Iterator[Done[K]]:
        """Finished cases, in the order in which they finish; closing the iterator stops the work."""
        waiting: list[_Case[K]] = []
        source = iter(cases)
        more = True
        while more or waiting:
            while more and len(waiting) < self.window and not self._full():
                item = next(source, None)
                if item is None:
                    more = False
                    break
                case = _Case(item[0], item[1], self.model)
                done = self._advance(case, None)
                if done:
                    yield done
                else:
                    waiting.append(case)
            if waiting:
                if self._rows:
                    self._answer_fullest()
                finished, waiting = self._deliver(waiting)
                yield from finished

    def ask(self, generator: Asking) -> Any:
        """Run one generator to its result; raises what it raises."""
        (done,) = self.run([(None, generator)])
        if done.error is not None:
            raise done.error
        return done.result

    # ------------------------------------------------------------------------------- cases and questions

    def _deliver(self, waiting: list[_Case[K]]) -> tuple[list[Done[K]], list[_Case[K]]]:
        finished: list[Done[K]] = []
        still: list[_Case[K]] = []
        for case in waiting:
            done: Done[K] | None = None
            while done is None and all(q.ready for q in case.asked):
                answers = [q.collect() for q in case.asked]
                done = self._advance(case, answers)
            if done is not None:
                finished.append(done)
            else:
                still.append(case)
        return finished, still

    def _advance(self, case: _Case[K], answers: list[Reading | ProbeFailed] | None) -> Done[K] | None:
        try:
            case.yielded = resume(case.generator, case.yielded, [None] if answers is None else list(answers))
            probes = [case.yielded] if isinstance(case.yielded, Probe) else case.yielded
            case.asked = [self._question(case, p) for p in probes]
        except StopIteration as stop:
            return Done(case.key, stop.value)
        except Exception as error:  # one bad case is reported as such and must not stop the others
            return Done(case.key, None, error)
        return None

    def _question(self, case: _Case[K], probe: Probe) -> _Question:
        model = probe.to or case.model
        try:
            return self._asked(case, probe, model)
        except Exception as error:  # what cannot be asked fails where it was asked, and only there
            return _Question([], np.empty((0, 2)), None, _blamed(model, probe, error))

    def _asked(self, case: _Case[K], probe: Probe, model: Model) -> _Question:
        if missing := probe.want - model.can:
            raise CannotDo(f"cannot give {', '.join(sorted(missing))}")
        if not probe.rows:
            raise BadInput("a question without rows")
        keys = _row_keys(probe, model)
        fresh_rows: list[int] = []
        fresh_at: dict[Any, int] = {}
        for row, key in enumerate(keys):
            if key not in case.known and key not in fresh_at:
                fresh_at[key] = len(fresh_rows)
                fresh_rows.append(row)
        fresh = None
        if fresh_rows:
            part = probe if len(fresh_rows) == probe.rows else probe.take(np.array(fresh_rows))
            fresh = _Block(part, model, part.rows)
            self._enqueue(fresh)
            for key, row in fresh_at.items():
                case.known[key] = (fresh, row)
        blocks: list[_Block] = []
        at = np.empty((len(keys), 2), dtype=np.int64)
        numbers: dict[int, int] = {}
        for i, key in enumerate(keys):
            block, row = case.known[key]
            number = numbers.setdefault(id(block), len(blocks))
            if number == len(blocks):
                blocks.append(block)
            at[i] = number, row
        return _Question(blocks, at, fresh)

    # ------------------------------------------------------------------------------------------- batches

    def _enqueue(self, block: _Block) -> None:
        sizes = block.model.size(block.probe)
        kind = _kind(block.probe, block.model)
        for length in np.unique(sizes):
            rows = np.flatnonzero(sizes == length)
            self._groups[(*kind, int(length))].append((block, rows))
            self._rows[(*kind, int(length))] += len(rows)

    def _capacity(self, key: Any) -> int:
        budget = int(getattr(key[0], "budget", DEFAULT_BUDGET)) if self._budget is None else self._budget
        return max(1, budget // max(1, int(key[-1])))

    def _full(self) -> bool:
        return any(rows >= self._capacity(key) for key, rows in self._rows.items())

    def _answer_fullest(self) -> None:
        key = max(self._rows, key=lambda k: min(1.0, self._rows[k] / self._capacity(k)))
        room, parts, rest = self._capacity(key), [], []
        for block, rows in self._groups.pop(key):
            if room > 0:
                parts.append((block, rows[:room]))
                rows = rows[room:]
                room -= len(parts[-1][1])
            if len(rows):
                rest.append((block, rows))
        del self._rows[key]
        if rest:
            self._groups[key] = rest
            self._rows[key] = sum(len(rows) for _, rows in rest)
        self._answer(key[0], parts, key[-1])

    def _answer(self, model: Model, parts: list[tuple[_Block, np.ndarray]], length: int) -> None:
        """One batch; a batch that fails is halved down to the row that is to blame."""
        start = time.perf_counter()
        try:
            readings = model.answer([b.probe.take(rows) for b, rows in parts])
            _check_rows(readings, parts)
            seconds = time.perf_counter() - start
        except Exception as error:  # every kind of failure is narrowed down to its row and raised there
            self._halve(model, parts, length, error)
            return
        total = sum(len(rows) for _, rows in parts)
        self.total = self.total + Cost(total, total, total * length, seconds)
        for (block, rows), reading in zip(parts, readings, strict=True):
            share = len(rows) / total
            block.fill(rows, reading, len(rows) * length, seconds * share)
            for i in np.flatnonzero(~_finite(reading)).tolist():
                block.failed[int(rows[i])] = _not_finite(model, block.probe)

    def _halve(self, model: Model, parts: list[tuple[_Block, np.ndarray]], length: int, error: Exception) -> None:
        flat = [(b, int(r)) for b, rows in parts for r in rows]
        if len(flat) == 1:
            block, row = flat[0]
            block.fail(row, _blamed(model, block.probe, error))
            return
        middle = len(flat) // 2
        for half in (flat[:middle], flat[middle:]):
            rows: dict[int, tuple[_Block, list[int]]] = {}
            for block, row in half:
                rows.setdefault(id(block), (block, []))[1].append(row)
            self._answer(model, [(b, np.array(r)) for b, r in rows.values()], length)


def _blamed(model: Model, probe: Probe, error: Exception) -> ProbeFailed:
    text = str(error) if isinstance(error, AssayError) else f"{type(error).__name__}: {error}"
    failure = ProbeFailed(f"{model.name} on example {probe.x.example.id}: {text}")
    failure.__cause__ = error
    return failure


def _check_rows(readings: list[Reading], parts: list[tuple[_Block, np.ndarray]]) -> None:
    got, due = [r.rows for r in readings], [len(rows) for _, rows in parts]
    if got != due:
        raise BadInput(f"the model answered {got} rows to questions of {due}")


def _finite(reading: Reading) -> np.ndarray:
    """Rows whose prediction is a number; -inf is a legal log-probability and NaN is not."""
    name = "logits" if "logits" in reading.arrays else "logp"
    if name not in reading.arrays:
        return np.ones(reading.rows, dtype=bool)
    array = reading[name]
    good: np.ndarray = np.isfinite(array) if name == "logits" else array < np.inf  # NaN is below nothing
    return np.asarray(good.reshape(len(array), -1).all(axis=1))


def _not_finite(model: Model, probe: Probe) -> ProbeFailed:
    return ProbeFailed(
        f"{model.name} answers NaN or infinite logits on example {probe.x.example.id}; "
        "check the weights, or load with dtype float32"
    )


def _kind(probe: Probe, model: Model) -> tuple[Any, ...]:
    """Probes of one kind and length may share a batch."""
    extras = (probe.scale is not None, probe.noise and probe.noise.std, probe.attention is not None)
    output = probe.output if probe.want else ""
    return (model, tuple(sorted(probe.want)), probe.how, output, extras)


def _row_keys(probe: Probe, model: Model) -> list[Any]:
    """Identity of each question within a case: equal keys have equal answers."""
    extra = (probe.how, probe.target, probe.output) if probe.want else (probe.how,)
    base = (id(model), id(probe.x), tuple(sorted(probe.want)), extra, probe.noise and probe.noise.std)
    keys: list[Any] = []
    codes = np.ascontiguousarray(probe.edit.codes)
    filled = np.asarray((codes >= FILL).any(axis=1))
    for i in range(probe.rows):
        key: list[Any] = [codes[i].tobytes()]
        if filled[i]:
            key = [tuple(probe.edit.fills[c - FILL] if c >= FILL else int(c) for c in codes[i].tolist())]
        if probe.scale is not None:
            key.append(("scale", float(probe.scale[i])))
        if probe.noise is not None:
            key.append(("noise", int(probe.noise.seeds[i])))
        if probe.attention is not None:
            key.append(("attention", np.ascontiguousarray(probe.attention[i]).tobytes()))
        keys.append((base, *key))
    return keys
