"""Guided MLP: do attention weights, or any method's scores, help a model that sees no context?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay import stats
from assay.registry import did_you_mean
from assay.trials.attention_models import (
    BASE_SEED,
    Bench,
    Job,
    Made,
    Progress,
    Recipe,
    Sets,
    bench,
    f1_difference,
    f1_estimate,
)
from assay.types import BadInput, Dataset, Estimate, Floats, Record, content_key

TEST = "guided-mlp"
GUIDES = ("uniform", "own", "base", "adversary", "permuted-base", "other-seed")
"""``own``: the word-by-word model's own additive attention, trained with it. The last two are controls."""
ALL = ("train", "dev", "test")
Scores = Mapping[str, Floats]
"""Example id -> one score per free word."""


@dataclass(frozen=True, slots=True)
class Guided:
    """One guide: F1 and accuracy on the test set, and how much better than uniform weights it is."""

    guide: str
    f1: Estimate
    accuracy: Estimate
    over_uniform: Estimate | None
    """F1 minus that of uniform weights, on the same examples; None for uniform itself, or when it was not asked for."""
    flat: int
    """Maps of zeros, which weighed all words alike."""
    seconds: float


@dataclass(frozen=True, slots=True)
class GuidedMLP:
    """All guides, best F1 first."""

    rows: tuple[Guided, ...]
    base_f1: Estimate
    """Of the contextual model whose attention is the guide ``base``."""
    records: tuple[Record, ...]


def guided_mlp(
    train: Dataset,
    dev: Dataset,
    test: Dataset,
    *,
    guides: Sequence[str] = GUIDES,
    scores: Mapping[str, Scores] | None = None,
    weight: float = 2e-3,
    epochs: int = 40,
    other_seed: int = 50,
    seed: int = BASE_SEED,
    recipe: str | Recipe = "small",
    out: str | Path | None = None,
    workers: int = 2,
    progress: Progress | None = None,
) -> GuidedMLP:
    """Train a word-by-word classifier under imposed weights: context = sum_t w_t tanh(W e_t + b), then a linear layer.

    F1 and accuracy on ``test`` under each guide. Higher than ``uniform``: the weights carry something about the words
    that holds without the model they came from. ``scores``: more guides, name -> {example id: scores} for all three
    sets; |scores| are normalised to sum to one, so explanations of any method can be ranked. ``adversary`` comes from a
    trained adversary of this ``weight`` (twice the paper's lambda, see there) and ``epochs``.
    Known failure: weights made by a model that saw the labels may tell them by their shape alone. The control
    ``permuted-base`` keeps the shape and moves the weights to other words of the text; ``other-seed`` takes the base's
    place by a second training. One record per guide. Wiegreffe & Pinter 2019.
    """
    more = dict(scores or {})
    for name in guides:
        if name not in GUIDES:
            raise BadInput(f"guided-mlp has no guide '{name}'{did_you_mean(name, list(GUIDES))}; give others as scores")
    if clash := set(more) & set(GUIDES):
        raise BadInput(f"guided-mlp: '{min(clash)}' is a guide of its own; give the scores another name")
    with bench(train, dev, test, recipe=recipe, out=out, workers=workers, progress=progress) as b:
        made = _sources(b, guides, seed, other_seed, weight, epochs)
        jobs, flat = _jobs(b, guides, more, made, seed)
        done = dict(zip(jobs, b.run(list(jobs.values()), "guided models"), strict=True))
        return _summed(b.sets, b.recipe, done, flat, made["base"])


def _sources(
    b: Bench, guides: Sequence[str], seed: int, other_seed: int, weight: float, epochs: int
) -> dict[str, Made]:
    """The models whose attention guides."""
    jobs = {"base": b.plain(seed, attention="additive", show=ALL)}
    if "other-seed" in guides:
        jobs["other-seed"] = b.plain(other_seed, attention="additive", show=ALL)
    made = dict(zip(jobs, b.must(list(jobs.values()), "models that guide"), strict=True))
    if "adversary" in guides:
        adversary = b.adversary(made["base"].folder, seed, weight=weight, epochs=epochs, show=ALL)
        made["adversary"] = b.must([adversary], "the adversary that guides")[0]
    return made


