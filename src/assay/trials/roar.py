"""ROAR: remove what a method calls important from the training and the test data, retrain, and see what was lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay import registry, resolve
from assay.store import Store
from assay.trials.roar_data import explained_by_all, operator, removed_data, where_data
from assay.trials.roar_jobs import Classifier, Ended, Job, retrain, run_all
from assay.trials.roar_maps import Attributions, Progress, attributions
from assay.trials.roar_recursive import Chain
from assay.trials.roar_recursive import recursive as recursive_chain
from assay.trials.roar_table import RANDOM, areas, relative_area, summary_table, t_test
from assay.types import BadInput, Cost, Dataset, Record, content_key

__all__ = [
    "Attributions",
    "Classifier",
    "areas",
    "attributions",
    "relative_area",
    "removed_data",
    "roar",
    "summary_table",
    "t_test",
    "where_data",
]

RATES = (0.0, 0.1, 0.2, 0.3)
SEEDS = (42, 100, 200, 300, 400)
"""Rates and seeds of Pham et al. 2022."""
TEST, CONTROL, RECURSIVE = "roar", "roar-control", "roar-recursive"
COST = "roar-attributions"
"""Under this name the cost of explaining is recorded, apart from that of retraining."""
WHERE = "bilstm"
"""The control's classifier: order is all that it can learn from."""
PLACES = "places only"
"""What the control's records say in the place of a removal operator."""
FILED = "roar"
"""What retraining records are filed under."""


@dataclass(frozen=True, eq=False, slots=True)
class _Asked:
    """A job, or a chain of them, with the records that it will fill."""

    job: Job | Chain
    points: tuple[Mapping[str, Any], ...]
    """test, method, replicate and detail of each record."""

    @property
    def keys(self) -> tuple[str, ...]:
        """What the records are filed under."""
        made = self.job.key
        return tuple(content_key("roar", made, p["test"], p["method"], p["detail"]["rate"]) for p in self.points)


def roar(
    model: Any,
    train: Dataset,
    dev: Dataset,
    methods: Sequence[str],
    *,
    removal: str = "delete",
    rates: Sequence[float] = RATES,
    seeds: Sequence[int] = SEEDS,
    classifier: str | Mapping[str, Any] | Classifier = "bag",
    random: bool = True,
    control: bool = True,
    recursive: bool = False,
    unit: str = "word",
    target: str = "own",
    seed: int = 0,
    out: str | Path | None = None,
    workers: int = 2,
    progress: Progress | None = None,
) -> list[Record]:
    """Accuracy of classifiers retrained without the words that a method of ``model`` calls important.

    For every method, rate and seed: ceil(rate * (n - 1)) words (at least one) of highest signed attribution are taken
    from every text of ``train`` and ``dev``, a fresh classifier learns the one and is judged on the other (Hooker et
    al. 2019; on text Pham et al. 2022). Low accuracy: the method named what the label hangs on; as high as ``random``
    removal: it did not. One record per retraining: test roar, method ('' for the untouched data), replicate = seed,
    values accuracy and f1, detail rate, removal, classifier, majority (share of the largest class) and counts. What
    explaining took stands apart: one record per method, test roar-attributions, seconds of model time.

    Known failures: words that repeat each other hide importance (``recursive`` explains and removes step by step,
    test roar-recursive, Madsen et al. 2022); *where* words went missing can tell the label, which lifts informed
    methods (``control``, test roar-control: a classifier that sees only that; Rong et al. 2022, Song et al. 2023).
    ``random`` adds removal at random (one draw by ``seed``). ``out`` keeps explanations and records and resumes.
    """
    spec, names = Classifier.of(classifier), _names(methods, random)
    if not rates or list(rates) != sorted(set(rates)) or rates[0] < 0 or rates[-1] > 1:
        raise BadInput(f"rates must rise and lie between 0 and 1, got {list(rates)}")
    maps = attributions(model, (train, dev), names, out=out, unit=unit, target=target, seed=seed, progress=progress)
    (train, lost), (dev, also) = (explained_by_all(d, maps.scores.values()) for d in (train, dev))
    trial = _Trial(maps, train, dev, spec, removal, tuple(rates), tuple(seeds), lost + also, seed, unit, target)
    asked = [*trial.plain(), *(trial.controls() if control else ()), *(trial.chains(names) if recursive else ())]
    return [*trial.explaining(), *_done(asked, workers, out, progress)]


def _names(methods: Sequence[str], random: bool) -> list[str]:
    every = [e.name for e in registry.entries("methods") if not e.facts.get("slow")]
    names = list(dict.fromkeys(n for name in methods for n in (every if name == "all" else [name])))
    if not names and not random:
        raise BadInput("ROAR needs a method, or random removal")
    return [*names, RANDOM] if random and RANDOM not in names else names


