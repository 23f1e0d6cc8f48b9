"""Every rule of the verdict on constructed summaries: levels, words, notes, and what a grid adds."""

from __future__ import annotations

import pytest

from assay.grid import grid
from assay.summary import Cell, Gap, Summary
from assay.types import Estimate, Record
from assay.verdict import ALPHA, FEWEST_EXAMPLES, FEWEST_TESTS, judge

BETTER = Estimate(0.2, 0.1, 0.3, 0.95, 100)
WORSE = Estimate(-0.2, -0.3, -0.1, 0.95, 100)
UNSURE = Estimate(0.02, -0.1, 0.14, 0.95, 100)
MEAN = Estimate(0.5, 0.4, 0.6, 0.95, 100)


def facts_of(removal="delete", asks="faithfulness", better="higher"):
    return {"of": "explanation", "asks": asks, "better": better, "headline": "auc", "removal": removal}


def cell(test, against=BETTER, p=0.001, method="loo", headline=True, estimate=MEAN):
    return Cell(method, test, "auc", estimate, headline, against, p)


def summary(cells, tests=None, methods=None, gaps=(), **meta):
    tests = tests or {c.test: facts_of() for c in cells}
    methods = methods or {
        "random": {"family": "control", "removal": None},
        "loo": {"family": "removal", "removal": "unk"},
    }
    facts = {"tests": tests, "methods": methods, "model_ref": "m", "data_ref": "d", "n": 100} | meta
    return Summary(facts, tuple(methods), tuple(tests), tuple(cells), {}, tuple(gaps), (), {})


def verdict(*args, method="loo", table=None, **settings):
    found = {v.method: v for v in judge(summary(*args, **settings), table)}
    return found[method]


# ---------------------------------------------------------------------------------------------------- levels


@pytest.mark.parametrize(
    ("against", "level"),
    [
        ((BETTER, BETTER), "supported"),
        ((BETTER, UNSURE), "mixed"),
        ((BETTER, WORSE), "mixed"),
        ((UNSURE, UNSURE), "not supported"),
        ((UNSURE, WORSE), "worse than random"),
        ((WORSE, WORSE), "worse than random"),
    ],
)
def test_levels(against, level):
    found = verdict([cell("a", against[0]), cell("b", against[1])])
    assert found.level == level
    words = {
        "supported": "on all 2",
        "mixed": "on 1 of 2",
        "not supported": "Nothing here",
        "worse than random": "away",
    }
    assert words[level] in found.headline


def test_one_test_alone_supports_nothing():
    assert FEWEST_TESTS == 2
    assert verdict([cell("a")]).level == "mixed"


@pytest.mark.parametrize("p", [ALPHA, 0.5, None])
def test_an_interval_above_zero_needs_a_corrected_p_too(p):
    assert verdict([cell("a", p=p), cell("b", p=p)]).level == "not supported"


def test_a_p_needs_an_interval_that_excludes_zero_too():
    assert verdict([cell("a", UNSURE, 0.001), cell("b", UNSURE, 0.001)]).level == "not supported"
    bare = Estimate(0.2, None, None, 0.95, 1)
    found = verdict([cell("a", bare), cell("b", bare)])
    assert found.level == "not supported"
    assert found.evidence == ("a: too few examples for an interval", "b: too few examples for an interval")


def test_only_headlines_of_faithfulness_tests_decide():
    tests = {
        "a": facts_of(),
        "b": facts_of(),
        "people": facts_of(None, "plausibility"),
        "again": facts_of(None, "stability"),
    }
    cells = [cell("a"), cell("b"), cell("a", WORSE, headline=False), cell("people", WORSE), cell("again", WORSE)]
    found = verdict(cells, tests)
    assert found.level == "supported"
    asides = [e for e in found.evidence if "not part of the level" in e]
    assert [a.split(":")[0] for a in asides] == ["plausibility (people)", "stability (again)"]


def test_the_control_is_the_control():
    found = verdict([cell("a"), cell("b")], method="random")
    assert (found.level, found.evidence, found.next) == ("control", (), "")


