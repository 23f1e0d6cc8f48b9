"""The page: nothing in a text becomes code, the policy fits the content, numbers and gaps are all there."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from assay import heat
from assay.report.answer import answer, ranked
from assay.report.html import render


class Reader(HTMLParser):
    """Tags, attributes and text of a page, as a browser's parser would cut it."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.inside, self.open = [], [], {}, None
        self.text = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *a) for a in attrs]
        if tag in ("script", "style"):
            self.open = (tag, dict(attrs).get("type"))

    def handle_endtag(self, tag):
        self.open = None if self.open and self.open[0] == tag else self.open

    def handle_data(self, data):
        if self.open:
            self.inside[self.open] = self.inside.get(self.open, "") + data
        else:
            self.text.append(data)


@pytest.fixture(scope="module")
def page(summary, verdicts):
    return render(summary, verdicts)


@pytest.fixture(scope="module")
def read(page):
    return Reader(page)


def embedded(reader):
    return json.loads(reader.inside["script", "application/json"])


def unpacked(packed):
    exponent, *numbers = packed
    return [None if n is None else n * 10.0**exponent for n in numbers]


def test_exactly_our_two_scripts_and_one_style(read):
    assert read.tags.count("script") == 2
    assert read.tags.count("style") == 1
    assert not {"img", "iframe", "object", "b"} & set(read.tags)


def test_no_inline_handler_style_attribute_or_outside_address(read):
    assert not [a for a in read.attributes if a[1].startswith("on") or a[1] == "style"]
    addresses = [a[2] for a in read.attributes if a[1] in ("src", "href", "action")]
    assert all(a.startswith("#") or a == "data:," for a in addresses)


