"""Sizes of maps against arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.measures.magnitude import magnitude_of
from assay.types import BadInput


def test_hand_values(grade: Any) -> None:
    values = grade("magnitude", "a b c d e", [4, -2, 0, 0.1, 1])
    assert values["mean"] == pytest.approx((1 + 0.5 + 0 + 0.025 + 0.25) / 5)
    assert values["raw"] == pytest.approx(7.1 / 5)
    assert values["coverage"] == 2 / 5
    assert (values["zero"], values["negative"]) == (1 / 5, 1 / 5)


def test_the_scale_is_the_largest_size_and_coverage_the_largest_score(grade: Any) -> None:
    """The largest |a| is 10, the largest a is 1: 0.4 of it is shown, though it is 0.04 of 10."""
    values = grade("magnitude", "a b c", [-10, 1, 0.4])
    assert values["mean"] == pytest.approx((1 + 0.1 + 0.04) / 3)
    assert values["coverage"] == pytest.approx(2 / 3)


def test_only_the_raw_size_has_a_unit() -> None:
    draw = np.random.default_rng(0)
    for _ in range(20):
        scores = draw.normal(size=9)
        one, two = magnitude_of(scores), magnitude_of(7 * scores)
        assert two.pop("raw") == pytest.approx(7 * one.pop("raw"))
        assert two == pytest.approx(one)


def test_maps_of_zeros_of_one_value_and_of_one_word(grade: Any) -> None:
    zeros = {"mean": 0.0, "raw": 0.0, "coverage": 0.0, "zero": 1.0, "negative": 0.0}
    assert grade("magnitude", "a b", [0, 0]) == zeros
    assert grade("magnitude", "a b", [-3, -3])["mean"] == 1.0
    assert grade("magnitude", "a b", [-3, -3])["coverage"] == 0.0
    assert grade("magnitude", "a b c d", [0, 0, 5, 0])["mean"] == 1 / 4


def test_a_hole_gives_a_reason(grade: Any) -> None:
    with pytest.raises(BadInput, match="no score"):
        grade("magnitude", "a b", [1, np.nan])
