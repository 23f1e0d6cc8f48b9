"""Each format read from a tiny file that the test writes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay.data.grammar import read
from assay.data.jsonl import jsonl
from assay.data.sst_trees import sst_trees
from assay.data.tsv import tsv
from assay.types import BadInput, Dataset, Example


def marked(e: Example) -> list[tuple[str, str]]:
    return [(m.field, e.fields[m.field][m.start : m.end]) for m in e.rationale]


def golds(data: Dataset) -> list[int | None]:
    return [e.gold for e in data.examples]


def write(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def test_jsonl_fields_labels_ids_and_marks(tmp_path: Path) -> None:
    rows = [
        {"uid": "q1", "p": "It is blue.", "q": "What colour?", "a": "blue", "ok": True, "why": {"passage": ["blue"]}},
        {"uid": "q2", "p": "Snow fell.", "q": "What fell?", "a": "rain", "ok": False, "why": [[0, 4]]},
    ]  # fmt: skip
    path = write(tmp_path / "dev.jsonl", *rows)
    columns = {"passage": "p", "question": "q", "answer": "a", "label": "ok", "id": "uid", "rationale": "why"}
    data = read(str(path), columns=columns)
    assert data.labels == ("false", "true")
    assert golds(data) == [1, 0]
    assert data.split == "dev"
    assert [e.id for e in data.examples] == ["q1", "q2"]
    assert list(data.examples[0].fields) == ["passage", "question", "answer"]
    assert [marked(e) for e in data.examples] == [[("passage", "blue")], [("passage", "Snow")]]


def test_gzip_says_the_same_and_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    plain = tmp_path / "a.jsonl"
    plain.write_bytes('\ufeff{"text": "é"}\r\n{"text": "b"}'.encode())
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert [e.fields["text"] for e in read(str(plain)).examples] == ["é", "b"]
    assert [e.fields for e in read(str(packed)).examples] == [e.fields for e in read(str(plain)).examples]


def test_tokens_with_a_mask_or_token_spans(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        {"tokens": ["a", "very", "dull", "film"], "rationale": [0, 1, 1, 0]},
        {"tokens": ["not", "bad"], "rationale": [[0, 2]]},
    )
    data = jsonl(path)
    assert [marked(e) for e in data.examples] == [[("tokens", "very dull")], [("tokens", "not bad")]]
    assert golds(data) == [None, None]
    assert data.notes["unlabelled"] == 2


def test_label_numbers_keep_their_meaning(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *({"text": "x", "label": n} for n in (2, 0, -1, None)))
    data = jsonl(path)
    assert data.labels == ("0", "1", "2")  # class 1 does not occur in this file and still has its place
    assert golds(data) == [2, 0, None, None]
    path = write(tmp_path / "b.jsonl", *({"text": "x", "stars": n} for n in (5, 1, 4)))
    data = jsonl(path, columns={"label": "stars"})
    assert data.labels == ("1", "4", "5")
    assert golds(data) == [2, 0, 1]
    assert golds(jsonl(path, columns={"label": ""})) == [None, None, None]


def test_csv_with_quotes_line_ends_and_a_long_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f'review,stars,why\n"one, ""two""\nthree",neg,"two"\n{"x" * 200_000},pos,\n', encoding="utf-8")
    data = read(str(path), columns={"text": "review", "label": "stars", "rationale": "why"}, labels=["neg", "pos"])
    assert data.examples[0].fields["text"] == 'one, "two"\nthree'
    assert marked(data.examples[0]) == [("text", "two")]
    assert len(data.examples[1].fields["text"]) == 200_000
    assert golds(data) == [0, 1]


def test_tsv_takes_quotes_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "dev.tsv"
    path.write_text('sentence\tlabel\nsays "go\t1\n"a b"\t0\n')
    assert [e.fields["sentence"] for e in tsv(path).examples] == ['says "go', '"a b"']
    path.write_text('sentence\tlabel\n"a\tb"\t0\n')
    assert tsv(path, quoted=True).examples[0].fields["sentence"] == "a\tb"


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet is read by pyarrow")
    from pyarrow import parquet

    path = tmp_path / "test.parquet"
    parquet.write_table(pyarrow.table({"text": ["a", "b"], "label": [1, 0], "rationale": [[[0, 1]], []]}), path)
    data = read(str(path))
    assert golds(data) == [1, 0]
    assert marked(data.examples[0]) == [("text", "a")]
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(BadInput, match=r"test\.parquet: not a readable Parquet file, after 0 good rows"):
        read(str(path))


def test_saved_hugging_face_data(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="saved Hugging Face data is read by datasets")
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["world", "sport"])}
    )
    table = datasets.Dataset.from_dict({"text": ["a", "b"], "label": [1, 0]}, features=features)
    datasets.DatasetDict({"train": table, "validation": table}).save_to_disk(str(tmp_path / "saved"))
    data = read(str(tmp_path / "saved"))
    assert (data.split, data.labels, golds(data)) == ("validation", ("world", "sport"), [1, 0])
    with pytest.raises(BadInput, match="no split 'test'; there are: train, validation"):
        read(str(tmp_path / "saved"), split="test")


def test_sst_trees(tmp_path: Path) -> None:
    tree = "(3 (2 It) (3 (2 is) (3 (4 (3 very) (4 good)) (2 (2 -LRB-) (2 x\\/y)))))"
    folder = tmp_path / "sst"
    folder.mkdir()
    (folder / "test.txt").write_text(tree + "\n(2 (2 Plain) (2 fact))\n(0 (0 Awful))\n")
    (folder / "train.txt").write_text(tree + "\n")
    data = read(str(folder))
    assert [e.fields["text"] for e in data.examples] == ["It is very good ( x/y", "Awful"]
    assert (golds(data), data.notes["dropped"]) == ([1, 0], {"neutral": 1})
    found = {(m.weight, data.examples[0].fields["text"][m.start : m.end]) for m in data.examples[0].rationale}
    assert found == {(0.5, "very"), (1.0, "good"), (1.0, "very good")}  # of at most half the sentence
    assert golds(sst_trees(folder / "test.txt", fine=True)) == [3, 2, 0]
    assert read(str(folder / "train.txt")).split == "train"
    (folder / "test.txt").write_text("(3 (2 It)\n")
    with pytest.raises(BadInput, match=r"test\.txt:1: the tree ends before its brackets close"):
        read(str(folder))
    (folder / "test.txt").write_text("(7 It)\n")
    with pytest.raises(BadInput, match=r"test\.txt:1: expected a class 0 to 4 after '\(' in the tree, found '7'"):
        read(str(folder))


def test_snli_counts_pairs_without_agreement(tmp_path: Path) -> None:
    rows = [
        {"gold_label": g, "sentence1": "A man sleeps.", "sentence2": "A man rests.", "pairID": str(i)}
        for i, g in enumerate(["entailment", "-", "contradiction"])
    ]
    data = read(str(write(tmp_path / "snli_1.0_test.jsonl", *rows)))
    assert data.labels == ("entailment", "neutral", "contradiction")
    assert (golds(data), data.notes["dropped"], data.split) == ([0, 2], {"no gold label": 1}, "test")
    assert list(data.examples[0].fields) == ["premise", "hypothesis"]


def test_esnli_votes(tmp_path: Path) -> None:
    path = tmp_path / "esnli_dev.csv"
    path.write_text(
        "pairID,gold_label,Sentence1,Sentence2,Sentence1_marked_1,Sentence2_marked_1,"
        "Sentence1_marked_2,Sentence2_marked_2,Sentence1_marked_3,Sentence2_marked_3\n"
        "7#1,contradiction,Two men sleep.,They run.,Two men *sleep.*,They *run.*,"
        "Two *men* *sleep.*,They *run*.,Two men sleep.,They walk.\n"
    )
    data = read(str(path))
    e = data.examples[0]
    assert (e.id, e.gold) == ("7#1", 2)
    assert [(m.field, e.fields[m.field][m.start : m.end], m.votes) for m in e.rationale] == [
        ("premise", "men", 1), ("premise", "sleep.", 2), ("hypothesis", "run", 2), ("hypothesis", ".", 1),
    ]  # fmt: skip
    assert [m.weight for m in e.rationale] == [1 / 3, 2 / 3, 1.0, 0.5]
    assert data.notes["unread_marks"] == 1  # 'They walk.' does not spell the sentence


def test_class_folders_with_and_without_splits(tmp_path: Path) -> None:
    for name in ("test/pos/1_9.txt", "test/neg/0_2.txt", "test/unsup/5_0.txt", "train/neg/3_1.txt"):
        file = tmp_path / "aclImdb" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"text of {name}")
    data = read(str(tmp_path / "aclImdb"))
    assert (data.labels, golds(data), data.split) == (("neg", "pos"), [0, 1], "test")
    assert data.notes["dropped"] == {"in 'unsup', no class": 1}
    assert [e.id for e in data.examples] == ["neg/0_2.txt", "pos/1_9.txt"]
    assert read(str(tmp_path / "aclImdb"), labels=["negative", "positive"]).labels == ("negative", "positive")
    post = tmp_path / "news" / "rec.sport" / "101"
    post.parent.mkdir(parents=True)
    post.write_bytes(b"caf\xe9")
    with pytest.raises(BadInput, match=r"101: not utf-8, byte 0xe9 at position 4; say encoding='latin-1' or convert"):
        read(str(tmp_path / "news"))
    assert read(f"folder(encoding=latin-1):{tmp_path / 'news'}").examples[0].fields["text"] == "café"


def test_agnews(tmp_path: Path) -> None:
    path = tmp_path / "test.csv"
    path.write_text('"3","Fears rise","Unions say so."\n"1","Talks","In Oslo."\n')
    data = read(f"agnews:{path}")
    assert [e.fields["text"] for e in data.examples] == ["Fears rise Unions say so.", "Talks In Oslo."]
    assert [data.labels[e.gold or 0] for e in data.examples] == ["Business", "World"]
    path.write_text('"5","a","b"\n')
    with pytest.raises(BadInput, match=r"test\.csv:1: class '5' is not one of 1, 2, 3, 4"):
        read(f"agnews:{path}")


def test_eraser_documents_queries_and_pairs(tmp_path: Path) -> None:
    docs = tmp_path / "movies" / "docs"
    docs.mkdir(parents=True)
    (docs / "r1").write_text("a dull film .\nvery dull indeed .\n")
    span = {"docid": "r1", "start_token": 4, "end_token": 6, "text": "very dull"}
    row = {"annotation_id": "r1", "classification": "NEG", "query": "What is it?", "evidences": [[span]]}
    write(tmp_path / "movies" / "test.jsonl", row)
    data = read(str(tmp_path / "movies"), labels=["NEG", "POS"])
    assert data.examples[0].fields == {"document": "a dull film . very dull indeed ."}
    assert (marked(data.examples[0]), golds(data)) == ([("document", "very dull")], [0])
    write(tmp_path / "movies" / "test.jsonl", row, {**row, "annotation_id": "r2", "query": "Why?", "docids": ["r9"]})
    with pytest.raises(BadInput, match=r"test\.jsonl:2: document 'r9' is not in"):
        read(str(tmp_path / "movies"))
    pair = tmp_path / "pairs"
    write(
        pair / "docs.jsonl",
        {"docid": "1_hypothesis", "document": "He rests"},
        {"docid": "1_premise", "document": "He naps"},
    )
    evidence = [[{"docid": "1_premise", "start_token": 1, "end_token": 2}]]
    write(pair / "val.jsonl", {"annotation_id": "1", "classification": "yes", "query": "q", "evidences": evidence,
                               "docids": ["1_hypothesis", "1_premise"]})  # fmt: skip
    data = read(str(pair))
    assert list(data.examples[0].fields.items()) == [("premise", "He naps"), ("hypothesis", "He rests")]
    assert (marked(data.examples[0]), data.split) == ([("premise", "naps")], "val")