def test_without_a_control_nothing_is_judged_and_the_reason_is_told():
    alone = {"loo": {"family": "removal", "removal": "unk"}}
    found = verdict([cell("a", None, None)], methods=alone)
    assert found.level == "untested"
    assert "no 'random' control" in found.why
    assert found.next == "assay audit MODEL DATA --methods random,loo"


def test_without_a_number_the_gaps_say_why():
    found = verdict(
        [], {"a": facts_of()}, gaps=[Gap("loo", "explain", "needs dot", 3), Gap("loo", "a", "needs dot", 1)]
    )
    assert (found.level, found.why) == ("untested", "needs dot")
    assert verdict([], {"a": facts_of()}).why == "no faithfulness test gave a number for it"


# ----------------------------------------------------------------------------------------------------- words


def test_evidence_says_direction_size_interval_and_count():
    found = verdict([cell("a"), cell("b", WORSE), cell("c", UNSURE)])
    assert found.evidence == (
        "a: better than random by +0.200 [+0.100, +0.300], n = 100",
        "b: worse than random by -0.200 [-0.300, -0.100], n = 100",
        "c: not distinguishable from random by +0.020 [-0.100, +0.140], n = 100",
    )
    assert "1 better, 1 undecided, 1 worse than random, paired over 100 examples" in found.why


def test_what_a_supported_method_may_be_used_for_names_the_operators():
    found = verdict([cell("a"), cell("b")], {"a": facts_of("mask"), "b": facts_of("delete")})
    assert found.may.endswith("when words are taken away by delete or mask.")
    assert verdict([cell("a"), cell("b")], {"a": facts_of(None), "b": facts_of(None)}).may.endswith("texts like these.")


def test_a_mixed_method_may_only_be_used_for_what_it_passed():
    found = verdict([cell("a"), cell("b", UNSURE)])
    assert found.may == "Only what its passed tests ask: a."
    assert found.next == "assay audit m d --limit 200"


@pytest.mark.parametrize("against", [UNSURE, WORSE])
def test_an_unsupported_method_may_be_used_for_nothing(against):
    found = verdict([cell("a", against), cell("b", against)])
    assert found.may == "Nothing: do not show it as a reason."
    assert "--methods all" in found.next


@pytest.mark.parametrize(
    ("family", "word"), [("gradient", "Wang 2020"), ("attention", "Jain & Wallace 2019"), ("removal", "single text")]
)
def test_warnings_of_the_family(family, word):
    methods = {"random": {"family": "control"}, "loo": {"family": family, "removal": None}}
    assert word in verdict([cell("a"), cell("b")], methods=methods).may_not


def test_few_examples_are_said():
    few = Estimate(0.2, 0.1, 0.3, 0.95, FEWEST_EXAMPLES - 1)
    enough = Estimate(0.2, 0.1, 0.3, 0.95, FEWEST_EXAMPLES)
    assert "few examples" in verdict([cell("a", few), cell("b")]).why
    assert "few examples" not in verdict([cell("a", enough), cell("b")]).why


def test_gaps_of_the_method_are_counted():
    gaps = [
        Gap("loo", "a", "x", 3, "e1"),
        Gap("loo", "b", "y", 4, "e2"),
        Gap("loo", "c", "does not apply", 1),
        Gap("random", "a", "z", 50),
    ]
    assert "7 numbers could not be computed" in verdict([cell("a"), cell("b")], gaps=gaps).why


# ----------------------------------------------------------------------------------------------- home and away


def test_tests_that_all_share_the_methods_operator_are_said_to():
    found = verdict([cell("a"), cell("b")], {"a": facts_of("unk"), "b": facts_of("unk")})
    assert "all passed tests remove words the way the method does" in found.why
    assert "every test it passed removes words its own way" in found.may_not
    assert found.next == "assay audit m d --tests 'deletion(removal=mask)'"
    assert all(e.endswith("on its home ground") for e in found.evidence)


