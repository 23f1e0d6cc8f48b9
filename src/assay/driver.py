"""Plan -> events: loads what the plan names, runs what the store does not hold yet, files what comes out."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

from assay import resolve
from assay.case import EXPLAIN, PREDICTION, CaseResult, Filed, Known, Work, applicable, case, suits
from assay.engine import Done, Engine
from assay.plan import CasesNode, Plan
from assay.registry import Bound
from assay.store import Store, explanation_key, record_key
from assay.types import AssayError, BadInput, Dataset, Example, Model, Record

FIRST = 10
"""A method that fails on this many examples and never succeeds is stopped."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something a progress bar or a log wants to know."""

    kind: str
    """making | start | case | stopped | end"""
    done: int
    total: int
    seconds: float
    message: str = ""
    tokens: int = 0

    @property
    def eta(self) -> float | None:
        """Seconds to go; cases come in hashed order, so the first are a fair sample."""
        return None if not self.done else self.seconds / self.done * (self.total - self.done)


@dataclass(frozen=True, slots=True)
class Where:
    """Where and how fast a plan runs: nothing here changes a number beyond 1e-5."""

    device: str = "auto"
    dtype: str = "auto"
    budget: int | None = None
    trust_remote_code: bool = False
    on_making: Callable[[Event], None] | None = None
    """Told while something is made before the first case (a built-in model that is trained, say)."""

    def making(self, what: str, share: float) -> None:
        """Pass progress on."""
        if self.on_making is not None:
            self.on_making(Event("making", round(100 * share), 100, 0.0, what))


HERE = Where()


@dataclass(eq=False, slots=True)
class _Failures:
    """Counts a method's failures until its first success."""

    failed: dict[str, int] = field(default_factory=dict)
    worked: set[str] = field(default_factory=set)

    def note(self, result: CaseResult) -> list[str]:
        """Methods that have now failed on all of their first examples."""
        self.worked |= {key for key, _ in result.explanations}
        stopped = []
        for f in result.records:
            if f.test == EXPLAIN and f.method not in self.worked:
                self.failed[f.method] = self.failed.get(f.method, 0) + 1
                if self.failed[f.method] == FIRST:
                    stopped.append(f.method)
        return stopped


def run(
    plan: Plan, folder: str | Path, where: Where = HERE, objects: Mapping[str, Any] | None = None
) -> Iterator[Event]:
    """Run a plan into a folder; an unfinished run of the same plan in it is resumed.

    ``objects``: live models or data sets by the name the plan gives them. Closing the iterator stops the work;
    everything finished is stored.
    """
    folder = Path(folder)
    first = prepare(plan, plan.cases[0], where, objects or {})  # a wrong name leaves no folder behind
    with open_store(plan, folder) as store:
        (folder / "plan.toml").write_text(plan.to_toml(), encoding="utf-8")
        for i, node in enumerate(plan.cases):
            yield from _run_cases(first if i == 0 else prepare(plan, node, where, objects or {}), node, store, where)
        store.set_meta("finished", True)


def open_store(plan: Plan, folder: Path) -> Store:
    """The folder's store for writing: new, or that of the same plan."""
    if not Store.exists(folder):
        store = Store.create(folder)
        store.set_meta("plan", plan.key)
        store.set_meta("cases", [node.name for node in plan.cases])
        return store
    store = Store.open(folder, write=True)
    if store.get_meta("plan") != plan.key:
        store.close()
        raise BadInput(f"{folder} holds a run of another plan; choose another --out, or delete that folder")
    return store


Prepared = tuple[Work, Dataset, dict[str, Any]]