@dataclass(frozen=True, eq=False, slots=True)
class _Trial:
    """What all jobs of one call share."""

    maps: Attributions
    train: Dataset
    dev: Dataset
    spec: Classifier
    removal: str
    rates: tuple[float, ...]
    seeds: tuple[int, ...]
    lost: int
    seed: int
    unit: str
    target: str

    @property
    def steps(self) -> tuple[float, ...]:
        """Rates at which something is removed."""
        return tuple(r for r in self.rates if r > 0)

    def facts(self, **more: Any) -> dict[str, Any]:
        """What every record says of its making."""
        own = {"classifier": self.spec.label, "train": len(self.train), "dev": len(self.dev), "left out": self.lost}
        return {**own, "majority": _majority(self.dev), **more}

    def plain(self) -> Iterator[_Asked]:
        """Retraining without what each method names; at rate 0 once for all methods."""
        bound, model = operator(self.removal), self.maps.model
        if 0 in self.rates:
            first = next(iter(self.maps.scores.values()))
            train, dev = (removed_data(d, first, 0.0, model=model) for d in (self.train, self.dev))
            yield from self._seeded(self.spec, train, dev, TEST, "", self.facts(rate=0.0, removal=bound.label))
        for method, scores in self.maps.scores.items():
            for rate in self.steps:
                train, dev = (
                    removed_data(d, scores, rate, bound, model=model, seed=self.seed) for d in (self.train, self.dev)
                )
                emptied = sum(d.notes["removed"]["emptied fields"] for d in (train, dev))
                facts = self.facts(rate=rate, removal=bound.label, emptied=emptied)
                yield from self._seeded(self.spec, train, dev, TEST, method, facts)

    def controls(self) -> Iterator[_Asked]:
        """Retraining on the places alone: they are the same whatever operator removes the words."""
        spec = Classifier.of(WHERE)
        for method, scores in self.maps.scores.items():
            for rate in self.steps:
                train, dev = (where_data(d, scores, rate) for d in (self.train, self.dev))
                facts = self.facts(rate=rate, removal=PLACES, classifier=spec.label)
                yield from self._seeded(spec, train, dev, CONTROL, method, facts)

    def chains(self, names: Sequence[str]) -> Iterator[_Asked]:
        """One chain of steps per method and seed."""
        removal = operator(self.removal).label
        for name in names:
            (method,) = resolve.methods([name], seed=self.seed)
            for s in self.seeds:
                chain = Chain(
                    self.spec, self.train, self.dev, s, name, self.removal, self.steps, self.unit, self.target
                )
                facts = (self.facts(rate=r, removal=removal) for r in self.steps)
                yield _Asked(chain, tuple(_point(RECURSIVE, method.label, s, f) for f in facts))

    def _seeded(
        self, spec: Classifier, train: Dataset, dev: Dataset, test: str, method: str, facts: Mapping[str, Any]
    ) -> Iterator[_Asked]:
        return (_Asked(Job(spec, train, dev, s), (_point(test, method, s, facts),)) for s in self.seeds)

    def explaining(self) -> list[Record]:
        """What explaining took, one record per method; a method that explained nothing has the reason instead."""
        gone = {r.method: r.reason for r in self.maps.gaps if r.method and r.method not in self.maps.scores}
        out = [Record(COST, method=m, reason=reason) for m, reason in gone.items()]
        for method, scores in self.maps.scores.items():
            cost = sum((e.cost for e in scores.values()), Cost())
            values = {"examples": float(len(scores)), "tokens": float(cost.tokens), "seconds": cost.seconds}
            out.append(Record(COST, method=method, values=values, cost=cost))
        return out


def _majority(dev: Dataset) -> float:
    gold = [e.gold for e in dev.examples if e.gold is not None]
    if len(gold) < len(dev) or not gold:
        raise BadInput(f"{dev.name}: ROAR needs labelled examples that every method can explain; there are {len(gold)}")
    return float(np.bincount(gold).max() / len(gold))


def _point(test: str, method: str, seed: int, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {"test": test, "method": method, "replicate": str(seed), "detail": dict(facts)}


# ------------------------------------------------------------------------------------------------ running


def work(job: Job | Chain) -> list[Ended]:
    """What a worker process does."""
    return recursive_chain(job) if isinstance(job, Chain) else [retrain(job)]


def _done(asked: Sequence[_Asked], workers: int, out: str | Path | None, progress: Progress | None) -> list[Record]:
    """Records in the order of the jobs; those that ``out`` holds are not made again."""
    keys = [a.keys for a in asked] if out is not None else [()] * len(asked)
    found = {i: _records(asked[i], ends) for i, ends in _stored(out, keys).items()}
    todo = [i for i in range(len(asked)) if i not in found]
    finished = run_all(work, [asked[i].job for i in todo], workers, lost=lambda reason: [Ended(None, reason, 0.0)])
    for number, result in enumerate(finished, 1):
        i = todo[result.number]
        found[i] = _records(asked[i], result.result)
        _store(out, keys[i], found[i])
        if progress is not None:
            progress("retraining", number / len(todo))
    return [r for i in range(len(asked)) for r in found[i]]


def _records(asked: _Asked, results: Sequence[Ended]) -> list[Record]:
    """One per point; a process that died gave one result for all of its points."""
    ended = list(results) * len(asked.points) if len(results) == 1 else list(results)
    return [
        Record(values=e.values, reason=e.reason, cost=Cost(seconds=e.seconds), **point)
        for point, e in zip(asked.points, ended, strict=True)
    ]


def _stored(out: str | Path | None, keys: Sequence[tuple[str, ...]]) -> dict[int, list[Ended]]:
    """What finished jobs came to, by number; failures are tried again."""
    if out is None:
        return {}
    with Store.open(out) as store:
        filed = store.filed_records(keys=[k for each in keys for k in each])
        good = {f.key: Ended(f.record.values, "", f.record.cost.seconds) for f in filed if f.record.values is not None}
    return {i: [good[k] for k in each] for i, each in enumerate(keys) if good.keys() >= set(each)}


def _store(out: str | Path | None, keys: Sequence[str], records: Sequence[Record]) -> None:
    if out is not None:
        with Store.open(out, write=True) as store:
            store.put(records=zip(keys, records, strict=True), model=FILED)
