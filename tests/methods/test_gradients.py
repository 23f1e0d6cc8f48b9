"""Gradient methods on a model whose gradients are known: z = sum of e_i + t e_good e_not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.methods.integrated_gradients import quadrature
from assay.types import BadInput, Target

PLAIN = [0.25, 0.5, 2.0, 1.5, -1.0, 0.0]
"""Values of [CLS] a good not dull film."""


def test_gradient_times_input_of_a_sum_is_its_terms(explain: Any) -> None:
    assert explain("gradient") == pytest.approx(PLAIN)
    assert explain("gradient(output=logit)") == pytest.approx(PLAIN)


def test_gradient_of_a_product_counts_it_for_both_factors(explain: Any) -> None:
    """d/de_good (e_good + t e_good e_not) . e_good = e_good (1 + t e_not)."""
    both = [0.25, 0.5, 2.0 * (1 - 2 * 1.5), 1.5 * (1 - 2 * 2.0), -1.0, 0.0]
    assert explain("gradient", together=-2.0) == pytest.approx(both)


def test_the_sign_turns_with_the_target(explain: Any) -> None:
    assert explain("gradient", target=Target((0,))) == pytest.approx([-v for v in PLAIN])


def test_probability_and_loss_follow_the_chain_rule(explain: Any) -> None:
    p = 1 / (1 + np.exp(-sum(PLAIN)))
    assert explain("gradient(output=prob)") == pytest.approx([v * p * (1 - p) for v in PLAIN])
    assert explain("gradient(output=loss)") == pytest.approx([v * (1 - p) for v in PLAIN])


def test_conventions_are_asked_for_never_hidden(explain: Any) -> None:
    size = sum(abs(v) for v in PLAIN)
    assert explain("gradient(signed=false)") == pytest.approx([abs(v) for v in PLAIN])
    assert explain("gradient(signed=false, normalise=true)") == pytest.approx([abs(v) / size for v in PLAIN])
    assert explain("gradient(normalise=true)") == pytest.approx([v / size for v in PLAIN])
    assert explain("gradient(reduce=l2)") == pytest.approx(np.ones(6))


def test_smoothgrad_of_a_sum_is_its_terms_whatever_the_noise(explain: Any) -> None:
    assert explain("smoothgrad(std=0.5)") == pytest.approx(PLAIN)


def test_smoothgrad_without_noise_is_the_gradient_and_noise_is_seeded(explain: Any) -> None:
    assert explain("smoothgrad(std=0.0)", together=-2.0) == pytest.approx(explain("gradient", together=-2.0))
    one, again = explain("smoothgrad(std=0.3)", together=-2.0), explain("smoothgrad(std=0.3)", together=-2.0)
    other = explain("smoothgrad(std=0.3, seed=1)", together=-2.0)
    assert np.array_equal(one, again)
    assert np.abs(one - other).max() > 1e-3


def test_smoothgrad_approaches_the_gradient_of_a_bilinear_model(explain: Any) -> None:
    """The mean of grad over noise of mean zero is the clean gradient: 400 samples are within 4 standard errors."""
    scores = explain("smoothgrad(std=0.1, samples=400)", together=1.0)
    error = 4 * 0.1 * (2.0 + 1.0) * 2.0 / np.sqrt(400)  # std x (max - min) x value / sqrt(samples)
    assert np.abs(scores - explain("gradient", together=1.0)).max() < error


@pytest.mark.parametrize("rule", ["gauss-legendre", "trapezoid", "midpoint"])
def test_integrated_gradients_share_a_product_equally(explain: Any, rule: str) -> None:
    """Along the line the gradient of t e_good e_not is linear in alpha, so these rules are exact: half for each."""
    half = -2.0 * 2.0 * 1.5 / 2
    scores, notes = explain(f"integrated-gradients(rule={rule}, steps=4)", together=-2.0)
    assert scores == pytest.approx([0.25, 0.5, 2.0 + half, 1.5 + half, -1.0, 0.0], abs=1e-6)
    assert notes["completeness_error"] < 1e-5
    assert notes["difference"] == pytest.approx(sum(PLAIN) + 2 * half)


def test_a_left_sum_is_off_by_what_its_note_says(explain: Any) -> None:
    """mean of alpha over 0, 1/m ... is (m - 1) / 2m instead of 1/2: the sum lacks |t e e| / m."""
    scores, notes = explain("integrated-gradients(rule=left, steps=10)", together=-2.0)
    assert notes["completeness_error"] == pytest.approx(2.0 * 2.0 * 1.5 / 10, rel=1e-5)
    assert abs(scores.sum() - notes["difference"]) == pytest.approx(notes["completeness_error"])


def test_integrated_gradients_are_complete_for_a_curved_output(explain: Any) -> None:
    p = 1 / (1 + np.exp(-sum(PLAIN)))
    scores, notes = explain("integrated-gradients(output=prob)")
    assert scores.sum() == pytest.approx(p - 0.5, abs=1e-6)
    assert notes["completeness_error"] < 1e-6


def test_quadrature_rules() -> None:
    for rule in ("gauss-legendre", "left", "trapezoid", "midpoint"):
        nodes, weights = quadrature(rule, 8)
        assert len(nodes) == len(weights) == 8
        assert weights.sum() == pytest.approx(1)
    nodes, weights = quadrature("gauss-legendre", 3)
    assert weights @ nodes**5 == pytest.approx(1 / 6)  # exact to degree 2 x 3 - 1


@pytest.mark.parametrize(
    "bad", ["integrated-gradients(steps=0)", "integrated-gradients(rule=trapezoid, steps=1)", "smoothgrad(samples=0)"]
)
def test_settings_that_cannot_be_computed_are_refused(explain: Any, bad: str) -> None:
    with pytest.raises(BadInput, match="at least"):
        explain(bad)
