"""Uncertainty against closed forms, scipy, scikit-learn and simulated coverage."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import stats
from assay.types import BadInput, Estimate, Floats, UnknownName

NAN = float("nan")
numbers = st.floats(-1e3, 1e3).map(lambda v: round(v, 3))


def vectors(low: int = 2, high: int = 40) -> st.SearchStrategy[list[float]]:
    return st.lists(numbers, min_size=low, max_size=high)


def pairs(low: int = 2) -> st.SearchStrategy[list[tuple[float, float]]]:
    lumpy = st.integers(-3, 3).map(float)
    return st.lists(st.tuples(lumpy | numbers, lumpy | numbers), min_size=low, max_size=40)


def covers(e: Estimate, truth: float) -> bool:
    assert e.low is not None
    assert e.high is not None
    return e.low <= truth <= e.high


# ------------------------------------------------------------------------------------------- intervals

SHAPES: dict[str, tuple[Callable[[np.random.Generator, int], Floats], float]] = {
    "normal": (lambda rng, n: rng.normal(2.0, 3.0, n), 2.0),
    "exponential": (lambda rng, n: rng.exponential(1.0, n), 1.0),
    "lognormal": (lambda rng, n: rng.lognormal(0.0, 0.5, n), math.exp(0.125)),
}


@pytest.mark.parametrize(("shape", "n"), list(product(SHAPES, (30, 100))))
def test_mean_covers_the_truth_as_often_as_it_says(shape: str, n: int) -> None:
    """95 % nominal: 600 simulated data sets put the true mean inside between 92 and 98 % of the time."""
    draw, truth = SHAPES[shape]
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(600):
        e = stats.mean(draw(rng, n))
        assert e.how == "bootstrap-t"
        hits += covers(e, truth)
    assert 0.92 <= hits / 600 <= 0.98


def test_clustered_intervals_cover_where_unclustered_ones_do_not() -> None:
    """30 examples with 5 nearly equal replicates each: only resampling examples keeps the promised coverage."""
    rng, names = np.random.default_rng(5), np.repeat(np.arange(30), 5).tolist()
    whole = naive = 0
    for _ in range(300):
        data = np.repeat(rng.normal(size=30), 5) + rng.normal(scale=0.1, size=150)
        clustered, plain = stats.mean(data, clusters=names), stats.mean(data)
        whole += covers(clustered, 0.0)
        naive += covers(plain, 0.0)
    assert 0.92 <= whole / 300 <= 0.98
    assert naive / 300 < 0.75


def test_bootstrap_of_a_statistic_covers() -> None:
    """AUC of two shifted normals is Phi(1 / sqrt 2): BCa covers it."""
    from scipy.stats import norm

    truth, rng, hits = norm.cdf(1 / math.sqrt(2)), np.random.default_rng(3), 0
    labels = np.repeat([0.0, 1.0], 40)
    for _ in range(120):
        e = stats.bootstrap(stats.auc, [labels, rng.normal(labels)], draws=400)
        hits += covers(e, truth)
    assert 0.89 <= hits / 120 <= 0.99


def test_small_and_lumpy_data_are_named_for_what_they_are() -> None:
    from scipy.stats import t

    few = [1.0, 4.0, 7.0, 2.0]
    e = stats.mean(few)
    low, high = t.interval(0.95, 3, loc=3.5, scale=np.std(few, ddof=1) / 2)
    assert (e.low, e.high) == pytest.approx((low, high))
    assert e.how == "Student's t"
    assert stats.mean([0.0] * 29 + [0.5, 0.7]).how == "wider of BCa and Student's t"
    assert stats.mean([0.0] * 29 + [1.0]).how == "Wilson"
    constant = stats.mean([0.3] * 20)
    assert constant.low == pytest.approx(0.3)
    assert constant.high == pytest.approx(0.3)


def test_wilson_equals_scipy() -> None:
    from scipy.stats import binomtest

    for k, n, level in [(0, 10, 0.95), (10, 10, 0.9), (3, 17, 0.99), (250, 500, 0.95)]:
        e = stats.proportion(k, n, level=level)
        ci = binomtest(k, n).proportion_ci(level, method="wilson")
        assert (e.low, e.high) == pytest.approx((ci.low, ci.high), abs=1e-12)
        assert stats.mean([1.0] * k + [0.0] * (n - k), level=level).high == pytest.approx(e.high)


def test_bca_is_near_scipy() -> None:
    from scipy.stats import bootstrap

    data = np.random.default_rng(2).exponential(size=60)
    e = stats.bootstrap(np.median, [data], draws=4000)
    ci = bootstrap((data,), np.median, n_resamples=4000, rng=np.random.default_rng(1)).confidence_interval
    assert (e.low, e.high) == pytest.approx((ci.low, ci.high), abs=0.05)


def test_nothing_one_and_nan() -> None:
    none = stats.mean([NAN, NAN], skipped=3)
    assert math.isnan(none.value)
    assert (none.n, none.skipped, none.low) == (0, 5, None)
    one = stats.mean([2.5, NAN])
    assert (one.value, one.low, one.high, one.n, one.skipped) == (2.5, None, None, 1, 1)
    both = stats.paired([1.0, NAN, 3.0, 4.0], [0.0, 1.0, NAN, 1.0])
    assert (both.value, both.n, both.skipped) == (2.0, 2, 2)
    assert math.isnan(stats.proportion(0, 0).value)
    infinite = stats.mean([1.0, math.inf])
    assert infinite.value == math.inf
    assert infinite.low is None
    assert "infinite" in infinite.how


def test_replicates_of_one_example_are_one_unit() -> None:
    e = stats.mean([1.0, 2.0, 3.0], clusters=["a", "a", "a"])
    assert (e.value, e.n, e.low) == (2.0, 1, None)


def test_undefined_resamples_are_said() -> None:
    rare = stats.bootstrap(stats.auc, [[1.0] + [0.0] * 9, list(range(10))])
    assert rare.value == 0.0
    assert rare.low is None
    assert "undefined on" in rare.how
    labels = [1.0] * 4 + [0.0] * 16
    some = stats.bootstrap(stats.auc, [labels, np.random.default_rng(0).random(20)])
    assert some.low is not None
    assert "undefined on" in some.how


def test_bad_shapes_and_levels_are_refused_in_one_line() -> None:
    refusals: list[Callable[[], object]] = [
        lambda: stats.mean([[1.0, 2.0]]),
        lambda: stats.mean([1.0, 2.0], level=95),
        lambda: stats.mean([1.0, 2.0], clusters=["a"]),
        lambda: stats.paired([1.0], [1.0, 2.0]),
        lambda: stats.proportion(3, 2),
        lambda: stats.bootstrap(np.mean, []),
        lambda: stats.bootstrap(np.mean, [[1.0], [1.0, 2.0]]),
        lambda: stats.kendall([1.0], [1.0, 2.0]),
        lambda: stats.holm([1.5]),
    ]
    for refused in refusals:
        with pytest.raises(BadInput) as error:
            refused()
        assert "\n" not in str(error.value)


@settings(max_examples=60, deadline=None)
@given(vectors(), st.floats(0.1, 10).map(lambda v: round(v, 2)), numbers)
def test_mean_moves_with_its_data(values: list[float], scale: float, shift: float) -> None:
    """Interval of scale * x + shift = scale * interval + shift, whatever way it was made."""
    before, after = stats.mean(values), stats.mean(scale * np.array(values) + shift)
    if "Wilson" in (before.how, after.how):
        return
    assert covers(before, before.value)
    ends = np.array([before.value, before.low, before.high], dtype=float)
    expected = (scale * ends + shift).tolist()
    assert [after.value, after.low, after.high] == pytest.approx(expected, rel=1e-6, abs=1e-6 * (1 + abs(shift)))


@settings(max_examples=40, deadline=None)
@given(vectors(), st.integers(0, 5))
def test_same_seed_same_interval_and_nan_changes_only_the_count(values: list[float], missing: int) -> None:
    plain, padded = stats.mean(values, seed=7), stats.mean(values + [NAN] * missing, seed=7)
    assert (plain.value, plain.low, plain.high, plain.n) == (padded.value, padded.low, padded.high, padded.n)
    assert padded.skipped == missing


# ---------------------------------------------------------------------------------------- correlations


@settings(max_examples=150, deadline=None)
@given(pairs())
def test_correlations_equal_scipy(rows: list[tuple[float, float]]) -> None:
    from scipy import stats as reference

    a, b = np.array(rows).T
    if len(set(a)) == 1 or len(set(b)) == 1:
        for ours in (stats.kendall(a, b), stats.spearman(a, b), stats.pearson(a, b)):
            assert ours.value is None
            assert ours.p is None
            assert "equal" in ours.reason
        return
    for mine, theirs in [
        (stats.kendall(a, b), reference.kendalltau(a, b)),
        (stats.spearman(a, b), reference.spearmanr(a, b)),
        (stats.pearson(a, b), reference.pearsonr(a, b)),
    ]:
        assert mine.value == pytest.approx(theirs.statistic, abs=1e-9)
        if len(a) > 2 and abs(theirs.statistic) < 1 - 1e-9:
            assert mine.p == pytest.approx(theirs.pvalue, rel=1e-5, abs=1e-9)


def test_kendall_by_hand_with_ties_and_nan() -> None:
    """Pairs of (1,1,2,3) and (1,2,3,3): 4 agree, none disagree, one tie each: 4 / sqrt(5 * 5)."""
    found = stats.kendall([1, 1, 2, 3, NAN, 9], [1, 2, 3, 3, 5, NAN])
    assert found.value == pytest.approx(0.8)
    assert (found.n, found.skipped) == (4, 2)
    assert stats.kendall([NAN, 1.0], [1.0, 2.0]).reason == "fewer than 2 pairs"
    assert stats.kendall([1.0, math.inf], [1.0, 2.0]).value == pytest.approx(1.0)
    assert stats.pearson([1.0, math.inf, 2.0], [1.0, 2.0, 3.0]).reason == "infinite values"


# ------------------------------------------------------------------------------------- tests, distances


@settings(max_examples=50, deadline=None)
@given(vectors(1, 9))
def test_sign_flip_is_exact_for_few(values: list[float]) -> None:
    data = np.array(values)
    sums = np.array([np.dot(s, data) for s in product((1, -1), repeat=len(data))])
    slack = 1e-12 * np.abs(data).sum()
    assert stats.sign_flip_test(data) == pytest.approx(np.mean(np.abs(sums) >= abs(data.sum()) - slack))
    assert stats.sign_flip_test(data, side="greater") == pytest.approx(np.mean(sums >= data.sum() - slack))
    assert stats.sign_flip_test(-data, side="less") == stats.sign_flip_test(data, side="greater")


def test_sign_flip_equals_scipy_and_holds_its_level() -> None:
    from scipy.stats import permutation_test

    rng = np.random.default_rng(4)
    data = rng.normal(0.4, 1.0, 14)
    exact = permutation_test((data,), np.sum, permutation_type="samples", n_resamples=np.inf).pvalue
    standard_error = math.sqrt(exact * (1 - exact) / 100_000)
    assert stats.sign_flip_test(data, draws=100_000) == pytest.approx(exact, abs=4 * standard_error)
    false = sum(stats.sign_flip_test(rng.normal(size=20), draws=999) <= 0.05 for _ in range(400))
    assert 0.02 <= false / 400 <= 0.085
    assert stats.sign_flip_test([]) == 1.0
    assert stats.sign_flip_test(np.ones(40)) == pytest.approx(1 / 10_001)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_lies_between_raw_and_bonferroni_and_keeps_the_order(p: list[float]) -> None:
    raw, adjusted = np.array(p), stats.holm(p)
    assert (adjusted >= raw).all()
    assert (adjusted <= np.minimum(1, raw * len(p)) + 1e-15).all()
    order = np.argsort(raw, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


def test_holm_by_hand() -> None:
    np.testing.assert_allclose(stats.holm([0.01, 0.04, NAN, 0.03, 0.005]), [0.03, 0.06, NAN, 0.06, 0.02])


def test_distances_equal_scipy() -> None:
    from scipy.spatial.distance import jensenshannon

    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(6), 20), rng.dirichlet(np.full(6, 0.2), 20)
    p[0], q[0] = [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]
    np.testing.assert_allclose(stats.jsd(p, q), jensenshannon(p, q, axis=1) ** 2, atol=1e-12)
    np.testing.assert_allclose(stats.tvd(p, q), [sum(abs(a - b)) / 2 for a, b in zip(p, q, strict=True)])
    assert stats.jsd(p[0], q[0]) == pytest.approx(math.log(2))
    assert stats.tvd(p[0], q[0]) == 1.0


@settings(max_examples=60, deadline=None)
@given(pairs(4))
def test_auc_equals_scikit_learn(rows: list[tuple[float, float]]) -> None:
    from sklearn.metrics import roc_auc_score

    labels, scores = (np.array(rows)[:, 0] > 0).astype(float), np.array(rows)[:, 1]
    if labels.min() == labels.max():
        assert math.isnan(stats.auc(labels, scores))
    else:
        assert stats.auc(labels, scores) == pytest.approx(roc_auc_score(labels, scores))


def test_summaries_by_name() -> None:
    assert stats.summary("f1-of-means")([1.0, 0.0], [0.5, 0.5]) == 0.5
    assert stats.f1_of_means([0.0], [0.0]) == 0.0
    assert stats.bootstrap(stats.summary("mean"), [[1.0, 2.0, NAN, 6.0]]).value == 3.0
    with pytest.raises(UnknownName, match="f1-of-means"):
        stats.summary("f1-of-mean")
