"""Knows how the models of Jain & Wallace 2019 are made and asked: trainings in, numbers per text out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay import driver, resolve, stats
from assay.changes.quality import measured as quality
from assay.lab import Lab
from assay.plan import CasesNode, DataNode, ModelNode, Plan
from assay.store import Store
from assay.suites.jain_data import Material
from assay.suites.pham_runs import Run, label
from assay.trials.attention_models import Recipe, bench
from assay.types import Dataset, Estimate, Floats, Model, content_key

ATTENTION = "attention"
GRADIENT = "gradient(output=prob, signed=false, hold=true)"
LOO = "leave-one-out(output=prob)"
METHODS = (ATTENTION, GRADIENT, LOO)
AVERAGE = "average"


@dataclass(frozen=True, eq=False, slots=True)
class Player:
    """A trained model with what it said of the test set and of the texts that were looked at."""

    encoder: str
    folder: Path
    scores: Mapping[str, float]
    """Accuracy, F1 and AUC on the whole test set."""
    right: tuple[int, ...]
    """Per test text: was the answer right?"""
    run: Run


@dataclass(frozen=True, eq=False, slots=True)
class Bout:
    """What the parts of the experiment work with."""

    lab: Lab
    material: Material
    data: Dataset
    """Texts of the test set that are explained and attacked."""
    main: Player
    average: Player
    """The model that reads word by word; the main one again when that is it."""
    tests: Mapping[str, str]
    """permutation, adversary, erasure -> their labels in records."""
    epsilon: float
    settings: str

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.material.sets.labels

    def values(self, test: str, name: str) -> dict[str, float]:
        """Text -> a number of a test of inputs; NaN where there is none."""
        return self.main.run.column("", self.tests[test], name)

    def predicted(self) -> dict[str, str]:
        """Text -> the class that the main model chose; one class, 'all', for questions."""
        made = self.main.run.maps(label("methods", ATTENTION)).values()
        if self.material.asks:
            return {e.example.id: "all" for e in made}
        return {e.example.id: self.labels[int(np.argmax(e.probabilities))] for e in made}


def trained(
    lab: Lab, material: Material, recipe: Recipe, encoders: Sequence[str], attention: str
) -> dict[str, dict[str, Any]]:
    """Encoder -> folder (below the lab's), scores and right answers on the test set; trained once and kept."""
    key = {"data": material.sets.key, "recipe": asdict(recipe), "encoders": list(encoders), "attention": attention}

    def make() -> dict[str, dict[str, Any]]:
        tell = lab.tell
        with bench(*material.sets.each, recipe=recipe, out=lab.folder, workers=lab.workers, progress=tell) as b:
            jobs = [b.plain(lab.seed, encoder=e, attention=attention) for e in encoders]
            made = b.must(jobs, "training")
            gold = b.sets.gold
            return {
                e: {
                    "folder": str(m.folder.relative_to(lab.folder)),
                    "scores": quality(m.test.logp, gold),
                    "right": (m.test.choice == gold).astype(int).tolist(),
                    "seconds": m.seconds,
                }
                for e, m in zip(encoders, made, strict=True)
            }

    found: dict[str, dict[str, Any]] = lab.step("training", key, make)
    return found


def asked(
    lab: Lab, material: Material, model: Model, data: Dataset, name: str, methods: Sequence[str], tests: Sequence[str]
) -> Run:
    """Methods and tests on these texts, over the attended words only; what is there already is not made again."""
    node = CasesNode(
        "cases", "model", "data", tuple(methods), tuple(tests), hold=(material.query,) * bool(material.query)
    )
    plan = Plan(
        (DataNode("data", material.word),), (ModelNode("model", f"live:{model.fingerprint}"),), (node,), lab.seed
    )
    folder = lab.place(name, {"plan": plan.key})
    key = {"plan": plan.key, "examples": content_key(sorted(e.content for e in data.examples))}

    def make() -> dict[str, int]:
        tokens = 0
        for event in driver.run(plan, folder, driver.Where(lab.device, lab.dtype), {"model": model, "data": data}):
            tokens = max(tokens, event.tokens)
            lab.tell(name, event.done / max(1, event.total))
        return {"examples": len(data), "tokens": tokens}

    lab.step(name, key, make)
    with Store.open(folder) as store:
        meta = store.get_meta("cases:cases")
        there = {e.id for e in data.examples}
        records = tuple(r for r in store.records(model=meta["filed"]) if r.example in there)
        made = tuple(e for e in store.explanations(model=meta["filed"]) if e.example.id in there)
    return Run(records, made, meta, len(data))


def player(
    lab: Lab, material: Material, encoder: str, facts: Mapping[str, Any], data: Dataset, tests: Sequence[str]
) -> Player:
    """The trained model with explanations of the texts, and its tests."""
    folder = lab.folder / facts["folder"]
    model = resolve.model(str(folder), device=lab.device, dtype=lab.dtype)
    run = asked(lab, material, model, data, f"explaining ({encoder})", METHODS, tests)
    return Player(encoder, folder, facts["scores"], tuple(facts["right"]), run)


def bout(
    lab: Lab, material: Material, recipe: Recipe, encoder: str, attention: str, limit: int, tests: Mapping[str, str],
    epsilon: float, settings: str,
) -> Bout:  # fmt: skip
    """Train, explain and attack."""
    names = tuple(dict.fromkeys((encoder, AVERAGE)))
    facts = trained(lab, material, recipe, names, attention)
    data = replace(material.sets.test, examples=material.sets.test.examples[:limit])
    main = player(lab, material, encoder, facts[encoder], data, tuple(tests.values()))
    other = main if encoder == AVERAGE else player(lab, material, AVERAGE, facts[AVERAGE], data, ())
    named = {k: label("tests", spec, lab.seed) for k, spec in tests.items()}
    return Bout(lab, material, data, main, other, named, epsilon, settings)


def apart(one: Sequence[float], other: Sequence[float]) -> Estimate | None:
    """Mean of one group of texts minus that of another, with an interval over texts; None below 2 a group.

    >>> apart([1.0, 1.0, 1.0], [0.0, 0.0]).value
    1.0
    """
    if min(len(one), len(other)) < 2:
        return None
    side = np.array([1.0] * len(one) + [0.0] * len(other))
    return stats.bootstrap(_gap, [np.array([*one, *other]), side], draws=1000)


def _gap(values: Floats, side: Floats) -> float:
    there, rest = values[side == 1], values[side == 0]
    return float(there.mean() - rest.mean()) if len(there) and len(rest) else float("nan")
