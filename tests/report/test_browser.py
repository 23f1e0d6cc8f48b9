"""The page in a real browser: no error, nothing fetched, filter, search, keys, sorting and copying work."""

from __future__ import annotations

import csv
import io

import pytest

from assay.report.html import render

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory, summary, verdicts):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(summary, verdicts), encoding="utf-8")
    return path


@pytest.fixture
def page(chromium, address):
    yield chromium.open(address)
    assert chromium.problems() == []


def put(page, name, value, event="input"):
    page(f"(() => {{ const e = document.getElementById('{name}'); e.{'checked' if value is True else 'value'} = "
         f"{'true' if value is True else repr(value)}; e.dispatchEvent(new Event('{event}')); }})()")  # fmt: skip


def shown(page):
    return page("document.querySelector('#detail h3')?.textContent ?? document.getElementById('detail').textContent")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_opens_from_a_file_without_error_and_fits_the_width(chromium, address, width, scheme):
    chromium.open(address, width, scheme=scheme)
    assert chromium.problems() == []
    assert chromium("document.documentElement.scrollWidth") == width
    ground = chromium("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(21, 23, 26)") == (scheme == "dark"), "the style is applied, so its hash is right"


def test_hostile_text_shows_as_text(page):
    put(page, "search", "alert")
    assert page("document.querySelector('.map').textContent") == (
        "<script>alert(1)</script> </script><img src=x onerror=alert(1)> & &lt; plain"
    )
    assert page("document.querySelectorAll('#browser script, #browser img').length") == 0


def test_text_outside_the_basic_plane_is_cut_at_its_words(page):
    put(page, "search", "emoji")
    words = page("[...document.querySelector('.map').querySelectorAll('.w')].map(w => w.textContent)")
    assert words == ["emoji", "👩‍👩‍👧‍👦", "🎬", "good", "𝒷𝒶𝒹", "film"]
    assert page("document.querySelector('.w.evidence:not(.legend .w)').textContent") == "good"


def test_a_right_to_left_text_is_laid_out_so(page):
    put(page, "search", "עולם")
    assert page("getComputedStyle(document.querySelector('.field')).direction") == "rtl"


def test_search_finds_all_words_in_any_order(page, summary):
    put(page, "search", "FILM dull")
    expected = sum("film" in e.fields["text"] and "dull" in e.fields["text"] for e in summary.examples)
    assert page("document.getElementById('found').textContent") == f"{expected} of {len(summary.examples)} examples"


def test_wrong_predictions_only(page, summary):
    put(page, "wrong", True, "change")
    expected = sum(e.gold != e.predicted for e in summary.examples)
    assert page("document.querySelectorAll('.item').length") == expected > 0


def test_label_filter(page, summary):
    put(page, "label", "negative", "change")
    expected = sum("negative" in (e.gold, e.predicted) for e in summary.examples)
    assert page("document.querySelectorAll('.item').length") == expected > 0


def test_largest_disagreement_comes_first(page, summary):
    from assay.report.browser import disagreement

    put(page, "order", "disagreement", "change")
    largest = max(summary.examples, key=disagreement)
    assert shown(page) == f"Example {largest.id}"


def test_no_match_is_said(page):
    put(page, "search", "no such words")
    assert shown(page) == "No example fits this filter."


def test_arrow_keys_walk_through_the_examples(page, summary):
    for key, at in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)):
        page.key(key)
        assert shown(page) == f"Example {summary.examples[at].id}"
    page("document.getElementById('search').focus()")
    page.key("ArrowRight")
    assert shown(page) == f"Example {summary.examples[1].id}", "arrows belong to the text box while typing"


def test_strongest_word_of_a_map_is_the_most_opaque(page, summary):
    first = summary.examples[0]
    method = "leave-one-out(removal=mask)"
    strengths = page(
        f"[...[...document.querySelectorAll('.map-row')].find(r => r.textContent.startsWith('{method}'))"
        ".querySelectorAll('.w')].map(w => Number(w.style.getPropertyValue('--s')))"
    )
    top = max(map(abs, first.scores[method]))
    assert strengths == pytest.approx([abs(s) / top for s in first.scores[method]], abs=2e-3)


def test_sorting_by_a_column_and_back(page):
    names = "[...document.querySelectorAll('#scores tbody th')].map(t => t.textContent)"
    page("document.querySelectorAll('#scores button.sort')[1].click()")
    assert page(names)[0] == "random", "deletion: the largest first"
    page("document.querySelectorAll('#scores button.sort')[1].click()")
    assert page(names)[0] == "leave-one-out(removal=mask)"
    assert page("document.querySelectorAll('#scores th')[1].getAttribute('aria-sort')") == "ascending"


@pytest.fixture
def copied(page):
    """Click a copy button and return what the page hands to the clipboard."""

    def copied(table, kind):
        return page(
            "new Promise(done => { Object.defineProperty(navigator, 'clipboard', {configurable: true, "
            "value: {writeText: async t => done(t)}}); "
            f"document.querySelector('#{table} [data-copy={kind}]').click(); }})"
        )  # fmt: skip

    return copied


def test_copy_as_csv_gives_full_numbers_and_intervals(copied, summary):
    rows = list(csv.DictReader(io.StringIO(copied("scores", "csv"))))
    for row in rows:
        estimate = summary.cell(row["method"], "deletion").estimate
        assert (float(row["deletion"]), float(row["deletion low"])) == (estimate.value, estimate.low)
    assert len(rows) == len(summary.methods)
    assert rows[4]["deletion(removal=mask) mark"] == "✓⌂"


def test_copy_as_markdown_is_one_table(copied):
    lines = copied("gaps", "markdown").split("\n")
    assert len(lines) == 3
    assert lines[0] == "| method | test | count | reason | first example |"
    assert r"\<b\>bold\</b\>" in lines[2]
