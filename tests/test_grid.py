"""The grid of methods and operators: complete cases, known interactions, the null case, the crossing."""

from __future__ import annotations

import numpy as np
import pytest

from assay import stats
from assay.grid import crossing, grid, grid_of, home_advantage, kind_of, leads
from assay.grid.tables import difference
from assay.summary import summarise
from assay.types import BadInput, Example, Explanation, Input, Place, Record, Target

OPERATORS = ("delete", "mask", "unk")


def describe(methods, tests):
    """What a run writes of methods {label: operator} and tests {label: (operator, direction)}."""
    facts = {"of": "explanation", "asks": "faithfulness", "headline": "auc"}
    return {
        "methods": {m: {"removal": o, "family": "control" if m == "random" else "removal"} for m, o in methods.items()},
        "tests": {t: {**facts, "removal": o, "better": better} for t, (o, better) in tests.items()},
    }


def setting(operators=OPERATORS, better="higher", kind="deletion", extra=()):
    methods = {"random": None, **{f"loo-{o}": o for o in operators}, **dict(extra)}
    return describe(methods, {f"{kind}(removal={o})": (o, better) for o in operators})


def record(test, example, method, value):
    return Record(test, str(example), method, values=None if value is None else {"auc": value, "other": 9.0})


def cells(meta, value, n):
    """Records with ``value(example, method, operator)`` everywhere, turned by the test's direction."""
    return [
        record(t, e, m, (1 if f["better"] == "higher" else -1) * value(e, m, f["removal"]))
        for e in range(n)
        for m in meta["methods"]
        for t, f in meta["tests"].items()
    ]


# ------------------------------------------------------------------------------------------------ the tables


def test_kinds_are_told_by_everything_but_the_operator():
    assert kind_of("deletion(removal=mlm(k=2, words='a, b'), steps=5)") == "deletion(steps=5)"
    assert kind_of("deletion(steps=(1, 2), removal=unk)") == "deletion(steps=(1, 2))"
    assert kind_of("deletion(removal=unk)") == kind_of("deletion") == "deletion"


def test_every_cell_is_the_mean_over_exactly_the_same_examples():
    meta = setting(("delete", "mask"))
    rows = cells(meta, lambda e, m, o: float(e), 6)
    rows = [r for r in rows if not (r.example == "5" and r.method == "loo-mask" and "=mask" in r.test)]
    rows += [
        record("deletion(removal=mask)", 5, "loo-mask", None),
        record("deletion(removal=mask)", 4, "random", np.nan),
    ]
    (table,) = grid(rows, meta).tables
    assert table.examples == ("0", "1", "2", "3")
    assert table.skipped == 2
    for m in table.methods:
        for o in table.operators:
            cell = table.estimate(m, o)
            assert (cell.value, cell.n, cell.skipped) == (1.5, 4, 2)


def test_one_operator_alone_makes_no_grid():
    meta = setting(("delete",))
    assert not grid(cells(meta, lambda e, m, o: 1.0, 4), meta)


def test_kinds_stand_apart_and_tests_without_operator_or_direction_stay_out():
    meta = setting(("delete", "mask"))
    more = {f"sufficiency(removal={o})": (o, "lower") for o in ("delete", "mask")}
    meta["tests"] |= describe({}, more | {"stability": (None, "higher"), "agreement": ("mask", "")})["tests"]
    found = grid(cells(meta, lambda e, m, o: 1.0, 4), meta)
    assert [t.kind for t in found.tables] == ["deletion", "sufficiency"]
    assert found.tables[1].tests == {"delete": "sufficiency(removal=delete)", "mask": "sufficiency(removal=mask)"}


def test_a_method_that_mostly_failed_is_left_out_by_name_and_shrinks_nobody():
    meta = setting(("delete", "mask"), extra={"broken": "unk"})
    rows = [r for r in cells(meta, lambda e, m, o: 1.0, 10) if r.method != "broken" or int(r.example) < 4]
    (table,) = grid(rows, meta).tables
    assert "broken" not in table.methods
    assert table.left_out == {"broken": "deletion(removal=delete) has numbers for 4 of 10 examples"}
    assert len(table.examples) == 10


