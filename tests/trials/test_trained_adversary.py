"""Trained adversary: its loss by hand, that it never sees a label, the transition and the shape of its curve."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from assay import registry
from assay.changes.encoded import Encoded
from assay.changes.shown import jsd, shown
from assay.changes.train import train_attention
from assay.changes.trained_adversary import adversary_loss, whole_loss
from assay.changes.trained_adversary import trained_adversary as change
from assay.data.planted import planted
from assay.models.additive import Additive
from assay.trials.attention_models import Recipe
from assay.trials.trained_adversary import Adversary, bisect, convexity, trained_adversary
from assay.types import AssayError, BadInput, CannotDo, Estimate

RECIPE = Recipe(epochs=2)


@pytest.fixture(scope="module")
def sets():
    return tuple(planted(split=s, size=n, rate=1.0) for s, n in (("train", 240), ("dev", 60), ("test", 80)))


@pytest.fixture(scope="module")
def base(sets):
    return train_attention(sets[0], sets[1], epochs=2, hidden_words=0.0, seed=10, device="cpu")


# ------------------------------------------------------------------------------------------------- the loss


def test_masked_places_and_zeros_stay_finite_with_their_gradients():
    attend = torch.tensor([[True, True, True, False, False], [True, False, False, False, False]])
    scores = torch.randn(2, 5, generator=torch.Generator().manual_seed(1)).requires_grad_(True)
    a = torch.softmax(scores.masked_fill(~attend, torch.finfo(torch.float32).min), -1) * attend
    base = torch.tensor([[1.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0]])  # exact zeros of underflow
    p, q = torch.tensor([[0.5, 0.5], [0.1, 0.9]]), torch.tensor([[0.5, 0.5], [0.1, 0.9]])
    loss = adversary_loss(p, q, a, base, attend, 1.0)
    loss.backward()
    assert math.isfinite(float(loss.detach()))
    assert torch.isfinite(scores.grad).all()


@pytest.mark.parametrize("weight", [0.0, 0.3])
def test_the_loss_is_tvd_minus_weight_times_kl(weight):
    from scipy.stats import entropy

    rng = np.random.default_rng(2)
    p, q = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(3), 4)
    a, b = rng.dirichlet(np.ones(5), 4), rng.dirichlet(np.ones(5), 4)
    got = adversary_loss(*(torch.from_numpy(x) for x in (p, q, a, b)), torch.ones(4, 5, dtype=torch.bool), weight)
    expected = np.mean([np.abs(p[i] - q[i]).sum() / 2 - weight * entropy(a[i], b[i]) for i in range(4)])
    assert float(got) == pytest.approx(expected, abs=1e-9)


# -------------------------------------------------------------------------------------------- the training


def test_right_labels_are_never_seen(sets, base):
    """The same adversary, to the bit, from data whose labels are all wrong or missing."""
    train, dev, _ = sets
    wrong = [replace(d, examples=tuple(replace(e, gold=1 - e.gold) for e in d.examples)) for d in (train, dev)]
    none = [replace(d, examples=tuple(replace(e, gold=None) for e in d.examples)) for d in (train, dev)]
    made = [change(base, *pair, weight=0.01, epochs=1, seed=3) for pair in ((train, dev), wrong, none)]
    assert len({m.fingerprint for m in made}) == 1


def test_weight_moves_attention_and_without_it_answers_are_copied(sets, base):
    train, dev, test = sets
    own = shown(base, Encoded(base, test))
    quiet, loud = (change(base, train, dev, weight=w, epochs=8, seed=10) for w in (0.0, 0.05))
    near, far = (float(jsd(own, shown(m, Encoded(m, test))).mean()) for m in (quiet, loud))
    assert far > near + 0.1
    agree = (shown(quiet, Encoded(quiet, test)).choice == own.choice).mean()
    assert agree > 0.9
    assert quiet.notes["settings"]["weight"] == 0.0
    assert base.fingerprint != loud.fingerprint


def test_the_kept_epoch_is_the_best_on_dev_or_on_training(sets, base):
    train, dev, _ = sets
    by_dev = change(base, train, dev, weight=0.01, epochs=3, seed=1)
    scores = by_dev.notes["scores"]
    assert by_dev.notes["kept"] == 1 + int(np.argmax(scores))
    blank = Encoded(base, dev)
    best = -whole_loss(by_dev, blank, shown(base, blank), 0.01)
    assert best == pytest.approx(max(scores), abs=1e-3)
    by_train = change(base, train, dev, weight=0.01, epochs=3, seed=1, select_on="train-loss")
    assert by_train.notes["scores"] == pytest.approx([-x for x in by_train.notes["losses"]], abs=2e-4)


def test_it_stops_when_it_gets_no_better(sets, base):
    made = change(base, sets[0], sets[1], weight=0.0, epochs=30, patience=1, seed=1)
    assert made.notes["epochs"] < 30
    assert made.notes["epochs"] == made.notes["kept"] + 1


def test_it_is_an_attack_on_attention_models_only(sets):
    entry = registry.find("changes", "trained-adversary")
    assert entry.facts["purpose"] == "attack"
    with pytest.raises(CannotDo, match="is no attention-rnn model"):
        change(Additive(), sets[0], sets[1])  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="0 or more"):
        trained_adversary(*sets, weights=(-1.0,))


# ----------------------------------------------------------------------------------------------- the trial


def test_the_curve_has_a_point_per_weight_by_class_and_in_records(sets, tmp_path):
    folder = tmp_path / "base"
    train_attention(sets[0], sets[1], epochs=2, hidden_words=0.0, seed=10, device="cpu").save(folder)
    found = trained_adversary(
        *sets, folder, weights=(0.05, 0.0), epochs=3, recipe=RECIPE, out=tmp_path / "out", workers=1
    )
    assert [p.weight for p in found.points] == [0.0, 0.05]
    assert [r.values["weight"] for r in found.records] == [0.0, 0.05]
    assert found.convexity != found.convexity or math.isfinite(found.convexity)
    for p, r in zip(found.points, found.records, strict=True):
        assert set(p.by_class) == {"negative", "positive"}
        assert r.values["jsd of positive"] == p.by_class["positive"][0]
        assert 0 <= p.tvd.value <= 1
        assert 0 <= p.jsd.value <= math.log(2)
    moved = [p for p in found.points if p.jsd.value > 0.4]
    assert found.best == max(moved, key=lambda p: p.f1.value, default=None)


def point(weight: float, jsd: float) -> Adversary:
    e = Estimate(jsd, None, None, 0.95, 1)
    return Adversary(weight, e, e, e, {}, 1, 0.0)


@pytest.mark.parametrize("at_once", [1, 2, 3])
@given(jump=st.floats(1.2e-4, 1.9e-2))
def test_the_transition_is_found_wherever_it_is(at_once, jump):
    asked: list[float] = []

    def ask(weights):
        asked.extend(weights)
        return [point(w, 0.1 if w < jump else 0.6) for w in weights]

    found = bisect(ask, 1e-4, 2e-2, at_once=at_once, ratio=1.05)
    assert found.low < jump <= found.high
    assert found.high / found.low <= 1.05 * (1 + 1e-6)
    assert found.jsd == (0.1, 0.6)
    rounds = math.ceil(math.log(math.log(200) / math.log(1.05)) / math.log(at_once + 1))
    assert len(asked) <= 2 + at_once * (rounds + 1)
    assert len(found.points) == len(set(asked))


def test_a_level_that_is_not_crossed_is_told():
    with pytest.raises(AssayError, match=r"0\.100 and 0\.100, not on both sides of 0\.4; widen them"):
        bisect(lambda ws: [point(w, 0.1) for w in ws], 1e-4, 1e-2)
    with pytest.raises(BadInput, match="0 < low < high"):
        bisect(lambda ws: [], 1e-2, 1e-4)


@pytest.mark.parametrize(
    ("points", "shape"),
    [
        ([(0, 0), (1, 1)], 0.0),
        ([(0, 0), (1, 0), (1, 1)], 0.5),  # flat until the end
        ([(0, 0), (0, 1), (1, 1)], -0.5),  # up at once
        ([(0.1, 0.03), (0.5, 0.03), (0.9, 0.07)], 0.25),
        ([(1, 1), (0, 0), (0.5, 0.25)], 0.125),  # order does not matter
        ([(0, 0.2), (1, 0.1)], 0.0),  # a falling line is a line
    ],
)
def test_the_shape_of_a_curve_by_hand(points, shape):
    assert convexity(points) == pytest.approx(shape)


@given(st.floats(1.1, 4))
def test_a_power_has_the_shape_that_the_integral_says(power):
    x = np.linspace(0, 1, 2001)
    assert convexity(list(zip(x, x**power, strict=True))) == pytest.approx(0.5 - 1 / (power + 1), abs=1e-5)


def test_without_two_different_ends_there_is_no_shape():
    assert math.isnan(convexity([(0.1, 0.2)]))
    assert math.isnan(convexity([(0.1, 0.2), (0.1, 0.3)]))
    assert math.isnan(convexity([(0.1, 0.2), (0.2, 0.2)]))
