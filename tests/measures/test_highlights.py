"""Agreement with human highlights: hand values, the papers' edge rules, published F1s, honest thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, jaccard_score, precision_score, recall_score

from assay.engine import Engine
from assay.measures.highlights import TAUS, at_thresholds, counted, honest_table, paper_table, shown
from assay.registry import bind
from assay.stats import f1_of_means
from assay.types import BadInput, Example, Mark, Target

PUBLISHED = {
    "IM SST": (0.5129, 0.5245, 0.5186),
    "LOO SST": (0.4760, 0.6077, 0.5338),
    "LIME SST": (0.4831, 0.6882, 0.5677),
    "LIME_BERT SST": (0.4629, 0.7000, 0.5573),
    "LIME_BERT_SST2 SST": (0.4671, 0.6886, 0.5566),
    "IM e-SNLI L2": (0.4599, 0.6085, 0.5239),
    "LOO e-SNLI L2": (0.4867, 0.6158, 0.5437),
    "IM e-SNLI L3": (0.3814, 0.5699, 0.4570),
    "LOO e-SNLI L3": (0.4687, 0.5875, 0.5214),
    "IM MultiRC": (0.1784, 0.0630, 0.0931),
    "LOO MultiRC": (0.1940, 0.2876, 0.2317),
}
"""Precision, recall and F1 of Pham et al. 2022, Table 3."""


def detail(**lists: list[float]) -> dict[str, Any]:
    return {"x": list(TAUS[: len(lists["iou"])]), **lists}


def test_thresholds_are_nineteen_steps_of_a_twentieth() -> None:
    assert len(TAUS) == 19
    assert np.diff(TAUS) == pytest.approx(np.full(18, 0.05))
    assert (TAUS[0], TAUS[-1]) == (0.05, 0.95)


def test_hand_values_at_the_default_threshold(grade: Any) -> None:
    """Scores 4 2 0.2 -3 over the largest: 1, 0.5, 0.05, none; the marked words are b and d."""
    values, found = grade("highlights", "a b c d", [4, 2, 0.2, -3], marks=[(2, 3), (6, 7)], gold=1)
    assert found["evidence"] == [False, True, False, True]
    assert values["coverage"] == 3 / 4
    assert values["iou"] == 1 / 4
    assert values["precision"] == pytest.approx(1 / 3)
    assert values["recall"] == 1 / 2
    assert values["f1"] == pytest.approx(0.4)
    assert values["auprc"] == pytest.approx(average_precision_score([0, 1, 0, 1], [4, 2, 0.2, -3]))
    assert found["coverage"][TAUS.index(0.1)] == 2 / 4
    assert found["coverage"][TAUS.index(0.5)] == 2 / 4
    assert found["coverage"][TAUS.index(0.55)] == 1 / 4


@pytest.mark.parametrize(
    ("scores", "human", "due"),
    [
        ([1.0, 0.0], [False, False], {"iou": 0.0, "precision": 0.0, "recall": 1.0}),
        ([-1.0, 0.0], [False, False], {"iou": 1.0, "precision": 1.0, "recall": 1.0}),
        ([-1.0, 0.0], [True, False], {"iou": 0.0, "precision": 0.0, "recall": 0.0}),
        ([1.0, 0.0], [True, False], {"iou": 1.0, "precision": 1.0, "recall": 1.0}),
    ],
)
def test_edge_rules_for_empty_sets(scores: list[float], human: list[bool], due: dict[str, float]) -> None:
    at = at_thresholds(np.array(scores), np.array(human))
    assert {name: set(at[name].tolist()) for name in due} == {name: {value} for name, value in due.items()}


@settings(deadline=None)  # scikit-learn takes its time on a busy machine
@given(st.lists(st.tuples(st.integers(-9, 9), st.booleans()), min_size=1, max_size=20))
def test_every_threshold_matches_scikit_learn(pairs: list[tuple[int, bool]]) -> None:
    scores, human = np.array([float(p[0]) for p in pairs]), np.array([p[1] for p in pairs])
    at = at_thresholds(scores, human)
    for i, tau in enumerate(TAUS):
        top = scores.max()
        cut = scores / top >= tau - 1e-9 if top > 0 else np.zeros(len(scores), dtype=bool)
        if human.any() and cut.any():
            assert at["iou"][i] == pytest.approx(jaccard_score(human, cut))
            assert at["precision"][i] == pytest.approx(precision_score(human, cut))
            assert at["recall"][i] == pytest.approx(recall_score(human, cut))
        assert at["coverage"][i] == pytest.approx(cut.mean())


def test_a_larger_unit_shows_the_same_words() -> None:
    scores = np.array([1.0, 0.05, 0.35, 0.7, 0.049])
    assert np.array_equal(shown(scores), shown(3 * scores))
    assert shown(scores, [0.05]).tolist() == [[True, True, True, True, False]]


@pytest.mark.parametrize("row", PUBLISHED)
def test_published_f1s_are_harmonic_means_of_averages(row: str) -> None:
    """Two examples whose averages are the printed precision and recall give the printed F1, in the fourth decimal."""
    precision, recall, f1 = PUBLISHED[row]
    spread = min(precision, recall, 1 - precision, 1 - recall) / 2
    details = [
        detail(iou=[0.3], precision=[precision + s], recall=[recall - s], coverage=[0.4]) for s in (spread, -spread)
    ]
    made = paper_table(details)
    assert made.f1 == pytest.approx(f1, abs=1.01e-4)
    each = np.mean([f1_of_means(d["precision"], d["recall"]) for d in details])
    assert made.f1 != pytest.approx(float(each), abs=1e-6)


def test_paper_table_takes_the_best_threshold_on_the_same_data() -> None:
    one = detail(iou=[0.2, 0.6, 0.4], precision=[0.2, 0.6, 1.0], recall=[1.0, 0.9, 0.2], coverage=[1.0, 0.5, 0.1])
    two = detail(iou=[0.3, 0.4, 0.2], precision=[0.3, 0.4, 0.6], recall=[1.0, 0.7, 0.4], coverage=[1.0, 0.7, 0.3])
    made = paper_table([one, two])
    assert made.tau == (0.1,)
    assert made.iou == pytest.approx(0.5)
    assert made.f1 == pytest.approx(2 * 0.5 * 0.8 / 1.3)
    assert made.coverage == pytest.approx(0.6)
    assert made.n == 2


def test_the_threshold_can_be_chosen_by_f1() -> None:
    one = detail(iou=[0.2, 0.3], precision=[0.5, 0.1], recall=[1.0, 1.0], coverage=[0.5, 0.5])
    assert paper_table([one]).tau == (0.1,)
    assert paper_table([one], by="f1").tau == (0.05,)


def test_honest_table_judges_each_half_with_the_other_halfs_threshold() -> None:
    """One example per half: each is judged where the other is best, which is where it is worst itself."""
    one = detail(iou=[1.0, 0.0], precision=[1.0, 0.0], recall=[1.0, 0.0], coverage=[0.5, 0.1])
    two = detail(iou=[0.0, 1.0], precision=[0.0, 1.0], recall=[0.0, 1.0], coverage=[0.2, 0.4])
    made = honest_table([one, two], seed=3)
    assert made.tau == (0.05, 0.1)
    assert (made.iou, made.precision, made.recall, made.f1) == (0.0, 0.0, 0.0, 0.0)
    assert made.coverage == pytest.approx((0.1 + 0.2) / 2)
    assert paper_table([one, two]).iou == 0.5


def test_honest_table_equals_the_papers_when_the_best_threshold_is_clear() -> None:
    draw = np.random.default_rng(0)
    made = []
    for _ in range(8):
        near = draw.uniform(0, 0.1, 3)
        made.append(detail(**{k: [0.1 + near[0], 0.7 + near[1], 0.3 + near[2]] for k in ("iou", "precision", "recall")},
                           coverage=[0.5, 0.3, 0.1]))  # fmt: skip
    assert honest_table(made, seed=1) == paper_table(made)
    with pytest.raises(BadInput, match="at least 2"):
        honest_table(made[:1])
    with pytest.raises(BadInput, match="at least one"):
        paper_table([])


def test_marks_count_from_a_number_of_votes_on(function: Any) -> None:
    model = function(lambda there: 0.5)
    marks = (Mark("text", 0, 1, votes=3), Mark("text", 2, 3, votes=2), Mark("text", 4, 5, votes=1))
    x = model.read(Example("1", {"text": "a b c d"}, 1, marks))
    shown_words = []
    for least in (1, 2, 3):
        test = bind("tests", f"highlights(votes={least})")
        values, found = Engine(model).ask(test(x, Target((1,)), np.array([1.0, 1, 1, 1])))
        assert values["precision"] == (4 - least) / 4
        shown_words.append(found["evidence"])
    assert shown_words == [[True] * 3 + [False], [True] * 2 + [False] * 2, [True] + [False] * 3]


def test_no_one_agreed_is_an_empty_human_set_without_a_ranking(function: Any) -> None:
    model = function(lambda there: 0.5)
    x = model.read(Example("1", {"text": "a b"}, 1, (Mark("text", 0, 1, votes=1),)))
    values, _ = Engine(model).ask(bind("tests", "highlights(votes=2)")(x, Target((1,)), np.array([1.0, -1.0])))
    assert values == {"iou": 0.0, "precision": 0.0, "recall": 1.0, "f1": 0.0, "coverage": 0.5}


def test_marks_of_the_explained_class_count_where_classes_are_named() -> None:
    marks = [Mark("text", 0, 1, label="positive"), Mark("text", 2, 3, label="negative", weight=0.5), Mark("text", 4, 5)]
    names = "negative,positive"
    assert counted(marks, Target((1,)), 1, 0.0, names) == [marks[0], marks[2]]
    assert counted(marks, Target((0,)), 1, 0.0, names) == [marks[1], marks[2]]
    assert counted(marks, Target((0,)), 1, 1.0, names) == [marks[2]]
    with pytest.raises(BadInput, match="labels='negative,positive'"):
        counted(marks, Target((1,)), 1, 0.0, "")
    with pytest.raises(BadInput, match="names 2 classes"):
        counted(marks, Target((2,)), 1, 0.0, names)
    with pytest.raises(BadInput, match="votes=1"):
        counted(marks, Target((1,)), 2, 0.0, names)


def test_no_highlights_or_a_wrong_answer_give_a_reason(grade: Any) -> None:
    with pytest.raises(BadInput, match="no highlights"):
        grade("highlights", "a b", [1, 2])
    with pytest.raises(BadInput, match="not the right answer"):
        grade("highlights", "a b", [1, 2], marks=[(0, 1)], gold=0)
    with pytest.raises(BadInput, match="no score for 'a'"):
        grade("highlights", "a b", [np.nan, 2], marks=[(0, 1)], gold=1)
