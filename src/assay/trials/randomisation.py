"""Randomisation: do a method's maps change when what the model's top learned is drawn anew?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from assay import resolve
from assay.case import PREDICTION, CaseResult, Known, Work, applicable, case
from assay.changes.reinitialise import reinitialise
from assay.engine import Done, Engine
from assay.measures.ranking import NEAR, complete, levels
from assay.stats import spearman
from assay.types import AssayError, BadInput, Dataset, Example, Explanation, Floats, Record, Seed, Target

__all__ = ["compared", "randomisation", "scaled", "sign_changes"]

TEST = "randomisation"


def randomisation(
    model: Any,
    data: Any,
    methods: Sequence[str] = ("leave-one-out", "gradient", "attention", "random"),
    *,
    seeds: int = 3,
    what: Literal["head", "cascade"] = "head",
    modules: int = 1,
    own_label: bool = False,
    limit: int | None = None,
    unit: str = "word",
    hold: tuple[str, ...] = (),
    seed: int = 0,
) -> list[Record]:
    """Explain each example under the model and under ``seeds`` copies whose top is drawn anew (``reinitialise``).

    Per example, method and copy (``replicate``), over the free words: ``sign_change`` = share of words whose score has
    another sign (or has one in one map only); ``difference`` = mean |a - b| of maps divided by their largest |score|;
    ``spearman`` = rank correlation (none where a map has one value for all words); ``label_flip`` = 1 if the copy
    chooses another class. No change at all: the method does not look at what was drawn anew. Both models explain the
    class that the original chose. ``own_label``: the copy explains its own choice instead, as Pham et al. 2022's code
    does; with two classes a flipped label then flips every sign, so read ``label_flip`` beside it.
    Evidence, not a score: a large change does not make a method faithful, noise changes most (Binder et al. 2023), and
    a copy may compute much of what the original did (Kokhlikyan et al. 2021). Methods that draw meet the same draws in
    both models. What could not be computed is a record with its reason. Adebayo et al. 2018; Pham et al. 2022.
    """
    if seeds < 1:
        raise BadInput(f"randomisation: seeds must be at least 1, got {seeds}")
    model = resolve.model(model)
    found = resolve.methods(methods, seed=seed)
    test = f"{TEST}(own_label=true)" if own_label else TEST
    out = [Record(test, method=m.label, reason=reason) for m in found if (reason := applicable(m, model))]
    work = Work(model, tuple(m for m in found if not applicable(m, model)), (), "own", unit, hold, seed)
    examples = _examples(data, model, limit)
    before = _seen(work, examples, {})
    targets = {} if own_label else {key: s.target for key, s in before.items() if s.target is not None}
    for k in range(seeds):
        copy = reinitialise(model, what=what, modules=modules, seed=Seed(seed + k))
        after = _seen(replace(work, model=copy), examples, targets)
        for e in examples:
            out += _records(work, test, e, f"seed {seed + k}", before[e.content], after[e.content])
    return out


def _examples(data: Any, model: Any, limit: int | None) -> tuple[Example, ...]:
    found: Dataset = resolve.matched(resolve.distinct(resolve.data(data)).sample(limit), model)
    return found.examples


# ------------------------------------------------------------------------------------- maps of one model


@dataclass(frozen=True, eq=False, slots=True)
class _Seen:
    """What one model makes of one example: its choice, the explained class, maps and failures by method key."""

    choice: float | None = None
    target: Target | None = None
    maps: Mapping[str, Explanation] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""
    """Why there is nothing at all."""


def _seen(work: Work, examples: Sequence[Example], targets: Mapping[str, Target]) -> dict[str, _Seen]:
    """By example content; an example without a given target is explained for the model's own choice."""
    todo = ((e, case(replace(work, target=targets.get(e.content, "own")), e, Known())) for e in examples)
    return {done.key.content: _of(done) for done in Engine(work.model).run(todo)}


def _of(done: Done[Example]) -> _Seen:
    if done.error is not None:
        if not isinstance(done.error, AssayError):
            raise done.error
        return _Seen(failure=str(done.error))
    result: CaseResult = done.result
    choice = next(f.record.values["choice"] for f in result.records if f.test == PREDICTION and f.record.values)
    maps = dict(result.explanations)
    target = next((made.target for made in maps.values()), None)
    return _Seen(choice, target, maps, {f.method: f.record.reason for f in result.records if f.record.reason})


# ------------------------------------------------------------------------------------------ comparing


def _records(work: Work, test: str, e: Example, replicate: str, before: _Seen, after: _Seen) -> list[Record]:
    failure = before.failure or after.failure
    if failure:
        return [Record(test, e.id, replicate=replicate, reason=failure)]
    flip = float(before.choice != after.choice)
    return [_record(Record(test, e.id, m.label, replicate=replicate), m.key, before, after, flip) for m in work.methods]


def _record(empty: Record, key: str, before: _Seen, after: _Seen, flip: float) -> Record:
    reason = before.reasons.get(key) or after.reasons.get(key)
    if reason:
        return replace(empty, reason=reason)
    one, two = before.maps[key], after.maps[key]
    try:
        a, b = complete(one.x, one.scores), complete(two.x, two.scores)
    except AssayError as error:
        return replace(empty, reason=str(error))
    detail = {"original": a.tolist(), "copy": b.tolist(), "explained": [one.target_name, two.target_name]}
    return replace(empty, values=compared(a, b) | {"label_flip": flip}, detail=detail, cost=one.cost + two.cost)


def compared(a: Floats, b: Floats) -> dict[str, float]:
    """How two maps of one text differ.

    >>> found = compared(np.array([2.0, 1.0, -1.0]), np.array([4.0, -2.0, -2.0]))
    >>> {name: round(v, 4) for name, v in found.items()}
    {'sign_change': 0.3333, 'difference': 0.3333, 'spearman': 0.866}
    """
    values = {"sign_change": sign_changes(a, b), "difference": float(np.abs(scaled(a) - scaled(b)).mean())}
    rank = spearman(levels(a), levels(b)).value
    return values if rank is None else values | {"spearman": rank}


def sign_changes(a: Floats, b: Floats) -> float:
    """Share of words whose score is above, at or below zero (up to rounding) in one map and not so in the other.

    >>> sign_changes(np.array([2.0, 0.0, -1.0, 3.0]), np.array([1.0, 1e-12, 1.0, 0.0]))
    0.5
    """
    one, two = (np.sign(np.where(np.abs(s) <= NEAR, 0.0, s)) for s in (scaled(a), scaled(b)))
    return float((one != two).mean())


def scaled(scores: Floats) -> Floats:
    """The map divided by its largest |score|, so that it lies in [-1, 1]; a map of zeros stays.

    >>> scaled(np.array([2.0, -4.0])).tolist()
    [0.5, -1.0]
    """
    top = float(np.abs(scores).max(initial=0.0))
    return scores / top if top > 0 else scores
