"""Knows how the attention papers prepare their texts; marks stay on their words, what is dropped is counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from assay.align import words
from assay.registry import did_you_mean
from assay.types import BadInput, Dataset, Example, Mark, content_key

_NO_WORD = re.compile(r"\W|_")
_HAS_DIGIT = re.compile(r"\S*\d\S*")
Recipe = Callable[[Dataset], Dataset]
Edit = Callable[[str], list[tuple[int, int, str]]]
"""Stretches of a text and what takes their place, in order."""


def plain_words(data: Dataset) -> Dataset:
    """Lower-case letters and digits only: everything else becomes a space, one for one."""
    return _each(data, lambda text: [(m.start(), m.end(), " ") for m in _NO_WORD.finditer(text)], lower=True)


def lower_case(data: Dataset) -> Dataset:
    """Lower-case."""
    return _each(data, lambda text: [], lower=True)


def digits_hidden(data: Dataset) -> Dataset:
    """Every word with a digit in it becomes ``qqq``."""
    return _each(data, lambda text: [(m.start(), m.end(), "qqq") for m in _HAS_DIGIT.finditer(text)], lower=False)


def of_length(data: Dataset, *, above: int = 0, below: int | None = None) -> Dataset:
    """Examples with more than ``above`` and fewer than ``below`` words in every field; the others are counted."""

    def reason(e: Example) -> str:
        counts = [len(words(text)) for text in e.fields.values()]
        if min(counts) <= above:
            return f"{above} words or fewer"
        return f"{below} words or more" if below is not None and max(counts) >= below else ""

    return without(data, reason)


def only_labels(data: Dataset, names: Sequence[str]) -> Dataset:
    """Examples of these classes, numbered in this order; the others are counted."""
    for name in names:
        if name not in data.labels:
            raise BadInput(f"{data.name} has no class '{name}'{did_you_mean(name, list(data.labels))}")
    order = [data.labels.index(name) for name in names]
    kept = without(data, lambda e: "" if e.gold in order else "another class")
    examples = tuple(replace(e, gold=order.index(e.gold)) for e in kept.examples if e.gold is not None)
    return replace(kept, examples=examples, labels=tuple(names))


def without(data: Dataset, reason: Callable[[Example], str]) -> Dataset:
    """Examples for which there is no reason to drop them; reasons are counted in ``notes['dropped']``."""
    why = [reason(e) for e in data.examples]
    dropped = Counter(data.notes.get("dropped", {})) + Counter(r for r in why if r)
    kept = tuple(e for e, r in zip(data.examples, why, strict=True) if not r)
    return replace(data, examples=kept, notes={**data.notes, "dropped": dict(dropped)})


def parted(data: Dataset, share: float, *, seed: int = 0, split: str = "dev") -> tuple[Dataset, Dataset]:
    """The data without a share of each class, and that share: drawn by the texts, so order does not matter.

    >>> data = Dataset("d", tuple(Example(str(i), {"text": f"word {i}"}, i % 2) for i in range(20)))
    >>> [len(d) for d in parted(data, 0.2)]
    [16, 4]
    """
    if not 0 < share < 1:
        raise BadInput(f"share must lie between 0 and 1, got {share}")
    away: set[str] = set()
    for gold in {e.gold for e in data.examples}:
        mine = sorted((e for e in data.examples if e.gold == gold), key=lambda e: content_key("part", seed, e.content))
        away |= {e.id for e in mine[: round(share * len(mine))]}
    rest, part = ([e for e in data.examples if (e.id in away) is there] for there in (False, True))
    return replace(data, examples=tuple(rest)), replace(data, examples=tuple(part), split=split)


# -------------------------------------------------------------------------------------------- the recipes


def sst(data: Dataset) -> Dataset:
    """Jain & Wallace's SST: no punctuation, lower-case, more than 5 words (test: 863 and 863 sentences)."""
    return of_length(plain_words(data), above=5)


def imdb(data: Dataset) -> Dataset:
    """Their IMDB: lower-case, more than 6 and fewer than 400 words; min_count 10 in training."""
    return of_length(lower_case(data), above=6, below=400)


def news20(data: Dataset) -> Dataset:
    """Their 20 Newsgroups: digits hidden, lower-case, more than 6 and fewer than 500 words; min_count 2."""
    return of_length(digits_hidden(lower_case(data)), above=6, below=500)


def agnews(data: Dataset) -> Dataset:
    """Their AG News: World against Business, digits hidden, lower-case; min_count 5. (They leave titles out.)"""
    return digits_hidden(lower_case(only_labels(data, ("World", "Business"))))


RECIPES: dict[str, Recipe] = {"sst": sst, "imdb": imdb, "20news_sports": news20, "agnews": agnews}
MIN_COUNT = {"sst": 1, "imdb": 10, "20news_sports": 2, "agnews": 5}
"""How often a word must occur in training to be known, by recipe."""


def prepared(data: Dataset, recipe: str) -> Dataset:
    """The data as a recipe has it: sst, imdb, 20news_sports or agnews."""
    if recipe not in RECIPES:
        raise BadInput(f"no preparation '{recipe}'{did_you_mean(recipe, list(RECIPES))}")
    out = RECIPES[recipe](data)
    if not out.examples:
        raise BadInput(f"{data.name}: the preparation '{recipe}' leaves no example")
    return replace(out, notes={**out.notes, "prepared": recipe})


# ---------------------------------------------------------------------------------- texts with their marks


def _each(data: Dataset, edit: Edit, *, lower: bool) -> Dataset:
    made = [_changed(e, edit, lower) for e in data.examples]
    empty = {e.id for e in made if not all(words(t) for t in e.fields.values())}
    return without(replace(data, examples=tuple(made)), lambda e: "no words left" if e.id in empty else "")


def _changed(e: Example, edit: Edit, lower: bool) -> Example:
    fields, moved = {}, {}
    for name, text in e.fields.items():
        fields[name], moved[name] = spliced(_lowered(text) if lower else text, edit(text))
    marks = tuple(_moved(m, moved[m.field]) for m in e.rationale)
    return replace(e, fields=fields, rationale=tuple(m for m in marks if m.start < m.end))


def _lowered(text: str) -> str:
    """Lower-case, letter by letter, so that every letter keeps its place."""
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def spliced(text: str, edits: Sequence[tuple[int, int, str]]) -> tuple[str, list[int]]:
    """The text with stretches replaced, and where each place of the old text (its end included) is in the new one.

    >>> spliced("in 1999 and", [(3, 7, "qqq")])[0]
    'in qqq and'
    """
    out, at, size, where = [], 0, 0, list[int]()
    for start, end, new in (*edits, (len(text), len(text), "")):
        out += [text[at:start], new]
        where += range(size, size + start - at)
        size += start - at
        where += [size] * (end - start)
        size += len(new)
        at = end
    return "".join(out), [*where, size]


def _moved(mark: Mark, where: Sequence[int]) -> Mark:
    """A mark covers what took the place of its text."""
    return replace(mark, start=where[mark.start], end=where[mark.end])
