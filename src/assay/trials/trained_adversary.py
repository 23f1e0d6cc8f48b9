"""Trained adversary: how far can a whole model's attention be moved, and what does it cost in its answers?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from assay import stats
from assay.trials.attention_models import BASE_SEED, Bench, Made, Progress, Recipe, Sets, bench, f1_estimate
from assay.types import AssayError, BadInput, Dataset, Estimate, Record

TEST = "trained-adversary"
WEIGHTS = (0.0, 1e-4, 5e-4, 9e-4, 1e-3, 1.05e-3, 1.1e-3, 1.5e-3, 2e-3, 2e-2, 0.2)
"""Twice the lambdas of Wiegreffe & Pinter's SST table, because TVD here is twice theirs."""
MOVED = 0.4
"""Mean JSD from which the paper calls an attention moved (Table 4)."""


@dataclass(frozen=True, slots=True)
class Adversary:
    """One adversary on the test set: how far attention and answers lie from the base's, and how good it is."""

    weight: float
    jsd: Estimate
    tvd: Estimate
    f1: Estimate
    by_class: Mapping[str, tuple[float, float]]
    """Class that the base chose -> (mean JSD, mean TVD)."""
    epochs: int
    seconds: float


@dataclass(frozen=True, slots=True)
class AdversaryCurve:
    """Adversaries by rising weight; ``best``: of those with mean JSD > 0.4, the one of highest F1 (None if none is)."""

    points: tuple[Adversary, ...]
    base_f1: Estimate
    convexity: float
    by_class: Mapping[str, float]
    """Convexity of each class's own curve."""
    failed: tuple[str, ...]
    records: tuple[Record, ...]

    @property
    def best(self) -> Adversary | None:
        """The adversary that Table 4 would show."""
        moved = [p for p in self.points if p.jsd.value > MOVED]
        return max(moved, key=lambda p: p.f1.value, default=None)


@dataclass(frozen=True, slots=True)
class Transition:
    """Between ``low`` and ``high`` (weights) the mean JSD passes ``level``; every adversary trained on the way."""

    low: float
    high: float
    level: float
    jsd: tuple[float, float]
    """Mean JSD at both ends."""
    points: tuple[Adversary, ...]


Select = Literal["dev", "train-loss"]


def trained_adversary(
    train: Dataset,
    dev: Dataset,
    test: Dataset,
    base: str | Path | None = None,
    *,
    weights: Sequence[float] = WEIGHTS,
    epochs: int = 40,
    patience: int = 10,
    select_on: Select = "dev",
    seed: int = BASE_SEED,
    recipe: str | Recipe = "small",
    out: str | Path | None = None,
    workers: int = 2,
    progress: Progress | None = None,
) -> AdversaryCurve:
    """Train one adversary of ``base`` per weight: min mean TVD(p, p_base) - weight * mean KL(a || a_base).

    ``base``: folder of an attention model, by default one trained by the recipe. Points (mean JSD of attention, mean
    TVD of answers) on ``test`` make a curve; its ``convexity`` is the shape as a number. A curve that stays near TVD 0
    until JSD is large (convex): attention is easily manipulated. One that rises at once: moving attention costs
    answers, so attention was tied to them. Known failure: KL has no bound, so the way from near to far is often one
    jump between two weights (see ``transition``). Right labels are never seen in training. One record per weight.
    Wiegreffe & Pinter 2019; their TVD and lambda are half of these.
    """
    if not weights or min(weights) < 0:
        raise BadInput(f"trained-adversary: weights must be 0 or more, got {list(weights)}")
    with bench(train, dev, test, recipe=recipe, out=out, workers=workers, progress=progress) as b:
        first = _base(b, base, seed)
        found, failed = _adversaries(b, first, sorted(set(weights)), epochs, patience, select_on, seed)
        return _curve(b.sets, first, found, failed, b.recipe)


def transition(
    train: Dataset,
    dev: Dataset,
    test: Dataset,
    base: str | Path | None = None,
    *,
    low: float = 1e-4,
    high: float = 2e-2,
    level: float = MOVED,
    ratio: float = 1.1,
    epochs: int = 40,
    patience: int = 10,
    select_on: Select = "dev",
    seed: int = BASE_SEED,
    recipe: str | Recipe = "small",
    out: str | Path | None = None,
    workers: int = 2,
    progress: Progress | None = None,
) -> Transition:
    """The weights between which the adversaries' mean JSD passes ``level``, until high / low <= ``ratio``.

    Halves the gap in the logarithm; with several workers as many weights at once, so each round divides it by more.
    JSD grows with the weight but for chance; where it does not, the crossing found is one of several.
    """
    with bench(train, dev, test, recipe=recipe, out=out, workers=workers, progress=progress) as b:
        first = _base(b, base, seed)

        def ask(some: Sequence[float]) -> list[Adversary]:
            found, failed = _adversaries(b, first, some, epochs, patience, select_on, seed)
            if failed:
                raise AssayError(f"transition: a training failed ({next(iter(failed.values()))})")
            return [_point(b.sets, first, w, m) for w, m in found.items()]

        return bisect(ask, low, high, level=level, ratio=ratio, at_once=workers)


