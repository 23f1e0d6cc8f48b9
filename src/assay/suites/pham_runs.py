"""Knows how one part of the experiment is run and read: examples, methods and tests in, numbers per example out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from assay import driver, resolve, stats
from assay.ask import predict
from assay.engine import Engine
from assay.exhibit import Figure, Heatmap, Table
from assay.lab import Lab
from assay.plan import CasesNode, DataNode, ModelNode, Plan
from assay.store import Store
from assay.suites.pham_models import Cast
from assay.types import AssayError, Dataset, Estimate, Example, Explanation, Finding, Floats, Model, Record, content_key

PLAN_DATA, PLAN_MODEL, CASES = "data", "model", "cases"


@dataclass(frozen=True, slots=True)
class Part:
    """What one part adds to the exhibit."""

    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    heatmaps: tuple[Heatmap, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class Stage:
    """What every part works with."""

    lab: Lab
    cast: Cast
    data: str
    nearest: str
    """The paper's data set whose numbers stand beside ours."""
    whole: Dataset
    """The evaluated split in hashed order."""
    right: Dataset
    """Those of them that the classifier gets right."""
    limit: int
    seeds: int
    roar_rows: int
    samples: int
    """Copies per text for LIME."""

    def few(self, n: int) -> Dataset:
        """The first n examples that the classifier gets right."""
        return replace(self.right, examples=self.right.examples[: min(n, self.limit)])


# ------------------------------------------------------------------------------------------ which examples


def right_ones(lab: Lab, model: Model, data: Dataset, enough: int | None) -> Dataset:
    """Examples that the model gets right, in the order of the data; as many as are enough."""
    key = {"model": model.fingerprint, "data": content_key(sorted(e.content for e in data.examples))}
    chosen: dict[str, int] = lab.step("predictions", key, lambda: _choices(model, data))
    right = [e for e in data.examples if chosen.get(e.id) == e.gold]
    return replace(data, examples=tuple(right[:enough]))


def _choices(model: Model, data: Dataset) -> dict[str, int]:
    out: dict[str, int] = {}
    for done in Engine(model).run((e.id, predict(model.read(e))) for e in data.examples):
        if done.error is None:
            out[done.key] = int(done.result.choice[0, 0])
        elif not isinstance(done.error, AssayError):
            raise done.error
    return out


# ------------------------------------------------------------------------------------------------- running


@dataclass(frozen=True, eq=False, slots=True)
class Run:
    """Records and explanations of a finished run, for the examples that were asked for."""

    records: tuple[Record, ...]
    explanations: tuple[Explanation, ...]
    meta: Mapping[str, Any]
    n: int

    def column(self, method: str, test: str, value: str) -> dict[str, float]:
        """Example -> number; what could not be computed is NaN."""
        return {
            r.example: (r.values or {}).get(value, float("nan"))
            for r in self.records
            if r.test == test and r.method == method
        }

    def mean(self, method: str, test: str, value: str, scale: float = 1.0) -> Estimate:
        """Mean over the examples, with interval."""
        return stats.mean([scale * v for v in self.column(method, test, value).values()])

    def gap(self, one: Mapping[str, float], other: Mapping[str, float], scale: float = 1.0) -> Estimate:
        """Mean of one - other over the examples that have both."""
        shared = [e for e in one if e in other]
        return stats.paired([scale * one[e] for e in shared], [scale * other[e] for e in shared])

    def details(self, method: str, test: str) -> dict[str, Mapping[str, Any]]:
        """Example -> what the test keeps for views."""
        mine = (r for r in self.records if r.test == test and r.method == method)
        return {r.example: r.detail for r in mine if r.detail is not None}

    def maps(self, method: str) -> dict[str, Explanation]:
        """Example -> explanation."""
        return {e.example.id: e for e in self.explanations if e.method == method}


def measured(stage: Stage, name: str, data: Dataset, methods: Sequence[str], tests: Sequence[str]) -> Run:
    """Run methods and tests on the examples, in the lab's folder; what is there already is not made again."""
    plan = Plan(
        (DataNode(PLAN_DATA, stage.data),),
        (ModelNode(PLAN_MODEL, f"live:{stage.cast.model.fingerprint}"),),
        (CasesNode(CASES, PLAN_MODEL, PLAN_DATA, tuple(methods), tuple(tests)),),
        stage.lab.seed,
    )
    folder = stage.lab.place(name, {"plan": plan.key})
    asked = {"plan": plan.key, "examples": content_key(sorted(e.content for e in data.examples))}
    stage.lab.step(name, asked, lambda: _driven(stage, name, plan, str(folder), data))
    with Store.open(folder) as store:
        meta = store.get_meta(f"cases:{CASES}")
        there = {e.id for e in data.examples}
        records = tuple(r for r in store.records(model=meta["filed"]) if r.example in there)
        made = tuple(e for e in store.explanations(model=meta["filed"]) if e.example.id in there)
    return Run(records, made, meta, len(data))


def _driven(stage: Stage, name: str, plan: Plan, folder: str, data: Dataset) -> dict[str, int]:
    objects = {PLAN_MODEL: stage.cast.model, PLAN_DATA: data}
    where = driver.Where(stage.lab.device, stage.lab.dtype)
    tokens = 0
    for event in driver.run(plan, folder, where, objects):
        tokens = max(tokens, event.tokens)
        stage.lab.tell(name, event.done / max(1, event.total))
    return {"examples": len(data), "tokens": tokens}


# ------------------------------------------------------------------------------------------------- names


def label(kind: str, spec: str, seed: int = 0) -> str:
    """What records call this method or test."""
    (bound,) = (resolve.methods if kind == "methods" else resolve.tests)([spec], seed)
    return bound.label


def marginal(lm: str, **settings: Any) -> str:
    """Input marginalisation with this language model."""
    more = "".join(f", {k}={v!r}" for k, v in settings.items())
    return f"input-marginalisation(removal=mlm-marginal(lm={lm!r}{more}))"


def filled(lm: str, order: str = "left-to-right", same: str = "skip") -> str:
    """The operator that puts the likeliest word in."""
    return f"mlm(lm={lm!r}, same={same}, order={order})"


def means(values: Sequence[float]) -> Floats:
    """As an array."""
    return np.asarray(values, dtype=np.float64)


def example_of(data: Dataset, name: str) -> Example:
    """The example of this id."""
    return next(e for e in data.examples if e.id == name)
