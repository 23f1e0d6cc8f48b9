"""What a broken file makes a reader say: the place, what was wrong, what was expected."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.data.csv import csv_table
from assay.data.grammar import read
from assay.data.jsonl import jsonl
from assay.types import BadInput


def refused(message: str, call: Callable[[], object]) -> None:
    with pytest.raises(BadInput, match=f"^{re.escape(message)}$"):
        call()


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def test_missing_file(tmp_path: Path) -> None:
    write(tmp_path / "review.jsonl", {"text": "a"})
    path = tmp_path / "reviews.jsonl"
    refused(f"{path}: no such file; did you mean 'review.jsonl'?", lambda: read(str(path)))


def test_missing_column(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"text": "a", "stars": 1})
    said = f"{path}: no column 'star'; did you mean 'stars'?; columns are text, stars"
    refused(said, lambda: jsonl(path, columns={"text": "text", "label": "star"}))
    path = write(tmp_path / "b.jsonl", {"body": "a", "n": 1})
    said = f"{path}: no text column found; name it: columns={{'text': ...}}, one of body, n"
    refused(said, lambda: jsonl(path))
    path = write(tmp_path / "c.jsonl", {"text": "a"}, {"txt": "b"})
    refused(f"{path}:2: no column 'text' in this row; it has txt", lambda: jsonl(path))


def test_unknown_label(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"text": "a", "label": "good"}, {"text": "b", "label": "meh"})
    refused(f"{path}:2: label 'meh' is not one of bad, good", lambda: jsonl(path, labels=["bad", "good"]))
    path = write(tmp_path / "b.jsonl", {"text": "a", "label": 2})
    refused(f"{path}:1: label '2' is not one of bad, good", lambda: jsonl(path, labels=["bad", "good"]))
    path = write(tmp_path / "c.jsonl", {"text": "a", "label": 0.37})
    said = f"{path}:1: label 0.37 is a quantity, not a class; map another column to 'label', or ''"
    refused(said, lambda: jsonl(path))


def test_truncated_gzip(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl.gz"
    whole = gzip.compress("".join(json.dumps({"text": f"row {i}"}) + "\n" for i in range(3)).encode(), mtime=0)
    path.write_bytes(whole[:-4])  # everything but the end of the trailer: all three rows can be read
    refused(f"{path}: the gzip file ends too early, after 3 good rows; fetch it again", lambda: read(str(path)))
    path.write_bytes(whole[:12])
    refused(f"{path}: the gzip file ends too early, after 0 good rows; fetch it again", lambda: read(str(path)))
    path.write_bytes(b"plain text")
    with pytest.raises(BadInput, match=r"not a gzip file or damaged after 0 good rows"):
        read(str(path))
    path.write_bytes(whole + whole)  # two members are one file
    assert len(read(str(path))) == 6


def test_broken_json(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n\n{"text": "b"\n')
    refused(f"{path}:3: broken JSON at column 13 (Expecting ',' delimiter)", lambda: jsonl(path))
    path.write_text("[1]\n")
    refused(f"{path}:1: expected a JSON object, found list", lambda: jsonl(path))


def test_empty_text_and_empty_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"id": "x7", "text": "a"}, {"id": "x8", "text": " \n"})
    refused(f"{path}:2: id x8: empty text in 'text'; fill it or take the row out", lambda: jsonl(path))
    path = write(tmp_path / "a2.jsonl", {"id": "x7", "text": None})
    refused(f"{path}:1: id x7: empty text in 'text'; fill it or take the row out", lambda: jsonl(path))
    path = write(tmp_path / "a3.jsonl", {"id": "x7", "text": 3})
    refused(f"{path}:1: id x7: expected text in 'text', got 3", lambda: jsonl(path))
    path = write(tmp_path / "b.jsonl")
    refused(f"{path}: no rows in it; expected at least one example", lambda: jsonl(path))
    path = tmp_path / "c.csv"
    path.write_text("text,label\n")
    refused(f"{path}: no rows in it; expected at least one example", lambda: csv_table(path))


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\nfine,1\ncaf\xe9,0\n")
    said = f"{path}:3: not UTF-8, byte 0xe9 at position 4 of the line; convert the file to UTF-8"
    refused(said, lambda: csv_table(path))


def test_ragged_table(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('text,label\n"two\nlines",1\nonly\n')
    refused(f"{path}:4: 1 cells where 2 columns are expected", lambda: csv_table(path))
    path.write_text('text,label\n"open,1\n')
    with pytest.raises(BadInput, match=r"a\.csv:2: broken table row"):
        csv_table(path)


def test_an_id_used_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"id": 1, "text": "a"}, {"id": 1, "text": "b"})
    refused(f"{path}:2: id '1' was used before, at {path}:1; map another column", lambda: jsonl(path))
    assert [e.id for e in jsonl(path, split="dev", columns={"id": ""}).examples] == ["dev-0", "dev-1"]


@pytest.mark.parametrize(
    ("rationale", "said"),
    [
        ([[0, 9]], "the rationale span [0, 9] is outside field 'text' of 4 characters"),
        ([[1]], "expected [start, end] in the rationale, got [1]"),
        (["dull"], "the rationale 'dull' does not occur in field 'text'"),
        ([1, 0], "the rationale has 2 values, but the text is not a list of tokens"),
        ({"body": []}, "the rationale names field 'body', fields are text"),
        (7, "expected a list of spans, of 0 and 1, or of passages as rationale, got 7"),
        ("[1,", "the rationale is broken JSON at column 4 (Expecting value)"),
    ],
)
def test_bad_rationales(tmp_path: Path, rationale: object, said: str) -> None:
    path = write(tmp_path / "a.jsonl", {"text": "good", "rationale": rationale})
    refused(f"{path}:1: {said}", lambda: jsonl(path))
