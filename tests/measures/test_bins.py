"""Comprehensiveness and sufficiency against hand values and brute force."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from assay.measures.bins import bins
from assay.measures.limits import EXACT_ROWS
from assay.types import BadInput

TEN = "a b c d e f g h i j"


def by_word(there: tuple[str, ...]) -> float:
    """An uneven probability with interactions: no two orders of words are alike."""
    s = sum((ord(w) % 7 - 2.5) for w in there) + 2.0 * ("a" in there and "d" in there) - 3.0 * ("b" in there)
    return float(1 / (1 + np.exp(-s / 4)))


def test_bins_have_at_least_one_word() -> None:
    assert bins(1).tolist() == [1, 1, 1, 1, 1]
    assert bins(10).tolist() == [1, 1, 1, 2, 5]
    assert bins(200).tolist() == [2, 10, 20, 40, 100]


def test_comprehensiveness_hand_value(grade: Any) -> None:
    """Four words: bins 1, 1, 1, 1, 2; p = 0.9 whole, 0.5 without a, 0.3 without a and b."""
    p = {("a", "b", "c", "d"): 0.9, ("b", "c", "d"): 0.5, ("c", "d"): 0.3}
    values, detail = grade("comprehensiveness(limits=none)", "a b c d", [4, 3, 2, 1], p.__getitem__)
    assert values == {"aopc": pytest.approx((4 * 0.4 + 0.6) / 5)}
    assert detail["y"] == pytest.approx([0.4, 0.4, 0.4, 0.4, 0.6])


def test_sufficiency_hand_value(grade: Any) -> None:
    p = {("a", "b", "c", "d"): 0.9, ("a",): 0.7, ("a", "b"): 0.95}
    values, _ = grade("sufficiency(limits=none)", "a b c d", [4, 3, 2, 1], p.__getitem__)
    assert values == {"aopc": pytest.approx((4 * 0.2 - 0.05) / 5)}


@pytest.mark.parametrize("test", ["comprehensiveness", "sufficiency"])
def test_exact_limits_are_those_of_all_orders(grade: Any, test: str) -> None:
    text = "a b c d e f"
    reached = [grade(f"{test}(limits=none)", text, scores, by_word)[0]["aopc"] for scores in permutations(range(6))]
    values, detail = grade(test, text, [1, 2, 3, 4, 5, 6], by_word)
    assert detail["limits"] == pytest.approx([min(reached), max(reached)])
    assert detail["limits_how"] == "exact"
    assert values["naopc"] == pytest.approx((values["aopc"] - min(reached)) / (max(reached) - min(reached)))
    best = list(permutations(range(6)))[int(np.argmax(reached))]
    assert grade(test, text, best, by_word)[0]["naopc"] == pytest.approx(1.0)


@pytest.mark.parametrize("test", ["comprehensiveness", "sufficiency"])
def test_beam_search_reaches_the_limits_of_a_sum_of_words(
    grade: Any, test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a sum the best order is by weight, so a greedy search is already exact: both ways must agree."""

    def additive(there: tuple[str, ...]) -> float:
        return 0.5 + 0.01 * sum(ord(w) - ord("e") for w in there)

    scores = np.arange(10.0)
    exact = grade(test, TEN, scores, additive)[1]["limits"]
    monkeypatch.setattr("assay.measures.limits.EXACT_ROWS", EXACT_ROWS // 2)
    _, detail = grade(test, TEN, scores, additive)
    assert detail["limits_how"] == "beam of width 3"
    assert detail["limits"] == pytest.approx(exact)


def test_beam_limits_are_inner_bounds_and_the_place_stays_between(grade: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, exact = grade("comprehensiveness", TEN, np.arange(10), by_word)
    monkeypatch.setattr("assay.measures.limits.EXACT_ROWS", 0)
    values, beam = grade("comprehensiveness(width=1)", TEN, np.arange(10), by_word)
    assert exact["limits"][0] <= beam["limits"][0] + 1e-12
    assert beam["limits"][1] <= exact["limits"][1] + 1e-12
    assert 0 <= values["naopc"] <= 1


def test_limits_do_not_depend_on_the_map(grade: Any) -> None:
    one = grade("comprehensiveness", TEN, np.arange(10), by_word)[1]["limits"]
    other = grade("comprehensiveness", TEN, -np.arange(10), by_word)[1]["limits"]
    assert one == pytest.approx(other)


def test_no_place_between_equal_limits_and_none_beyond_the_budget(grade: Any) -> None:
    values, detail = grade("comprehensiveness", "a b c", [1, 2, 3], lambda there: 0.7)
    assert set(values) == {"aopc"}
    assert detail["limits"] == pytest.approx([0, 0])
    values, detail = grade("sufficiency(budget=10)", TEN + " k l", np.arange(12), by_word)
    assert set(values) == {"aopc"}
    assert "limits" not in detail
    assert "budget 10" in detail["limits_how"]


def test_a_beam_of_no_width_is_refused(grade: Any) -> None:
    with pytest.raises(BadInput, match="width must be at least 1"):
        grade("sufficiency(width=0)", "a b", [1, 2])
