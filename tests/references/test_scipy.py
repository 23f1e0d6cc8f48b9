"""Rank agreement of two maps against scipy, ties included."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from assay.measures.agreement import agreement, tau
from assay.types import Example, Input, Place, Target


@pytest.mark.parametrize("seed", range(5))
def test_agreement_is_scipys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-4, 5, 25).astype(float), rng.normal(size=25)
    words = Input(
        Example("1", {"text": "w" * 25}), "word", tuple(Place("text", i, i + 1) for i in range(25)), np.ones(25, bool)
    )
    with pytest.raises(StopIteration) as stop:
        next(agreement(words, Target((1,)), a, b))
    values = stop.value.value
    assert values["kendall"] == pytest.approx(kendalltau(a, b).statistic)
    assert values["spearman"] == pytest.approx(spearmanr(a, b).statistic)


def test_scores_moved_by_rounding_alone_are_still_ties() -> None:
    a = np.array([0.3, 0.3, 0.1, 0.7, 0.1])
    noisy = a + 1e-9 * np.array([1, -1, 1, -1, 0.5])
    b = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    assert tau(noisy, b) == pytest.approx(kendalltau(a, b).statistic)
