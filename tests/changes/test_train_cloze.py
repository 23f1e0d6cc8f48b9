"""Cloze models: only entities of the passage can be answered, in training, in answers and after a reload."""

from __future__ import annotations

import numpy as np
import pytest

from assay.changes.encoded import Encoded
from assay.changes.train import train_attention
from assay.changes.train_cloze import train_cloze
from assay.data.cnn_cloze import candidates
from assay.data.planted import planted
from assay.models.attention_cloze import cloze
from assay.models.attention_rnn import load
from assay.types import BadInput, Dataset, Edit, Example, Probe

LABELS = tuple(f"@entity{i}" for i in range(5))


def passages(size: int, seed: int) -> Dataset:
    """'X sold a car to Y . Z slept .' with one of the actors left out of the question."""
    rng = np.random.default_rng(seed)
    examples = []
    for i in range(size):
        seller, buyer, other = (int(k) for k in rng.choice(5, 3, replace=False))
        text = f"@entity{seller} sold a car to @entity{buyer} . @entity{other} slept ."
        gold, question = ((seller, "@placeholder sold a car"), (other, "@placeholder slept"))[i % 2]
        examples.append(Example(f"{seed}-{i}", {"passage": text, "question": question}, gold))
    return Dataset("passages", tuple(examples), LABELS)


@pytest.fixture(scope="module")
def model():
    return train_cloze(passages(400, 0), passages(80, 1), epochs=10, rows=16, lr=1e-2)


@pytest.fixture(scope="module")
def test_set():
    return passages(100, 2)


def test_absent_entities_have_no_probability(model, test_set):
    p = np.exp(Encoded(model, test_set).logp())
    there = np.stack([candidates(e, LABELS) for e in test_set.examples])
    assert (p[~there] == 0).all()
    np.testing.assert_allclose(p.sum(1), 1, atol=1e-6)


def test_it_learns_more_than_guessing_among_the_candidates(model, test_set):
    assert Encoded(model, test_set).scores()["accuracy"] > 0.6  # one of three by chance


def test_a_reloaded_model_masks_again(model, test_set, tmp_path):
    again = cloze(load(model.save(tmp_path / "m")))
    np.testing.assert_allclose(Encoded(again, test_set).logp(), Encoded(model, test_set).logp(), atol=1e-5)


def test_the_mask_follows_the_text(model, test_set):
    """Without its only mention an entity cannot be the answer; the question's words never make one possible."""
    e = test_set.examples[0]
    x = model.read(e)
    at = next(i for i, w in enumerate(x.words) if w == "entity" + LABELS[e.gold or 0].removeprefix("@entity"))
    keep = np.ones((2, x.n), dtype=bool)
    keep[1, at] = False
    (reading,) = model.answer([Probe(x, Edit.where_gone(x, keep, 1))])
    assert np.exp(reading.logp[0, 0, e.gold or 0]) > 0
    assert np.exp(reading.logp[1, 0, e.gold or 0]) == 0


def test_a_text_without_entities_is_not_masked(model):
    e = Example("x", {"passage": "nobody sold a car .", "question": "@placeholder sold @entity3"})
    x = model.read(e)
    (reading,) = model.answer([Probe(x, Edit.none(x))])
    assert (np.exp(reading.logp[0, 0]) > 0).all()


def test_two_classes_cannot_be_a_cloze():
    data = planted(split="train", size=20)
    with pytest.raises(BadInput, match="two classes and one logit"):
        cloze(train_attention(data, data, epochs=1))