def test_a_test_that_always_failed_is_left_out_by_name():
    meta = setting(("delete", "mask", "unk"))
    rows = [r for r in cells(meta, lambda e, m, o: 1.0, 4) if "=unk" not in r.test]
    (table,) = grid(rows, meta).tables
    assert table.operators == ("delete", "mask")
    assert table.left_out == {"deletion(removal=unk)": "no method has a number"}


def test_no_complete_example_gives_empty_cells_not_an_error():
    meta = setting(("delete", "mask"))
    rows = cells(meta, lambda e, m, o: 1.0, 2)
    rows = [
        r
        for r in rows
        if not (r.method == "random" and r.test == f"deletion(removal={'delete' if r.example == '0' else 'mask'})")
    ]
    found = grid(rows, meta)
    (table,) = found.tables
    assert (table.examples, table.skipped, table.best("mask")) == ((), 2, "")
    assert table.estimate("random", "mask").n == 0
    assert {a.favours for a in home_advantage(found)} == {"undecided"}
    assert leads(found, "loo-mask") == ()


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_best_of_a_column_follows_the_direction(better):
    meta = setting(("delete", "mask"), better)
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.01, 20)
    (table,) = grid(cells(meta, lambda e, m, o: (m == f"loo-{o}") + noise[e], 20), meta).tables
    assert (table.best("delete"), table.best("mask")) == ("loo-delete", "loo-mask")
    assert table.told_apart("loo-mask", "delete")
    assert not table.told_apart("loo-delete", "delete")


def test_a_summary_gives_the_same_grid_as_its_records():
    meta = setting(("delete", "mask"))
    rng = np.random.default_rng(1)
    rows = cells(meta, lambda e, m, o: float(rng.normal()), 7)[:-1]
    made = [explanation(str(e), m) for e in range(7) for m in meta["methods"]]
    summary = summarise(rows, made, meta)
    (one,), (other,) = grid(rows, meta).tables, grid_of(summary).tables
    assert (one.examples, one.skipped, one.methods, one.tests) == (
        other.examples,
        other.skipped,
        other.methods,
        other.tests,
    )
    assert np.array_equal(one.values, other.values)


def test_examples_that_failed_as_a_whole_are_counted_from_a_finished_run():
    meta = {**setting(("delete", "mask")), "examples": [str(i) for i in range(9)], "finished": True}
    rows = cells(meta, lambda e, m, o: 1.0, 7)
    summary = summarise(rows, [explanation(str(e), m) for e in range(7) for m in meta["methods"]], meta)
    assert grid_of(summary).tables[0].skipped == 2


def explanation(name, method):
    x = Input(Example(name, {"text": "good"}), "word", (Place("text", 0, 4),), np.array([True]))
    return Explanation(x, "model", method, Target((0,)), np.array([1.0]), ("no", "yes"), (0.5, 0.5))


# -------------------------------------------------------------------------------------------- home advantage


def effects(n, homes, h, seed=0, noise=0.05):
    """v = how good the method is + how hard the operator hits + what the example adds + h at home + noise."""
    rng = np.random.default_rng(seed)
    level = {"random": 0.0} | {f"loo-{o}": 0.1 * i for i, o in enumerate(homes)}
    hit = {o: 0.3 * i for i, o in enumerate(homes)}
    example = rng.normal(0, 1, n)
    drawn = {(m, o): rng.normal(0, noise, n) for m in level for o in hit}
    return lambda e, m, o: level[m] + hit[o] + example[e] + h * (m == f"loo-{o}") + drawn[m, o][e]


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize("operators", [OPERATORS[:2], OPERATORS])
def test_a_planted_advantage_comes_back_as_h_k_over_k_minus_one(operators, better):
    k, h = len(operators), 0.2
    meta = setting(operators, better)
    for a in home_advantage(grid(cells(meta, effects(60, operators, h, noise=0.0), 60), meta)):
        assert a.estimate.value == pytest.approx(h * k / (k - 1), abs=1e-12)
        assert a.home == (f"loo-{a.operator}",)
        assert "random" not in a.away


def test_quality_of_methods_and_strength_of_operators_cancel():
    meta = setting()
    found = home_advantage(grid(cells(meta, effects(40, OPERATORS, 0.0, noise=0.0), 40), meta))
    assert [a.estimate.value for a in found] == pytest.approx([0.0] * 3, abs=1e-12)


