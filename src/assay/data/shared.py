"""Knows the research data sets under ASSAY_DATA (NAME/SPLIT.jsonl.gz) and what each of their columns means."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.data import agnews, snli, sst_trees
from assay.data.examples import build, gold
from assay.data.jsonl import jsonl
from assay.data.marks import Span, join_tokens, runs, token_marks
from assay.data.rows import Row, json_rows, some
from assay.data.splits import choose
from assay.registry import dataset, did_you_mean
from assay.types import BadInput, Dataset, Example, Mark

Reader = Callable[[Row], Iterator[Example | str]]
"""The examples of a row, or the reason why there is none."""
SENTIMENT = ("negative", "positive")
ROOMS = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")


def home() -> Path | None:
    """The folder that ASSAY_DATA names, else shared/data beside the working directory or the checkout, else None."""
    if given := os.environ.get("ASSAY_DATA"):
        return Path(given)
    beside = (Path.cwd().parent, Path(__file__).resolve().parents[4])
    return next((p for p in (b / "shared" / "data" for b in beside) if p.is_dir()), None)


def names() -> list[str]:
    """The data sets that are there."""
    there = home()
    return sorted(p.name for p in there.iterdir() if _files(p)) if there and there.is_dir() else []


def _files(folder: Path) -> dict[str, Path]:
    found = [*folder.glob("*.jsonl.gz"), *folder.glob("*.jsonl")] if folder.is_dir() else []
    return {p.name.split(".jsonl")[0]: p for p in found}


@dataset("shared")
def shared(
    name: str,
    *,
    split: str = "",
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] | None = None,
) -> Dataset:
    """A data set under ASSAY_DATA by its name: sst, sst2, snli, esnli, imdb, agnews, 20news_sports, ade_corpus, ...

    Fields, labels and marked evidence are known for these; others, and all with ``columns``, are read as ``jsonl``.
    """
    if name not in names():
        where = f"under ASSAY_DATA ({home()})" if home() else "because ASSAY_DATA is not set"
        raise BadInput(f"no data set '{name}' {where}{did_you_mean(name, names())}")
    files = _files((home() or Path()) / name)
    split = choose(files, split, name)
    path = files[split]
    if columns or name in COLUMNS or name not in READERS:
        return _plain(name, path, split, columns, labels)
    classes, reader = READERS[name]
    examples, dropped = [], Counter[str]()
    for row in some(json_rows(path), path):
        for found in reader(row):
            if isinstance(found, str):
                dropped[found] += 1
            else:
                examples.append(found)
    return Dataset(name, tuple(examples), tuple(labels or classes), split, {"dropped": dict(dropped)})


def _plain(
    name: str, path: Path, split: str, columns: Mapping[str, str] | None, labels: Sequence[str] | None
) -> Dataset:
    if columns or name not in COLUMNS:
        found = jsonl(path, split=split, columns=columns, labels=labels)
        return Dataset(name, found.examples, found.labels, split, found.notes)
    mapping, classes = COLUMNS[name]
    rows = some(json_rows(path), path)
    return build(rows, name=name, split=split, columns=mapping, labels=labels or classes)


# ------------------------------------------------------------------------------ sets that are plain tables

_TEXT = {"text": "text", "label": "label", "id": "id"}
COLUMNS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "sst2": (_TEXT, SENTIMENT),
    "imdb": (_TEXT, SENTIMENT),
    "agnews": (_TEXT, agnews.LABELS),
    "20news_sports": (_TEXT, ("baseball", "hockey")),
    "biosbias": (_TEXT, ("physician", "surgeon")),
    "ade_corpus": (_TEXT | {"rationale": "rationale_chars"}, ("unrelated", "adverse effect")),
    "snli": ({"premise": "premise", "hypothesis": "hypothesis", "label": "label", "id": "id"}, snli.LABELS),
}


# ------------------------------------------------------------------------------------- sets that need more


def _sst(row: Row) -> Iterator[Example | str]:
    if row.cells["label"] is None:
        yield "neutral"
        return
    text, spans = join_tokens(row.cells["tokens"])
    marks = sst_trees.polar_marks([(a, b, n) for a, b, n in row.cells["spans"]], spans)
    yield Example(row.cells["id"], {"text": text}, row.cells["label"], marks)


def _esnli(row: Row) -> Iterator[Example]:
    """Marks are those of at least two of three annotators."""
    texts: dict[str, str] = {}
    marks: list[Mark] = []
    for field in ("premise", "hypothesis"):
        texts[field], spans = join_tokens(row.cells[f"{field}_tokens"])
        marks += token_marks(field, spans, runs(row.cells[f"{field}_highlight"]))
    yield Example(row.cells["id"], texts, gold(row.cells["label"], snli.LABELS, row.place), tuple(marks))


def _movies(row: Row) -> Iterator[Example]:
    text, spans = join_tokens(row.cells["tokens"])
    marks = token_marks("text", spans, row.cells["rationale"], SENTIMENT[row.cells["label"]])
    yield Example(row.cells["id"], {"text": text}, row.cells["label"], marks)


def _multirc(row: Row) -> Iterator[Example]:
    """One example per answer: is it right?"""
    passage, spans = join_tokens(row.cells["sentences"])
    marks = _sentences("passage", spans, row.cells["rationale"])
    for k, answer in enumerate(row.cells["answers"]):
        fields = {"passage": passage, "question": row.cells["question"], "answer": answer["text"]}
        yield Example(f"{row.cells['id']}:{k}", fields, int(answer["label"]), marks)


def _babi(row: Row) -> Iterator[Example]:
    context, spans = join_tokens(row.cells["context"])
    fields = {"context": context, "question": row.cells["question"]}
    right = gold(row.cells["answer"], ROOMS, row.place)
    yield Example(row.cells["id"], fields, right, _sentences("context", spans, row.cells["supporting"]))


def _squad(row: Row) -> Iterator[Example]:
    """The answers are spans, not classes: they are the marks, and there is no gold class."""
    if "context" not in row.cells:
        yield Example(str(row.cells["id"]), {"question": row.cells["question"], "sentence": row.cells["sentence"]})
        return
    fields = {"question": row.cells["question"], "context": row.cells["context"]}
    spans = {(a["start"], a["start"] + len(a["text"])) for a in row.cells["answers"]}
    yield Example(row.cells["id"], fields, None, tuple(Mark("context", a, b) for a, b in sorted(spans)))


def _sentences(field: str, spans: Sequence[Span], chosen: Sequence[int]) -> tuple[Mark, ...]:
    return tuple(Mark(field, *spans[i]) for i in chosen)


READERS: dict[str, tuple[tuple[str, ...], Any]] = {
    "sst": (SENTIMENT, _sst),
    "esnli": (snli.LABELS, _esnli),
    "movies": (SENTIMENT, _movies),
    "multirc": (("false", "true"), _multirc),
    "babi": (ROOMS, _babi),
    "squad": ((), _squad),
}
