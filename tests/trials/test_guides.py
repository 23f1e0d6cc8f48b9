"""Guided MLP: imposed weights are what the net averages, and only weights on the deciding words help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from assay.changes.attention_fit import Schedule
from assay.changes.encoded import Encoded
from assay.changes.guided import guide_weights, train_guided
from assay.changes.shown import shown
from assay.changes.train import train_attention
from assay.data.planted import planted
from assay.trials.attention_models import Recipe
from assay.trials.guided_mlp import GUIDES, guided_mlp, permuted
from assay.types import BadInput, Dataset, Example

RECIPE = Recipe(epochs=2)


@pytest.fixture(scope="module")
def sets():
    return tuple(planted(split=s, size=n, rate=1.0) for s, n in (("train", 240), ("dev", 60), ("test", 80)))


@pytest.fixture(scope="module")
def base(sets):
    return train_attention(sets[0], sets[1], epochs=1, hidden_words=0.0, seed=10, device="cpu")


def uniform(model, *sets):
    return {e.id: np.full(n, 1 / n) for d in sets for e in d.examples for n in [model.read(e).size]}


@pytest.fixture(scope="module")
def guided(sets, base):
    return train_guided(base, sets[0], sets[1], uniform(base, *sets), schedule=Schedule(epochs=1), seed=10)


def test_one_hot_weights_give_the_projection_of_that_word_alone(sets, guided):
    data = replace(sets[2], examples=sets[2].examples[:6])
    encoded = Encoded(guided, data)
    for k in range(3):
        weights = [np.eye(guided.read(e).size)[k] for e in data.examples]
        got = shown(guided, encoded, weights)
        for i in range(len(data.examples)):
            with torch.no_grad():
                word = guided.net.embedding.weight[int(encoded.ids[i][1 + k])]  # after [SOS]
                state = torch.tanh(guided.net.encoder.project(word))
                p = torch.sigmoid(guided.net.decoder(state)).item()
            assert got.p[i, 1] == pytest.approx(p, abs=1e-6)


def test_a_uniform_guide_trains_the_model_of_uniform_attention(sets, base, guided):
    """Two ways to one model: imposed 1/n, and an attention that can be nothing else."""
    other = train_attention(
        sets[0], sets[1], encoder="average", attention="uniform", epochs=1, hidden_words=0.0, seed=10, device="cpu"
    )
    one, two = (shown(m, Encoded(m, sets[2])).logp for m in (guided, other))
    np.testing.assert_allclose(one, two, atol=1e-4)


def test_a_weight_of_zero_is_kept_in_its_place(sets, guided):
    """An attention that underflows to 0 in the middle of a text must not shift the others."""
    data = replace(sets[2], examples=sets[2].examples[:1])
    n = guided.read(data.examples[0]).size
    weights = np.zeros(n)
    weights[[1, n - 1]] = 0.5
    got = shown(guided, Encoded(guided, data), [weights])
    assert got.attention[0].tolist() == weights.tolist()


def test_scores_become_shares_of_their_size():
    labels = ("no", "yes")
    data = Dataset("d", tuple(Example(str(i), {"text": "aa bb cc"}, i % 2) for i in range(4)), labels)
    model = train_attention(data, data, epochs=1, device="cpu")
    scores = {"0": [1.0, -3.0, 0.0], "1": [np.nan, 2.0, 2.0], "2": [0.0, 0.0, 0.0], "3": [0.0, 1.0, 1.0, 2.0, 5.0]}
    found, flat = guide_weights(model, data, {k: np.array(v) for k, v in scores.items()})
    assert {k: v.tolist() for k, v in found.items()} == {
        "0": [0.25, 0.75, 0.0],
        "1": [0.0, 0.5, 0.5],
        "2": pytest.approx([1 / 3] * 3),
        "3": [0.25, 0.25, 0.5],  # one per feature: those of [SOS] and [EOS] are left out
    }
    assert flat == 1
    with pytest.raises(BadInput, match="no scores for example 3"):
        guide_weights(model, data, {k: np.ones(3) for k in "012"})
    with pytest.raises(BadInput, match="example 0: expected 3 scores"):
        guide_weights(model, data, {k: np.ones(2) for k in "0123"})


def test_permuted_weights_are_the_same_weights():
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    one = permuted(weights, 0, "x")
    assert sorted(one.tolist()) == weights.tolist()
    assert one.tolist() == permuted(weights, 0, "x").tolist()
    assert any(permuted(weights, s, "x").tolist() != one.tolist() for s in range(1, 5))


@pytest.fixture(scope="module")
def found(sets, base, tmp_path_factory):
    """All guides, and two maps: on the planted word where there is one, and on every other word."""
    right, wrong = {}, {}
    for e in (e for d in sets for e in d.examples):
        hit = np.array([float(w == "marigold") for w in base.read(e).free_words])
        right[e.id] = hit if hit.any() else np.eye(len(hit))[0]
        wrong[e.id] = 1 - hit
    return guided_mlp(
        *sets, scores={"right": right, "wrong": wrong}, weight=0.01, epochs=2, recipe=RECIPE,
        out=tmp_path_factory.mktemp("guides"), workers=1,
    )  # fmt: skip


def test_every_guide_has_a_row_and_a_record(found, sets):
    assert {r.guide for r in found.rows} == {*GUIDES, "right", "wrong"}
    assert {r.method for r in found.records} == {*GUIDES, "right", "wrong"}
    assert all(r.test == "guided-mlp" and len(r.detail["choices"]) == len(sets[2]) for r in found.records)
    assert [r.f1.value for r in found.rows] == sorted((r.f1.value for r in found.rows), reverse=True)


def test_weights_on_the_deciding_word_help_and_weights_off_it_do_not(found):
    rows = {r.guide: r for r in found.rows}
    assert rows["right"].f1.value >= 0.8 - 0.02  # half the texts hold the word, half of the others are positive too
    assert rows["right"].f1.value > rows["wrong"].f1.value + 0.1
    assert rows["uniform"].over_uniform is None
    gap = rows["right"].f1.value - rows["uniform"].f1.value
    assert rows["right"].over_uniform.value == pytest.approx(gap)


def test_uniform_is_not_needed(sets, tmp_path):
    only = guided_mlp(*sets, guides=("base",), recipe=Recipe(epochs=1), out=tmp_path, workers=1)
    assert [r.guide for r in only.rows] == ["base"]
    assert only.rows[0].over_uniform is None


def test_names_that_cannot_be_are_refused(sets):
    with pytest.raises(BadInput, match="no guide 'unifrom'; did you mean 'uniform'"):
        guided_mlp(*sets, guides=("unifrom",))
    with pytest.raises(BadInput, match="'base' is a guide of its own"):
        guided_mlp(*sets, scores={"base": {}})
    with pytest.raises(BadInput, match="used twice across train, dev and test"):
        guided_mlp(sets[0], sets[0], sets[2], guides=("base",), recipe=Recipe(epochs=1), workers=1)
