"""Uniform attention: is a model that learns with equal weights on all words worse at all?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay import stats
from assay.trials.attention_models import (
    BASE_SEED,
    Made,
    Progress,
    Recipe,
    Sets,
    bench,
    f1,
    f1_difference,
    f1_estimate,
)
from assay.types import Dataset, Estimate, Record

TEST = "uniform-attention"


@dataclass(frozen=True, slots=True)
class UniformAttention:
    """Base and uniform models of the same seeds; ``difference`` = base - uniform of the first seed, over examples."""

    base: Estimate
    uniform: Estimate
    difference: Estimate
    over_seeds: Estimate
    """Mean of base - uniform over seeds; an interval when there are two or more."""
    base_accuracy: Estimate
    uniform_accuracy: Estimate
    accuracy_difference: Estimate
    tvd: Estimate
    jsd: Estimate
    seconds: float
    records: tuple[Record, ...]


def uniform_attention(
    train: Dataset,
    dev: Dataset,
    test: Dataset,
    *,
    seeds: Sequence[int] = (BASE_SEED,),
    recipe: str | Recipe = "small",
    out: str | Path | None = None,
    workers: int = 2,
    progress: Progress | None = None,
) -> UniformAttention:
    """Train a model as it is and one whose attention is 1 / (number of words), in training and test alike.

    F1 (of the second of two classes, else the mean over classes) on ``test``, difference = base - uniform for each
    seed. A small difference: attention is not needed here, so no test of attention on this data says much; a large
    one: attention earns its keep. Known failure: one seed's difference mixes chance of training with the effect; give
    several. One record per test example and seed: gold, both choices, TVD of the answers and JSD of the attentions.
    Wiegreffe & Pinter 2019.
    """
    with bench(train, dev, test, recipe=recipe, out=out, workers=workers, progress=progress) as b:
        jobs = [job for s in seeds for job in (b.plain(s, attention="additive"), b.plain(s, attention="uniform"))]
        made = b.must(jobs, "base and uniform")
        pairs = list(zip(made[::2], made[1::2], strict=True))
        records = tuple(r for s, pair in zip(seeds, pairs, strict=True) for r in _records(b.sets, s, *pair))
        return _summed(b.sets, pairs, records)


def _records(sets: Sets, seed: int, base: Made, uniform: Made) -> list[Record]:
    from assay.changes.shown import jsd, tvd

    columns = {
        "gold": sets.gold, "base": base.test.choice, "uniform": uniform.test.choice,
        "tvd": tvd(base.test, uniform.test), "jsd": jsd(base.test, uniform.test), "max_attention": base.test.top,
    }  # fmt: skip
    return [
        Record(TEST, e.id, replicate=str(seed), values={k: float(v[i]) for k, v in columns.items()})
        for i, e in enumerate(sets.test.examples)
    ]


def _summed(sets: Sets, pairs: Sequence[tuple[Made, Made]], records: tuple[Record, ...]) -> UniformAttention:
    gold, classes = sets.gold, len(sets.labels)
    choices = [(a.test.choice, u.test.choice) for a, u in pairs]
    gaps = [f1(a, gold, classes) - f1(u, gold, classes) for a, u in choices]
    base, uniform = choices[0]
    first = records[: len(gold)]
    return UniformAttention(
        base=f1_estimate(base, gold, classes),
        uniform=f1_estimate(uniform, gold, classes),
        difference=f1_difference(base, uniform, gold, classes),
        over_seeds=stats.mean(gaps),
        base_accuracy=stats.mean(base == gold),
        uniform_accuracy=stats.mean(uniform == gold),
        accuracy_difference=stats.paired(base == gold, uniform == gold),
        tvd=stats.mean(_column(first, "tvd")),
        jsd=stats.mean(_column(first, "jsd")),
        seconds=sum(m.seconds for pair in pairs for m in pair),
        records=records,
    )


def _column(records: Sequence[Record], name: str) -> np.ndarray:
    return np.array([r.values[name] for r in records if r.values is not None])
