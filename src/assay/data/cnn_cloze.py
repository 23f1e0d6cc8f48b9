"""Knows CNN and Daily Mail cloze questions: a passage, a sentence with one entity left out, that entity as answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.data.rows import lines, present
from assay.data.splits import choose
from assay.registry import dataset
from assay.types import BadInput, Bools, Dataset, Example

HOLE = "@placeholder"
ENTITY = re.compile(r"@entity\d+")
SUFFIX = ".question"


@dataclass(frozen=True, slots=True)
class _Cloze:
    name: str
    passage: str
    question: str
    answer: str
    entities: tuple[str, ...]


@dataset("cnn-cloze", paper="Hermann et al. 2015")
def cnn_cloze(path: Path | str, *, split: str = "", labels: Sequence[str] | None = None) -> Dataset:
    """A .question file (address, passage, question with @placeholder, answer, entities; blank lines between), a folder
    of them, or one with training, validation and test folders. Fields ``passage`` and ``question``.

    Classes are the entities @entity0, @entity1, ... that occur; give ``labels`` so that two splits share them. Only
    entities of the passage can be right: ``candidates`` tells which (Jain & Wallace 2019 mask the others).
    """
    path = present(path)
    folders = (
        {"train" if p.name == "training" else p.name: p for p in path.iterdir() if p.is_dir()}
        if (path.is_dir())
        else {}
    )
    if folders:
        split = choose(folders, split, str(path))
        path = folders[split]
    files = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
    found = [_read(p) for p in files]
    if not found:
        raise BadInput(f"{path}: no {SUFFIX} files in it; expected one per question")
    names = {n for c in found for n in (*ENTITY.findall(c.passage), *c.entities, c.answer)}
    classes = tuple(labels) if labels else tuple(sorted(names, key=lambda n: int(n.removeprefix("@entity"))))
    examples = []
    for c, p in zip(found, files, strict=True):
        if c.answer not in classes:
            raise BadInput(f"{p}: answer '{c.answer}' is not among the labels given")
        fields = {"passage": c.passage, "question": c.question}
        examples.append(Example(c.name, fields, classes.index(c.answer)))
    return Dataset(path.name, tuple(examples), classes, split, {"dropped": {}})


def _read(path: Path) -> _Cloze:
    blocks = "\n".join(text for _, text in lines(path)).strip().split("\n\n")
    if len(blocks) < 4:
        raise BadInput(f"{path}: expected address, passage, question and answer with blank lines between, "
                       f"found {len(blocks)} parts")  # fmt: skip
    _, passage, question, answer, *rest = (b.strip() for b in blocks)
    if HOLE not in question or not ENTITY.fullmatch(answer):
        raise BadInput(f"{path}: expected a question with {HOLE} and an answer such as @entity3, found '{answer:.40}'")
    entities = tuple(line.partition(":")[0].strip() for block in rest for line in block.split("\n") if line.strip())
    for name in entities:
        if not ENTITY.fullmatch(name):
            raise BadInput(f"{path}: expected entities as '@entity3:Name', found '{name:.40}'")
    return _Cloze(path.name.removesuffix(SUFFIX), passage, question, answer, entities)


def candidates(example: Example, labels: Sequence[str], field: str = "passage") -> Bools:
    """Which labels are entities of the passage: one per label.

    >>> candidates(Example("1", {"passage": "@entity1 met @entity3"}), ["@entity0", "@entity1", "@entity3"]).tolist()
    [False, True, True]
    """
    there = set(ENTITY.findall(example.fields[field]))
    return np.array([label in there for label in labels], dtype=bool)