def _jobs(
    b: Bench, guides: Sequence[str], scores: Mapping[str, Scores], made: Mapping[str, Made], seed: int
) -> tuple[dict[str, Job], dict[str, int]]:
    base = made["base"]
    weights: dict[str, dict[str, Floats]] = {
        "base": weights_of(b.sets, base),
        "uniform": {k: np.full(len(v), 1 / len(v)) for k, v in weights_of(b.sets, base).items()},
        "permuted-base": {k: permuted(v, seed, k) for k, v in weights_of(b.sets, base).items()},
        **{name: weights_of(b.sets, m) for name, m in made.items()},
    }
    jobs = {name: b.guided(base.folder, weights[name], seed) for name in guides if name != "own"}
    if "own" in guides:
        jobs["own"] = b.plain(seed, encoder="average", attention="additive")
    flat = dict.fromkeys(jobs, 0)
    for name, given in scores.items():
        found, flat[name] = _given(b.sets, base.folder, given)
        jobs[name] = b.guided(base.folder, found, seed)
    return jobs, flat


def weights_of(sets: Sets, made: Made) -> dict[str, Floats]:
    """Example id -> a model's attention, of all three sets; ids must differ across them."""
    out: dict[str, Floats] = {}
    for name, data in zip(ALL, sets.each, strict=True):
        for e, attention in zip(data.examples, made.shown[name].attention, strict=True):
            if e.id in out:
                raise BadInput(f"guided-mlp: the id '{e.id}' is used twice across train, dev and test; ids must differ")
            out[e.id] = attention
    return out


def permuted(weights: Floats, seed: int, example: str) -> Floats:
    """The same weights on other words of the text."""
    rng = np.random.default_rng(int(content_key("permuted guide", seed, example), 16))
    return np.asarray(rng.permutation(weights))


def _given(sets: Sets, base: Path, scores: Scores) -> tuple[dict[str, Floats], int]:
    from assay.changes.guided import guide_weights
    from assay.models.attention_rnn import load

    model, flat = load(base, device="cpu"), 0
    out: dict[str, Floats] = {}
    for data in sets.each:
        found, empty = guide_weights(model, data, scores)
        out |= found
        flat += empty
    return out, flat


def _summed(sets: Sets, recipe: Recipe, done: Mapping[str, Made], flat: Mapping[str, int], base: Made) -> GuidedMLP:
    gold, classes = sets.gold, len(sets.labels)
    rows, records = [], []
    uniform = done.get("uniform")
    for name, m in done.items():
        if m.reason:
            records.append(Record(TEST, method=name, reason=m.reason))
            continue
        choice = m.test.choice
        compared = name != "uniform" and uniform is not None and not uniform.reason
        better = f1_difference(choice, uniform.test.choice, gold, classes) if compared and uniform else None
        row = Guided(
            name, f1_estimate(choice, gold, classes), stats.mean(choice == gold), better, flat[name], m.seconds
        )
        rows.append(row)
        records.append(_record(row, recipe, choice, sets))
    rows.sort(key=lambda r: -r.f1.value)
    return GuidedMLP(tuple(rows), f1_estimate(base.test.choice, gold, classes), tuple(records))


def _record(row: Guided, recipe: Recipe, choice: Any, sets: Sets) -> Record:
    values = {"f1": row.f1.value, "accuracy": row.accuracy.value}
    detail = {"recipe": recipe.label, "flat maps": row.flat, "seconds": row.seconds, "test": len(sets.test)}
    detail["choices"] = dict(zip([e.id for e in sets.test.examples], choice.tolist(), strict=True))
    return Record(TEST, method=row.guide, values=values, detail=detail)
