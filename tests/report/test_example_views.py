"""Views of single examples: true to their source, within the budget, left out with the text, drawn by a browser."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

import assay
from assay.measures.highlights import at_thresholds
from assay.models.additive import Additive
from assay.report import inputs
from assay.report.browser import embed, fields
from assay.report.curves import mean_curves, picture
from assay.report.html import render
from assay.report.json import to_json
from assay.report.markdown import markdown
from assay.report.terminal import audit_table
from assay.report.views import compared, not_compared, pack_views
from assay.summary import Cell, Curve
from assay.types import Dataset, Estimate, Example, Mark

REMOVER = "leave-one-out(removal=mask)"


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """An audit whose every number has a closed form: log-odds = 0.3 + 2 [good] - 3 [dull]."""
    toy = Additive(weights={"good": 2.0, "dull": -3.0}, bias=(0.0, 0.3))
    data = Dataset(
        "toy",
        (
            Example("a", {"text": "a good film"}, 1, (Mark("text", 2, 6),)),
            Example("b", {"text": "good but dull plot"}, 1, (Mark("text", 0, 4),)),
        ),
        ("negative", "positive"),
    )
    return assay.audit(
        toy, data, methods=["leave-one-out"], tests=["deletion", "highlights"], out=tmp_path_factory.mktemp("run") / "r"
    )


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def printed(renderable):
    console = Console(width=100, file=io.StringIO(), color_system=None)
    console.print(renderable)
    return console.file.getvalue()


# ------------------------------------------------------------------------------------------- from a run


def test_an_audit_tells_the_answer_without_each_word(audited):
    b = next(e for e in audited.summary.examples if e.id == "b")
    assert (b.whole.label, [s.label for s in b.removals["leave-one-out"]]) == (
        "negative",
        ["negative", "negative", "positive", "negative"],
    )
    expected = [sigmoid(0.7), *map(sigmoid, (2.7, 0.7, 2.3, 0.7))]
    assert [b.whole.confidence, *(s.confidence for s in b.removals["leave-one-out"])] == pytest.approx(
        expected, abs=1e-5
    )


def test_an_audit_carries_curves_and_agreement_with_people(audited):
    a = next(e for e in audited.summary.examples if e.id == "a")
    curve = a.curves["deletion"]["leave-one-out"]
    assert curve.x == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert curve.y == pytest.approx([sigmoid(2.3), *[sigmoid(0.3)] * 3], abs=1e-5)
    assert a.highlights["leave-one-out"] == {"iou": 1.0, "precision": 1.0, "recall": 1.0}
    assert compared(a, "leave-one-out") == (1.0, 1.0, 1.0)


def test_an_example_that_the_test_refuses_is_not_compared_by_the_report(audited):
    b = next(e for e in audited.summary.examples if e.id == "b")
    assert "not the right answer" in b.uncompared
    assert compared(b, "leave-one-out") == (None, None, None)


def test_json_holds_every_view_and_none_without_text(audited):
    whole = to_json(audited.summary, audited.verdicts)
    assert json.loads(json.dumps(whole, allow_nan=False)) == whole
    views = {"whole", "removals", "curves"}
    assert all(views <= set(e) for e in whole["examples"])
    assert not any(views & set(e) for e in to_json(audited.summary, audited.verdicts, text=False)["examples"])


# --------------------------------------------------------------------------------------------- packing


def test_packed_views_come_back_as_they_were(summary):
    e = summary.examples[0]
    views = pack_views(e, summary.methods)
    at = summary.methods.index(REMOVER)
    labels, confidences = views["removals"]["of"][at]
    assert [views["removals"]["labels"][i] for i in labels] == [s.label for s in e.removals[REMOVER]]
    assert [c / 1e4 for c in confidences] == pytest.approx([s.confidence for s in e.removals[REMOVER]], abs=5.1e-5)
    assert views["fills"][summary.methods.index("lime")][0] == [e.words[0].lower(), 6100, "<b>", 2000, "film", 30]
    ((test, x, curves),) = views["curves"]
    exponent, *numbers = curves[0]
    assert test == "deletion"
    assert [v / 1e3 for v in x] == pytest.approx(e.curves["deletion"]["random"].x, abs=5.1e-4)
    assert [n * 10.0**exponent for n in numbers] == pytest.approx(e.curves["deletion"]["random"].y, abs=5.1e-3)


def test_where_no_test_compared_maps_with_people_its_rule_is_used(summary):
    e = next(e for e in summary.examples if any(e.evidence) and e.gold == e.target)
    told = at_thresholds(np.array(e.scores["lime"]), np.array(e.evidence), [0.05])
    assert compared(e, "lime") == tuple(float(told[k][0]) for k in ("iou", "precision", "recall"))
    wrong = replace(e, gold="other")
    assert compared(wrong, "lime") == (None, None, None)
    assert "not the right answer" in not_compared(wrong)


def test_nothing_that_is_not_there_is_packed(summary):
    bare = replace(summary.examples[0], removals={}, whole=None, fills={}, curves={}, evidence=())
    assert pack_views(bare, summary.methods) == {}


def test_views_give_way_before_examples_do_and_the_page_says_so(many, verdicts):
    base = len(embed(replace(many, examples=many.examples), text=False).text)
    small = embed(many, budget=base * 2)
    assert small.shown == 1000
    assert 0 < small.detailed < 1000
    held = [e for e in json.loads(small.text)["examples"] if "views" in e]
    assert len(held) == small.detailed
    assert len(render(many, verdicts).encode()) < 5_000_000


def test_long_curves_are_thinned(summary):
    at = tuple(np.linspace(0, 1, 501).tolist())
    long = replace(summary.examples[0], curves={"deletion": {"lime": Curve(at, at)}})
    ((_, x, curves),) = pack_views(long, summary.methods)["curves"]
    assert len(x) == 26
    assert (x[0], x[-1]) == (0, 1000)
    assert len(curves[summary.methods.index("lime")]) == 27


# ------------------------------------------------------------------------------------------------- cut


def cut_example(summary):
    text = "a fine film that nobody read"
    e = summary.examples[0]
    few = {m: s[:3] for m, s in e.scores.items()}
    places = (("text", 0, 1), ("text", 2, 6), ("text", 7, 11))
    return replace(
        e, id="cut", fields={"text": text}, words=("a", "fine", "film"), places=places, scores=few, evidence=(),
        removals={}, fills={}, curves={}, cut="the last 3 words of text (the model takes 5 tokens)", ends={"text": 11},
    )  # fmt: skip


def test_the_part_that_was_not_read_is_kept_apart(summary):
    ((name, pieces, unread),) = fields(cut_example(summary))
    assert (name, "".join(pieces), unread) == ("text", "a fine film", " that nobody read")
    whole = replace(cut_example(summary), ends={})
    assert fields(whole)[0][2] == ""


def test_every_view_says_how_many_examples_were_cut(summary, verdicts):
    told = replace(summary, examples=(cut_example(summary), *summary.examples[:3]))
    said = "1 of 4 examples were cut"
    assert said in render(told, verdicts)
    assert said in markdown(told, verdicts)
    assert said in printed(audit_table(told, verdicts))
    assert said not in render(summary, verdicts)


# ---------------------------------------------------------------------------------------- fills, means


def weak(summary, **values):
    cells = tuple(Cell("", "fill-quality", n, Estimate(v, v, v, 0.95, 9), n == "match") for n, v in values.items())
    return replace(summary, of_inputs=cells)


def test_a_language_model_too_weak_for_its_fills_is_named_everywhere(summary, verdicts):
    assert inputs.warnings(summary) == []
    (said,) = inputs.warnings(weak(summary, match=0.29, mass=0.9))
    assert said.startswith("Language model too weak for its fills: it puts 29 % of the words back")
    (both,) = inputs.warnings(weak(summary, match=0.1, mass=0.59))
    assert "59 %" in both
    poor = weak(summary, match=0.1, mass=0.5)
    for shown in (
        render(poor, verdicts),
        markdown(poor, verdicts),
        " ".join(printed(audit_table(poor, verdicts)).split()),
    ):
        assert "too weak for its fills" in shown


def test_fills_that_nothing_tested_are_said(summary):
    methods = {**summary.meta["methods"], "marginal": {"home": "mlm"}}
    (said,) = inputs.warnings(replace(summary, meta={**summary.meta, "methods": methods}, of_inputs=()))
    assert said.startswith("marginal: made with a language model's fills")


def test_other_tests_of_inputs_have_a_table_of_their_own(summary):
    cell = Cell("", "permutation", "tvd", Estimate(0.2, 0.1, 0.3, 0.95, 9), True)
    (table,) = inputs.tables(replace(summary, of_inputs=(cell,)))
    assert table.id == "inputs"
    assert [e.text for e in table.rows[0]] == ["tvd", "0.200"]


def with_curves(summary, **of):
    examples = []
    for k in range(len(next(iter(of.values())))):
        examples.append(replace(summary.examples[k], curves={"deletion": {m: c[k] for m, c in of.items()}}))
    return replace(summary, examples=tuple(examples))


def test_mean_curves_meet_texts_of_different_length(summary):
    """At half of the words: 0.5 on a straight line from 1 to 0, 0.2 on the other; mean 0.35."""
    told = with_curves(summary, lime=[Curve((0.0, 1.0), (1.0, 0.0)), Curve((0.0, 0.5, 1.0), (1.0, 0.2, 0.0))])
    (means,) = mean_curves(told)
    assert means.x == pytest.approx(np.linspace(0, 1, 11))
    assert means.of["lime"][5].value == pytest.approx(0.35)
    assert means.of["lime"][10].value == 0.0


def test_a_band_never_leaves_what_is_possible(summary):
    tests = {**summary.meta["tests"], "deletion": {**summary.meta["tests"]["deletion"], "bounds": (0.0, 1.0)}}
    told = with_curves(summary, lime=[Curve((0.0, 1.0), (y, y)) for y in (0.0, 0.0, 0.9)])
    free, bound = mean_curves(told)[0], mean_curves(replace(told, meta={**told.meta, "tests": tests}))[0]
    assert free.of["lime"][0].low < 0 < free.of["lime"][0].value
    assert bound.of["lime"][0].low == 0.0
    assert bound.of["lime"][0].value == free.of["lime"][0].value


def test_a_picture_says_in_words_what_it_shows(summary):
    (means,) = mean_curves(with_curves(summary, lime=[Curve((0.0, 1.0), (0.9, 0.1)), Curve((0.0, 1.0), (0.7, 0.3))]))
    drawn = picture(means, "lime")
    assert (
        'aria-label="deletion by lime: mean over 2 examples from 0.800 at 0 % of the words to 0.200 at 100 %"' in drawn
    )
    assert picture(means, "gradient") == ""


# --------------------------------------------------------------------------------------------- browser


@pytest.fixture(scope="module")
def address(tmp_path_factory, summary, verdicts):
    path = tmp_path_factory.mktemp("views") / "report.html"
    examples = (cut_example(summary), *summary.examples)
    path.write_text(render(replace(summary, examples=examples), verdicts), encoding="utf-8")
    return path


@pytest.fixture
def page(chromium, address):
    yield chromium.open(address)
    assert chromium.problems() == []


def search(page, text):
    page(f"document.getElementById('search').value = {text!r}")
    page("document.getElementById('search').dispatchEvent(new Event('input'))")


@pytest.mark.browser
def test_a_cut_text_shows_what_was_cut(page):
    search(page, "nobody read")
    assert "the last 3 words of text" in page("document.querySelector('.cut').textContent")
    assert page("document.querySelector('.cut .field').textContent") == "that nobody read"
    assert page("document.querySelector('.map').textContent") == "a fine film ✂"


@pytest.mark.browser
def test_flips_are_told_by_sign_and_word_not_by_colour(page, summary):
    e = summary.examples[0]
    search(page, e.id + " ")
    rows = page("[...document.querySelectorAll('.removal')].map(r => r.textContent)")
    assert len(rows) == len(e.words)
    flips = [r for r in rows if "⇄" in r]
    assert len(flips) == sum(e.evidence) == 1
    assert "the prediction flips" in flips[0]
    assert "60.0 %" in flips[0]


@pytest.mark.browser
def test_fills_stand_under_their_words_as_text(page, summary):
    e = summary.examples[0]
    search(page, e.id + " ")
    shown = page("[...document.querySelector('.gloss').querySelectorAll('li')].map(l => l.textContent)")
    assert shown == [f"= {e.words[0].lower()}61 % (the word itself)", "<b>20 %", "film< 1 %"]
    assert page("document.querySelectorAll('.gloss').length") == len(e.words)
    assert page("document.querySelectorAll('.gloss b').length") == 0


@pytest.mark.browser
def test_people_and_curves_are_there_for_every_method_that_is_on(page, summary):
    search(page, summary.examples[0].id + " ")
    assert page("document.querySelectorAll('.people .map-row').length") == len(summary.methods)
    assert page("document.querySelectorAll('.curve-views svg').length") == len(summary.methods)
    assert page("document.querySelectorAll('.curve-views svg .own').length") == len(summary.methods)
    page("[...document.querySelectorAll('.toggle')].find(b => b.textContent === 'lime').click()")
    assert page("document.querySelectorAll('.curve-views svg').length") == len(summary.methods) - 1
    assert page("document.querySelectorAll('.gloss').length") == 0


@pytest.mark.browser
def test_what_is_shut_stays_shut_in_the_next_example(page, summary):
    search(page, "reviews")
    page("document.querySelector('.one-word > summary').click()")
    page("new Promise(r => setTimeout(r, 50))")
    page("document.querySelector('[aria-label=\"Next example\"]').click()")
    assert page("document.querySelector('.one-word').open") is False
    assert page("document.querySelector('.people').open") is True
