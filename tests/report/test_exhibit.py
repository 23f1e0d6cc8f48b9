"""Exhibits: JSON and back without loss, Markdown that stays one table, a page in which no text becomes code."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import math
import re
import time
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from assay.exhibit import Entry, Exhibit, Figure, Heatmap, Series, Table, claim
from assay.report.exhibit_html import render
from assay.report.exhibit_index import claims, facets
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
        ("SST, negative", (Entry(est(0.41), "0.40 ± 0.17"), Entry(est(0.62), "0.69"), Entry(0.3, "0.3"), Entry("GRU"))),
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
    assert r"0.360 \[0.330, 0.390\] (n = 200, 4 left out) (paper: 0.36) |" in text
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


# ---------------------------------------------------------------------------------------------------- page


class Reader(HTMLParser):
    """Tags, attributes, text and the inside of scripts and styles."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.inside, self.open, self.text = [], [], {}, None, []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *a) for a in attrs]
        self.open = (tag, dict(attrs).get("type")) if tag in ("script", "style") else self.open

    def handle_endtag(self, tag):
        self.open = None if self.open and self.open[0] == tag else self.open

    def handle_data(self, data):
        if self.open:
            self.inside[self.open] = self.inside.get(self.open, "") + data
        else:
            self.text.append(data)


def several():
    return [
        build(data=data, encoder=encoder, attention=attention)
        for data in ("sst", "imdb")
        for encoder in ("bilstm", "average")
        for attention in ("tanh", "dot")
    ]


@pytest.mark.parametrize("exhibits", [[hostile()], [hostile(), EMPTY, build()]], ids=["one", "several"])
def test_no_text_becomes_code(exhibits):
    read = Reader(render(exhibits, command=BAD))
    assert read.tags.count("script") == 2
    assert read.tags.count("style") == 1
    assert not {"img", "iframe", "object"} & set(read.tags)
    assert not [a for a in read.attributes if a[1].startswith("on") or a[1] == "style"]
    assert all(a[2].startswith("#") or a[2] == "data:," for a in read.attributes if a[1] in ("src", "href", "action"))
    assert "".join(read.text).count("<script>alert(1)</script>") > 10, "it is shown, as text"
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", read.inside["script", None])


