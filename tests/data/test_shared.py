"""The research sets under ASSAY_DATA: sizes and balances as their README states, marks that hit words."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from assay.data.grammar import read

HOME = Path(os.environ.get("ASSAY_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
pytestmark = pytest.mark.skipif(not HOME.is_dir(), reason=f"no research data at {HOME}; set ASSAY_DATA")


@pytest.fixture(autouse=True)
def _there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DATA", str(HOME))


@pytest.mark.parametrize(
    ("name", "split", "counts", "fields", "with_marks"),
    [
        ("sst", "test", {"negative": 912, "positive": 909}, ["text"], 1789),
        ("sst2", "dev", {"negative": 428, "positive": 444}, ["text"], 0),
        ("snli", "dev", {"entailment": 3329, "contradiction": 3278, "neutral": 3235}, ["premise", "hypothesis"], 0),
        ("esnli", "dev", {"contradiction": 3276, "entailment": 3116}, ["premise", "hypothesis"], 6392 - 12),
        ("20news_sports", "test", {"hockey": 199, "baseball": 198}, ["text"], 0),
        ("ade_corpus", "test", {"unrelated": 1662, "adverse effect": 428}, ["text"], 428),
        ("movies", "dev", {"negative": 100, "positive": 100}, ["text"], 200),
        ("biosbias", "test", {"surgeon": 193, "physician": 120}, ["text"], 0),
    ],
)
def test_sets_hold_what_their_description_says(
    name: str, split: str, counts: dict[str, int], fields: list[str], with_marks: int
) -> None:
    data = read(name, split=split)
    assert Counter(data.labels[e.gold] for e in data.examples if e.gold is not None) == counts
    assert list(data.examples[0].fields) == fields
    assert sum(bool(e.rationale) for e in data.examples) == with_marks
    for e in data.examples:
        for m in e.rationale:
            assert 0 <= m.start < m.end <= len(e.fields[m.field])


def test_what_is_left_out_is_counted_and_ids_differ() -> None:
    data = read("sst", split="test")
    assert len(data) + data.notes["dropped"]["neutral"] == 2210
    assert len({e.id for e in data.examples}) == len(data)


def test_multirc_has_one_example_per_answer_and_marks_sentences() -> None:
    data = read("multirc", split="dev")
    assert len(data) == 3214
    e = data.examples[0]
    assert list(e.fields) == ["passage", "question", "answer"]
    assert e.fields["passage"][e.rationale[0].start : e.rationale[0].end].endswith(".")


def test_agnews_names_its_classes() -> None:
    data = read("agnews")
    assert (data.split, data.labels) == ("test", ("World", "Sports", "Business", "Sci/Tech"))
    assert set(Counter(e.gold for e in data.examples).values()) == {1900}


def test_answers_that_are_spans_are_marks() -> None:
    e = read("squad").examples[0]
    assert e.gold is None
    assert "October 1973" in [e.fields["context"][m.start : m.end] for m in e.rationale]
