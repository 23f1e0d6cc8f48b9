"""Statistics that are more than a mean, for ``bootstrap`` over examples; a test names the one that fits its values."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from assay.registry import did_you_mean
from assay.stats.intervals import Statistic
from assay.stats.rows import vector
from assay.types import UnknownName


def f1_of_means(precision: ArrayLike, recall: ArrayLike) -> float:
    """Harmonic mean of mean precision and mean recall over examples (ERASER averages first); 0 when both are 0.

    >>> f1_of_means([1.0, 0.0], [0.5, 0.5])
    0.5
    """
    p, r = float(vector(precision).mean()), float(vector(recall).mean())
    return 2 * p * r / (p + r) if p + r > 0 else 0.0


def auc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Area under the ROC curve: the chance that a positive (label > 0) outscores a negative, ties counting half.

    0.5: no better than chance. NaN when one side is empty. Equals Mann and Whitney's U (1947) over pairs.

    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    positive, marks = vector(labels) > 0, vector(scores)
    above, below = marks[positive], np.sort(marks[~positive])
    if not len(above) or not len(below):
        return float("nan")
    wins = np.searchsorted(below, above, side="left") + np.searchsorted(below, above, side="right")
    return float(wins.sum() / (2 * len(above) * len(below)))


def _mean(values: ArrayLike) -> float:
    return float(vector(values).mean())


def _median(values: ArrayLike) -> float:
    return float(np.median(vector(values)))


_SUMMARIES: dict[str, Statistic] = {"auc": auc, "f1-of-means": f1_of_means, "mean": _mean, "median": _median}


def summary(name: str) -> Statistic:
    """The statistic of this name: mean, median, f1-of-means or auc.

    >>> summary("median")([1.0, 2.0, 9.0])
    2.0
    """
    if name not in _SUMMARIES:
        raise UnknownName(f"no summary is called '{name}'{did_you_mean(name, list(_SUMMARIES))}")
    return _SUMMARIES[name]
