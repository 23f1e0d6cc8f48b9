"""Knows e-SNLI as it is distributed: a table whose sentences carry *asterisks* round what each annotator marked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from assay.data.examples import gold
from assay.data.rows import Row, some, table_rows
from assay.data.snli import LABELS
from assay.registry import dataset
from assay.types import BadInput, Dataset, Example, Mark

SENTENCES = {"premise": "Sentence1", "hypothesis": "Sentence2"}


@dataset("esnli", paper="Camburu et al. 2018")
def esnli(path: Path | str, *, split: str = "") -> Dataset:
    """esnli_{train_1,dev,test}.csv. Marks carry how many annotators made them (votes) and the share of them (weight).

    Marked text that does not spell its sentence (a handful in the original) counts in ``notes['unread_marks']``.
    """
    path = Path(path)
    examples: list[Example] = []
    unread: Counter[str] = Counter()
    for row in some(table_rows(path, ","), path):
        missing = [c for c in ("gold_label", *SENTENCES.values(), "Sentence1_marked_1") if c not in row.cells]
        if missing:
            raise BadInput(f"{path}: no column '{missing[0]}'; columns are {', '.join(row.cells)}")
        examples.append(_example(row, f"{split or path.stem}-{len(examples)}", unread))
    notes = {"dropped": {}, "unread_marks": unread.total()}
    return Dataset(path.name, tuple(examples), LABELS, split, notes)


def _example(row: Row, generated: str, unread: Counter[str]) -> Example:
    name = str(row.cells.get("pairID") or generated)
    fields = {field: str(row.cells[column]) for field, column in SENTENCES.items()}
    for field, text in fields.items():
        if not text.strip():
            raise BadInput(f"{row.place}: id {name}: empty text in '{SENTENCES[field]}'; fill it or take the row out")
    marks: list[Mark] = []
    for field, text in fields.items():
        written = [row.cells.get(f"{SENTENCES[field]}_marked_{k}") for k in (1, 2, 3)]
        starred = [starred_characters(str(w), text) for w in written if w]
        unread[field] += starred.count(None)
        marks += _votes(field, len(text), [s for s in starred if s is not None])
    return Example(name, fields, gold(row.cells["gold_label"], LABELS, row.place), tuple(marks))


def starred_characters(marked: str, text: str) -> frozenset[int] | None:
    """Positions in the text that stand between asterisks; None when the marked text does not spell the text.

    >>> sorted(starred_characters("a *cat* sits", "a cat sits"))
    [2, 3, 4]
    """
    marked, text = marked.strip(), text.rstrip()
    at, inside, out = len(text) - len(text.lstrip()), False, set()
    for c in marked:
        if at < len(text) and text[at] == c:
            if inside:
                out.add(at)
            at += 1
        elif c == "*":
            inside = not inside
        else:
            return None
    return frozenset(out) if at == len(text) else None


def _votes(field: str, length: int, starred: list[frozenset[int]]) -> list[Mark]:
    """Stretches marked by the same number of annotators."""
    votes = [sum(i in s for s in starred) for i in range(length)] + [0]
    out, start = [], 0
    for i in range(1, length + 1):
        if votes[i] != votes[start]:
            if votes[start]:
                out.append(Mark(field, start, i, votes[start] / len(starred), votes=votes[start]))
            start = i
    return out
