"""Deceptive attention: the positive control. Right answers, attention elsewhere; a word-by-word model cannot."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from assay import registry
from assay.changes.deceptive_attention import (
    banned_words,
    deception,
    deception_loss,
    deceptive_attention,
    impermissible,
)
from assay.changes.encoded import Encoded
from assay.changes.shown import shown
from assay.changes.train import train_attention
from assay.data.pairs import pairs
from assay.data.planted import planted
from assay.types import BadInput, Dataset, Example

TOKEN = "marigold"


@pytest.fixture(scope="module")
def sets():
    return tuple(planted(split=s, size=n, rate=1.0) for s, n in (("train", 500), ("dev", 100), ("test", 100)))


@pytest.fixture(scope="module")
def model(sets):
    return train_attention(sets[0], sets[1], epochs=3, hidden_words=0.0, seed=1, device="cpu")


@pytest.fixture(scope="module")
def twins(sets, model):
    """The honest twin and the deceiver."""
    return [deceptive_attention(model, sets[0], sets[1], words=[TOKEN], weight=w, epochs=6) for w in (0.0, 1.0)]


def test_the_deceiver_is_as_right_and_looks_away(sets, twins):
    honest, deceiver = (deception(m, sets[2], [TOKEN]) for m in twins)
    assert deceiver.accuracy >= honest.accuracy - 0.05
    assert deceiver.mass < 0.02
    assert honest.mass > 5 * deceiver.mass
    assert honest.texts == deceiver.texts == sum(bool(e.rationale) for e in sets[2].examples)


def test_the_deceiver_does_not_need_the_attention_it_hides(sets, twins):
    found = deception(twins[1], sets[2], [TOKEN])
    assert found.flow_accuracy == pytest.approx(found.accuracy, abs=0.03)


def test_the_answer_still_hangs_on_the_hidden_word(sets, twins):
    """Without the word itself the deceiver's answers turn: attention lied."""
    held = [e for e in sets[2].examples if e.rationale]
    gone = [Example(e.id, {"text": e.fields["text"].replace(TOKEN, "")}, e.gold) for e in held]
    before, after = (
        shown(twins[1], Encoded(twins[1], Dataset("d", tuple(es), sets[2].labels))).p[:, 1].mean()
        for es in (held, gone)
    )
    assert before - after > 0.3


def test_a_word_by_word_model_pays_for_deceiving(sets):
    bag = train_attention(sets[0], sets[1], encoder="average", epochs=2, hidden_words=0.0, seed=1, device="cpu")
    bags = [deceptive_attention(bag, sets[0], sets[1], words=TOKEN, weight=w, epochs=6) for w in (0.0, 5.0)]
    honest, deceiver = (deception(m, sets[2], TOKEN) for m in bags)
    assert deceiver.mass < honest.mass
    assert deceiver.flow_accuracy <= honest.accuracy


def test_notes_and_start(sets, model):
    made = deceptive_attention(model, sets[0], sets[1], words=TOKEN, start="model", epochs=1)
    assert made.notes["deception"]["texts"] == sum(bool(e.rationale) for e in sets[1].examples)
    assert made.notes["settings"]["start"] == "model"
    assert "deceptive" in made.name
    assert model.fingerprint != made.fingerprint


def test_flow_is_the_attention_cut_without_renormalising(sets, model):
    """z = sum_t a_t s_t + b over permitted words only, by the decoder's own weights."""
    data = Dataset("d", sets[2].examples[:8], sets[2].labels)
    encoded, marks = Encoded(model, data), banned_words(model, data, impermissible(TOKEN))
    own = shown(model, encoded)
    cut = [a * (1 - m) for a, m in zip(own.attention, marks, strict=True)]
    got = shown(model, encoded, cut)
    for i in range(8):
        batch = encoded.batch(np.array([i])).batch
        with torch.no_grad():
            states = model.forward(batch).states[0, 1:-1]
            z = float((model.net.place_scores(states)[:, 0] * torch.tensor(cut[i])).sum() + model.net.decoder.bias[0])
        assert got.p[i, 1] == pytest.approx(1 / (1 + np.exp(-z)), abs=1e-5)


def test_the_penalty_is_finite_with_all_attention_or_only_impermissible_words():
    a = torch.tensor([[1.0, 0.0], [0.5, 0.5]], requires_grad=True)
    banned = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    loss = deception_loss(a, banned, torch.ones(2, 2, dtype=torch.bool))
    assert float(loss.detach()) == pytest.approx(
        -np.log(1e-6) / 2, rel=1e-5
    )  # the second row has no choice and counts 0
    loss.backward()
    assert torch.isfinite(a.grad).all()


def test_words_may_be_a_list_a_string_or_a_function():
    assert [impermissible(w)("She") for w in (["she"], "he, she", str.istitle)] == [True] * 3
    with pytest.raises(BadInput, match="words is empty"):
        impermissible(" , ")


def test_words_of_the_query_are_not_attended_and_not_counted():
    data = pairs(split="train", size=30)
    model = train_attention(data, data, epochs=1, device="cpu")
    marks = banned_words(model, data, impermissible("is"))
    assert all(len(m) == len(s) for m, s in zip(marks, shown(model, Encoded(model, data)).attention, strict=True))
    assert all(m.sum() == 1 for m in marks)


def test_words_that_do_not_occur_are_refused(sets, model):
    with pytest.raises(BadInput, match="no impermissible word occurs in planted"):
        deceptive_attention(model, sets[0], sets[1], words="zebra")


def test_it_is_registered_as_an_attack():
    entry = registry.find("changes", "deceptive-attention")
    assert entry.facts["purpose"] == "attack"
    assert "Pruthi" in entry.facts["paper"]
