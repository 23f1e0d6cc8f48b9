"""Knows the data of the two attention papers: how each set is read, prepared and split, and what stands beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay import resolve
from assay.align import words
from assay.data.preparation import MIN_COUNT, RECIPES, parted, prepared
from assay.trials.attention_models import Recipe, Sets
from assay.types import BadInput, Dataset

SST, IMDB, NEWS, AG, SNLI = "SST", "IMDB", "20News", "AG News", "SNLI"
NEAREST = {
    "sst": SST, "imdb": IMDB, "20news_sports": NEWS, "agnews": AG, "snli": SNLI, "builtin:pairs": SNLI,
    "babi": "bAbI 1", "babi:1": "bAbI 1", "babi:2": "bAbI 2", "babi:3": "bAbI 3", "builtin:stories": "bAbI 1",
    "builtin:stories(facts=1)": "bAbI 1", "builtin:stories(facts=2)": "bAbI 2", "builtin:stories(facts=3)": "bAbI 3",
}  # fmt: skip
"""Our word for a data set -> the papers'; every other one is compared with SST."""
HELD = 0.15
"""Share of the training split that becomes the dev set where there is none, as the papers' code has it."""
MOST_ROWS, MOST_TEST = 20_000, 2_000
LR = {"small": 5e-3, "code": 1e-3, "paper": 1e-3}


@dataclass(frozen=True, eq=False, slots=True)
class Material:
    """One data set, ready for training and testing."""

    word: str
    sets: Sets
    nearest: str
    same: bool
    """Whether ``nearest`` is this very data set."""
    query: str
    """The field that asks and is not attended; '' when there is none."""
    min_count: int
    told: Mapping[str, Any]

    @property
    def small(self) -> bool:
        """Built in."""
        return self.word.startswith("builtin")

    @property
    def asks(self) -> bool:
        """Questions about a story: the papers' question answering."""
        return self.nearest.startswith("bAbI")

    @property
    def lengths(self) -> list[int]:
        """Words of the attended field of every test text."""
        return [sum(len(words(t)) for f, t in e.fields.items() if f != self.query) for e in self.sets.test.examples]

    def recipe(self, sizes: str, epochs: int, vectors: str = "") -> Recipe:
        """How models of this data are trained."""
        return Recipe(
            sizes, epochs, LR[sizes], min_count=self.min_count, vectors=vectors,  # type: ignore[arg-type]
            query=self.query or None,
        )  # fmt: skip


def material(word: str, rows: int = 0) -> Material:
    """Read, prepare and split; at most ``rows`` training texts (0: as many as the default allows)."""
    if rows < 0:
        raise BadInput(f"rows must be 0 (the default) or more, got {rows}")
    train, dev, test, note = _read(word)
    if word in RECIPES:
        train, dev, test = (prepared(d, word) for d in (train, dev, test))
    dropped = dict(test.notes.get("dropped", {}))
    train, dev, test = _named_apart(train.sample(rows or MOST_ROWS), dev.sample(MOST_TEST), test.sample(MOST_TEST))
    fields = tuple(train.examples[0].fields)
    nearest = NEAREST.get(word, SST)
    told = {
        "data": f"{len(train)} texts to learn from, {len(dev)} to choose the epoch on, {len(test)} for results; {note}",
        "preparation": "as the papers' code" if word in RECIPES else "none: texts as they are, read in lower case",
        "left out of the test set": "; ".join(f"{k}: {v}" for k, v in dropped.items()) or "nothing",
    }
    same = word in NEAREST and not word.startswith("builtin")
    query = fields[-1] if len(fields) > 1 else ""
    return Material(word, Sets(train, dev, test), nearest, same, query, MIN_COUNT.get(word, 1), told)


def _read(word: str) -> tuple[Dataset, Dataset, Dataset, str]:
    """Train, dev and test, each text once, and where dev came from."""
    ref, task = word, ""
    if found := re.fullmatch(r"babi(?::(\d+))?", word):
        ref, task = "babi", f"qa{found[1] or 1}_"
    train, test = (resolve.distinct(resolve.data(ref, split=f"{task}{s}")) for s in ("train", "test"))
    try:
        dev = resolve.distinct(resolve.data(ref, split=f"{task}dev"))
    except BadInput:  # most sets of the papers have no dev split: it is taken from train, and said
        return *parted(train, HELD), test, f"no dev split: {HELD:.0%} of train are kept apart"
    return train, dev, test, "the data's own splits"


def _named_apart(*parts: Dataset) -> tuple[Dataset, ...]:
    """Sets whose examples share no id: guides are filed by it."""
    ids = [e.id for d in parts for e in d.examples]
    if len(set(ids)) == len(ids):
        return parts
    names = ("train", "dev", "test")
    return tuple(
        replace(d, examples=tuple(replace(e, id=f"{name}/{e.id}") for e in d.examples))
        for name, d in zip(names, parts, strict=True)
    )


def class_counts(data: Dataset) -> str:
    """Texts per class, in the order of the labels: '3034 / 3321'."""
    golds = [e.gold for e in data.examples]
    return " / ".join(str(golds.count(c)) for c in range(len(data.labels)))
