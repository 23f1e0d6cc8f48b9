"""Knows the recursive variant: after every step the classifier is trained anew and explains what is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay import resolve
from assay.align import owner_of_pieces
from assay.case import EXPLAIN, CaseResult, Known, Work, applicable, case
from assay.engine import Engine
from assay.measures.ranking import complete, order
from assay.registry import Bound
from assay.trials.roar_data import Without, count, operator, taken_away
from assay.trials.roar_jobs import Classifier, Ended, ended, judged, recipe, trained
from assay.types import (
    BadInput,
    Bools,
    CannotDo,
    Dataset,
    Example,
    Explanation,
    Floats,
    Input,
    Model,
    Place,
    content_key,
)


@dataclass(frozen=True, slots=True)
class Chain:
    """All steps of one method and one seed; they depend on one another, so they are one job."""

    classifier: Classifier
    train: Dataset
    dev: Dataset
    seed: int
    method: str
    removal: str
    rates: tuple[float, ...]
    unit: str = "word"
    target: str = "own"

    @property
    def key(self) -> str:
        """What fixes the results."""
        own = (self.method, self.removal, list(self.rates), self.unit, self.target)
        return content_key("chain", recipe(self.classifier, self.train, self.dev), self.seed, own)


@dataclass(frozen=True, eq=False, slots=True)
class _State:
    """An example as it was read at first, what is still there of it, and what it says now."""

    x: Input
    keep: Bools
    now: Without


def recursive(chain: Chain) -> list[Ended]:
    """One result per rate above 0 (Madsen et al. 2022, Evaluating the faithfulness of importance measures by ROAR).

    Plain ROAR underrates a method when words say the same thing twice: the second copy stays. Here the model that was
    trained without the first copy is asked again. The first words are chosen by the classifier trained on the
    untouched data; rates count words of the untouched text, and a removed word is never chosen again.
    """
    out: list[Ended] = []
    steps = _steps(chain)
    for _ in chain.rates:
        broken = bool(out) and out[-1].values is None
        out.append(Ended(None, out[-1].reason, 0.0) if broken else ended(lambda: next(steps)))
    return out


def _steps(chain: Chain) -> Iterator[dict[str, float]]:
    """Explain what is there, remove up to the next rate, train, judge; then again with the new classifier."""
    model = trained(chain.classifier, chain.train, chain.seed)
    removal = operator(chain.removal)
    train, dev = (_start(model, d, chain.unit) for d in (chain.train, chain.dev))
    for rate in chain.rates:
        train, dev = (_removed(chain, removal, model, found, rate) for found in (train, dev))
        model = trained(chain.classifier, _said_now(chain.train, train), chain.seed)
        yield judged(model, _said_now(chain.dev, dev))


def _said_now(data: Dataset, states: Sequence[_State]) -> Dataset:
    return replace(data, examples=tuple(s.now.example for s in states))


def _start(model: Model, data: Dataset, unit: str) -> list[_State]:
    inputs = [model.read(replace(e, rationale=()), unit) for e in data.examples]
    return [_State(x, np.ones(x.n, dtype=bool), Without(x.example, x.places, 0)) for x in inputs]


def _removed(chain: Chain, removal: Bound, model: Model, found: Sequence[_State], rate: float) -> list[_State]:
    explained = _explained(chain, model, [s.now.example for s in found])
    keeps = [_further(s, e, rate) for s, e in zip(found, explained, strict=True)]
    asked = [(s.x, keep) for s, keep in zip(found, keeps, strict=True)]
    done = taken_away(asked, removal, model=model, seed=chain.seed)
    return [_State(s.x, keep, now) for s, keep, now in zip(found, keeps, done, strict=True)]


def _further(state: _State, explanation: Explanation, rate: float) -> Bools:
    """What is kept after the next words went: those of highest score among the words that are still there."""
    due = count(state.x.size, rate) - int((state.x.free & ~state.keep).sum())
    there = [i for i, p in enumerate(state.now.places) if p is not None and state.x.free[i] and state.keep[i]]
    scores = carried(explanation, [state.now.places[i] for i in there])
    keep = state.keep.copy()
    keep[np.array(there, dtype=np.int64)[order(scores)[: max(0, due)]]] = False
    return keep


def carried(explanation: Explanation, places: Sequence[Place | None]) -> Floats:
    """The scores of the words at these places; a word that is now read as several has their sum, one unread 0."""
    scores, out = complete(explanation.x, explanation.scores), np.zeros(len(places))
    features = [p for p, free in zip(explanation.x.places, explanation.x.free, strict=True) if free]
    for name in explanation.example.fields:
        homes = [i for i, p in enumerate(places) if p is not None and p.field == name]
        mine = [i for i, p in enumerate(features) if p.field == name]
        spans = [(p.start, p.end) for i in homes if (p := places[i]) is not None]
        owner = owner_of_pieces([(features[i].start, features[i].end) for i in mine], spans)
        for i, o in zip(mine, owner.tolist(), strict=True):
            if o >= 0:
                out[homes[o]] += scores[i]
    return out


def _explained(chain: Chain, model: Model, examples: Sequence[Example]) -> list[Explanation]:
    (method,) = resolve.methods([chain.method], seed=chain.seed)
    if reason := applicable(method, model):
        raise CannotDo(f"{method.label} {reason}")
    work = Work(model, (method,), (), chain.target, chain.unit, (), chain.seed)
    out: dict[int, Explanation] = {}
    for done in Engine(model).run((i, case(work, e, Known())) for i, e in enumerate(examples)):
        if done.error is not None:
            raise done.error
        result: CaseResult = done.result
        if not result.explanations:
            why = next((f.record.reason for f in result.records if f.test == EXPLAIN), "no result")
            raise BadInput(f"{method.label} on example {examples[done.key].id}: {why}")
        out[done.key] = result.explanations[0][1]
    return [out[i] for i in range(len(examples))]