def bisect(
    ask: Callable[[Sequence[float]], Sequence[Adversary]],
    low: float,
    high: float,
    *,
    level: float = MOVED,
    ratio: float = 1.1,
    at_once: int = 1,
) -> Transition:
    """Narrow [low, high] round the crossing of ``level``; ``ask`` gives the adversaries of some weights."""
    if not 0 < low < high or ratio <= 1:
        raise BadInput(f"transition needs 0 < low < high and ratio > 1, got {low}, {high} and {ratio}")
    seen = {p.weight: p for p in ask([low, high])}
    if not seen[low].jsd.value < level <= seen[high].jsd.value:
        ends = f"{seen[low].jsd.value:.3f} and {seen[high].jsd.value:.3f}"
        raise AssayError(f"transition: mean JSD at the two weights is {ends}, not on both sides of {level}; widen them")
    while high / low > ratio * (1 + 1e-9):
        inner = np.geomspace(low, high, at_once + 2)[1:-1].tolist()
        seen |= {p.weight: p for p in ask(inner)}
        path = [low, *inner, high]
        low, high = next((a, b) for a, b in pairwise(path) if seen[b].jsd.value >= level)
    points = tuple(seen[w] for w in sorted(seen))
    return Transition(low, high, level, (seen[low].jsd.value, seen[high].jsd.value), points)


def convexity(points: Sequence[tuple[float, float]]) -> float:
    """Chord minus curve: area under the straight line from first to last (JSD, TVD) minus area under the points.

    Both axes are scaled to the span of the ends, so 0.5 is a curve flat until its end (attention moves for free), 0 a
    straight line, below 0 a curve that rises at once. NaN without two different ends.

    >>> convexity([(0.0, 0.0), (0.5, 0.0), (1.0, 1.0)])
    0.25
    """
    order = sorted(points)
    x, y = (np.array([p[k] for p in order], dtype=np.float64) for k in (0, 1))
    if len(order) < 2 or x[-1] <= x[0] or y[-1] == y[0]:
        return float("nan")
    x, y = (x - x[0]) / (x[-1] - x[0]), (y - y[0]) / abs(y[-1] - y[0])
    return float(y[-1] / 2 - np.trapezoid(y, x))


# ------------------------------------------------------------------------------------------------- running


def _base(b: Bench, folder: str | Path | None, seed: int) -> Made:
    from assay.changes.encoded import Encoded
    from assay.changes.shown import shown
    from assay.models.attention_rnn import load

    if folder is None:
        return b.must([b.plain(seed, attention="additive")], "the base")[0]
    model = load(folder)
    return Made(Path(folder), {"test": shown(model, Encoded(model, b.sets.test))}, model.notes)


def _adversaries(
    b: Bench, base: Made, weights: Sequence[float], epochs: int, patience: int, select_on: Select, seed: int
) -> tuple[dict[float, Made], dict[float, str]]:
    settings: dict[str, Any] = {"epochs": epochs, "patience": patience, "select_on": select_on}
    made = b.run([b.adversary(base.folder, seed, weight=float(w), **settings) for w in weights], "adversaries")
    found = dict(zip(weights, made, strict=True))
    return {w: m for w, m in found.items() if not m.reason}, {w: m.reason for w, m in found.items() if m.reason}


def _point(sets: Sets, base: Made, weight: float, made: Made) -> Adversary:
    from assay.changes.shown import jsd, tvd

    apart, moved, choice = jsd(base.test, made.test), tvd(base.test, made.test), base.test.choice
    classes = [(name, choice == c) for c, name in enumerate(sets.labels)]
    by_class = {name: (float(apart[m].mean()), float(moved[m].mean())) for name, m in classes if m.any()}
    found = f1_estimate(made.test.choice, sets.gold, len(sets.labels))
    return Adversary(
        weight, stats.mean(apart), stats.mean(moved), found, by_class, int(made.notes["epochs"]), made.seconds
    )


def _curve(
    sets: Sets, base: Made, found: Mapping[float, Made], failed: Mapping[float, str], recipe: Recipe
) -> AdversaryCurve:
    points = tuple(_point(sets, base, w, m) for w, m in found.items())
    names = [n for n in sets.labels if all(n in p.by_class for p in points)]
    records = [_record(p, recipe) for p in points]
    records += [Record(TEST, replicate=f"{w:g}", reason=reason) for w, reason in failed.items()]
    return AdversaryCurve(
        points=points,
        base_f1=f1_estimate(base.test.choice, sets.gold, len(sets.labels)),
        convexity=convexity([(p.jsd.value, p.tvd.value) for p in points]),
        by_class={n: convexity([p.by_class[n] for p in points]) for n in names},
        failed=tuple(f"weight {w:g}: {reason}" for w, reason in failed.items()),
        records=tuple(records),
    )


def _record(p: Adversary, recipe: Recipe) -> Record:
    values = {"weight": p.weight, "jsd": p.jsd.value, "tvd": p.tvd.value, "f1": p.f1.value}
    for name, (apart, moved) in p.by_class.items():
        values |= {f"jsd of {name}": apart, f"tvd of {name}": moved}
    detail = {"recipe": recipe.label, "epochs": p.epochs, "seconds": p.seconds, "convention": "TVD over all classes"}
    return Record(TEST, replicate=f"{p.weight:g}", values=values, detail=detail)
