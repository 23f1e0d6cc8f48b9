"""What the attention models know of text: a vocabulary of words, its preparation, and vectors for its words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from assay.types import BadInput, Floats

PAD, UNK, SOS, EOS, MASK = range(5)
"""Ids that no word has."""
SPECIALS = ("[PAD]", "[UNK]", "[SOS]", "[EOS]", "[MASK]")
_DIGIT = re.compile(r"\d")


def prepared(word: str, *, lower: bool, digits: bool) -> str:
    """The word as the vocabulary keeps it; ``digits``: every word with a digit in it becomes ``qqq``.

    >>> prepared("Top10", lower=True, digits=True), prepared("Film", lower=True, digits=True)
    ('qqq', 'film')
    """
    word = word.lower() if lower else word
    return "qqq" if digits and _DIGIT.search(word) else word


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words with ids from 5 on; 0 pad, 1 unknown, 2 start, 3 end, 4 mask.

    >>> v = Vocabulary.of([["A", "good", "film"], ["a", "film"]], min_count=2)
    >>> v.words, v.id("Film"), v.id("good")
    (('a', 'film'), 6, 1)
    """

    words: tuple[str, ...]
    lower: bool = True
    digits: bool = False
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {w: i for i, w in enumerate(self.words, len(SPECIALS))})

    @staticmethod
    def of(
        texts: Iterable[Sequence[str]], *, min_count: int = 1, lower: bool = True, digits: bool = False
    ) -> Vocabulary:
        """The prepared words that occur at least ``min_count`` times, most frequent first, then by the alphabet."""
        counts = Counter(prepared(w, lower=lower, digits=digits) for words in texts for w in words)
        kept = sorted((w for w, c in counts.items() if c >= min_count), key=lambda w: (-counts[w], w))
        if not kept:
            raise BadInput(f"no word occurs {min_count} times in the training text: lower min_count")
        return Vocabulary(tuple(kept), lower, digits)

    def __len__(self) -> int:
        return len(SPECIALS) + len(self.words)

    def id(self, word: str) -> int:
        """The word's id, 1 when it is unknown."""
        return self._ids.get(prepared(word, lower=self.lower, digits=self.digits), UNK)


@dataclass(frozen=True, slots=True)
class Reader:
    """How examples become ids: the vocabulary, the fields in order, which one is the query, what a word is."""

    vocabulary: Vocabulary
    fields: tuple[str, ...] = ("text",)
    query: str = ""
    """The field that is not attended but asks ('' = none)."""
    unit: str = "word"
    edges: bool = True
    """Each field stands between [SOS] and [EOS], which are read but never attended."""

    @property
    def facts(self) -> dict[str, Any]:
        """As JSON."""
        v = self.vocabulary
        own = {"fields": list(self.fields), "query": self.query, "unit": self.unit, "edges": self.edges}
        return own | {"lower": v.lower, "digits": v.digits, "words": list(v.words)}

    @staticmethod
    def of(facts: Mapping[str, Any]) -> Reader:
        """The reader that gave these facts."""
        vocabulary = Vocabulary(tuple(facts["words"]), bool(facts["lower"]), bool(facts["digits"]))
        return Reader(vocabulary, tuple(facts["fields"]), facts["query"], facts["unit"], bool(facts["edges"]))


Vectors = str | Path | tuple[Floats, Sequence[str]]
"""Word vectors: a text file (``word v1 v2 ...`` per line), or an array [words, D] with its words."""


def vectors_for(vocabulary: Vocabulary, source: Vectors) -> tuple[Floats, np.ndarray]:
    """Vectors [len(vocabulary), D], zero where the source has none, and which ids were found.

    The exact word is looked up first, then its lower-case form (Jain & Wallace's code leaves the rest at zero).
    """
    if isinstance(source, tuple):
        array, words = np.asarray(source[0], dtype=np.float32), source[1]
        if array.ndim != 2 or len(array) != len(words):
            raise BadInput(f"word vectors: {len(words)} words for an array of shape {array.shape}, expected a row each")
        at = {w: i for i, w in enumerate(words)}
        rows = {w: array[i] for w in vocabulary.words if (i := at.get(w, at.get(w.lower()))) is not None}
        width = int(array.shape[1])
    else:
        rows, width = _from_file(Path(source), set(vocabulary.words))
    out = np.zeros((len(vocabulary), width), dtype=np.float32)
    found = np.zeros(len(vocabulary), dtype=bool)
    for word, row in rows.items():
        out[vocabulary.id(word)] = row
        found[vocabulary.id(word)] = True
    if not found.any():
        raise BadInput("word vectors: none of the vocabulary's words is among them; are they of another language?")
    return out, found


def _from_file(path: Path, wanted: set[str]) -> tuple[dict[str, Floats], int]:
    """Rows of the wanted words; a first line of two numbers (fastText) is skipped."""
    if not path.is_file():
        raise BadInput(f"word vectors: there is no file {path}")
    rows: dict[str, Floats] = {}
    width = 0
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            word, *numbers = line.rstrip().split(" ")
            if number == 1 and len(numbers) == 1:
                continue
            width = width or len(numbers)
            if len(numbers) != width or not width:
                raise BadInput(f"{path}:{number}: expected a word and {width or 'some'} numbers, got {len(numbers)}")
            if word in wanted and word not in rows:
                rows[word] = _numbers(numbers, path, number)
    return rows, width


def _numbers(numbers: Sequence[str], path: Path, line: int) -> Floats:
    try:
        return np.array(numbers, dtype=np.float32)
    except ValueError as error:
        raise BadInput(f"{path}:{line}: not a number among the vector's values; expected 'word v1 v2 ...'") from error