def test_the_policy_allows_exactly_our_style_and_script():
    read = Reader(render([build()]))
    policy = next(a[2] for a in read.attributes if a[1] == "content" and "default-src" in a[2])
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for directive, kind in (("style-src", "style"), ("script-src", "script")):
        digest = base64.b64encode(hashlib.sha256(read.inside[kind, None].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy


def test_every_id_is_given_once_and_every_link_leads_somewhere():
    read = Reader(render(several()))
    ids = [a[2] for a in read.attributes if a[1] == "id"]
    assert len(ids) == len(set(ids))
    used = [x for a in read.attributes if a[1] in ("aria-labelledby", "data-of") for x in a[2].split()]
    used += [a[2][1:] for a in read.attributes if a[1] == "href" and a[2].startswith("#")]
    assert set(used) <= set(ids)


def test_the_numbers_of_ours_and_of_the_paper_are_on_the_page():
    text = " ".join("".join(Reader(render([build(data="own")])).text).split())
    assert "0.410[0.380, 0.440]paper 0.40 ± 0.17" in text
    assert "0.360[0.330, 0.390]n = 200, 4 left outpaper 0.36" in text
    assert "The paper did not use own; its numbers shown here are those for IMDB." in text
    assert "adversary 1 h 7 min" in text


def test_figures_travel_with_all_their_numbers():
    data = json.loads(Reader(render([build()])).inside["script", "application/json"])
    violin = data["e1-f2"]["series"][1]
    assert violin["y"] == pytest.approx(FIGURES[1].series[1].y, rel=1e-6)
    assert violin["x"] == list(FIGURES[1].series[1].x)


def test_facets_are_what_differs():
    found = facets(several())
    assert [f.name for f in found] == ["data", "encoder", "attention"]
    assert found[2].values == ("tanh", "dot") * 4
    assert [f.name for f in facets([build(), build()])] == ["name"]


def test_claims_are_counted_over_exhibits():
    found = claims([("a", build()), ("b", build()), ("c", EMPTY)])
    assert [(c.yes, c.no, c.undecided) for c in found] == [
        (("a", "b"), (), ()),
        ((), ("a (BiLSTM)", "b (BiLSTM)"), ()),
        ((), (), ("a", "b")),
    ]


def test_nothing_to_show_is_refused():
    with pytest.raises(BadInput, match="none were given"):
        render([])


# ------------------------------------------------------------------------------------------------- browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exhibits")
    for name, exhibits in {"one": [build()], "several": several(), "hostile": [hostile(), EMPTY]}.items():
        (folder / f"{name}.html").write_text(render(exhibits, command="assay reproduce"), encoding="utf-8")
    return folder


SHOWN = "[...document.querySelectorAll('article.exhibit')].filter(a => a.checkVisibility()).map(a => a.id)"


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["one", "several", "hostile"])
def test_the_page_opens_without_error_and_fits(chromium, pages, name, width, scheme):
    chromium.open(pages / f"{name}.html", width, scheme=scheme)
    assert chromium.problems() == []
    assert chromium("document.documentElement.scrollWidth") == width
    if name == "one":
        colour = chromium("getComputedStyle(document.querySelector('svg.chart .s0')).color")
        assert colour == {"light": "rgb(0, 114, 178)", "dark": "rgb(92, 184, 240)"}[scheme]


@pytest.mark.browser
def test_a_hostile_exhibit_opens_as_text(chromium, pages):
    chromium.open(pages / "hostile.html")
    chromium(
        "new Promise(d => { addEventListener('hashchange', d, {once: true}); location.hash = '#e1'; }).then(() => 1)"
    )
    assert chromium(SHOWN) == ["e1"]
    assert chromium("document.querySelector('.map .w').textContent") == BAD
    assert chromium.problems() == []


@pytest.mark.browser
def test_the_index_opens_one_experiment_and_leads_back(chromium, pages):
    go = "new Promise(d => {{ addEventListener('hashchange', d, {{once: true}}); {}; }}).then(() => 1)"
    chromium.open(pages / "several.html")
    assert chromium(SHOWN) == []
    chromium(go.format("document.querySelector('#index [href=\"#e3\"]').click()"))
    assert chromium(SHOWN) == ["e3"]
    assert not chromium("document.getElementById('index').checkVisibility()")
    chromium(go.format("document.querySelector('#e3 [rel=next]').click()"))
    assert chromium(SHOWN) == ["e4"]
    chromium(go.format("history.go(-2)"))
    assert chromium(SHOWN) == []
    assert chromium("document.getElementById('index').checkVisibility()")
    assert chromium.problems() == []


@pytest.mark.browser
def test_the_index_is_filtered_by_what_differs(chromium, pages):
    chromium.open(pages / "several.html")
    chromium("(() => { const s = document.querySelector('[data-facet=\"1\"]'); s.value = 'average';"
             "s.dispatchEvent(new Event('change', {bubbles: true})); })()")  # fmt: skip
    rows = chromium(
        "[...document.querySelectorAll('.index tbody tr')].filter(r => !r.hidden).map(r => r.cells[1].textContent)"
    )
    assert rows == ["average"] * 4


def saved(chromium, folder, selector, ending):
    """Click a button and read the file that the browser writes."""
    chromium.send("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    chromium(f"document.querySelector('{selector}').click()")
    deadline = time.monotonic() + 20
    while not (found := list(folder.glob(f"*.{ending}"))):
        assert time.monotonic() < deadline, f"nothing was saved by {selector}"
        time.sleep(0.05)
    return found[0].read_text(encoding="utf-8")


@pytest.mark.browser
def test_a_chart_is_saved_as_an_svg_that_stands_alone(chromium, pages, tmp_path):
    chromium.open(pages / "one.html")
    root = ElementTree.fromstring(saved(chromium, tmp_path, "#e1-f1 [data-save=svg]", "svg"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.find("{*}title").text == "F5: TVD over JSD while λ grows"
    assert chromium.problems() == []


@pytest.mark.browser
def test_a_charts_numbers_are_saved_as_csv(chromium, pages, tmp_path):
    chromium.open(pages / "one.html")
    rows = list(csv.DictReader(io.StringIO(saved(chromium, tmp_path, "#e1-f1 [data-save=csv]", "csv"))))
    first = FIGURES[0].series[0]
    assert [float(r["TVD"]) for r in rows[:11]] == pytest.approx(first.y, rel=1e-6)
    assert [float(r["low"]) for r in rows[:11]] == pytest.approx(first.low, rel=1e-6)
    assert {r["series"] for r in rows} == {"gradient", "attention", "random"}


@pytest.mark.browser
def test_a_tables_numbers_are_saved_with_the_papers(chromium, pages, tmp_path):
    chromium.open(pages / "one.html")
    rows = list(csv.DictReader(io.StringIO(saved(chromium, tmp_path, "#e1-t1 [data-save=csv]", "csv"))))
    name = "gradient, BiLSTM"
    assert [rows[0][k] for k in (name, f"{name} low", f"{name} paper")] == ["0.41", "0.38", "0.40 ± 0.17"]
    assert rows[1]["gradient, average paper"] == "0.65"
