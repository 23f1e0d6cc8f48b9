"""Knows how to explain whole data sets by several methods: through a plan, so that what is stored is not made again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assay import driver, resolve
from assay.driver import Event
from assay.plan import CasesNode, DataNode, ModelNode, Plan
from assay.store import Store
from assay.trials.roar_data import Said, Scores, said
from assay.types import Dataset, Explanation, Model, Record, content_key

Progress = Callable[[str, float], None]
"""Called with what is being done and the share that is done."""
CASES = "attributions"


@dataclass(frozen=True, eq=False, slots=True)
class Attributions:
    """Explanations of a data set by the name of the method, then by what the example says."""

    model: Model
    scores: Mapping[str, Scores]
    gaps: tuple[Record, ...]
    """Explanations that there are not, each with its reason."""
    seconds: float
    """How long explaining took; what was stored already took no time."""

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods that gave an explanation at all, as they were asked for."""
        return tuple(self.scores)


def attributions(
    model: Any,
    data: Dataset | Sequence[Dataset],
    methods: Sequence[str],
    *,
    out: str | Path | None = None,
    unit: str = "word",
    target: str = "own",
    seed: int = 0,
    progress: Progress | None = None,
) -> Attributions:
    """Explain every example of the data by every method; ``out`` keeps them, and an unfinished run there goes on.

    ``target`` own: each example's predicted class, as Pham et al. 2022 explain it. The same text with the same label
    is explained once.
    """
    live = resolve.model(model)
    joined = _joined([data] if isinstance(data, Dataset) else list(data))
    plan = _plan(live, joined, methods, unit, target, seed)
    with nullcontext(str(out)) if out is not None else TemporaryDirectory(prefix="assay-roar-") as folder:
        seconds = 0.0
        for event in driver.run(plan, folder, objects={"model": live, "data": joined}):
            seconds = event.seconds
            _tell(progress, event)
        with Store.open(folder) as store:
            return _read(live, store, joined, seconds)


def _joined(sets: Sequence[Dataset]) -> Dataset:
    examples = tuple(e for d in sets for e in d.examples)
    return Dataset("+".join(dict.fromkeys(d.name for d in sets)), examples, sets[0].labels)


def _plan(model: Model, data: Dataset, methods: Sequence[str], unit: str, target: str, seed: int) -> Plan:
    """One set of cases and no tests; live things are named by their content."""
    content = content_key(sorted(e.content for e in data.examples))
    return Plan(
        (DataNode("data", f"live:{content}"),),
        (ModelNode("model", f"live:{model.fingerprint or model.name}"),),
        (CasesNode(CASES, "model", "data", tuple(methods), (), target, unit),),
        seed,
    )


def _tell(progress: Progress | None, event: Event) -> None:
    if progress is not None and event.total:
        progress("explaining", event.done / event.total)


def _read(model: Model, store: Store, data: Dataset, seconds: float) -> Attributions:
    meta = store.get_meta(f"cases:{CASES}")
    mine = {said(e) for e in data.examples}
    scores: dict[str, dict[Said, Explanation]] = {label: {} for label in meta["methods"]}
    for found in store.explanations(model=meta["filed"]):
        if found.method in scores and said(found.example) in mine:
            scores[found.method][said(found.example)] = found
    gaps = tuple(r for r in store.records(model=meta["filed"]) if r.reason)
    return Attributions(model, {label: s for label, s in scores.items() if s}, gaps, seconds)
