"""What generators share: asking for scores, running side by side, surviving failure, drawing numbers."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.types import (
    AssayError,
    BadInput,
    Bools,
    Cost,
    Edit,
    Floats,
    Input,
    Probe,
    Reading,
    Target,
    Variants,
    content_key,
)

Scores = Generator[Any, Any, Floats]


def rng(seed: int, x: Input, purpose: str) -> np.random.Generator:
    """Draws that depend on the seed, the example and the purpose only: models and methods meet the same samples."""
    digest = content_key(seed, x.example.content, x.unit, purpose)
    return np.random.default_rng(int(digest, 16))


# ---------------------------------------------------------------------------------------- from readings


def value(reading: Reading, target: Target, output: str) -> Floats:
    """The explained score per row [m]: the output at the target, summed over heads.

    Log-odds come from logits: z_y - logsumexp of the others, so a saturated probability never gives infinity.
    """
    index = reading.choice if target.index is None else _rows(target.index, reading)
    at = np.stack([_at(reading, output, index[:, h], h) for h in range(index.shape[1])]).sum(axis=0)
    if target.against is None:
        return np.asarray(at)
    if output == "logodds":  # of A against B alone
        return value(reading, Target(target.index), "logprob") - value(reading, Target(target.against), "logprob")
    return np.asarray(at) - value(reading, Target(target.against), output)


def _rows(index: tuple[int, ...], reading: Reading) -> np.ndarray:
    heads, classes = reading.logp.shape[1:]
    if len(index) != heads or not all(0 <= i < classes for i in index):
        raise BadInput(f"target {index} does not fit a model with {heads} head(s) of {classes} classes")
    return np.broadcast_to(np.array(index), (reading.rows, heads))


def _at(reading: Reading, output: str, index: np.ndarray, head: int) -> Floats:
    rows = np.arange(len(index))
    if output == "logit":
        if "logits" not in reading.arrays:
            raise BadInput("this model gives probabilities only: use output prob, logprob or logodds, not logit")
        return np.asarray(reading["logits"][rows, head, index], dtype=np.float64)
    logp = reading.logp[:, head]
    own: Floats = logp[rows, index]
    if output in ("logprob", "loss"):
        return own
    if output == "prob":
        return np.exp(own)
    if output == "logodds":
        return own - _log_rest(reading, logp, own, index, head)
    raise BadInput(f"unknown output '{output}'; use loss, prob, logit, logprob or logodds")


def _log_rest(reading: Reading, logp: Floats, own: Floats, index: np.ndarray, head: int) -> Floats:
    """log(1 - p) without cancellation."""
    rows = np.arange(len(index))
    if reading.head == "multilabel":
        if "logp" not in reading.arrays:
            return np.asarray(-np.logaddexp(0.0, reading["logits"][rows, head, index].astype(np.float64)))
        return np.asarray(np.log1p(-np.exp(np.minimum(own, -1e-16))))
    rest = logp.copy()
    rest[rows, index] = -np.inf
    return np.asarray(np.logaddexp.reduce(rest, axis=-1))


def average(reading: Reading, variants: Variants, rows: int) -> Reading:
    """One row per question: probabilities of its variants averaged with their weights, in log space."""
    if variants.edit.rows == rows and np.array_equal(variants.owner, np.arange(rows)):
        return reading
    with np.errstate(divide="ignore"):
        weighted = reading.logp + np.log(variants.weight)[:, None, None]
    logp = np.full((rows, *weighted.shape[1:]), -np.inf)
    np.logaddexp.at(logp, variants.owner, weighted)
    arrays: dict[str, Floats] = {"logp": logp}
    if "logits" in reading.arrays:
        logits = np.zeros_like(logp)
        np.add.at(logits, variants.owner, reading["logits"] * variants.weight[:, None, None])
        arrays["logits"] = logits
    return replace(reading, arrays=arrays)


# --------------------------------------------------------------------------------------------- asking


def predict(x: Input) -> Generator[Any, Any, Reading]:
    """What the model says of the untouched input."""
    reading: Reading = yield Probe(x, Edit.none(x))
    return reading


def outcomes(x: Input, keep: Bools, removal: Any) -> Generator[Any, Any, Reading]:
    """Predictions when, in each row of ``keep``, everything not kept is taken away by the operator."""
    keep = np.atleast_2d(np.asarray(keep, dtype=bool))
    variants: Variants = yield from removal(x, keep)
    reading: Reading = yield Probe(x, variants.edit)
    return average(reading, variants, len(keep))


def score(x: Input, target: Target, output: str, keep: Bools, removal: Any) -> Scores:
    """The explained score per row of ``keep``, with what is not kept taken away by the operator."""
    reading = yield from outcomes(x, keep, removal)
    return value(reading, target, output)


LONGEST = 20_000
"""Words up to which one question per word is asked; beyond, the questions alone would fill gigabytes."""


def each_left_out(x: Input) -> Bools:
    """[free, free]: row i keeps all but feature i."""
    if x.size > LONGEST:
        raise BadInput(f"{x.size} words: methods that ask once per word take up to {LONGEST}; cut the text")
    return ~np.eye(x.size, dtype=bool)


def all_then_each_left_out(x: Input) -> Bools:
    """[1 + free, free]: everything, then each free feature left out."""
    return np.vstack([np.ones((1, x.size), dtype=bool), each_left_out(x)])


# ------------------------------------------------------------------------------------ combining generators


class Pool(list[Probe]):
    """Questions of several askers: the answers come back in order, failures among them as exceptions."""


def resume(generator: Generator[Any, Any, Any], asked: Any, answers: list[Any]) -> Any:
    """Give a generator the answers to what it asked: a failure is raised at the ``yield`` that asked.

    Whoever yields a Pool shares it out and so receives failures as they are.
    """
    if isinstance(asked, Pool):
        return generator.send(answers)
    failed = next((a for a in answers if isinstance(a, Exception)), None)
    if failed is not None:
        return generator.throw(failed)
    return generator.send(answers if isinstance(asked, list) else answers[0])


def together(generators: Sequence[Generator[Any, Any, Any]]) -> Generator[Any, Any, list[Any]]:
    """Run generators side by side, their questions pooled; returns their results in order."""
    results: list[Any] = [None] * len(generators)
    waiting: dict[int, Any] = {}
    for i, generator in enumerate(generators):
        _advance(generator, None, [None], i, waiting, results)
    while waiting:
        order = list(waiting)
        asked = [waiting[i] for i in order]
        answers: list[Any] = yield Pool(p for a in asked for p in (a if isinstance(a, list) else [a]))
        at = 0
        for i, a in zip(order, asked, strict=True):
            count = len(a) if isinstance(a, list) else 1
            _advance(generators[i], a, answers[at : at + count], i, waiting, results)
            at += count
    return results


def _advance(
    generator: Any, asked: Any, answers: list[Any], i: int, waiting: dict[int, Any], results: list[Any]
) -> None:
    try:
        waiting[i] = resume(generator, asked, answers)
    except StopIteration as stop:
        waiting.pop(i, None)
        results[i] = stop.value


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a generator came to: a result, or the reason why there is none; and what it cost."""

    result: Any
    reason: str
    cost: Cost
    error: Exception | None = None


def attempt(generator: Generator[Any, Any, Any]) -> Generator[Any, Any, Outcome]:
    """Run a generator to an Outcome: failure becomes a reason, and everything it asked is counted."""
    cost = Cost()
    asked: Any = None
    answers: list[Any] = [None]
    try:
        while True:
            asked = resume(generator, asked, answers)
            answers = yield Pool(asked if isinstance(asked, list) else [asked])
            cost = sum((a.cost for a in answers if isinstance(a, Reading)), cost)
    except StopIteration as stop:
        return Outcome(stop.value, "", cost)
    except AssayError as error:
        return Outcome(None, str(error), cost, error)
    except Exception as error:  # a fault in one method must not take the others with it: it is recorded
        return Outcome(None, f"{type(error).__name__}: {error}", cost, error)
