"""All methods and tests on one example, as one generator: what the engine runs and the store files."""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from assay.ask import Outcome, attempt, predict, together
from assay.registry import Bound, did_you_mean
from assay.types import BadInput, Example, Explanation, Floats, Input, Model, Reading, Record, Target

EXPLAIN = "explain"
"""Test name under which it is recorded that a method gave no explanation."""
PREDICTION = "prediction"
"""Test name under which the model's own answer is recorded."""


@dataclass(frozen=True, eq=False, slots=True)
class Work:
    """What is done with every example: bound methods and tests, and how the example is read."""

    model: Model
    methods: tuple[Bound, ...]
    tests: tuple[Bound, ...] = ()
    target: Any = "own"
    unit: str = "word"
    hold: tuple[str, ...] = ()
    seed: int = 0

    @property
    def rule(self) -> str:
        """How target and features are chosen: part of every key."""
        return f"{self.target}|{self.unit}|{','.join(self.hold)}"


@dataclass(frozen=True, eq=False, slots=True)
class Known:
    """What the store already holds of one example."""

    explanations: Mapping[str, Explanation] = field(default_factory=dict)
    """By method key."""
    has: Callable[[str, str, str], bool] = lambda method, test, other: False
    """Is there a record of (method key, test key, other method's key)?"""


@dataclass(frozen=True, slots=True)
class Filed:
    """A record with the keys it is filed under."""

    record: Record
    method: str = ""
    test: str = ""
    other: str = ""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What one case made; known things are not repeated."""

    example: Example
    explanations: tuple[tuple[str, Explanation], ...]
    """(method key, explanation)."""
    records: tuple[Filed, ...]


def applicable(bound: Bound, model: Model) -> str:
    """'' when the model can do what is needed, else the reason."""
    missing = bound.needs - model.can
    return f"needs {', '.join(sorted(missing))}, which {model.name} cannot give" if missing else ""


def suits(test: Bound, method: Bound) -> str:
    """'' when a test of single explanations says something of this method, else the reason."""
    if test.entry.facts["of"] != "explanation":
        return f"is a test of each {test.entry.facts['of']}"
    if test.entry.facts.get("reruns") and not method.seeded:
        return "deterministic: nothing varies with a seed"
    return ""


def check_target(rule: Any, labels: Sequence[str]) -> None:
    """Refuse a target that no example could have, before anything is asked."""
    if rule is None or rule == "own" or isinstance(rule, Target) or not labels:
        return
    parts = rule.split(" rather than ", 1) if isinstance(rule, str) else [rule]
    for part in parts:
        _index(part.strip() if isinstance(part, str) else part, labels, len(labels))


def target_of(rule: Any, labels: Sequence[str], reading: Reading) -> Target:
    """The explained class: 'own', an index, a label, a tuple, or 'A rather than B'."""
    if isinstance(rule, Target):
        return rule
    if rule is None or rule == "own":
        return Target(tuple(int(c) for c in reading.choice[0]))
    classes = reading.logp.shape[-1]
    if isinstance(rule, str) and " rather than " in rule:
        one, other = rule.split(" rather than ", 1)
        return Target(_index(one.strip(), labels, classes), _index(other.strip(), labels, classes))
    return Target(_index(rule, labels, classes))


def _index(rule: Any, labels: Sequence[str], classes: int) -> tuple[int, ...]:
    if isinstance(rule, tuple | list):
        return tuple(_index(r, labels, classes)[0] for r in rule)
    if isinstance(rule, str) and rule in labels:
        return (list(labels).index(rule),)
    try:
        index = int(rule) if isinstance(rule, str) else operator.index(rule)
    except (ValueError, TypeError):
        raise BadInput(f"unknown target '{rule}'{did_you_mean(str(rule), list(labels))}") from None
    if not 0 <= index < classes:
        raise BadInput(f"target {index} is outside the model's {classes} classes (0 to {classes - 1})")
    return (index,)


def case(work: Work, example: Example, known: Known) -> Generator[Any, Any, CaseResult]:
    """Explain, test, compare: each method's tests start as soon as its scores are there."""
    x = work.model.read(example, work.unit).hold(*work.hold)
    if x.size == 0:
        raise BadInput(f"example {example.id} has no word that may be taken away")
    reading = yield from predict(x)
    target = target_of(work.target, work.model.labels, reading)
    probabilities = tuple(np.exp(reading.logp[0, 0]).tolist())
    tracks = [_track(work, m, x, target, probabilities, known) for m in work.methods]
    done: list[_Track] = yield from together(tracks)
    records = [f for t in done for f in t.records]
    records += yield from _compare(work, x, target, done, known)
    records += yield from _of_input(work, x, target, known)
    if not known.has("", PREDICTION, ""):
        records.append(Filed(_prediction(example, reading), test=PREDICTION))
    return CaseResult(example, tuple((t.key, t.made) for t in done if t.made is not None), tuple(records))


@dataclass(frozen=True, slots=True)
class _Track:
    """One method on one example, with its tests."""

    key: str
    label: str
    explanation: Explanation | None
    made: Explanation | None
    records: tuple[Filed, ...]


