"""Exhibits: JSON and back without loss, Markdown that stays one table, a page in which no text becomes code."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from assay.exhibit import Entry, Exhibit, Figure, Heatmap, Series, Table, claim
from assay.report.exhibit_json import from_json, to_json
from assay.report.exhibit_markdown import markdown
from assay.report.exhibit_text import spoken, tally
from assay.types import BadInput, Estimate, Finding

BAD = '<script>alert(1)</script> </script><img src=x onerror=alert(1)> | `a` *b* [l](http://x) "q" {{ 7*7 }} \u2028 &'


def est(value, spread=0.03, n=200, skipped=0):
    return Estimate(value, value - spread, value + spread, 0.95, n, skipped, "bootstrap-t")


def lines():
    x = tuple(np.linspace(0.0, 1.0, 11).tolist())
    for name, slope in (("gradient", 0.35), ("attention", 0.2), ("random", 0.02)):
        y = tuple(0.05 + slope * v**0.6 for v in x)
        yield Series(name, x, y, tuple(v - 0.03 for v in y), tuple(v + 0.03 for v in y))


def violins():
    rng = np.random.default_rng(3)
    for name, shift in (("negative", 0.0), ("positive", 0.12)):
        x, y = [], []
        for group in (0.125, 0.375, 0.625, 0.875):
            x += [group] * 80
            y += np.clip(rng.beta(2, 5, 80) * (0.4 + group) + shift, 0, 1).tolist()
        yield Series(name, tuple(x), tuple(y))


def histograms():
    rng = np.random.default_rng(5)
    edges = np.linspace(-1, 1, 21)
    middle = tuple(((edges[1:] + edges[:-1]) / 2).round(3).tolist())
    for name, mean in (("class 0", 0.35), ("class 1", -0.05)):
        yield Series(name, middle, tuple(np.histogram(rng.normal(mean, 0.25, 900), edges)[0].astype(float).tolist()))


def scatter():
    rng = np.random.default_rng(9)
    for name, n in (("seeds", 24), ("trained adversary", 7), ("uniform", 1)):
        x = np.sort(rng.uniform(0.05, 0.69, n))
        yield Series(name, tuple(x.tolist()), tuple((x**2 + rng.uniform(0, 0.1, n)).tolist()))


def ranked():
    found = {"SST": 0.21, "IMDB": 0.34, "AG News": -0.06, "SNLI (entailment against rest)": 0.12}
    for i, (name, v) in enumerate(found.items()):
        yield Series(name, (float(i),), (v,), (v - 0.05,), (v + 0.05,))


FIGURES = (
    Figure("F5", "TVD over JSD while λ grows", "line", "JSD", "TVD", tuple(lines()), "Bands are 95 % intervals."),
    Figure("F3", "Median Δŷ by largest attention", "violin", "largest attention weight", "median Δŷ", tuple(violins())),
    Figure("F2", "Kendall τ of attention and gradients", "histogram", "τ", "examples", tuple(histograms())),
    Figure("", "Every model once", "points", "JSD from the base model", "TVD", tuple(scatter())),
    Figure("F6", "Difference of mean τ", "bars", "data set", "LOO–gradient minus attention–LOO", tuple(ranked())),
)
NOTHING = Estimate(math.nan, None, None, 0.95, 0, 9)
TABLE = Table(
    "T2",
    "Kendall τ between attention and feature importance",
    ("gradient, BiLSTM", "gradient, average", "leave-one-out", "note"),
    (
        ("SST, negative", (Entry(est(0.41), "0.40 ± 0.17"), Entry(est(0.62), "0.69"), Entry(0.33, "0.34"), Entry("GRU"))),
        ("SST, positive", (Entry(est(0.36, skipped=4), "0.36"), Entry(math.nan, "0.65"), Entry(None), Entry("", "–"))),
        ("count", (Entry(1821, "1821"), Entry(est(-0.02)), Entry(math.inf), Entry(NOTHING))),
    ),
    "Mean over examples; beside it what the paper printed.",
)  # fmt: skip
WORDS = ("this", "is", "a", "truly", "wonderful", "film", ",", "never", "dull", "for", "a", "moment")
MAP = Heatmap(
    "SST, example 17",
    WORDS,
    (
        ("original", (0.01, 0.01, 0.0, 0.1, 0.62, 0.1, 0.0, 0.04, 0.1, 0.0, 0.0, 0.02)),
        ("adversarial", (0.7, 0.01, math.nan, 0.1, -0.02, 0.1, 0.0, 0.04, 0.01, 0.0, 0.0, 0.02)),
    ),
    ("Δŷ = 0.006",),
)
FINDINGS = (
    claim("Attention disagrees with gradients", est(0.09), "τ = 0.40 ± 0.17", why="The interval lies below 0.5."),
    Finding("Adversarial attention leaves the prediction", est(-0.12), "Δŷ < 0.05", "no", "It moved.", "BiLSTM"),
    Finding("Uniform attention is as good", None, "", "undecided", "No model was trained with uniform attention."),
)


def build(name="jain2019", data="sst", **settings):
    given = {"encoder": "bilstm", "attention": "tanh", "epochs": 8, "seeds": [0, 1, 2], "lr": 1e-3, **settings}
    notes = ("The paper's code divides TVD by two; so do we.",)
    seconds = {"train": 312.4, "explain": 48.1, "adversary": 4021.0, "tables": 0.21}
    told = (name, "Attention is not Explanation", data, "" if data == "sst" else "IMDB", given)
    return Exhibit(*told, FINDINGS, (TABLE,), FIGURES, (MAP,), notes, seconds)


def hostile():
    figure = Figure(BAD, BAD, "line", BAD, BAD, (Series(BAD, (0.0, 1.0), (0.0, 1.0)),), BAD)
    table = Table(BAD, BAD, (BAD,), ((BAD, (Entry(BAD, BAD),)),), BAD)
    heatmap = Heatmap(BAD, (BAD, "\ud800", "שלום"), ((BAD, (1.0, -1.0, 0.0)),), (BAD,))
    finding = Finding(BAD, est(0.1), BAD, "yes", BAD, BAD)
    return Exhibit(BAD, BAD, BAD, BAD[:9], {BAD: BAD}, (finding,), (table,), (figure,), (heatmap,), (BAD,), {BAD: 1.0})


EMPTY = Exhibit("empty", "Nothing", "sst", "", {}, (), ())


# ---------------------------------------------------------------------------------------------------- JSON


@pytest.mark.parametrize("exhibit", [build(), hostile(), EMPTY], ids=["full", "hostile", "empty"])
def test_json_comes_back_equal_through_a_file(exhibit):
    text = json.dumps(to_json(exhibit), allow_nan=False)
    assert from_json(json.loads(text)) == exhibit


def test_json_keeps_nan_none_infinity_and_text_apart():
    odd = (None, math.nan, math.inf, -math.inf, "nan", "", 0, 0.0, Estimate(math.nan, math.nan, math.inf, 0.95, 3))
    table = Table("", "odd", tuple("abcdefghi"), (("row", tuple(map(Entry, odd))),))
    told = json.loads(json.dumps(to_json(Exhibit("o", "O", "d", "", {}, (), (table,))), allow_nan=False))
    back = [e.ours for e in from_json(told).tables[0].rows[0][1]]
    assert back[0] is None
    assert math.isnan(back[1])
    assert back[2:8] == [math.inf, -math.inf, "nan", "", 0, 0.0]
    assert math.isnan(back[8].value)
    assert math.isnan(back[8].low)
    assert back[8].high == math.inf


def test_settings_become_plain_values():
    odd = {"seeds": (1, 2), "rate": np.float64(0.1), "none": math.nan, "kept": np.arange(2)}
    told = to_json(Exhibit("o", "O", "d", "", odd, (), ()))["settings"]
    assert told == {"seeds": [1, 2], "rate": 0.1, "none": None, "kept": [0, 1]}


@pytest.mark.parametrize("broken", [{}, {"format": 99}, {"format": 1}, {**to_json(EMPTY), "seconds": {"a": "soon"}}])
def test_what_is_no_exhibit_is_refused_in_one_line(broken):
    with pytest.raises(BadInput, match=r"^exhibit: [^\n]+$"):
        from_json(broken)


# ------------------------------------------------------------------------------------------------ Markdown


def test_markdown_shows_our_number_interval_and_the_papers():
    text = markdown(build(), command="assay reproduce jain2019 --data sst")
    assert r"| SST, negative | 0.410 \[0.380, 0.440\] (paper: 0.40 ± 0.17) |" in text
    assert "```sh\nassay reproduce jain2019 --data sst\n```" in text
    assert "1 of 3 claims holds, 1 does not, 1 undecided" in text
    assert r"✗ **does not hold**: BiLSTM: Adversarial attention" in text
    assert "| all | 1 h 13 min |" in text


def test_markdown_tells_whose_numbers_stand_beside_ours():
    assert "those for IMDB" in markdown(build(data="own"))
    assert "those for" not in markdown(build())


def test_markdown_violin_shows_the_median_of_each_group():
    negative = FIGURES[1].series[0]
    middle = np.median([y for x, y in zip(negative.x, negative.y, strict=True) if x == 0.125])
    assert f"| 0.125 | median {middle:.3f} (n = 80) |" in markdown(build())


def test_markdown_of_hostile_text_has_no_markup_and_every_table_keeps_its_columns():
    text = markdown(hostile(), command="echo ``` done")
    body, _, end = text.partition("````sh")
    assert end.startswith("\necho ``` done\n````\n")
    assert not re.search(r"(?<!\\)[<>`]", re.sub(r"(?m)^> ", "", body))
    columns = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("| ")}
    assert columns == {3}, "one name column and one other"


def test_an_empty_exhibit_says_so():
    assert markdown(EMPTY) == "# Nothing\n\nsst · no claim was put to the test\n"
    assert tally(()) == "no claim was put to the test"


def test_a_figure_is_told_in_words():
    series = (Series("a", (0, 1, 2), (3.0, math.nan, 1.0)), Series("b", (), ()))
    assert spoken(Figure("", "t", "line", "steps", "loss", series)) == (
        "Line chart of loss over steps. a: 2 values, 1.000 to 3.000, median 2.000. b: 0 values, no value."
    )
