"""The grid in every view: numbers, homes, best of a column and sentences are those of the grid; nothing without one."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest
from rich.console import Console

from assay.grid import grid_of, home_advantage
from assay.report import grid
from assay.report.html import render
from assay.report.json import to_json
from assay.report.markdown import markdown
from assay.report.terminal import audit_table
from assay.verdict import judge

MEANS = {
    "random": (0.7, 0.7, 0.7),
    "attention": (0.6, 0.6, 0.6),
    "leave-one-out": (0.2, 0.5, 0.5),
    "leave-one-out(removal=mask)": (0.4, 0.3, 0.3),
}
HOMES = {"leave-one-out": "delete", "leave-one-out(removal=mask)": "mask"}
TESTS = {"deletion": "delete", "deletion(removal=mask)": "mask", "deletion(removal=pad)": "pad"}


@pytest.fixture(scope="module")
def away(summary):
    """The usual summary with three operators: leave-one-out wins by delete, its masking twin by mask and pad."""
    facts = {
        "of": "explanation",
        "asks": "faithfulness",
        "better": "lower",
        "headline": "auc",
        "claim": "",
        "paper": "",
    }
    meta = summary.meta | {
        "methods": {m: {"family": "control" if m == "random" else "", "removal": HOMES.get(m)} for m in MEANS},
        "tests": {t: facts | {"removal": o} for t, o in TESTS.items()},
    }
    examples = tuple(
        replace(
            e, values={m: {t: v + 0.001 * (i % 7) for t, v in zip(TESTS, row, strict=True)} for m, row in MEANS.items()}
        )
        for i, e in enumerate(summary.examples)
    )
    lacking = replace(examples[0], values={"random": {"deletion": 0.5}})
    return replace(
        summary, meta=meta, methods=tuple(MEANS), tests=tuple(TESTS), cells=(), examples=(lacking, *examples[1:])
    )


@pytest.fixture(scope="module")
def table(away):
    (found,) = grid.tables(grid_of(away))
    return {row[0].text: dict(zip(TESTS.values(), row[1:], strict=True)) for row in found.rows}


def test_cells_hold_number_interval_home_and_place(table, away):
    cell = table["leave-one-out"]["delete"]
    assert cell.text == "0.203"
    assert re.fullmatch(r"\[0\.20\d, 0\.20\d\]\nhome", cell.under)
    assert (cell.mark, cell.tone) == ("★", "p10 home")
    assert "best under delete, at home" in cell.hint
    assert f"n = {len(away.examples) - 1}, 1 left out" in cell.hint


def test_exactly_the_homes_are_home_and_each_column_has_one_best(table):
    at_home = {(m, o) for m, row in table.items() for o, c in row.items() if "home" in c.tone.split()}
    assert at_home == set(HOMES.items())
    for operator in TESTS.values():
        assert [row[operator].mark for row in table.values()].count("★") == 1
    assert table["leave-one-out(removal=mask)"]["pad"].mark == "★"
    assert table["random"]["delete"].tone == "p0"


def test_strength_is_the_share_of_the_way_from_worst_to_best(table):
    assert table["attention"]["delete"].tone == "p2"  # (0.7 - 0.6) / (0.7 - 0.2)
    assert table["leave-one-out(removal=mask)"]["delete"].tone == "p6"


def test_sentences_name_every_operator_and_what_is_not_known(away):
    found = grid_of(away)
    by_delete, by_mask, by_pad = grid.sentences(found, home_advantage(found))
    # ahead by 0.2 at home, behind by 0.2 under both others: 0.4; and the other way round 0.2 - mean(-0.2, 0.2) = 0.2
    assert by_delete.startswith(
        "deletion by delete favours methods that take words away that way (leave-one-out): +0.400"
    )
    assert by_mask.startswith("deletion by mask favours methods that take words away that way")
    assert "+0.200" in by_mask
    assert by_pad == "deletion by pad: home advantage not known, for no method here takes words away that way."


def test_operators_that_are_one_on_this_model_are_said_to_be(away):
    (found,) = grid.tables(grid_of(away))
    assert "mask and pad give this model the same numbers: read them as one." in found.note
    assert "delete and" not in found.note


def test_the_page_frames_homes_and_says_what_they_are_worth(away):
    page = render(away, judge(away))
    section = page.split('<section id="grid"')[1].split("</section>")[0]
    assert section.count(' home"') == 2
    assert section.count("<small>home</small>") == 2
    assert section.count('data-mark="★"') == 3
    assert "deletion by delete favours" in section
    assert 'href="#grid"' in page


def test_markdown_and_json_say_the_same(away):
    text, values = markdown(away, judge(away)), to_json(away, judge(away))
    assert "## Methods and ways of taking words away" in text
    assert re.search(r"\| leave-one-out \| 0\.203 \\\[0\.\d+, 0\.\d+\\\] home ★ \|", text)
    (one,) = json.loads(json.dumps(values, allow_nan=False))["grid"]
    assert (one["kind"], one["operators"], one["skipped"]) == ("deletion", ["delete", "mask", "pad"], 1)
    best = {c["operator"]: c["method"] for c in one["cells"] if c["best"] == "best"}
    masked = "leave-one-out(removal=mask)"
    assert best == {"delete": "leave-one-out", "mask": masked, "pad": masked}
    assert [a["operator"] for a in one["home_advantage"]] == ["delete", "mask"]
    assert {a["favours"] for a in one["home_advantage"]} == {"home"}


def test_the_terminal_says_what_homes_are_worth(away):
    console = Console(width=80, file=io.StringIO(), color_system=None)
    console.print(audit_table(away, judge(away)))
    assert "What being at home is worth" in console.file.getvalue()


def test_without_two_operators_nothing_is_shown(summary):
    assert 'id="grid"' not in render(summary, judge(summary))
    assert "ways of taking words away" not in markdown(summary, judge(summary))
    assert to_json(summary, judge(summary))["grid"] == []


def test_hostile_names_stay_text(away):
    bad = "<svg onload=alert(1)>"
    methods = {bad if m == "attention" else m: f for m, f in away.meta["methods"].items()}
    examples = tuple(
        replace(e, values={bad if m == "attention" else m: v for m, v in e.values.items()}) for e in away.examples
    )
    told = replace(away, meta=away.meta | {"methods": methods}, methods=tuple(methods), examples=examples)
    page = render(told, [])
    assert bad not in page
    assert "&lt;svg onload" in page.split('<section id="grid"')[1]


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_homes_are_outlined_and_every_number_is_readable(chromium, away, tmp_path, scheme):
    """In a browser: a frame around homes only, and contrast of 4.5 between each cell's text and its ground."""
    (tmp_path / "r.html").write_text(render(away, judge(away)), encoding="utf-8")
    page = chromium.open(tmp_path / "r.html", scheme=scheme)
    cells = "[...document.querySelectorAll('#grid td')]"
    framed = page(f"{cells}.filter(c => getComputedStyle(c).outlineStyle === 'solid').length")
    assert framed == 2
    body = colour(page("getComputedStyle(document.body).backgroundColor"))
    for ground, ink in page(
        f"{cells}.map(c => [getComputedStyle(c).backgroundColor, getComputedStyle(c.querySelector('small')).color])"
    ):
        *base, alpha = (*colour(ground), 1.0)[:4]
        mixed = [alpha * c + (1 - alpha) * b for c, b in zip(base, body, strict=True)]
        light, dark = sorted((luminance(mixed), luminance(colour(ink)[:3])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (ground, ink)
    assert page.problems() == []


def colour(text):
    return tuple(map(float, re.findall(r"[\d.]+", text)))


def luminance(rgb):
    """Relative luminance, WCAG 2.1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