def test_some_shared_operators_are_named():
    found = verdict([cell("a"), cell("b")], {"a": facts_of("unk"), "b": facts_of("mask")})
    assert "a removes words the way the method does, which favours it" in found.why
    assert found.next == ""


def test_a_method_that_takes_no_words_away_has_no_home():
    methods = {"random": {"family": "control"}, "loo": {"family": "gradient", "removal": None}}
    found = verdict([cell("a"), cell("b")], {"a": facts_of(None), "b": facts_of(None)}, methods=methods)
    assert "home" not in found.why
    assert not any("home" in e for e in found.evidence)


# -------------------------------------------------------------------------------------------- what a grid adds

TESTS = {"deletion(removal=unk)": facts_of("unk"), "deletion(removal=mask)": facts_of("mask")}
METHODS = {
    "random": {"family": "control", "removal": None},
    "loo": {"family": "removal", "removal": "unk"},
    "rival": {"family": "removal", "removal": "mask"},
}


def gridded(value):
    """Records with value(method, operator) and a little that differs between examples."""
    rows = [
        Record(t, str(e), m, values={"auc": value(m, f["removal"]) + 0.01 * ((3 * e + len(m)) % 4)})
        for e in range(40)
        for m in METHODS
        for t, f in TESTS.items()
    ]
    return grid(rows, {"tests": TESTS, "methods": METHODS})


def with_grid(value, against=(BETTER, BETTER)):
    cells = [cell(t, a) for t, a in zip(TESTS, against, strict=True)]
    return verdict(cells, TESTS, METHODS, table=gridded(value))


def test_a_lead_that_stays_away_from_home_supports_there_too():
    found = with_grid(lambda m, o: {"random": 0.0, "loo": 0.3 if o == "unk" else 0.2, "rival": 0.5}[m])
    assert found.level == "supported"
    assert "supported away from home too in deletion" in found.why
    (said,) = [e for e in found.evidence if "home adds" in e]
    assert said.startswith(
        "deletion: ahead of random by +0.300 at home (unk) and +0.200 away (mask); home adds +0.100 ["
    )
    assert "Calling it the best" not in found.may_not


def test_a_lead_that_vanishes_away_from_home_cannot_be_supported():
    found = with_grid(lambda m, o: 0.3 if (m, o) == ("loo", "unk") else 0.0)
    assert found.level == "mixed"
    assert found.headline == "loo is ahead of random only where words are taken away its own way (deletion)."
    assert "the whole lead vanishes away from home in deletion (Pham 2022)" in found.why
    assert "supported away" not in found.why


def test_a_vanished_lead_lowers_supported_only():
    gone = lambda m, o: 0.3 if (m, o) == ("loo", "unk") else 0.0  # noqa: E731
    assert with_grid(gone, (UNSURE, WORSE)).level == "worse than random"
    mixed = with_grid(gone, (BETTER, UNSURE))
    assert mixed.level == "mixed"
    assert mixed.headline == "loo is better than random on 1 of 2 faithfulness tests only."


def test_first_only_at_home_is_no_ground_to_call_it_the_best():
    found = with_grid(lambda m, o: {"random": 0.0, "loo": 0.6 if o == "unk" else 0.3, "rival": 0.5}[m])
    assert found.level == "supported"
    assert found.may_not.endswith("Calling it the best: it comes first only at home in deletion (under unk).")
    everywhere = with_grid(lambda m, o: {"random": 0.0, "loo": 0.9, "rival": 0.5}[m])
    assert "Calling it the best" not in everywhere.may_not


def test_no_lead_at_home_is_no_word_of_home():
    found = with_grid(lambda m, o: 0.0, (UNSURE, UNSURE))
    assert found.level == "not supported"
    assert "away from home" not in found.why


def test_a_summary_without_a_grid_is_judged_as_ever():
    empty = grid([], {"tests": TESTS, "methods": METHODS})
    assert not empty
    cells = [cell(t) for t in TESTS]
    assert judge(summary(cells, TESTS, METHODS)) == judge(summary(cells, TESTS, METHODS), empty)
