"""Correlation tables: hand values, scipy, Fagin's distance by its four cases, counts of what has no tau."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau

from assay.measures.attention_correlation import (
    ALL,
    Scored,
    difference,
    matrix,
    needed,
    pair,
    pairs,
    scored,
    table,
    top_distance,
)
from assay.types import BadInput, Example, Explanation, Floats, Input, Place, Target


def text(words: int, seed: int, predicted: str = "yes") -> Scored:
    draw = np.random.default_rng(seed)
    own = draw.normal(size=words)
    noisy = {"gradient": own + draw.normal(0, 0.5, words), "leave-one-out": own + draw.normal(0, 0.5, words)}
    return Scored(predicted, {"attention": np.abs(own), **noisy})


def test_tau_and_p_are_scipys_over_sizes() -> None:
    case = text(25, 0)
    got = pair(case, "attention", "gradient")
    wanted = kendalltau(case.scores["attention"], np.abs(case.scores["gradient"]))
    assert got.tau == pytest.approx(wanted.statistic)
    assert got.p == pytest.approx(wanted.pvalue)
    signed = pair(case, "attention", "gradient", absolute=False)
    assert signed.tau == pytest.approx(kendalltau(case.scores["attention"], case.scores["gradient"]).statistic)


def test_ties_are_corrected() -> None:
    a, b = np.array([0.4, 0.4, 0.1, 0.1]), np.array([3.0, 2.0, 0.0, 0.0])
    assert pair(Scored("yes", {"a": a, "b": b}), "a", "b").tau == pytest.approx(kendalltau(a, b).statistic)


def test_table_by_class_and_length_with_population_deviation() -> None:
    up, down = np.arange(12.0) + 1, np.arange(12.0)[::-1] + 1
    short = np.array([1.0, 2.0, 3.0])
    cases = [
        Scored("no", {"a": up, "b": up}),
        Scored("no", {"a": up, "b": down}),
        Scored("yes", {"a": short, "b": short}),
        Scored("yes", {"a": short, "b": np.ones(3)}),
    ]
    rows = {(r.predicted, r.length): r for r in table(pairs(cases))}
    assert set(rows) == {(ALL, ALL), ("no", ALL), ("yes", ALL), (ALL, "under 10"), (ALL, "10 to 19")}
    no, yes, whole = rows["no", ALL], rows["yes", ALL], rows[ALL, ALL]
    assert [no.mean, no.std, no.significant] == pytest.approx([0.0, 1.0, 1.0])
    assert yes.mean == pytest.approx(1.0)
    assert (no.missing, yes.n, yes.missing) == (0, 1, 1)
    assert yes.significant == 0.0  # three words in the same order happen by chance one time in three
    assert (whole.n, whole.missing) == (3, 1)
    assert whole.mean == pytest.approx(1 / 3)
    assert "equal" in pairs(cases)[3].reason


def test_all_missing_is_a_row_without_a_number() -> None:
    (row, *_) = table(pairs([Scored("yes", {"a": np.ones(4), "b": np.arange(4.0)})]))
    assert np.isnan(row.mean)
    assert np.isnan(row.significant)
    assert (row.n, row.missing) == (0, 1)


def test_significance_is_mostly_length() -> None:
    """The same strength of relation: hardly ever significant in short texts, nearly always in long ones."""
    found = pairs([text(n, seed) for n in (6, 150) for seed in range(40)])
    rows = {r.length: r for r in table(found) if (r.first, r.second) == ("gradient", "leave-one-out")}
    short, long = rows["under 10"], rows["80 to 159"]
    assert short.significant < 0.4 < 0.95 < long.significant
    assert abs(short.mean - long.mean) < 0.2
    with pytest.raises(BadInput, match="at least 2 words"):
        needed(1)


def test_matrix_holds_every_pair_both_ways_and_differences_are_paired() -> None:
    found = pairs([text(20, s) for s in range(15)])
    whole = matrix(table(found))
    assert len(whole) == 6
    assert whole["gradient", "leave-one-out"] == whole["leave-one-out", "gradient"]
    gap = difference(found, ("leave-one-out", "gradient"), ("attention", "leave-one-out"))
    means = [whole[k].mean for k in (("gradient", "leave-one-out"), ("attention", "leave-one-out"))]
    assert gap.value == pytest.approx(means[0] - means[1])
    assert gap.n == 15
    assert gap.low is not None
    with pytest.raises(BadInput, match="no text has scores of both lime and attention"):
        difference(found, ("lime", "attention"), ("gradient", "attention"))


# ------------------------------------------------------------------------------------ top-k distance


def fagin(a: Floats, b: Floats, k: int, p: float) -> float:
    """The four cases as the paper writes them, one pair at a time."""
    one, two = (list(np.argsort(-s, kind="stable")[:k]) for s in (a, b))
    total = 0.0
    for i, j in combinations(sorted({*one, *two}), 2):
        in_one, in_two = (i in one, j in one), (i in two, j in two)
        if all(in_one) and all(in_two):
            total += (one.index(i) < one.index(j)) != (two.index(i) < two.index(j))
        elif all(in_one) and any(in_two):
            total += one.index(j if in_two[0] else i) < one.index(i if in_two[0] else j)
        elif all(in_two) and any(in_one):
            total += two.index(j if in_one[0] else i) < two.index(i if in_one[0] else j)
        elif all(in_one) or all(in_two):
            total += p
        else:
            total += 1
    return total / (k**2 + p * k * (k - 1))


@pytest.mark.parametrize("k", [1, 3, 5, 10])
@pytest.mark.parametrize("p", [0.0, 0.5])
def test_top_distance_is_fagins(k: int, p: float) -> None:
    for seed in range(20):
        draw = np.random.default_rng(seed)
        a, b = draw.normal(size=(2, 12))
        assert top_distance(a, b, k, p=p) == pytest.approx(fagin(a, b, k, p))
        assert top_distance(a, b, k, p=p) == top_distance(b, a, k, p=p)
        assert top_distance(a, a, k, p=p) == 0.0


def test_top_distance_of_short_texts_and_wrong_k() -> None:
    a, b = np.array([1.0, 2.0]), np.array([2.0, 1.0])
    assert top_distance(a, b, 10) == pytest.approx(1 / 5)  # one pair, turned round; k becomes 2
    with pytest.raises(BadInput, match="k must be at least 1"):
        top_distance(a, b, 0)


def test_a_hole_in_a_map_is_left_out_of_the_pair() -> None:
    a, b = np.array([1.0, np.nan, 3.0, 4.0]), np.array([1.0, 9.0, 3.0, 4.0])
    assert pair(Scored("yes", {"a": a, "b": b}), "a", "b").tau == pytest.approx(1.0)


def test_a_text_from_its_explanations() -> None:
    places = (Place("", 0, 0, "[CLS]"), Place("text", 0, 4), Place("text", 5, 9))
    free = np.array([False, True, True])

    def explained(name: str, method: str, values: list[float]) -> Explanation:
        x = Input(Example(name, {"text": "good film"}), "word", places, free)
        return Explanation(x, "m", method, Target((1,)), np.array(values), ("no", "yes"), (0.2, 0.8))

    got = scored([explained("1", "attention", [0.5, 0.3, 0.2]), explained("1", "gradient", [9.0, 1.0, -2.0])])
    assert got.predicted == "yes"
    assert {k: v.tolist() for k, v in got.scores.items()} == {"attention": [0.3, 0.2], "gradient": [1.0, -2.0]}
    with pytest.raises(BadInput, match="mixed with those of another text"):
        scored([explained("1", "attention", [0.5, 0.3, 0.2]), explained("2", "gradient", [9.0, 1.0, -2.0])])
