"""What users call: every command of the command line is one of these functions."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from assay import registry, resolve
from assay.case import CaseResult, Known, Work, applicable, case
from assay.driver import HERE, Event, Where, check_fields
from assay.driver import run as run_plan
from assay.engine import Engine
from assay.making import train, train_lm
from assay.plan import CasesNode, DataNode, ModelNode, Plan
from assay.registry import Entry, entries
from assay.reproducing import reproduce
from assay.results import Audit, Explanations
from assay.store import Store
from assay.stored import of_cases
from assay.summary import summarise
from assay.types import AssayError, BadInput, CannotDo, Dataset, Example, Explanation
from assay.verdict import judge

METHODS = ("random", "attention", "gradient", "smoothgrad", "integrated-gradients", "leave-one-out", "lime", "shapley")
"""What an audit explains with unless told otherwise; those that a model cannot serve are reported, not run."""
TESTS = (
    "deletion",
    "insertion",
    "comprehensiveness",
    "sufficiency",
    "agreement",
    "planted-recovery",
    "stability",
)
"""What an audit tests with unless told otherwise."""

__all__ = [
    "METHODS",
    "TESTS",
    "audit",
    "audit_plan",
    "check",
    "entries",
    "estimate",
    "explain",
    "free_folder",
    "load",
    "read_plan",
    "reproduce",
    "run",
    "show",
    "train",
    "train_lm",
]

OnEvent = Callable[[Event], None]


# ----------------------------------------------------------------------------------------------- explain


@overload
def explain(  # type: ignore[overload-overlap]  # a str is also a Sequence[str]; the first match is meant
    text: str | Mapping[str, str] | Example, *, model: Any = ..., method: str, target: Any = ..., unit: str = ...,
    seed: int = ..., hold: Sequence[str] = ..., device: str = ..., dtype: str = ..., trust_remote_code: bool = ...,
) -> Explanation: ...  # fmt: skip
@overload
def explain(
    text: str | Mapping[str, str] | Example, *, model: Any = ..., method: Sequence[str], target: Any = ...,
    unit: str = ..., seed: int = ..., hold: Sequence[str] = ..., device: str = ..., dtype: str = ...,
    trust_remote_code: bool = ...,
) -> Explanations: ...  # fmt: skip
def explain(
    text: str | Mapping[str, str] | Example,
    *,
    model: Any = "builtin",
    method: str | Sequence[str] = "leave-one-out",
    target: Any = "own",
    unit: str = "word",
    seed: int = 0,
    hold: Sequence[str] = (),
    device: str = "auto",
    dtype: str = "auto",
    trust_remote_code: bool = False,
) -> Explanation | Explanations:
    """Explain one text: one method gives an Explanation, a list (or ``["all"]``) a named collection.

    ``target``: the explained class (index, label, tuple, "A rather than B"; default: the model's own prediction).
    """
    names = [method] if isinstance(method, str) else list(method)
    if not names:
        raise BadInput("no method was named; see assay list methods")
    example = _example(text)
    check_fields(tuple(hold), Dataset("the text", (example,)))
    loaded = resolve.model(model, device=device, dtype=dtype, trust_remote_code=trust_remote_code)
    bound = resolve.methods(names, seed)
    gaps = {b.label: r for b in bound if (r := applicable(b, loaded))}
    work = Work(loaded, tuple(b for b in bound if b.label not in gaps), (), target, unit, tuple(hold), seed)
    if not work.methods:
        raise CannotDo("; ".join(f"{label} {reason}" for label, reason in gaps.items()))
    result: CaseResult = Engine(loaded).ask(case(work, example, Known()))
    found = {e.method: e for _, e in result.explanations}
    gaps |= {f.record.method: f.record.reason for f in result.records if f.record.reason}
    if isinstance(method, str) and len(bound) == 1:
        if not found:
            raise CannotDo(f"{bound[0].label}: {gaps.get(bound[0].label, 'no result')}")
        return next(iter(found.values()))
    if not found:
        raise CannotDo("; ".join(f"{label}: {reason}" for label, reason in gaps.items()))
    return Explanations(found, gaps)


def _example(text: str | Mapping[str, str] | Example) -> Example:
    if isinstance(text, Example):
        return text
    if not isinstance(text, str | Mapping):
        raise BadInput(f"cannot explain a {type(text).__name__}; give a text, a mapping of fields, or an Example")
    fields = {"text": text} if isinstance(text, str) else dict(text)
    for name, value in fields.items():
        if not isinstance(value, str) or not value.strip():
            raise BadInput(f"field '{name}' is empty; there is nothing to explain")
    return Example("text", fields)


# ------------------------------------------------------------------------------------------------- audit


def audit_plan(
    model: str = "builtin",
    data: str = "builtin",
    *,
    methods: Sequence[str] = METHODS,
    tests: Sequence[str] = TESTS,
    split: str | None = None,
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
    target: str = "own",
    unit: str = "word",
    hold: Sequence[str] = (),
    limit: int | None = 100,
    seed: int = 0,
) -> Plan:
    """The plan that ``audit`` runs: write it to a file, change it, run it again."""
    methods = (methods,) if isinstance(methods, str) else tuple(methods)
    tests = (tests,) if isinstance(tests, str) else tuple(tests)
    names = methods if "random" in methods or "all" in methods else ("random", *methods)
    return Plan(
        (DataNode("data", data, split, dict(columns or {}), tuple(labels), limit),),
        (ModelNode("model", model),),
        (CasesNode("audit", "model", "data", names, tests, _rule(target), unit, tuple(hold)),),
        seed,
    )


def _rule(target: Any) -> str:
    """A target as a plan writes it."""
    return ", ".join(map(str, target)) if isinstance(target, tuple | list) else str(target)


def audit(
    model: Any = "builtin",
    data: Any = "builtin",
    *,
    methods: Sequence[str] = METHODS,
    tests: Sequence[str] = TESTS,
    split: str | None = None,
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
    target: str = "own",
    unit: str = "word",
    hold: Sequence[str] = (),
    limit: int | None = 100,
    seed: int = 0,
    out: str | Path | None = None,
    device: str = "auto",
    dtype: str = "auto",
    trust_remote_code: bool = False,
    on_event: OnEvent | None = None,
) -> Audit:
    """Test whether this model's explanations can be trusted on this data; ``out`` may hold an unfinished run."""
    objects: dict[str, Any] = {}
    if not isinstance(model, str | Path):
        objects["model"] = resolve.model(model, device=device, dtype=dtype, trust_remote_code=trust_remote_code)
    if not isinstance(data, str | Path):
        objects["data"] = resolve.data(data)
    names = [str(ref) if name not in objects else _live_name(objects[name])
             for name, ref in (("model", model), ("data", data))]  # fmt: skip
    plan = audit_plan(
        *names, methods=methods, tests=tests, split=split, columns=columns, labels=labels, target=target, unit=unit,
        hold=hold, limit=limit, seed=seed,
    )  # fmt: skip
    folder = Path(out) if out is not None else free_folder()
    return run(
        plan,
        out=folder,
        where=Where(device, dtype, trust_remote_code=trust_remote_code),
        objects=objects,
        on_event=on_event,
    )


def _live_name(thing: Any) -> str:
    return f"live:{getattr(thing, 'fingerprint', None) or getattr(thing, 'name', '')}"


def free_folder() -> Path:
    """The first runs/audit-N that is not there yet."""
    return next(p for i in range(1, 10_000) if not (p := Path("runs") / f"audit-{i}").exists())


def run(
    plan: Plan | str | Path,
    *,
    out: str | Path,
    where: Where = HERE,
    objects: Mapping[str, Any] | None = None,
    on_event: OnEvent | None = None,
) -> Audit:
    """Run a plan (or a plan file) into a folder and write its report there; resumes what is unfinished."""
    if not isinstance(plan, Plan):
        plan = read_plan(plan)
    for event in run_plan(plan, out, where, objects):
        if on_event is not None:
            on_event(event)
    done = load(out)
    done.save(Path(out) / "report.html")
    return done


def read_plan(path: str | Path) -> Plan:
    """A plan from a TOML file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadInput(f"there is no plan file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read the plan file {path}: {error}") from error
    return Plan.from_toml(text, str(path))


def load(folder: str | Path, cases: str | None = None) -> Audit:
    """A stored run, finished or not; ``cases`` names one set of cases of a plan that has several."""
    folder = Path(folder)
    with Store.open(folder) as store:
        names = store.get_meta("cases", [])
        name = cases or next(iter(names), "")
        if cases and name not in names:
            raise BadInput(f"{folder} has no cases '{name}'{registry.did_you_mean(name, names)}")
        meta = store.get_meta(f"cases:{name}")
        if meta is None:
            raise BadInput(f"{folder} holds a run that has not started; run the same command again")
        meta["repeat"] = f"assay run {shlex.quote(str(folder / 'plan.toml'))} --out NEW"
        meta["finished"] = bool(store.get_meta("finished"))
        records, explanations = of_cases(store, meta)
    summary = summarise(records, explanations, meta, _evidence(explanations))
    return Audit(folder, summary, judge(summary))


def _evidence(explanations: Sequence[Explanation]) -> dict[str, tuple[bool, ...]]:
    from assay.align import marked

    seen = {e.example.id: e.x for e in explanations if e.example.rationale}
    return {i: tuple((marked(x, x.example.rationale)[x.free] > 0).tolist()) for i, x in seen.items()}


# ------------------------------------------------------------------------------------------- everything else


def estimate(
    plan: Plan, where: Where = HERE, objects: Mapping[str, Any] | None = None, sample: int = 3
) -> dict[str, Any]:
    """What a plan would cost, measured on its first few examples: rows, tokens, minutes."""
    import time

    from assay.driver import prepare

    rows = tokens = 0
    seconds = 0.0
    total = 0
    for node in plan.cases:
        work, data, _ = prepare(plan, node, where, objects or {})
        few = data.examples[:sample]
        engine, start = Engine(work.model, budget=where.budget), time.perf_counter()
        for done in engine.run((e, case(work, e, Known())) for e in few):
            if done.error is not None and not isinstance(done.error, AssayError):
                raise done.error
        factor = len(data) / max(1, len(few))
        rows += round(engine.total.rows * factor)
        tokens += round(engine.total.tokens * factor)
        seconds += (time.perf_counter() - start) * factor
        total += len(data)
    return {"examples": total, "probes": rows, "tokens": tokens, "minutes": round(seconds / 60, 2), "sample": sample}


def show(name: str) -> Entry:
    """One entry by name, whatever its kind."""
    return registry.find(None, name)


def check(module: str) -> list[Any]:
    """Put the entries of a module (yours, say) through the contracts."""
    from assay.testing import check as check_contracts

    return check_contracts(module)