def prepare(plan: Plan, node: CasesNode, where: Where, objects: Mapping[str, Any]) -> Prepared:
    """Load the model and data of a cases node and bind its methods and tests to what the model can do.

    Names come first and the model last: a typo is told before anything is trained or loaded.
    """
    model_node = next(m for m in plan.models if m.name == node.model)
    data_node = next(d for d in plan.data if d.name == node.data)
    methods, tests = resolve.methods(node.methods, plan.seed), resolve.tests(node.tests, plan.seed)
    data: Dataset = objects.get(node.data) or resolve.data(
        data_node.read, split=data_node.split, columns=data_node.columns, labels=data_node.labels
    )
    model: Model = objects.get(node.model) or resolve.model(
        model_node.load,
        device=where.device,
        dtype=where.dtype,
        trust_remote_code=where.trust_remote_code,
        progress=where.making,
    )
    data = resolve.matched(resolve.distinct(data).sample(data_node.limit), model)
    fit_methods, out_methods = _split(methods, model)
    fit_tests, out_tests = _split(tests, model)
    if not fit_methods:
        reasons = "; ".join(f"{b.label} {r}" for b, r in out_methods)
        raise AssayError(f"no method of this plan fits {model.name}: {reasons}")
    work = Work(model, fit_methods, fit_tests, node.target, node.unit, node.hold, plan.seed)
    refs = {"model_ref": model_node.load, "data_ref": data_node.read, "split": data.split}
    meta = describe(work, data, refs) | {"inapplicable": {b.label: r for b, r in (*out_methods, *out_tests)}}
    return work, data, meta


def _split(things: tuple[Bound, ...], model: Model) -> tuple[tuple[Bound, ...], list[tuple[Bound, str]]]:
    reasons = [(b, applicable(b, model)) for b in things]
    return tuple(b for b, r in reasons if not r), [(b, r) for b, r in reasons if r]


