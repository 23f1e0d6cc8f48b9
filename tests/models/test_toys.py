"""The toys' stated truths against brute force: all subsets for Shapley, every removal for leave-one-out."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.models.additive import Additive
from assay.models.interacting import Interacting
from assay.types import DROP, FILL, HIDE, MASK, PAD, UNK, ZERO, BadInput, Edit, Example, Input, Probe, Target

TEXT = "not a good film , not bad"
TOYS = [
    Additive(),
    Additive(weights={"good": 2.0, "bad": (0.5, -3.0)}, bias=(0.0, 0.25)),
    Interacting(),
    Interacting(weights={"good": 1.0, "film": (0.2, 0.1)}, pairs={("not", "good"): -4.0, ("not", "bad"): 3.0}),
    Interacting(labels=("a", "b", "c"), seed=7),
]
TARGETS = [Target((1,)), Target((0,)), Target((1,), (0,))]


def logit(toy: Additive, x: Input, keep: np.ndarray, target: Target, code: int = DROP) -> np.ndarray:
    """The target's logit with everything not kept taken away."""
    z = toy.answer([Probe(x, Edit.where_gone(x, keep, code))])[0]["logits"][:, 0].astype(np.float64)
    assert target.index is not None
    return z[:, target.index[0]] - (z[:, target.against[0]] if target.against else 0.0)


def shapley(toy: Additive, x: Input, target: Target) -> np.ndarray:
    """By definition, over all subsets."""
    n = x.n
    masks = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    f = logit(toy, x, masks, target)
    out = np.zeros(n)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for k in range(n):
            for chosen in combinations(others, k):
                at = sum(1 << j for j in chosen)
                out[i] += (f[at | 1 << i] - f[at]) / (n * comb(n - 1, k))
    return out


@pytest.mark.parametrize("toy", TOYS)
@pytest.mark.parametrize("target", TARGETS)
def test_truth_is_the_shapley_value(toy: Additive, target: Target) -> None:
    x = toy.read(Example("1", {"text": TEXT}))
    np.testing.assert_allclose(toy.truth(x, target), shapley(toy, x, target), atol=1e-5)


@pytest.mark.parametrize("toy", TOYS)
@pytest.mark.parametrize("code", [DROP, HIDE, ZERO, UNK, PAD, MASK])
def test_fall_is_leave_one_out_under_every_removal(toy: Additive, code: int) -> None:
    x = toy.read(Example("1", {"text": TEXT}))
    for target in TARGETS:
        f = logit(toy, x, np.vstack([np.ones(x.n, bool), ~np.eye(x.n, dtype=bool)]), target, code)
        np.testing.assert_allclose(f[0] - f[1:], toy.fall(x, target), atol=1e-5)


@pytest.mark.parametrize("toy", TOYS)
def test_integrated_gradients_are_exact(toy: Additive) -> None:
    """The logit is a quadratic of the embeddings, so the midpoint rule with one step is exact."""
    x = toy.read(Example("1", {"text": TEXT}))
    for target in TARGETS:
        probe = Probe(x, Edit.none(x), frozenset({"dot"}), target, "logit", scale=np.array([0.5]))
        np.testing.assert_allclose(toy.answer([probe])[0]["dot"][0], toy.truth(x, target), atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["good", "bad", "not", "film", "a", ",", "superb"]), min_size=1, max_size=12))
def test_additive_gradient_is_the_weight(words: list[str]) -> None:
    toy = TOYS[1]
    x = toy.read(Example("1", {"text": " ".join(words)}))
    probe = Probe(x, Edit.none(x), frozenset({"dot"}), Target((1,)), "logit")
    np.testing.assert_allclose(toy.answer([probe])[0]["dot"][0], toy.truth(x, Target((1,))), atol=1e-6)


def test_no_word_left_gives_the_bias() -> None:
    toy = TOYS[1]
    x = toy.read(Example("1", {"text": TEXT}))
    z = toy.answer([Probe(x, Edit.where_gone(x, np.zeros((1, x.n), bool), DROP))])[0]["logits"]
    np.testing.assert_allclose(z, [[[0.0, 0.25]]], atol=1e-7)


def test_fills_weigh_what_they_weigh() -> None:
    toy = TOYS[1]
    x = toy.read(Example("1", {"text": "a film"}))
    z = toy.answer([Probe(x, Edit(np.array([[0, FILL]], dtype=np.int32), ("good",)))])[0]["logits"]
    assert z[0, 0, 1] == pytest.approx(2.25)


def test_refusals() -> None:
    with pytest.raises(BadInput, match="weight of 'x' has 3 numbers, expected 2"):
        Additive(weights={"x": (1.0, 2.0, 3.0)})
    toy = TOYS[0]
    with pytest.raises(BadInput, match="example e has no text in text"):
        toy.read(Example("e", {"text": "  "}))
    with pytest.raises(BadInput, match="needs a named target"):
        toy.truth(toy.read(Example("1", {"text": "a"})), Target())
