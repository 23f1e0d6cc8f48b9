"""Deletion and insertion against curves drawn by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.measures.ranking import levels, order
from assay.types import BadInput

CURVE = {("a", "b", "c"): 0.9, ("b", "c"): 0.6, ("c",): 0.2, (): 0.1, ("a",): 0.5, ("a", "b"): 0.8}


def test_deletion_follows_the_hand_curve(grade: Any) -> None:
    values, detail = grade("deletion", "a b c", [3, 2, 1], CURVE.__getitem__)
    assert detail["y"] == pytest.approx([0.9, 0.6, 0.2, 0.1])
    assert detail["x"] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert values["auc"] == pytest.approx(((0.9 + 0.6) + (0.6 + 0.2) + (0.2 + 0.1)) / 6)
    # m = 2: one trapezoid of width 1/2 over the first two deletions, the untouched point left out
    assert values["auc_paper"] == pytest.approx(0.5 * (0.6 + 0.2) / 2)


def test_deletion_until_a_share_stops_there_and_is_still_normalised(grade: Any) -> None:
    values, detail = grade("deletion(until=0.6)", "a b c", [3, 2, 1], CURVE.__getitem__)
    assert detail["x"] == pytest.approx([0, 1 / 3, 2 / 3])
    assert values["auc"] == pytest.approx(((0.9 + 0.6) + (0.6 + 0.2)) / 4)


def test_paper_area_of_a_constant_is_its_ceiling(grade: Any) -> None:
    """n = 20 gives m = 4 and an x-range of 3/4; n <= 11 gives 1/2."""
    for n, ceiling in ((20, 0.75), (11, 0.5), (1, 0.5)):
        values, _ = grade("deletion", " ".join("abcdefghijklmnopqrst"[:n]), np.arange(n), lambda there: 0.8)
        assert values["auc_paper"] == pytest.approx(0.8 * ceiling)
        assert values["auc"] == pytest.approx(0.8)


def test_insertion_is_the_curve_from_nothing(grade: Any) -> None:
    values, detail = grade("insertion", "a b c", [3, 2, 1], CURVE.__getitem__)
    assert detail["y"] == pytest.approx([0.1, 0.5, 0.8, 0.9])
    assert values["auc"] == pytest.approx(((0.1 + 0.5) + (0.5 + 0.8) + (0.8 + 0.9)) / 6)


def test_signed_order_puts_words_against_the_target_last(grade: Any, function: Any) -> None:
    model = function(lambda there: 0.5)
    grade("deletion", "a b c", [-9, 1, 2], model)
    assert ("a", "b") in model.asked
    assert ("a",) in model.asked
    assert ("b", "c") not in model.asked


def test_long_texts_are_asked_at_a_few_points_only(grade: Any, function: Any) -> None:
    model = function(lambda there: 0.5)
    _, detail = grade("insertion(steps=4)", " ".join(["w"] * 100), np.zeros(100), model)
    assert detail["x"] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert len(model.asked) == 5


def test_near_ties_go_left() -> None:
    noise = np.array([1.0, 1.0 + 3e-8, 0.5, 1.0 - 3e-8, 0.5 + 1e-8])
    assert order(noise).tolist() == [0, 1, 3, 2, 4]
    assert levels(noise).tolist() == [1, 1, 0, 1, 0]
    assert order(np.zeros(4)).tolist() == [0, 1, 2, 3]


def test_a_map_with_a_hole_is_refused_by_the_word(grade: Any) -> None:
    with pytest.raises(BadInput, match="no score for 'b'"):
        grade("deletion", "a b c", [1, np.nan, 2])


@pytest.mark.parametrize("bad", ["deletion(steps=0)", "insertion(until=0.0)", "deletion(until=1.5)"])
def test_settings_that_draw_no_curve_are_refused(grade: Any, bad: str) -> None:
    with pytest.raises(BadInput, match="steps of at least 1"):
        grade(bad, "a b", [1, 2])