def test_an_advantage_is_told_and_its_reverse_too():
    meta = setting()
    for h, word in ((0.2, "home"), (-0.2, "away")):
        found = home_advantage(grid(cells(meta, effects(60, OPERATORS, h), 60), meta))
        assert [a.favours for a in found] == [word] * 3


def test_estimate_and_p_are_those_of_the_formula_on_unbalanced_groups():
    """Two methods at home in delete, one in mask, one whose home no test shares: arithmetic by hand."""
    meta = setting(("delete", "mask"), extra={"lime": "delete", "far": "pad", "gradient": None})
    rng = np.random.default_rng(4)
    drawn = {(m, o): rng.normal(size=15) for m in meta["methods"] for o in ("delete", "mask")}
    found = {a.operator: a for a in home_advantage(grid(cells(meta, lambda e, m, o: drawn[m, o][e], 15), meta))}

    def d(o):
        return (drawn["loo-delete", o] + drawn["lime", o]) / 2 - (drawn["loo-mask", o] + drawn["far", o]) / 2

    gain = d("delete") - d("mask")
    assert found["delete"].estimate == stats.mean(gain)
    assert (found["delete"].home, found["delete"].away) == (("loo-delete", "lime"), ("loo-mask", "far"))
    other = [
        drawn["loo-mask", o] - (drawn["loo-delete", o] + drawn["lime", o] + drawn["far", o]) / 3
        for o in ("delete", "mask")
    ]
    p = [stats.sign_flip_test(gain), stats.sign_flip_test(other[1] - other[0])]
    assert [found["delete"].p, found["mask"].p] == pytest.approx(stats.holm(p).tolist())


def test_an_operator_that_is_nobodys_home_has_no_advantage():
    meta = setting(("delete", "mask"))
    meta["tests"] |= describe({}, {"deletion(removal=pad)": ("pad", "higher")})["tests"]
    rows = cells(meta, lambda e, m, o: float(e), 5)
    assert [a.operator for a in home_advantage(grid(rows, meta))] == ["delete", "mask"]


def test_intervals_cover_zero_at_about_the_nominal_rate_when_there_is_no_interaction():
    """200 null worlds with skewed noise: coverage within 3 standard errors of 0.95, Holm keeps false alarms at 0.05."""
    meta, worlds, n = setting(("delete", "mask")), 200, 30
    rng = np.random.default_rng(11)
    covered = alarms = 0
    for _ in range(worlds):
        drawn = {(m, o): rng.exponential(1.0, n) for m in meta["methods"] for o in ("delete", "mask")}
        found = home_advantage(grid(cells(meta, lambda e, m, o, d=drawn: d[m, o][e], n), meta))
        covered += found[0].estimate.low <= 0 <= found[0].estimate.high
        alarms += any(a.favours != "undecided" for a in found)
    slack = 3 * (0.05 * 0.95 / worlds) ** 0.5
    assert abs(covered / worlds - 0.95) <= slack
    assert alarms / worlds <= 0.05 + slack


def test_differences_that_are_all_zero_or_one_are_no_shares():
    """Two methods that never differ: the interval is the point 0, not what 0 of n successes would give."""
    meta = setting(("delete", "mask"))
    for a in home_advantage(grid(cells(meta, lambda e, m, o: 0.5, 20), meta)):
        assert (a.estimate.value, a.estimate.low, a.estimate.high, a.p) == (0.0, 0.0, 0.0, 1.0)
    counts = np.array([0.0, 1.0] * 10)
    made = difference(counts)
    shifted = stats.mean(counts + 3)
    assert [made.value, made.low, made.high] == pytest.approx([shifted.value - 3, shifted.low - 3, shifted.high - 3])


# ----------------------------------------------------------------------------------------------------- leads


def test_a_lead_at_home_that_is_none_away_vanishes():
    meta = setting()
    (lead,) = leads(
        grid(cells(meta, lambda e, m, o: 0.3 * (m == f"loo-{o}") + 0.01 * ((e * 7 + len(m)) % 5), 30), meta), "loo-mask"
    )
    assert (lead.kind, lead.operator, lead.away) == ("deletion", "mask", ("delete", "unk"))
    assert lead.vanishes
    assert lead.shrinks.value == pytest.approx(0.3)