def _track(
    work: Work, method: Bound, x: Input, target: Target, probabilities: tuple[float, ...], known: Known
) -> Generator[Any, Any, _Track]:
    explanation = known.explanations.get(method.key)
    made = None
    if explanation is None:
        outcome: Outcome = yield from attempt(method(x, target))
        if outcome.error is None:
            outcome = _checked(outcome, x)
        if outcome.error is not None:
            reason = _reason(outcome, x.example.id)
            record = Record(EXPLAIN, x.example.id, method.label, reason=reason, cost=outcome.cost)
            return _Track(method.key, method.label, None, None, (Filed(record, method.key, EXPLAIN),))
        values, notes = outcome.result
        explanation = made = Explanation(
            x, work.model.name, method.label, target, values, work.model.labels, probabilities, notes, outcome.cost
        )
    tests = [t for t in work.tests if suits(t, method) == "" and not known.has(method.key, t.key, "")]
    records = yield from together([_test(t, method, explanation) for t in tests])
    return _Track(method.key, method.label, explanation, made, tuple(records))


def _checked(outcome: Outcome, x: Input) -> Outcome:
    """A method returns scores or (scores, notes); scores must fit the features and hold no infinity."""
    scores, notes = outcome.result if isinstance(outcome.result, tuple) else (outcome.result, {})
    try:
        values = x.spread(scores)
        if np.isinf(values).any():
            raise BadInput("gave an infinite score")
    except (ValueError, TypeError, BadInput) as error:
        return Outcome(None, str(error), outcome.cost, error)
    return Outcome((values, notes), "", outcome.cost)


def _test(test: Bound, method: Bound, explanation: Explanation) -> Generator[Any, Any, Filed]:
    x, target = explanation.x, explanation.target
    arguments: list[Any] = [x, target, explanation.scores]
    if test.entry.facts.get("reruns"):
        arguments.append(_rerunner(method, x, target))
    outcome: Outcome = yield from attempt(test(*arguments))
    record = _record(test.label, outcome, x.example.id, method.label)
    return Filed(record, method.key, test.key)


def _rerunner(method: Bound, x: Input, target: Target) -> Callable[[int], Any] | None:
    """The same method with another seed, or None when it draws nothing."""
    name = method.seeded
    if not name:
        return None

    def rerun(offset: int) -> Generator[Any, Any, Floats]:
        other = method.with_settings(**{name: method.settings[name] + offset})
        result = yield from other(x, target)
        scores = result[0] if isinstance(result, tuple) else result
        return np.asarray(x.spread(scores)[x.free])

    return rerun


def _compare(
    work: Work, x: Input, target: Target, done: list[_Track], known: Known
) -> Generator[Any, Any, list[Filed]]:
    """Tests of two explanations, for every pair of methods."""
    records = []
    tests = [t for t in work.tests if t.entry.facts["of"] == "pair"]
    pairs = combinations([t for t in done if t.explanation is not None], 2)
    for a, b in pairs:
        for test in tests:
            if known.has(a.key, test.key, b.key) or a.explanation is None or b.explanation is None:
                continue
            outcome = yield from attempt(test(x, target, a.explanation.scores, b.explanation.scores))
            record = _record(test.label, outcome, x.example.id, a.label, b.label)
            records.append(Filed(record, a.key, test.key, b.key))
    return records


def _of_input(work: Work, x: Input, target: Target, known: Known) -> Generator[Any, Any, list[Filed]]:
    """Tests that look at the input and the model, whatever the explanation."""
    tests = [t for t in work.tests if t.entry.facts["of"] == "input" and not known.has("", t.key, "")]
    outcomes = yield from together([attempt(t(x, target)) for t in tests])
    return [Filed(_record(t.label, o, x.example.id, ""), test=t.key) for t, o in zip(tests, outcomes, strict=True)]


def _record(test: str, outcome: Outcome, example: str, method: str, other: str = "") -> Record:
    if outcome.error is not None:
        return Record(test, example, method, other, reason=_reason(outcome, example), cost=outcome.cost)
    values, detail = outcome.result if isinstance(outcome.result, tuple) else (outcome.result, None)
    return Record(test, example, method, other, "", values, "", detail, outcome.cost)


def _reason(outcome: Outcome, example: str) -> str:
    """Why there is no number; the example stands in the record itself, and equal reasons are counted together."""
    return outcome.reason.replace(f" on example {example}", "")


def _prediction(example: Example, reading: Reading) -> Record:
    choice = int(reading.choice[0, 0])
    values = {"choice": float(choice), "confidence": float(np.exp(reading.logp[0, 0, choice]))}
    if example.gold is not None:
        values["correct"] = float(choice == example.gold)
    return Record(PREDICTION, example.id, values=values)


__all__ = [
    "EXPLAIN",
    "PREDICTION",
    "CaseResult",
    "Filed",
    "Known",
    "Work",
    "applicable",
    "case",
    "check_target",
    "suits",
    "target_of",
]
