"""Uniform attention: exactly the mean over words, in training and test; what it costs is measured in pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import f1_score

from assay.align import words
from assay.changes.encoded import Encoded
from assay.changes.shown import jsd, shown, spread, tvd
from assay.changes.train import train_attention
from assay.data.grammar import read
from assay.data.planted import planted
from assay.models.attention_rnn import load
from assay.trials.attention_models import Recipe, bench, f1
from assay.trials.uniform_attention import uniform_attention
from assay.types import AssayError, BadInput, Dataset

SMALL = Recipe(epochs=2)


@pytest.fixture(scope="module")
def sets():
    return tuple(planted(split=s, size=n, rate=1.0) for s, n in (("train", 240), ("dev", 60), ("test", 80)))


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("uniform")


@pytest.fixture(scope="module")
def found(sets, out):
    return uniform_attention(*sets, seeds=(10, 11), recipe=SMALL, out=out, workers=1)


def test_uniform_attention_is_the_mean_of_the_states_of_real_words(sets, out, found):
    with bench(*sets, recipe=SMALL, out=out, workers=1) as b:
        (made,) = b.run([b.plain(10, attention="uniform")], "again")
    model = load(made.folder)
    for weights in made.test.attention:
        np.testing.assert_allclose(weights, 1 / len(weights), rtol=1e-6)
    data = Encoded(model, replace(sets[2], examples=sets[2].examples[:1]))
    batch = data.batch(np.array([0])).batch
    seen = model.forward(batch)
    mean = seen.states[0, 1:-1].mean(0)  # without [SOS] and [EOS]
    z = float(model.net.decoder(mean))
    np.testing.assert_allclose(seen.logits[0, 0].tolist(), [-z, z], atol=1e-5)


def test_scores_are_those_of_the_models(sets, found):
    gold = [e.gold for e in sets[2].examples]
    first = [r for r in found.records if r.replicate == "10"]
    assert [r.example for r in first] == [e.id for e in sets[2].examples]
    for name, estimate in (("base", found.base), ("uniform", found.uniform)):
        choice = [r.values[name] for r in first]
        assert estimate.value == pytest.approx(f1_score(gold, choice))
        assert estimate.low <= estimate.value <= estimate.high
    assert found.difference.value == pytest.approx(found.base.value - found.uniform.value)
    assert found.base_accuracy.value == pytest.approx(
        np.mean([r.values["base"] == g for r, g in zip(first, gold, strict=True)])
    )


def test_several_seeds_give_an_interval_over_seeds(found):
    assert found.over_seeds.n == 2
    assert found.over_seeds.low is not None
    assert {r.replicate for r in found.records} == {"10", "11"}


def test_one_seed_gives_none(sets, out):
    one = uniform_attention(*sets, recipe=SMALL, out=out, workers=1)
    assert one.over_seeds.low is None
    assert one.difference.low is not None


def test_a_model_is_made_once_and_a_change_of_recipe_makes_another(sets, out, found):
    before = {p.name: (p / "model.safetensors").stat().st_mtime_ns for p in (out / "models").iterdir()}
    again = uniform_attention(*sets, seeds=(10, 11), recipe=SMALL, out=out, workers=1)
    assert {p.name: (p / "model.safetensors").stat().st_mtime_ns for p in (out / "models").iterdir()} == before
    assert again.records == found.records
    with bench(*sets, recipe=SMALL, out=out) as one, bench(*sets, recipe=replace(SMALL, lr=1e-3), out=out) as two:
        assert one.plain(10).folder != two.plain(10).folder
        assert one.plain(10).folder != one.plain(11).folder


def test_two_processes_give_what_one_gives(sets, found):
    """Bit for bit: one thread each, and every training draws from its own seed."""
    pool = uniform_attention(*sets, seeds=(10,), recipe=SMALL, workers=2)
    assert list(pool.records) == [r for r in found.records if r.replicate == "10"]


def test_the_base_is_what_training_alone_gives(sets, out, found):
    model = train_attention(sets[0], sets[1], epochs=2, hidden_words=0.0, select="auc", seed=10, device="cpu")
    with bench(*sets, recipe=SMALL, out=out, workers=1) as b:
        (made,) = b.run([b.plain(10, attention="additive")], "again")
    np.testing.assert_allclose(made.test.logp, shown(model, Encoded(model, sets[2])).logp, atol=1e-4)


def test_distances_have_their_bounds_and_agree_with_two_class_differences(sets, out, found):
    with bench(*sets, recipe=SMALL, out=out, workers=1) as b:
        one, two = b.run([b.plain(10, attention="additive"), b.plain(11, attention="additive")], "again")
    apart = jsd(one.test, two.test)
    assert apart.min() >= 0
    assert apart.max() <= np.log(2)
    np.testing.assert_allclose(apart, jsd(two.test, one.test))
    np.testing.assert_allclose(jsd(one.test, one.test), 0, atol=1e-9)
    np.testing.assert_allclose(tvd(one.test, two.test), np.abs(one.test.p[:, 1] - two.test.p[:, 1]), atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_f1_equals_scikit_learn(classes):
    rng = np.random.default_rng(0)
    gold, choice = rng.integers(0, classes, (2, 50))
    kind = "binary" if classes == 2 else "macro"
    assert f1(choice, gold, classes) == pytest.approx(f1_score(gold, choice, average=kind))


def test_weights_that_do_not_fit_are_refused(sets, out, found):
    with bench(*sets, recipe=SMALL, out=out, workers=1) as b:
        (made,) = b.run([b.plain(10, attention="uniform")], "again")
    model = load(made.folder)
    data = Encoded(model, sets[2])
    attend = model.text(data.batch(np.array([0])).batch).attend
    with pytest.raises(BadInput, match="2 weights for"):
        spread([np.ones(2)], np.array([0]), attend)


def test_failures_and_unknown_recipes_are_told(sets):
    with pytest.raises(BadInput, match="unknown recipe 'smal'; did you mean 'small'"):
        uniform_attention(*sets, recipe="smal", workers=1)
    with pytest.raises(AssayError, match=r"no word vectors 'nowhere\.txt'"):
        uniform_attention(*sets, recipe=Recipe(epochs=1, vectors="nowhere.txt"), workers=1)


def test_more_than_two_classes_are_scored_by_the_mean_over_classes(sets):
    texts = [replace(e, gold=i % 3) for i, e in enumerate(sets[0].examples[:60])]
    three = Dataset("three", tuple(texts), ("a", "b", "c"), "train")
    found = uniform_attention(three, three, three, recipe=Recipe(epochs=1), workers=1)
    choice = [r.values["base"] for r in found.records]
    assert found.base.value == pytest.approx(f1_score([e.gold for e in texts], choice, average="macro"))


@pytest.mark.parametrize("name", ["pairs", "stories"])
def test_a_text_attended_given_another_works_as_one_text_does(name):
    """Premise given hypothesis, context given question: only words of the first field are attended."""
    data = [read(f"builtin:{name}(size={n})", split=s) for s, n in (("train", 60), ("dev", 30), ("test", 30))]
    found = uniform_attention(*data, recipe=Recipe(epochs=1), workers=1)
    assert len(found.records) == 30
    assert 0 <= found.base_accuracy.value <= 1
    with bench(*data, recipe=Recipe(epochs=1), workers=1) as b:
        (made,) = b.run([b.plain(10, attention="uniform")], "again")
        attended = [len(words(next(iter(e.fields.values())))) for e in data[2].examples]
        assert made.test.sizes.tolist() == attended