def test_a_lead_that_shrinks_but_stays_does_not_vanish():
    meta = setting()
    rows = cells(meta, lambda e, m, o: (m != "random") * (0.2 + 0.3 * (m == f"loo-{o}")) + 0.01 * (e % 3), 30)
    (lead,) = leads(grid(rows, meta), "loo-unk")
    assert not lead.vanishes
    assert [lead.at_home.value, lead.elsewhere.value, lead.shrinks.value] == pytest.approx([0.5, 0.2, 0.3])


def test_no_lead_without_a_home_a_control_or_a_number():
    meta = setting(("delete", "mask"), extra={"gradient": None, "far": "pad"})
    found = grid(cells(meta, lambda e, m, o: float(e), 4), meta)
    assert leads(found, "gradient") == leads(found, "far") == leads(found, "unheard") == ()
    del meta["methods"]["random"]
    assert leads(grid(cells(meta, lambda e, m, o: float(e), 4), meta), "loo-mask") == ()


# -------------------------------------------------------------------------------------------------- crossing


def crossed(meta, rows, **settings):
    return crossing(rows, meta, "loo-delete", "loo-mask", "delete", "mask", **settings)


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_a_crossing_holds_and_its_interaction_is_the_sum(better):
    meta = setting(("delete", "mask"), better)
    found = crossed(meta, cells(meta, effects(50, ("delete", "mask"), 0.4, noise=0.0), 50))
    assert found.under_a.value == pytest.approx(0.4 - 0.1)
    assert found.under_b.value == pytest.approx(0.4 + 0.1)
    assert found.interaction.value == pytest.approx(0.8)
    assert found.holds == "yes"
    said = found.finding("LOO .4241 < IM .4732; IM .4922 < LOO .5065")
    assert (said.holds, said.ours, said.subject) == ("yes", found.interaction, "deletion")
    assert said.claim == "loo-delete is better under deletion by delete, loo-mask under deletion by mask"


def test_an_interaction_without_a_crossing_is_no_crossing():
    """loo-mask wins under both operators, by less where loo-delete is at home."""
    meta = setting(("delete", "mask"))
    found = crossed(meta, cells(meta, effects(50, ("delete", "mask"), 0.03, noise=0.01), 50))
    assert found.holds == "no"
    assert found.interaction.low > 0
    assert found.p < 0.05


def test_two_equal_methods_decide_nothing():
    meta = setting(("delete", "mask"))
    rng = np.random.default_rng(3)
    assert crossed(meta, cells(meta, lambda e, m, o: float(rng.normal()), 20)).holds == "undecided"


def test_a_crossing_uses_every_example_with_its_four_numbers():
    meta = setting(("delete", "mask", "unk"))
    rows = [r for r in cells(meta, lambda e, m, o: float(e), 10) if r.method != "loo-unk" and "=unk" not in r.test]
    rows = [r for r in rows if not (r.method == "loo-mask" and int(r.example) < 7)]
    found = crossed(meta, rows)
    assert (found.interaction.n, found.interaction.skipped) == (3, 7)


def test_a_crossing_that_cannot_be_asked_says_why():
    meta = setting(("delete", "mask"))
    rows = cells(meta, lambda e, m, o: 1.0, 4)
    with pytest.raises(BadInput, match="no method 'im'; it has: random, loo-delete"):
        crossing(rows, meta, "loo-delete", "im", "delete", "mask")
    with pytest.raises(BadInput, match="by both delete and pad, and the run has deletion by delete, mask"):
        crossing(rows, meta, "loo-delete", "loo-mask", "delete", "pad")
    with pytest.raises(BadInput, match="has numbers for 0 of 4"):
        crossed(meta, [r for r in rows if r.method != "loo-mask"])


def test_with_two_kinds_the_kind_must_be_named():
    meta = setting(("delete", "mask"))
    meta["tests"] |= setting(("delete", "mask"), kind="insertion")["tests"]
    rows = cells(meta, effects(10, ("delete", "mask"), 0.4, noise=0.0), 10)
    with pytest.raises(BadInput, match="name it with kind"):
        crossed(meta, rows)
    assert crossed(meta, rows, kind="insertion").kind == "insertion"