def test_policy_hashes_are_those_of_the_content(read):
    policy = next(a[2] for a in read.attributes if a[1] == "content" and "default-src" in a[2])
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for directive, key in (("style-src", ("style", None)), ("script-src", ("script", None))):
        digest = base64.b64encode(hashlib.sha256(read.inside[key].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy


def test_script_never_writes_markup(read):
    script = read.inside["script", None]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", script)


def test_data_cannot_end_its_element(page):
    block = page.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(block)


def test_every_text_comes_back_from_the_page_as_it_was(read, summary):
    found = {e["id"]: e for e in embedded(read)["examples"]}
    assert len(found) == len(summary.examples)
    for e in summary.examples:
        ((_, pieces, _unread),) = found[e.id]["fields"]
        assert "".join(pieces) == e.fields["text"]
        assert pieces[1::2] == list(e.words)


def test_scores_keep_four_digits_of_the_largest_of_a_map(read, summary):
    data = embedded(read)
    for e, packed in zip(summary.examples, data["examples"], strict=True):
        for method, row in zip(data["methods"], packed["scores"], strict=True):
            top = heat.largest(e.scores[method])
            assert unpacked(row) == pytest.approx(list(e.scores[method]), abs=top * 5.1e-4)


def test_hostile_names_are_escaped_everywhere(summary, verdicts):
    bad = "<svg onload=alert(1)>\"'&"
    meta = {**summary.meta, "model": bad, "command": bad, "versions": {bad: bad}, bad: bad}
    read = Reader(render(replace(summary, meta=meta), [replace(v, headline=bad, next=bad) for v in verdicts]))
    assert not [a for a in read.attributes if a[1].startswith("on")]
    assert bad in "".join(read.text)


def test_lone_surrogates_do_not_stop_the_page_from_being_written(page, tmp_path):
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page


def test_thousand_examples_stay_under_five_megabytes(many, verdicts):
    page = render(many, verdicts)
    assert len(page.encode()) < 5_000_000
    assert len(embedded(Reader(page))["examples"]) == 1000


def test_what_does_not_fit_is_said(many, verdicts):
    long = replace(many.examples[0], fields={"text": "y" * 100_000}, words=(), places=(), scores={}, evidence=())
    page = render(replace(many, examples=(long,) * 100), verdicts)
    shown = len(embedded(Reader(page))["examples"])
    assert len(page.encode()) < 5_000_000
    assert 0 < shown < 100
    assert f"first {shown} of 100 examples" in page


def test_no_text_leaves_every_word_of_the_data_out(summary, verdicts):
    first = summary.examples[0]
    words = tuple(f"quokka{i}" for i in range(len(first.words)))
    text = " ".join(words)
    places = tuple(("text", text.index(w), text.index(w) + len(w)) for w in words)
    fills = {"lime": tuple(((f"quokka-fill{i}", 0.5),) for i in range(len(words)))}
    secret = replace(
        first, fields={"text": text}, words=words, places=places, cut=text, ends={"text": 3}, fills=fills,
        uncompared="quokka reason",
    )  # fmt: skip
    told = replace(summary, examples=(secret,) * 3)
    assert "quokka1" in render(told, verdicts)
    assert "quokka" not in render(told, verdicts, text=False)


def test_verdicts_come_first_and_best_first(page, verdicts):
    assert page.index('id="verdicts"') < page.index('id="evidence"')
    shown = re.findall(r'<article class="card" data-level="([^"]+)"', page)
    assert shown == [v.level for v in ranked(verdicts)]
    assert shown[-1] == "control"


def test_answer_counts_levels(verdicts):
    assert answer(verdicts) == "4 of 5 methods are supported by the tests; 1 worse than random."
    alone = [v for v in verdicts if v.method == "attention"]
    assert answer(alone) == "The one method that was judged came out as: worse than random."
    assert answer([*alone, *alone]) == "None of 2 methods is supported by the tests; 2 worse than random."


def test_plausibility_has_a_table_of_its_own(page):
    scores = page.split('id="scores"')[1].split("</figure>")[0]
    own = page.split('id="plausibility"')[1].split("</figure>")[0]
    assert 'data-name="highlights"' in own
    assert 'data-name="highlights"' not in scores
    assert 'data-name="deletion"' not in own


def test_a_number_stands_with_its_interval_mark_and_what_was_left_out(page):
    scores = page.split('id="scores"')[1].split("</figure>")[0]
    assert re.search(r'data-mark="✓⌂"[^>]*home ground', scores), "same removal as the test is marked"
    assert "[0.590, 0.650]" in scores
    assert "n = 197, 3 left out" in scores


def test_gaps_and_costs_are_shown(page):
    assert "fewer than two words were left &lt;b&gt;bold&lt;/b&gt;" in page
    assert "15,000,000" in page


def test_an_empty_summary_still_makes_a_page(without_examples):
    read = Reader(render(replace(without_examples, methods=(), tests=(), cells=(), meta={}), []))
    assert "No method was judged." in "".join(read.text)
    assert embedded(read)["examples"] == []


# ------------------------------------------------------------------------------------------------ contrast


def luminance(colour):
    """Relative luminance, WCAG 2.1."""
    parts = [c / 255 for c in colour]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def palettes(style):
    light, dark = (
        style.split(mark)[1].split("}")[0] for mark in (":root {\n  color-scheme", "(prefers-color-scheme: dark)")
    )
    for block in (light, dark):
        colours = {
            n: tuple(int(v[i : i + 2], 16) for i in (0, 2, 4)) for n, v in re.findall(r"--(\w+): #(\w{6})", block)
        }
        yield colours, float(re.search(r"--strongest: ([\d.]+)", block)[1])


def test_every_text_colour_has_contrast_of_four_and_a_half(read):
    checked = 0
    for colours, strongest in palettes(read.inside["style", None]):
        for ink in ("ink", "soft", "link", "good", "half", "bad", "flat"):
            for ground in ("paper", "card", "tint"):
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
                checked += 1
        for base in (heat.SUPPORTS, heat.OPPOSES):
            for step in range(11):
                alpha = strongest * step / 10
                for ground in ("paper", "card"):
                    mixed = [alpha * c + (1 - alpha) * g for c, g in zip(base, colours[ground], strict=True)]
                    assert contrast(colours["word"], mixed) >= 4.5, (base, step, ground)
    assert checked == 2 * 7 * 3
