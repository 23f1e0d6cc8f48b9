"""Removal methods on a model whose contributions are known: z = sum of e_i + t e_good e_not."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from assay.engine import Engine
from assay.methods.kernel_shap import fitted
from assay.methods.lime import neighbours, surrogate, switches
from assay.methods.shapley import drawn, exact, gained, prefixes, subsets
from assay.models.additive import Additive
from assay.registry import bind
from assay.types import BadInput, Example, Input, Place, Target

WEIGHTS = [0.5, 2.0, 1.5, -1.0, 0.0]
"""Values of the free words: a good not dull film."""
PAIR = -2.0 * 2.0 * 1.5


@pytest.mark.parametrize("removal", ["delete", "unk", "pad", "mask", "zero"])
@pytest.mark.parametrize("output", ["logit", "logodds"])
def test_leave_one_out_of_a_sum_is_its_terms(explain: Any, removal: str, output: str) -> None:
    assert explain(f"leave-one-out(removal={removal}, output={output})")[0] == pytest.approx(WEIGHTS)


def test_leave_one_out_says_what_the_model_answers_without_each_word() -> None:
    """The toy adds 0.3: f(good dull) = s(0.1), f(dull) = s(-1.9), f(good) = s(2.3)."""
    toy = Additive(weights={"good": 2.0, "dull": -2.2}, bias=(0.0, 0.3))
    x = toy.read(Example("1", {"text": "good dull"}))
    _, notes = Engine(toy).ask(bind("methods", "leave-one-out")(x, Target((1,))))
    s = [1 / (1 + np.exp(-z)) for z in (0.1, 1.9, 2.3)]
    assert notes["whole"] == {"choice": 1, "confidence": pytest.approx(s[0], abs=1e-5)}
    assert notes["choice"] == [0, 1]
    assert notes["confidence"] == pytest.approx(s[1:], abs=1e-5)


def test_leave_one_out_counts_a_product_for_both_factors(explain: Any) -> None:
    assert explain("leave-one-out", together=-2.0)[0] == pytest.approx([0.5, 2.0 + PAIR, 1.5 + PAIR, -1.0, 0.0])


def test_exact_shapley_shares_a_product_equally(explain: Any) -> None:
    scores, notes = explain("shapley", together=-2.0)
    assert scores == pytest.approx([0.5, 2.0 + PAIR / 2, 1.5 + PAIR / 2, -1.0, 0.0], abs=1e-6)
    assert notes == {"how": "exact", "standard_error": 0.0}


def test_antithetic_orders_are_exact_for_products_of_two(explain: Any) -> None:
    """In an order one factor comes second, in its reverse the other: each pair of orders gives half to each."""
    scores, notes = explain("shapley(budget=20)", together=-2.0)
    assert scores == pytest.approx([0.5, 2.0 + PAIR / 2, 1.5 + PAIR / 2, -1.0, 0.0], abs=1e-6)
    assert notes["how"] == "orders"
    assert notes["orders"] == 4
    assert notes["standard_error"] < 1e-6


def test_sampled_shapley_adds_up_and_is_within_its_error(explain: Any) -> None:
    """Probability is no sum of pairs: sampling must agree with the exact value within four standard errors."""
    truth, _ = explain("shapley(output=prob)", together=-2.0)
    p = 1 / (1 + np.exp(-(sum(WEIGHTS) + 0.25 + PAIR)))
    empty = 1 / (1 + np.exp(-0.25))
    scores, notes = explain("shapley(output=prob, budget=31)", together=-2.0)
    assert truth.sum() == pytest.approx(p - empty)
    assert scores.sum() == pytest.approx(p - empty)
    assert 0 < np.abs(scores - truth).max() < 4 * notes["standard_error"]


def test_exact_shapley_is_the_mean_over_all_orders() -> None:
    rng = np.random.default_rng(0)
    keep, f = subsets(4), rng.normal(size=16)
    orders = np.array(list(permutations(range(4))))
    at = prefixes(orders) @ (1 << np.arange(4))
    assert exact(keep, f) == pytest.approx(gained(orders, f[at]).mean(axis=0))


def test_orders_come_with_their_reverse() -> None:
    orders = drawn(np.random.default_rng(1), 3, 6)
    assert orders.shape == (6, 6)
    assert np.array_equal(orders[0::2], orders[1::2, ::-1])
    assert np.array_equal(np.sort(orders, axis=1), np.tile(np.arange(6), (6, 1)))


def test_kernel_shap_of_a_product_is_exact_with_complements(explain: Any) -> None:
    """A set and its complement together are linear in the words for a product of two, so the fit has no error."""
    scores, notes = explain("kernel-shap(samples=400)", together=-2.0)
    assert scores == pytest.approx([0.5, 2.0 + PAIR / 2, 1.5 + PAIR / 2, -1.0, 0.0], abs=1e-4)
    assert notes["base"] == pytest.approx(0.25)


def test_kernel_shap_approaches_shapley_and_adds_up(explain: Any) -> None:
    truth, _ = explain("shapley(output=prob)", together=-2.0)
    scores, notes = explain("kernel-shap(output=prob, samples=4000)", together=-2.0)
    assert scores.sum() == pytest.approx(truth.sum())
    assert 0 < notes["standard_error"] < 0.01
    assert np.abs(scores - truth).max() < 4 * notes["standard_error"]


def test_the_fit_over_all_sets_in_kernel_proportion_is_shapley() -> None:
    """Each set as often as its kernel weight says: sizes 1 and 3 of 4 words twice as often as size 2."""
    rng = np.random.default_rng(4)
    keep, f = subsets(4), rng.normal(size=16)
    size = keep.sum(axis=1)
    often = np.select([(size == 1) | (size == 3), size == 2], [2, 1], 0)  # (n-1) / (C(n,s) s (n-s)) = 1/4, 1/8, 1/4
    rows = np.repeat(np.arange(16), often)
    assert fitted(keep[rows], f[rows] - f[0], f[15] - f[0]) == pytest.approx(exact(keep, f))


@pytest.mark.parametrize("method", ["leave-one-out", "shapley", "kernel-shap", "lime(output=logit, alpha=0.0)"])
@pytest.mark.parametrize("removal", ["delete", "unk", "pad", "mask", "zero", "hide"])
def test_every_operator_serves_every_removal_method(method: str, removal: str) -> None:
    """In the additive toy every operator is worth the same, so all find its weights."""
    toy = Additive(weights={"good": 2.0, "dull": -1.0})
    x, target = toy.read(Example("1", {"text": "a good but dull film"})), Target((1,))
    name, _, rest = method.partition("(")
    spec = f"{name}(removal={removal}, {rest}" if rest else f"{name}(removal={removal})"
    result = Engine(toy).ask(bind("methods", spec)(x, target))
    scores = result[0] if isinstance(result, tuple) else result
    assert scores == pytest.approx(toy.truth(x, target), abs=1e-4)


def test_one_word_gets_everything(explain: Any) -> None:
    assert explain("kernel-shap", text="good")[0] == pytest.approx([2.0])
    assert explain("shapley", text="good")[0] == pytest.approx([2.0])
    assert explain("leave-one-out", text="good")[0] == pytest.approx([2.0])


def test_lime_finds_a_sum_and_says_that_it_fits(explain: Any) -> None:
    scores, notes = explain("lime(output=logit, alpha=0.0, samples=200)")
    assert scores == pytest.approx(WEIGHTS, abs=1e-5)
    assert notes["r2"] == pytest.approx(1.0)
    assert notes["intercept"] == pytest.approx(0.25, abs=1e-5)


def test_a_product_is_no_sum_and_r2_says_so(explain: Any) -> None:
    assert explain("lime(output=logit, alpha=0.0)", together=-2.0)[1]["r2"] < 0.98


def test_lime_neighbours_are_drawn_as_the_package_draws_them() -> None:
    """First the text itself; then 1..d words gone, number and choice uniform (within 5 standard deviations)."""
    z = neighbours(np.random.default_rng(3), 20001, 5)
    assert z[0].all()
    gone = 5 - z[1:].sum(axis=1)
    counts = np.bincount(gone, minlength=6)
    assert counts[0] == 0
    assert np.abs(counts[1:] - 4000).max() < 5 * np.sqrt(20000 * 0.2 * 0.8)
    assert np.abs((~z[1:]).mean(axis=0) - 0.6).max() < 5 * np.sqrt(0.6 * 0.4 / 20000)


def test_bow_switches_all_occurrences_within_a_field() -> None:
    example = Example("1", {"one": "so so good", "two": "so"})
    spots = (Place("one", 0, 2), Place("one", 3, 5), Place("one", 6, 10), Place("two", 0, 2))
    x = Input(example, "word", spots, np.ones(4, dtype=bool))
    assert switches(x, bow=True).tolist() == [0, 0, 1, 2]
    assert switches(x, bow=False).tolist() == [0, 1, 2, 3]


def test_bow_gives_every_occurrence_the_score_of_the_word(explain: Any) -> None:
    """Two times 'good' are one switch worth 4."""
    scores, _ = explain("lime(output=logit, alpha=0.0, bow=true, samples=100)", text="good a good dull")
    assert scores == pytest.approx([4.0, 0.5, 4.0, -1.0], abs=1e-5)


def test_a_constant_answer_has_no_scores_and_a_perfect_fit() -> None:
    a, intercept, r2 = surrogate(subsets(3), np.full(8, 0.7))
    assert a == pytest.approx(np.zeros(3))
    assert intercept == pytest.approx(0.7)
    assert r2 == 1.0


@pytest.mark.parametrize("bad", ["lime(samples=1)", "lime(width=0.0)", "shapley(budget=2)", "kernel-shap(samples=1)"])
def test_settings_that_cannot_be_computed_are_refused(explain: Any, bad: str) -> None:
    with pytest.raises(BadInput):
        explain(bad)


def test_random_scores_depend_on_the_seed_and_the_text_alone(explain: Any) -> None:
    one = explain("random")
    assert one.shape == (5,)
    assert ((one >= 0) & (one < 1)).all()
    assert np.array_equal(one, explain("random", together=-2.0))
    assert not np.array_equal(one, explain("random(seed=1)"))
    assert not np.array_equal(one, explain("random", text="a dull not good film"))