def describe(work: Work, data: Dataset, refs: Mapping[str, Any]) -> dict[str, Any]:
    """What a report must know of a run beyond its numbers."""
    shown = ("of", "asks", "headline", "better", "claim", "view", "bounds", "paper")
    return {
        **refs,
        "model": work.model.name,
        "fingerprint": work.model.fingerprint,
        "labels": list(work.model.labels),
        "data": data.name,
        "n": len(data),
        "data_notes": dict(data.notes),
        "unit": work.unit,
        "target": str(work.target),
        "seed": work.seed,
        "methods": {
            b.label: {"key": b.key, "family": b.entry.facts.get("family", ""), "removal": _removal(b), "home": _home(b),
                      "paper": b.entry.facts.get("paper", ""), "summary": b.entry.summary}
            for b in work.methods
        },
        "tests": {
            b.label: {"key": b.key, "removal": _removal(b), "home": _home(b), "summary": b.entry.summary}
            | {k: b.entry.facts.get(k, "") for k in shown}
            for b in work.tests
        },
        "versions": versions(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }  # fmt: skip


def _removal(bound: Bound) -> str | None:
    operator = bound.settings.get("removal")
    return operator.label if isinstance(operator, Bound) else None


def _home(bound: Bound) -> str | None:
    """The kind of removal a method or test uses: it favours its own kind."""
    operator = bound.settings.get("removal")
    return (operator.entry.facts.get("kin") or operator.entry.name) if isinstance(operator, Bound) else None


def versions() -> dict[str, str]:
    """Versions that numbers depend on."""
    from importlib import metadata

    names = ("assay", "numpy", "scipy", "torch", "transformers", "tokenizers")
    return {"python": platform.python_version()} | {n: metadata.version(n) for n in names}


# ---------------------------------------------------------------------------------------------- the driver


def _run_cases(prepared: Prepared, node: CasesNode, store: Store, where: Where) -> Iterator[Event]:
    work, data, meta = prepared
    filing = _Filing(store, work)
    meta |= {"filed": filing.filed, "examples": [e.id for e in data.examples]}
    store.set_meta(f"cases:{node.name}", meta)
    filing.inapplicable(meta["inapplicable"])
    filing.unsuited()
    start, total, done = time.monotonic(), len(data), 0
    failures, stopped = _Failures(), set[str]()
    yield Event("start", 0, total, 0.0, f"{work.model.name} on {data.name}")
    engine = Engine(work.model, budget=where.budget)
    todo = ((e, case(_without(work, stopped), e, filing.known(e))) for e in data.examples)
    for finished in engine.run(todo):
        done += 1
        result = _result(finished)
        filing.file(result)
        seconds = time.monotonic() - start
        for key in failures.note(result):
            stopped.add(key)
            label = next(m.label for m in work.methods if m.key == key)
            yield Event(
                "stopped", done, total, seconds, f"{label} failed on its first {FIRST} examples and was stopped"
            )
        yield Event("case", done, total, seconds, finished.key.id, engine.total.tokens)
    yield Event("end", done, total, time.monotonic() - start, tokens=engine.total.tokens)


def _without(work: Work, stopped: set[str]) -> Work:
    if not stopped:
        return work
    methods = tuple(m for m in work.methods if m.key not in stopped)
    return Work(work.model, methods, work.tests, work.target, work.unit, work.hold, work.seed)


def _result(done: Done[Example]) -> CaseResult:
    """A case that failed as a whole (an empty text, say) is a recorded gap."""
    if done.error is None:
        return done.result if isinstance(done.result, CaseResult) else CaseResult(done.key, (), ())
    if not isinstance(done.error, AssayError):
        raise done.error
    record = Record(PREDICTION, done.key.id, reason=str(done.error))
    return CaseResult(done.key, (), (Filed(record, test=PREDICTION),))


@dataclass(frozen=True, eq=False, slots=True)
class _Filing:
    """Keys of one cases node in the store."""

    store: Store
    work: Work

    @property
    def filed(self) -> str:
        """What everything of this node is filed under: the model and how examples are read."""
        return f"{self.model}|{self.work.rule}"

    @property
    def model(self) -> str:
        # A nameless black box gets a key of this process: its results are stored but can never be resumed.
        return self.work.model.fingerprint or f"nameless:{os.getpid()}:{id(self.work.model)}"

    def known(self, example: Example) -> Known:
        """What is there already, in two questions to the store; failures count as not there and are tried again."""
        content, rule = example.content, self.work.rule
        keys = {explanation_key(self.model, content, rule, m.key): m.key for m in self.work.methods}
        made = {keys[f.key]: f.explanation for f in self.store.filed_explanations(keys=list(keys))}
        wanted = {self._record_key(content, *names): names for names in self._names()}
        filed = self.store.filed_records(keys=list(wanted))
        done = {wanted[f.key] for f in filed if f.record.values is not None}
        return Known(made, lambda method, test, other: (method, test, other) in done)

    def _names(self) -> Iterator[tuple[str, str, str]]:
        """(method, test, other) of every record that one example may have."""
        yield "", PREDICTION, ""
        methods = [m.key for m in self.work.methods]
        for test in self.work.tests:
            pairs = {"input": [("", "")], "explanation": [(m, "") for m in methods], "pair": combinations(methods, 2)}
            yield from ((a, test.key, b) for a, b in pairs[test.entry.facts["of"]])

    def _record_key(self, content: str, method: str, test: str, other: str) -> str:
        return record_key(self.model, content, self.work.rule, method, test, other)

    def file(self, result: CaseResult) -> None:
        content, rule = result.example.content, self.work.rule
        explanations = [(explanation_key(self.model, content, rule, m), e) for m, e in result.explanations]
        records = [(self._record_key(content, f.method, f.test, f.other), f.record) for f in result.records]
        self.store.put(explanations, records, [result.example], self.filed)

    def inapplicable(self, reasons: Mapping[str, str]) -> None:
        rows = []
        for label, reason in reasons.items():
            key = record_key(self.model, "", self.work.rule, label, EXPLAIN)
            rows.append((key, Record(EXPLAIN, method=label, reason=reason)))
        self.store.put(records=rows, model=self.filed)

    def unsuited(self) -> None:
        """Tests that have nothing to say of a method: told once, not once per example."""
        rows = []
        for method in self.work.methods:
            for test in self.work.tests:
                reason = suits(test, method)
                if reason and test.entry.facts["of"] == "explanation":
                    key = record_key(self.model, "", self.work.rule, method.key, test.key)
                    rows.append((key, Record(test.label, method=method.label, reason=reason)))
        self.store.put(records=rows, model=self.filed)
