"""Knows how far a map agrees with what people highlighted, at every threshold; agreement is plausibility, not truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.align import marked
from assay.measures.planted_recovery import average_precision
from assay.measures.ranking import NEAR, complete, levels
from assay.registry import test
from assay.stats import f1_of_means
from assay.types import Asking, BadInput, Bools, Floats, Input, Mark, Target

TAUS = tuple(round(0.05 * k, 2) for k in range(1, 20))
"""Thresholds 0.05, 0.10 ... 0.95 on the map divided by its largest score."""
DEFAULT_TAU = 0.05
MEASURES = ("iou", "precision", "recall", "coverage")


@test(
    "highlights",
    of="explanation",
    asks="plausibility",
    headline="auprc",
    better="higher",
    claim="The map points at the words that people highlighted.",
    view="heatmap",
    bounds=(0.0, 1.0),
    paper="DeYoung et al. 2020, ERASER; Pham et al. 2022, Double trouble",
)
def highlights(
    x: Input, target: Target, scores: Floats, *, votes: int = 1, weight: float = 0.0, labels: str = ""
) -> Asking:
    """Agreement of a map with human highlights, as a ranking and cut at a threshold.

    ``auprc`` = average precision of descending signed scores (chance = share of highlighted words; none where all or
    no words are highlighted). For the others the map is divided by its largest score and words of at least 0.05 are
    shown (none if no score is above zero): ``iou`` = |shown and marked| / |shown or marked|, ``precision``, ``recall``,
    ``f1`` of this example, ``coverage`` = share of words shown. Nothing marked: recall 1, precision 1 if nothing is
    shown, else 0. Nothing shown: both 0. Neither: iou 1. High: people would have pointed at the same words, which says
    nothing of faithfulness: a wrong model's true reasons look wrong (Jacovi & Goldberg 2020). Only for examples whose
    explained class is the right answer. Marks count from ``votes`` annotators and from ``weight`` on; where marks name
    classes, ``labels`` = the classes in the model's order ('negative,positive') keeps those of the explained one.

    Detail for the view: ``evidence`` per word; per threshold ``x`` the lists ``iou``, ``precision``, ``recall``,
    ``coverage`` (for ``paper_table`` and ``honest_table``: the mean of ``f1`` here is not the papers' F1).

    >>> from assay.engine import Engine
    >>> from assay.models.additive import Additive
    >>> from assay.registry import bind
    >>> from assay.types import Example
    >>> toy = Additive(weights={"good": 2.0})
    >>> x = toy.read(Example("1", {"text": "a good film"}, 1, (Mark("text", 2, 11),)))
    >>> values, _ = Engine(toy).ask(bind("tests", "highlights")(x, Target((1,)), np.array([0.0, 2.0, 0.0])))
    >>> {name: round(v, 4) for name, v in values.items()}
    {'auprc': 0.8333, 'iou': 0.5, 'precision': 1.0, 'recall': 0.5, 'f1': 0.6667, 'coverage': 0.3333}
    """
    yield from ()
    scores = complete(x, scores)
    _right(x, target)
    human = np.asarray(marked(x, counted(x.example.rationale, target, votes, weight, labels))[x.free] > 0)
    at = at_thresholds(scores, human)
    here = {name: float(at[name][TAUS.index(DEFAULT_TAU)]) for name in MEASURES}
    values = {} if human.all() or not human.any() else {"auprc": average_precision(levels(scores), human)}
    values |= {name: here[name] for name in ("iou", "precision", "recall")}
    values |= {"f1": f1_of_means([here["precision"]], [here["recall"]]), "coverage": here["coverage"]}
    lists = {name: at[name].tolist() for name in MEASURES}
    return values, {"evidence": human.tolist(), "x": list(TAUS), **lists}


def _right(x: Input, target: Target) -> None:
    gold = x.example.gold
    if not x.example.rationale:
        raise BadInput("the example has no highlights")
    if gold is not None and target.index is not None and target.index != (gold,):
        raise BadInput("the explained class is not the right answer, for which people highlighted words")


def counted(marks: Sequence[Mark], target: Target, votes: int, weight: float, labels: str) -> list[Mark]:
    """The marks that count: enough votes, heavy enough, and of the explained class where classes are named.

    >>> marks = [Mark("text", 0, 1, votes=1), Mark("text", 2, 3, votes=3)]
    >>> [m.votes for m in counted(marks, Target((1,)), 2, 0.0, "")]
    [3]
    """
    if votes > 1 and any(m.votes is None for m in marks):
        raise BadInput(f"votes={votes} asks how many people made a mark, and these marks do not say: use votes=1")
    kept = [m for m in marks if (m.votes or 1) >= votes and m.weight >= weight]
    named = sorted({m.label for m in marks if m.label})
    if labels and target.index is not None:
        names = [name.strip() for name in labels.split(",")]
        if target.index[0] >= len(names):
            raise BadInput(f"labels names {len(names)} classes, the explained one is number {target.index[0]}")
        return [m for m in kept if m.label in (None, names[target.index[0]])]
    if len(named) > 1:
        raise BadInput(f"marks are of {', '.join(named)}: say which class is which with labels='{','.join(named)}'")
    return kept


# ------------------------------------------------------------------------------------------ one example


def shown(scores: Floats, taus: Sequence[float] = TAUS) -> Bools:
    """[taus, words]: the map divided by its largest score is at least tau; nothing if no score is above zero.

    >>> shown(np.array([2.0, 1.0, -4.0]), [0.05, 0.6]).tolist()
    [[True, True, False], [True, False, False]]
    """
    top = float(scores.max(initial=0.0))
    if top <= 0:
        return np.zeros((len(taus), len(scores)), dtype=bool)
    return np.asarray(scores[None, :] / top >= np.asarray(taus)[:, None] - NEAR)


def at_thresholds(scores: Floats, human: Bools, taus: Sequence[float] = TAUS) -> dict[str, Floats]:
    """``iou``, ``precision``, ``recall`` and ``coverage`` [taus] of the shown words against the highlighted ones.

    >>> at = at_thresholds(np.array([2.0, 1.0, -4.0]), np.array([True, False, True]), [0.05, 0.6])
    >>> at["iou"].round(3).tolist(), at["precision"].tolist(), at["recall"].tolist()
    ([0.333, 0.5], [0.5, 1.0], [0.5, 0.5])
    """
    human = np.asarray(human, dtype=bool)
    cut = shown(np.asarray(scores, dtype=np.float64), taus)
    both, either, size = (cut & human).sum(axis=1), (cut | human).sum(axis=1), cut.sum(axis=1)
    if human.any():
        precision, recall = both / np.maximum(size, 1), both / human.sum()
    else:
        precision, recall = (size == 0).astype(float), np.ones(len(cut))
    iou = np.where(either == 0, 1.0, both / np.maximum(either, 1))
    return {"iou": iou, "precision": precision, "recall": recall, "coverage": cut.mean(axis=1)}


# ------------------------------------------------------------------------------------------ many examples


@dataclass(frozen=True, slots=True)
class Table:
    """A row of a table of agreement: means over n examples at ``tau`` (two where each half chose for the other)."""

    tau: tuple[float, ...]
    iou: float
    precision: float
    recall: float
    f1: float
    """Harmonic mean of the averaged precision and the averaged recall."""
    coverage: float
    n: int


By = Literal["iou", "f1"]


def paper_table(details: Sequence[Mapping[str, Any]], by: By = "iou") -> Table:
    """Pham et al. 2022's table: the threshold with the best ``by`` on these very examples, and the means there.

    Choosing and judging on the same data flatters a little; ``honest_table`` does not. Ties go to the lower threshold.

    >>> one = {"x": [0.1, 0.2], "iou": [0.2, 0.4], "precision": [0.5, 1.0], "recall": [0.5, 0.5], "coverage": [1, 0.3]}
    >>> paper_table([one]).tau, round(paper_table([one]).f1, 4)
    ((0.2,), 0.6667)
    """
    stack = _stacked(details)
    best = _best(stack, np.arange(len(details)), by)
    return _table(stack, np.full(len(details), best), details)


def honest_table(details: Sequence[Mapping[str, Any]], seed: int = 0, by: By = "iou") -> Table:
    """The same with the threshold chosen on one half of the examples and judged on the other, both ways."""
    if len(details) < 2:
        raise BadInput(f"choosing a threshold on one half needs at least 2 examples, got {len(details)}")
    stack = _stacked(details)
    first, second = np.array_split(np.random.default_rng(seed).permutation(len(details)), 2)
    chosen = np.empty(len(details), dtype=np.int64)
    chosen[first], chosen[second] = _best(stack, second, by), _best(stack, first, by)
    return _table(stack, chosen, details)


def _stacked(details: Sequence[Mapping[str, Any]]) -> dict[str, Floats]:
    """[examples, taus] per measure."""
    if not details:
        raise BadInput("a table of agreement needs at least one example with highlights")
    return {name: np.array([d[name] for d in details], dtype=np.float64) for name in MEASURES}


def _best(stack: Mapping[str, Floats], rows: NDArray[np.int64], by: By) -> int:
    mean = {name: values[rows].mean(axis=0) for name, values in stack.items()}
    if by == "iou":
        return int(mean["iou"].argmax())
    return int(np.argmax([f1_of_means([p], [r]) for p, r in zip(mean["precision"], mean["recall"], strict=True)]))


def _table(stack: Mapping[str, Floats], chosen: NDArray[np.int64], details: Sequence[Mapping[str, Any]]) -> Table:
    at = {name: values[np.arange(len(chosen)), chosen] for name, values in stack.items()}
    taus = tuple(float(details[0]["x"][i]) for i in np.unique(chosen))
    mean = {name: float(values.mean()) for name, values in at.items()}
    f1 = f1_of_means(at["precision"], at["recall"])
    return Table(taus, mean["iou"], mean["precision"], mean["recall"], f1, mean["coverage"], len(chosen))
