"""Knows whether a map finds the words that were planted, or marked, as evidence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.align import marked
from assay.measures.ranking import complete, levels, order
from assay.registry import test
from assay.types import Asking, BadInput, Bools, Floats, Input, Target


@test(
    "planted-recovery",
    of="explanation",
    asks="plausibility",
    headline="auprc",
    better="higher",
    claim="The map finds the words that are known to decide the label.",
    view="heatmap",
    bounds=(0.0, 1.0),
    paper="Zhou et al. 2022, Do feature attribution methods correctly attribute features?",
)
def planted_recovery(x: Input, target: Target, scores: Floats) -> Asking:
    """How well descending signed scores separate the marked evidence from the other words.

    ``auprc`` = average precision (chance = share of marked words), ``auroc`` = chance that a marked word scores above
    an unmarked one (ties half), ``mass`` = share of all positive score that stands on marked words (0 if none),
    ``hit`` = 1 if the top word is marked, ``precision`` = share of marked words among the top k, k = how many are
    marked (the recall there is the same number). High is good. It presupposes that the model uses the planted
    words: on a model that does not, a faithful map scores low. Marks are evidence for the right answer, so an example
    whose explained class is another one gives no number.

    Detail for the view: ``evidence``, per free word whether it is marked.
    """
    yield from ()
    scores = complete(x, scores)
    evidence = _evidence(x, target)
    rank, first = levels(scores), order(scores)
    k, positive = int(evidence.sum()), np.maximum(scores, 0.0)
    values = {
        "auprc": average_precision(rank, evidence),
        "auroc": auroc(rank, evidence),
        "mass": float(positive[evidence].sum() / positive.sum()) if positive.any() else 0.0,
        "hit": float(evidence[first[0]]),
        "precision": float(evidence[first[:k]].mean()),
    }
    return values, {"evidence": evidence.tolist()}


def _evidence(x: Input, target: Target) -> Bools:
    gold = x.example.gold
    if not x.example.rationale:
        raise BadInput("the example has no marked evidence")
    if gold is not None and target.index is not None and target.index != (gold,):
        raise BadInput("the explained class is not the right answer, for which the evidence is marked")
    evidence: Bools = np.asarray(marked(x, x.example.rationale)[x.free] > 0)
    if evidence.all() or not evidence.any():
        raise BadInput(f"{'all' if evidence.all() else 'none'} of the free words are marked: nothing to separate")
    return evidence


def average_precision(rank: NDArray[np.int64], evidence: Bools) -> float:
    """Sum over thresholds of (gain in recall) x precision, words of equal rank entering together.

    >>> average_precision(np.array([3, 2, 1, 0]), np.array([True, False, True, False])).__round__(4)
    0.8333
    """
    cuts = np.unique(rank)[::-1]
    found = np.array([evidence[rank >= c].sum() for c in cuts])
    shown = np.array([(rank >= c).sum() for c in cuts])
    return float((np.diff(found, prepend=0) / evidence.sum() * found / shown).sum())


def auroc(rank: NDArray[np.int64], evidence: Bools) -> float:
    """Chance that a marked word ranks above an unmarked one, ties counting half.

    >>> auroc(np.array([2, 1, 1, 0]), np.array([True, True, False, False]))
    0.875
    """
    above = rank[evidence][:, None] - rank[~evidence][None, :]
    return float(((above > 0) + 0.5 * (above == 0)).mean())
