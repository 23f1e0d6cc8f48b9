"""Seed variance: how far does attention move when nothing but the seed of training changes?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay import stats
from assay.trials.attention_models import BASE_SEED, Made, Progress, Recipe, Sets, bench, f1
from assay.types import AssayError, BadInput, Dataset, Estimate, Floats, Record

TEST = "seed-variance"
SEEDS = (50, 257, 500231, 100078, 12504, 90754789, 8988812, 2)
"""Wiegreffe & Pinter's eight."""
BINS = 4
"""Equal bins of the largest base attention on [0, 1]."""


@dataclass(frozen=True, slots=True)
class SeedPoint:
    """One seed against the base: mean JSD of attention, mean TVD of answers, F1."""

    seed: int
    jsd: float
    tvd: float
    f1: float
    seconds: float


@dataclass(frozen=True, slots=True)
class SeedVariance:
    """Estimates over test examples; ``by_class`` is by the base's choice, ``bins`` by its largest attention."""

    jsd: Estimate
    """Of the median over seeds of JSD(base, seed)."""
    change: Estimate
    """Of the mean over seeds of |p - p_base| (half the sum over classes)."""
    by_class: Mapping[str, Estimate]
    bins: tuple[tuple[float, Estimate], ...]
    """(lower edge, JSD of the examples in the bin)."""
    f1: Estimate
    """Over the seeds and the base."""
    points: tuple[SeedPoint, ...]
    base_seed: int
    failed: tuple[str, ...]
    records: tuple[Record, ...]


def seed_variance(
    train: Dataset,
    dev: Dataset,
    test: Dataset,
    *,
    seeds: Sequence[int] = SEEDS,
    base_seed: int = BASE_SEED,
    recipe: str | Recipe = "small",
    out: str | Path | None = None,
    workers: int = 2,
    progress: Progress | None = None,
) -> SeedVariance:
    """Train the same model from several seeds (initialisation and order of batches) and compare attention.

    Per test example: ``jsd`` = median over seeds of JSD(base, seed), ``change`` = mean over seeds of TVD of the
    answers, ``max_attention`` of the base, ``choice`` of the base. Low JSD: training settles on the same words, so an
    adversary's attention far beyond it is no accident of training; high: attention was never pinned down. Known
    failure: near-uniform attention has a small JSD whatever the words mean. Each seed is a training of its own, in as
    many processes as there are workers (several nets in one batched pass are slower on a CPU). A training that fails
    is a record with its reason. Wiegreffe & Pinter 2019 (their caption says maximum; their code takes the median).
    """
    if not seeds or base_seed in seeds:
        raise BadInput(f"seed-variance needs seeds other than the base's ({base_seed}), got {list(seeds)}")
    with bench(train, dev, test, recipe=recipe, out=out, workers=workers, progress=progress) as b:
        base, *others = b.run([b.plain(s, attention="additive") for s in (base_seed, *seeds)], "seeds")
        if base.reason or all(m.reason for m in others):
            raise AssayError(f"seed-variance: a training failed ({base.reason or others[0].reason})")
        return _summed(b.sets, base, {s: m for s, m in zip(seeds, others, strict=True)}, base_seed)


def _summed(sets: Sets, base: Made, others: Mapping[int, Made], base_seed: int) -> SeedVariance:
    from assay.changes.shown import jsd, tvd

    done = {s: m for s, m in others.items() if not m.reason}
    apart = np.stack([jsd(base.test, m.test) for m in done.values()])
    moved = np.stack([tvd(base.test, m.test) for m in done.values()])
    middle, mean = np.median(apart, axis=0), moved.mean(axis=0)
    gold, classes, choice, top = sets.gold, len(sets.labels), base.test.choice, base.test.top
    points = tuple(
        SeedPoint(s, float(apart[k].mean()), float(moved[k].mean()), f1(m.test.choice, gold, classes), m.seconds)
        for k, (s, m) in enumerate(done.items())
    )
    failed = tuple(f"seed {s}: {m.reason}" for s, m in others.items() if m.reason)
    records = _records(sets, middle, mean, top, choice, apart, list(done))
    return SeedVariance(
        jsd=stats.mean(middle),
        change=stats.mean(mean),
        by_class={name: stats.mean(middle[choice == c]) for c, name in enumerate(sets.labels)},
        bins=binned(top, middle),
        f1=stats.mean([f1(base.test.choice, gold, classes), *(p.f1 for p in points)]),
        points=points,
        base_seed=base_seed,
        failed=failed,
        records=(*records, *(Record(TEST, reason=reason) for reason in failed)),
    )


def binned(top: Floats, values: Floats, bins: int = BINS) -> tuple[tuple[float, Estimate], ...]:
    """Values by equal bins of ``top`` on [0, 1]; a weight of exactly 1 is in the last.

    >>> [(low, e.value) for low, e in binned(np.array([0.1, 1.0]), np.array([3.0, 5.0]), 2)]
    [(0.0, 3.0), (0.5, 5.0)]
    """
    number = np.minimum((np.asarray(top) * bins).astype(int), bins - 1)
    return tuple((k / bins, stats.mean(np.asarray(values)[number == k])) for k in range(bins))


def _records(
    sets: Sets, middle: Floats, mean: Floats, top: Floats, choice: NDArray[Any], apart: Floats, seeds: Sequence[int]
) -> list[Record]:
    return [
        Record(
            TEST,
            e.id,
            values={
                "jsd": float(middle[i]), "change": float(mean[i]), "max_attention": float(top[i]),
                "choice": float(choice[i]),
            },
            detail={"jsd by seed": {str(s): round(float(apart[k, i]), 6) for k, s in enumerate(seeds)}},
        )
        for i, e in enumerate(sets.test.examples)
    ]  # fmt: skip
