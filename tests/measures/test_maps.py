"""Agreement, stability and planted recovery against closed forms and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from assay.engine import Engine
from assay.measures.planted_recovery import auroc, average_precision
from assay.measures.stability import stability
from assay.types import BadInput, Example, Target


def test_agreement_of_a_map_with_itself_its_reverse_and_a_swap(grade: Any) -> None:
    same = grade("agreement(top=2)", "a b c d", [4, 3, 2, 1], other=np.array([40.0, 30, 20, 10]))
    assert same == {"kendall": pytest.approx(1), "spearman": pytest.approx(1), "overlap": 1.0}
    reverse = grade("agreement(top=2)", "a b c d", [4, 3, 2, 1], other=np.array([1.0, 2, 3, 4]))
    assert reverse == {"kendall": pytest.approx(-1), "spearman": pytest.approx(-1), "overlap": 0.0}
    swap = grade("agreement(top=2)", "a b c d", [4, 3, 2, 1], other=np.array([4.0, 2, 3, 1]))
    assert swap == {"kendall": pytest.approx(4 / 6), "spearman": pytest.approx(0.8), "overlap": 0.5}


def test_a_map_of_one_value_has_no_order(grade: Any) -> None:
    with pytest.raises(BadInput):
        grade("agreement", "a b c", [1, 1, 1], other=np.array([1.0, 2, 3]))
    with pytest.raises(BadInput):
        grade("agreement", "a b c", [1, 1 + 1e-9, 1], other=np.array([1.0, 2, 3]))


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_separation_matches_scikit_learn(pairs: list[tuple[int, bool]]) -> None:
    rank, evidence = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    if evidence.all() or not evidence.any():
        evidence[0] = not evidence[0]
    assert average_precision(rank, evidence) == pytest.approx(average_precision_score(evidence, rank))
    assert auroc(rank, evidence) == pytest.approx(roc_auc_score(evidence, rank))


def test_planted_recovery_hand_values(grade: Any) -> None:
    """Evidence b and c of a b c d; the order is b, a, c, d."""
    values, detail = grade("planted-recovery", "a b c d", [2, 5, 1, -4], marks=[(2, 5)], gold=1)
    assert detail["evidence"] == [False, True, True, False]
    assert values["auprc"] == pytest.approx((1 + 2 / 3) / 2)
    assert values["auroc"] == pytest.approx(3 / 4)
    assert values["mass"] == pytest.approx(6 / 8)
    assert values["hit"] == 1.0
    assert values["precision"] == 0.5


def test_planted_recovery_says_why_there_is_no_number(grade: Any) -> None:
    with pytest.raises(BadInput, match="no marked evidence"):
        grade("planted-recovery", "a b", [1, 2])
    with pytest.raises(BadInput, match="not the right answer"):
        grade("planted-recovery", "a b", [1, 2], marks=[(0, 1)], gold=0)
    with pytest.raises(BadInput, match="all of the free words"):
        grade("planted-recovery", "a b", [1, 2], marks=[(0, 3)], gold=1)


def test_a_map_without_positive_scores_has_no_mass(grade: Any) -> None:
    values, _ = grade("planted-recovery", "a b c", [-1, -2, -3], marks=[(0, 1)], gold=1)
    assert values["mass"] == 0.0
    assert values["auprc"] == 1.0


def _stability(function: Any, scores: Any, rerun: Any, times: int = 3) -> Any:
    model = function(lambda there: 0.5)
    x = model.read(Example("1", {"text": "a b c d"}))
    return Engine(model).ask(stability(x, Target((1,)), np.array(scores, dtype=float), rerun, times=times))


def test_stability_is_one_for_equal_runs_and_counts_every_pair(function: Any) -> None:
    def same(offset: int) -> Any:
        yield from ()
        return np.array([4.0, 3, 2, 1])

    values, detail = _stability(function, [4, 3, 2, 1], same)
    assert values == {"kendall": pytest.approx(1), "overlap": 1.0, "spread": 0.0}
    assert len(detail["runs"]) == 4

    def reversed_for_two(offset: int) -> Any:
        yield from ()
        return np.array([1.0, 2, 3, 4]) if offset == 2 else np.array([4.0, 3, 2, 1])

    values, _ = _stability(function, [4, 3, 2, 1], reversed_for_two, times=2)
    assert values["kendall"] == pytest.approx((1 - 1 - 1) / 3)
    assert values["spread"] == pytest.approx(np.std([[4, 4, 1], [3, 3, 2]], axis=1, ddof=1).mean() / 2.5)


def test_a_deterministic_method_has_no_stability(function: Any) -> None:
    with pytest.raises(BadInput, match="deterministic"):
        _stability(function, [1, 2, 3, 4], None)
