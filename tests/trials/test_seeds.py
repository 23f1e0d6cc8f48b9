"""Seed variance: medians over seeds, by class and by largest attention, against hand-made models' answers."""

from __future__ import annotations

import numpy as np
import pytest

from assay.changes.shown import Shown
from assay.data.planted import planted
from assay.stats import jsd
from assay.trials import seed_variance as trial
from assay.trials.attention_models import Made, Recipe, Sets
from assay.types import BadInput, Dataset, Example


def made(tmp_path, weights, p, reason=""):
    """A model that attends so and answers so, without any training."""
    logp = np.log(np.array([[1 - x, x] for x in p]))
    flat, sizes = np.concatenate([np.array(w, dtype=float) for w in weights]), np.array([len(w) for w in weights])
    return Made(tmp_path, {"test": Shown(logp, flat, sizes)}, {"seconds": 1.0}, reason)


@pytest.fixture
def sets():
    examples = tuple(Example(str(i), {"text": "a b"}, g) for i, g in enumerate((1, 0)))
    data = Dataset("two", examples, ("no", "yes"), "test")
    return Sets(data, data, data)


def test_median_mean_bins_and_classes_by_hand(sets, tmp_path):
    base = made(tmp_path, [[1.0, 0.0], [0.5, 0.5, 0.0]], [0.9, 0.2])
    others = {
        1: made(tmp_path, [[1.0, 0.0], [0.5, 0.5, 0.0]], [0.8, 0.2]),  # the same attention
        2: made(tmp_path, [[0.0, 1.0], [0.5, 0.5, 0.0]], [0.9, 0.6]),  # another word: ln 2
        3: made(tmp_path, [[0.5, 0.5], [0.0, 0.0, 1.0]], [0.7, 0.2]),
    }
    found = trial._summed(sets, base, others, 10)
    half = float(jsd([1.0, 0.0], [0.5, 0.5]))  # the middle one of 0, half, ln 2
    first, second = found.records
    assert first.values == pytest.approx({"jsd": half, "change": 0.1, "max_attention": 1.0, "choice": 1.0})
    assert second.values == pytest.approx(
        {"jsd": 0.0, "change": 0.4 / 3, "max_attention": 0.5, "choice": 0.0}, abs=1e-9
    )
    assert first.detail["jsd by seed"] == pytest.approx({"1": 0.0, "2": np.log(2), "3": half}, abs=1e-6)
    assert found.by_class["yes"].value == pytest.approx(half)
    assert found.jsd.value == pytest.approx(half / 2)
    assert [e.n for _, e in found.bins] == [0, 0, 1, 1]
    assert [p.f1 for p in found.points] == pytest.approx([1.0, 2 / 3, 1.0])
    assert found.points[1].jsd == pytest.approx(np.log(2) / 2)


def test_a_failed_training_is_a_record_with_its_reason(sets, tmp_path):
    base = made(tmp_path, [[1.0, 0.0], [1.0, 0.0]], [0.9, 0.1])
    gone = Made(tmp_path, {}, {}, "out of memory")
    found = trial._summed(sets, base, {1: base, 2: gone}, 10)
    assert found.failed == ("seed 2: out of memory",)
    assert [r.reason for r in found.records if r.values is None] == ["seed 2: out of memory"]
    assert len(found.points) == 1


def test_trained_models_move_and_every_seed_counts(tmp_path):
    data = [planted(split=s, size=n, rate=1.0) for s, n in (("train", 200), ("dev", 60), ("test", 60))]
    found = trial.seed_variance(*data, seeds=(50, 257), recipe=Recipe(epochs=1), out=tmp_path, workers=1)
    assert [p.seed for p in found.points] == [50, 257]
    assert found.base_seed == 10
    assert len(found.records) == 60
    for r in found.records:
        assert 0 < r.values["jsd"] < np.log(2)
        apart = list(r.detail["jsd by seed"].values())
        assert r.values["jsd"] == pytest.approx(np.mean(apart), abs=1e-6)  # the median of two is their mean
    assert found.f1.n == 3


def test_the_base_seed_cannot_be_compared_with_itself(sets):
    with pytest.raises(BadInput, match="seeds other than the base's"):
        trial.seed_variance(*sets.each, seeds=(10, 50))


def test_attention_over_other_words_cannot_be_compared(tmp_path):
    from assay.changes.shown import jsd as apart

    one, two = made(tmp_path, [[1.0, 0.0]], [0.5]), made(tmp_path, [[1.0]], [0.5])
    with pytest.raises(BadInput, match="over the same words"):
        apart(one.test, two.test)
