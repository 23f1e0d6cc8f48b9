"""Markdown, JSON, notebook and terminal: complete, escaped, readable at 80 columns and without colour."""

from __future__ import annotations

import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from assay.report.browser import disagreement
from assay.report.json import to_json
from assay.report.markdown import markdown
from assay.report.notebook import fragment
from assay.report.packing import pack_scores
from assay.report.provenance import command
from assay.report.terminal import audit_table, heatmaps, verdict_lines
from assay.report.words import top_words
from assay.types import Example, Explanation, Input, Place, Target


def printed(renderable, width=80, colour=None):
    console = Console(width=width, file=io.StringIO(), color_system=colour, force_terminal=colour is not None)
    console.print(renderable)
    return console.file.getvalue()


# -------------------------------------------------------------------------------------------- markdown, JSON


def test_markdown_tables_are_rectangular(summary, verdicts):
    text = markdown(summary, verdicts)
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.M):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1
    assert text.count("\n### ") == len(verdicts)


def test_markdown_shows_markup_as_text(summary, verdicts):
    text = markdown(summary, [replace(v, next="a `b` c") for v in verdicts])
    assert r"\<b\>bold\</b\>" in text
    assert "`` a `b` c ``" in text


def test_json_round_trip_keeps_every_number_and_turns_nan_into_null(summary, verdicts):
    plain = to_json(summary, verdicts)
    again = json.loads(json.dumps(plain, allow_nan=False))
    assert again == plain
    assert len(again["cells"]) == len(summary.cells)
    for cell, ours in zip(again["cells"], summary.cells, strict=True):
        value = ours.estimate.value
        assert cell["estimate"]["value"] == (None if math.isnan(value) else value)
    assert again["examples"][0]["scores"]["lime"] == list(summary.examples[0].scores["lime"])
    assert {v["method"]: v["level"] for v in again["verdicts"]} == {v.method: v.level for v in verdicts}


def test_json_takes_infinity_numpy_and_sets(summary, verdicts):
    odd = {"a": np.float64("inf"), "b": {"z", "y"}, "c": np.array([1, 2]), "d": np.int64(3)}
    meta = to_json(replace(summary, meta=odd), verdicts)["meta"]
    assert meta == {"a": None, "b": ["y", "z"], "c": [1, 2], "d": 3}


def test_json_without_text_holds_no_word(summary, verdicts):
    example = to_json(summary, verdicts, text=False)["examples"][0]
    assert not {"fields", "words", "places", "cut"} & set(example)


def test_notebook_fragment_escapes_and_holds_every_method(summary, verdicts):
    text = fragment(summary, [replace(v, headline="<script>x</script>") for v in verdicts])
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert all(text.count(f"<code>{m}</code>") == 2 for m in summary.methods)


def test_the_command_repeats_the_run(summary):
    assert command(summary).startswith("assay audit builtin builtin:reviews --methods 'random,attention,")
    assert command(summary).endswith("--limit 200 --seed 0")


# -------------------------------------------------------------------------------------------------- numbers


def test_disagreement_is_one_minus_spearman(summary):
    from scipy.stats import spearmanr

    e = summary.examples[0]
    two = replace(e, scores={m: e.scores[m] for m in ("random", "lime", "gradient")})
    expected = 1 - spearmanr(e.scores["lime"], e.scores["gradient"]).statistic
    assert disagreement(two) == pytest.approx(expected, abs=5e-4)


def test_disagreement_needs_two_maps_with_an_order(summary):
    e = summary.examples[0]
    flat = tuple(0.0 for _ in e.words)
    assert disagreement(replace(e, scores={"lime": e.scores["lime"]})) is None
    assert disagreement(replace(e, scores={"lime": e.scores["lime"], "gradient": flat})) is None
    assert disagreement(replace(e, scores={"a": (1.0, 2.0), "b": (2.0, 1.0)})) == 2.0


def test_packed_scores_of_zero_and_tiny_maps():
    assert pack_scores([0.0, 0.0]) == [0, 0, 0]
    exponent, number = pack_scores([3.14159e-300])
    assert (exponent, number) == (-303, 3142)


def test_top_words_are_mean_shares(summary):
    e = summary.examples[0]
    one = replace(e, target="x", words=("Good", "bad", "good", "!"), scores={"lime": (3.0, -1.0, 1.0, 5.0)})
    table = top_words(replace(summary, examples=(one,), methods=("lime",)))
    assert table.rows[0][1].text == "good 40", "(3 + 1) / 10; punctuation and opposing words are not listed"


# ------------------------------------------------------------------------------------------------- terminal


def test_tables_fit_eighty_columns_and_hold_every_number(summary, verdicts):
    text = printed(audit_table(summary, verdicts))
    assert max(cell_len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "\x1b" not in text
    for cell in summary.cells:
        if cell.headline:
            assert f"{cell.estimate.value:.3f}" in text
    assert "3 x lime sufficiency" in text


@pytest.mark.parametrize("width", [40, 200])
def test_narrow_terminals_get_more_blocks(summary, verdicts, width):
    text = printed(audit_table(summary, verdicts), width)
    blocks = sum(line.startswith("method") for line in text.splitlines())
    assert blocks == {40: 6, 200: 2}[width]


def test_verdict_lines_say_level_headline_and_next(verdicts):
    text = " ".join(printed(verdict_lines(verdicts)).split())
    assert "▼ worse than random attention points away from what this model depends on" in text
    assert "next: assay list methods" in text


def explanation(method="lime", words=("a", "fine", "film", "\x1b[31m"), scores=(0.1, 2.0, -1.0, np.nan)):
    text, places, at = "\u00a0".join(words), [], 0
    for w in words:
        places.append(Place("text", at, at + len(w)))
        at += len(w) + 1
    x = Input(Example("1", {"text": text}), "word", tuple(places), np.ones(len(words), dtype=bool))
    return Explanation(x, "m", method, Target((1,)), np.array(scores), ("negative", "positive"), (0.1, 0.9))


def test_heatmap_without_colour_carries_numbers_relative_to_the_largest():
    text = printed(heatmaps([explanation(), explanation("gradient")]))
    assert text.splitlines()[0].rstrip() == "why positive · confidence 0.900"
    assert text.splitlines()[1].split() == ["lime", "a", "fine(+1.00)", "film(-0.50)", "�[31m(?)"]
    assert text.splitlines()[2].startswith("gradient")


def test_heatmap_with_colour_uses_the_project_colours_and_never_the_texts_escapes():
    text = printed(heatmaps([explanation()]), colour="truecolor")
    assert "48;2;230;97;1mfine" in text
    assert "\x1b[31m" not in text


def test_a_target_that_was_not_predicted_is_said():
    other = replace(explanation(), target=Target((0,)))
    assert "why negative · confidence 0.100 · predicted positive 0.900" in printed(heatmaps([other]))


def test_a_heatmap_says_what_the_model_did_not_read():
    e = explanation()
    cut = replace(e, x=replace(e.x, cut="the last 2 words of text (the model takes 6 tokens)"))
    assert "cut: the last 2 words of text (the model takes 6 tokens)" in printed(heatmaps([cut]), width=120)
    assert "cut" not in printed(heatmaps([e]))
