"""The attention papers' data and preparation: tiny files of each format, marks that stay on their words."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.align import words
from assay.data.adr import adr
from assay.data.cnn_cloze import candidates, cnn_cloze
from assay.data.grammar import read
from assay.data.mimic import label_of, mimic
from assay.data.preparation import digits_hidden, of_length, only_labels, parted, plain_words, prepared, spliced
from assay.types import BadInput, Dataset, Example, Mark

HOME = Path(os.environ.get("ASSAY_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


# ------------------------------------------------------------------------------------------------- cloze


def cloze(folder: Path, name: str, answer: str = "@entity2") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{name}.question"
    entities = "@entity1:Paris\n@entity2:Anna"
    parts = ["http://a.b/c", "@entity2 went to @entity1 .", "@placeholder went away", answer, entities]
    made.write_text("\n\n".join(parts), encoding="utf-8")
    return made


def test_cloze_questions_are_classes_of_entities(tmp_path: Path) -> None:
    cloze(tmp_path, "a")
    cloze(tmp_path, "b", "@entity10")
    data = cnn_cloze(tmp_path)
    assert data.labels == ("@entity1", "@entity2", "@entity10")  # by number, not by the alphabet
    assert [(e.id, e.gold) for e in data.examples] == [("a", 1), ("b", 2)]
    assert list(data.examples[0].fields) == ["passage", "question"]
    assert candidates(data.examples[1], data.labels).tolist() == [True, True, False]


def test_cloze_folders_by_split_share_labels_when_told(tmp_path: Path) -> None:
    cloze(tmp_path / "training", "a")
    cloze(tmp_path / "test", "b")
    data = cnn_cloze(tmp_path, split="train", labels=("@entity2", "@entity1"))
    assert (data.split, data.examples[0].gold) == ("train", 0)
    assert read(f"cnn-cloze:{tmp_path / 'test' / 'b.question'}").examples[0].id == "b"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("http://x\n\npassage", "found 2 parts"),
        ("u\n\np @entity1\n\nno hole\n\n@entity1", "a question with @placeholder"),
        ("u\n\np\n\n@placeholder x\n\nAnna", "an answer such as @entity3"),
        ("u\n\np\n\n@placeholder x\n\n@entity1\n\nAnna:1", "entities as '@entity3:Name'"),
    ],
)
def test_broken_cloze_files_are_told(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.question"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        cnn_cloze(path)


# ---------------------------------------------------------------------------------------------- adr, mimic


def test_adr_reads_its_split(tmp_path: Path) -> None:
    path = tmp_path / "adr_dataset.csv"
    path.write_text('text,label,exp_split\n"so , dizzy",1,train\nfine,0,test\n" ",0,test\n', encoding="utf-8")
    data = adr(path)
    assert (data.split, [e.fields["text"] for e in data.examples], data.notes["dropped"]) == (
        "test",
        ["fine"],
        {"no text": 1},
    )
    train = adr(path, split="train")
    assert [(e.id, e.gold) for e in train.examples] == [("adr-0", 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text,label\na,1\n", "no column 'exp_split'"),
        ("text,label,exp_split\na,2,test\n", ":2: label '2' is not 0 or 1"),
    ],
)
def test_broken_adr_files_are_told(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "adr.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        adr(path)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    rows = [
        '1,10,100,Discharge summary,"Sugar is high.\nInsulin given."',
        "2,10,100,Discharge summary,Addendum.",
        "3,11,101,Discharge summary,Bleeding.",
        "4,12,102,Discharge summary,Kidneys.",
        "5,12,102,Nursing,Slept well.",
        "6,13,,Discharge summary,No stay.",
        "7,14,104,Discharge summary,Nothing coded.",
    ]
    path = tmp_path / "NOTEEVENTS.csv"
    path.write_text("ROW_ID,SUBJECT_ID,HADM_ID,CATEGORY,TEXT\n" + "\n".join(rows) + "\n", encoding="utf-8")
    codes = ["100,25000", "100,2851", "100,28521", "101,2851", "102,28529", "102,25001"]
    (tmp_path / "DIAGNOSES_ICD.csv").write_text("HADM_ID,ICD9_CODE\n" + "\n".join(codes) + "\n", encoding="utf-8")
    return path


def test_mimic_joins_notes_and_codes_by_stay(notes: Path) -> None:
    data = mimic(notes)
    assert {e.id: e.gold for e in data.examples} == {"stay-100": 1, "stay-101": 0, "stay-102": 0}
    assert data.examples[0].fields["text"] == "Sugar is high. Insulin given. Addendum."
    assert data.notes["dropped"] == {"not a discharge summary": 1, "no stay": 1, "no codes": 1}


def test_anemia_is_acute_or_chronic_and_never_both(notes: Path) -> None:
    data = mimic(notes, task="anemia")
    assert {e.id: data.labels[e.gold or 0] for e in data.examples} == {"stay-101": "acute", "stay-102": "chronic"}
    assert data.notes["dropped"]["not anemia: neither or both kinds of code"] == 2


def test_codes_may_be_written_with_a_point() -> None:
    assert label_of(("250.00",), "diabetes") == 1
    assert label_of(("250.01", "V58.67"), "diabetes") == 0
    assert label_of(("285.29",), "anemia") == 0
    assert label_of((), "diabetes") is None


def test_mimic_without_codes_says_which_file_is_missing(tmp_path: Path, notes: Path) -> None:
    with pytest.raises(BadInput, match=r"elsewhere\.csv: no such file"):
        mimic(notes, codes=str(tmp_path / "elsewhere.csv"))


# --------------------------------------------------------------------------------------------- preparation


def example(text: str, *marks: str, gold: int = 0, name: str = "1") -> Example:
    return Example(
        name, {"text": text}, gold, tuple(Mark("text", text.index(m), text.index(m) + len(m)) for m in marks)
    )


def data_of(*examples: Example) -> Dataset:
    return Dataset("d", examples, ("World", "Sports", "Business"), "train")


def marked(e: Example) -> list[str]:
    return [e.fields["text"][m.start : m.end] for m in e.rationale]


def test_plain_words_keep_marks_in_place() -> None:
    (e,) = plain_words(data_of(example("It's NOT a well-made film!", "well-made", "NOT"))).examples
    assert [e.fields["text"][a:b] for a, b in words(e.fields["text"])] == [
        "it",
        "s",
        "not",
        "a",
        "well",
        "made",
        "film",
    ]
    assert marked(e) == ["well made", "not"]


def test_hidden_digits_move_marks_with_their_words() -> None:
    (e,) = digits_hidden(data_of(example("In 1999 the 2nd-best film of 12 won", "1999", "film of 12", "won"))).examples
    assert e.fields["text"] == "In qqq the qqq film of qqq won"
    assert marked(e) == ["qqq", "film of qqq", "won"]


@given(st.text(alphabet="ab1 .,-", min_size=1, max_size=30))
def test_splicing_keeps_what_was_not_replaced(text: str) -> None:
    edits = [(i, i + 1, "qqq") for i, c in enumerate(text) if c == "1"]
    new, where = spliced(text, edits)
    assert new == text.replace("1", "qqq")
    assert len(where) == len(text) + 1
    assert all(new[where[i]] == c for i, c in enumerate(text) if c != "1")


def test_what_is_too_short_or_too_long_is_counted() -> None:
    data = data_of(example("a b"), example("a b c", name="2"), example("a b c d", name="3"))
    kept = of_length(data, above=2, below=4)
    assert [e.id for e in kept.examples] == ["2"]
    assert kept.notes["dropped"] == {"2 words or fewer": 1, "4 words or more": 1}


def test_two_of_the_classes_are_numbered_anew() -> None:
    data = data_of(example("w", gold=0), example("s", gold=1, name="2"), example("b", gold=2, name="3"))
    kept = only_labels(data, ("World", "Business"))
    assert [(e.id, e.gold) for e in kept.examples] == [("1", 0), ("3", 1)]
    assert (kept.labels, kept.notes["dropped"]) == (("World", "Business"), {"another class": 1})
    with pytest.raises(BadInput, match="no class 'Sport'; did you mean 'Sports'"):
        only_labels(data, ("Sport",))


def test_texts_of_punctuation_only_are_dropped_and_counted() -> None:
    kept = plain_words(data_of(example("?!"), example("good film", name="2")))
    assert [e.id for e in kept.examples] == ["2"]
    assert kept.notes["dropped"] == {"no words left": 1}


def test_a_share_of_each_class_is_held_out_whatever_the_order() -> None:
    examples = [example(f"text {i}", gold=i % 2, name=str(i)) for i in range(100)]
    rest, part = parted(data_of(*examples), 0.2)
    assert Counter(e.gold for e in part.examples) == {0: 10, 1: 10}
    assert {e.id for e in part.examples} == {e.id for e in parted(data_of(*examples[::-1]), 0.2)[1].examples}
    assert len(rest) == 80
    assert part.split == "dev"
    with pytest.raises(BadInput, match="between 0 and 1"):
        parted(rest, 1.0)


def test_an_unknown_preparation_is_refused() -> None:
    with pytest.raises(BadInput, match="no preparation 'imbd'; did you mean 'imdb'"):
        prepared(data_of(example("a")), "imbd")
    with pytest.raises(BadInput, match="'sst' leaves no example"):
        prepared(data_of(example("a")), "sst")


@pytest.mark.skipif(not HOME.is_dir(), reason=f"no research data at {HOME}; set ASSAY_DATA")
def test_sst_has_the_papers_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DATA", str(HOME))
    data = prepared(read("sst", split="test"), "sst")
    assert Counter(e.gold for e in data.examples) == {0: 863, 1: 863}  # the paper prints 863 and 862
    assert Counter(e.gold for e in prepared(read("sst", split="train"), "sst").examples) == {0: 3035, 1: 3321}
