"""Plan -> events: loads what the plan names, runs what the store does not hold yet, files what comes out."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay import resolve
from assay.case import EXPLAIN, PREDICTION, CaseResult, Filed, Work, applicable, case, check_target
from assay.engine import Done, Engine
from assay.plan import CasesNode, Plan
from assay.registry import Bound, did_you_mean
from assay.store import Store
from assay.stored import Filing
from assay.types import Asking, AssayError, BadInput, Dataset, Example, Model, Record

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
    for node in plan.cases:  # every name of every node before anything is loaded or trained
        _ = resolve.methods(node.methods, plan.seed), resolve.tests(node.tests, plan.seed)
    first = prepare(plan, plan.cases[0], where, objects or {})  # a wrong name leaves no folder behind
    with open_store(plan, folder) as store:
        store.set_meta("finished", False)
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


def check_fields(hold: tuple[str, ...], data: Dataset) -> None:
    """A field that is held must be there."""
    there = list(data.examples[0].fields)
    for name in hold:
        if name not in there:
            raise BadInput(
                f"cannot hold the field '{name}', which {data.name} does not have{did_you_mean(name, there)}"
            )


Prepared = tuple[Work, Dataset, dict[str, Any]]


def prepare(plan: Plan, node: CasesNode, where: Where, objects: Mapping[str, Any]) -> Prepared:
    """Load the model and data of a cases node and bind its methods and tests to what the model can do.

    Names come first and the model last: a typo is told before anything is trained or loaded.
    """
    model_node = next(m for m in plan.models if m.name == node.model)
    data_node = next(d for d in plan.data if d.name == node.data)
    methods, tests = resolve.methods(node.methods, plan.seed), resolve.tests(node.tests, plan.seed)
    data = resolve.data(
        objects.get(node.data, data_node.read),
        split=data_node.split,
        columns=data_node.columns,
        labels=data_node.labels,
    )
    if not data.examples:
        raise BadInput(f"{data.name} has no examples")
    check_fields(node.hold, data)
    model: Model = resolve.model(
        objects.get(node.model, model_node.load),
        device=where.device,
        dtype=where.dtype,
        trust_remote_code=where.trust_remote_code,
        progress=where.making,
    )
    check_target(node.target, model.labels)
    named = bool(data_node.labels) or node.data in objects
    data = resolve.matched(resolve.distinct(data).sample(data_node.limit), model, by_position=named)
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
    filing = Filing(store, work)
    meta |= {"filed": filing.filed, "filed_model": filing.model, "rule": work.rule}
    meta |= {"examples": [e.id for e in data.examples], "contents": [e.content for e in data.examples]}
    store.set_meta(f"cases:{node.name}", meta)
    filing.inapplicable(meta["inapplicable"])
    filing.unsuited()
    start, total, done = time.monotonic(), len(data), 0
    failures, stopped = _Failures(), set[str]()

    def todo() -> Iterator[tuple[Example, Asking]]:
        for example in data.examples:
            known = filing.known(example)
            failures.worked |= set(known.explanations)
            yield example, case(_halted(work, stopped), example, known)

    yield Event("start", 0, total, 0.0, f"{work.model.name} on {data.name}")
    engine = Engine(work.model, budget=where.budget)
    for finished in engine.run(todo()):
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


def _halted(work: Work, stopped: set[str]) -> Work:
    """The work with stopped methods asking nothing: each further example is a counted gap with that reason."""
    if not stopped:
        return work
    methods = tuple(replace(m, function=_refuse) if m.key in stopped else m for m in work.methods)
    return replace(work, methods=methods)


def _refuse(*given: object, **settings: object) -> Asking:
    yield from ()  # a generator, like the method it stands for
    raise AssayError(f"not tried: it failed on its first {FIRST} examples")


def _result(done: Done[Example]) -> CaseResult:
    """A case that failed as a whole (an empty text, say) is a recorded gap."""
    if done.error is None:
        return done.result if isinstance(done.result, CaseResult) else CaseResult(done.key, (), ())
    if not isinstance(done.error, AssayError):
        raise done.error
    record = Record(PREDICTION, done.key.id, reason=str(done.error))
    return CaseResult(done.key, (), (Filed(record, test=PREDICTION),))
