"""Knows how explained words leave a data set for good: which go, what stands in their place, what the text becomes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay import registry, resolve
from assay.align import Span
from assay.ask import rng
from assay.engine import Engine
from assay.measures.ranking import complete, order
from assay.registry import Bound
from assay.types import (
    DROP,
    FILL,
    HIDE,
    KEEP,
    MASK,
    PAD,
    UNK,
    ZERO,
    BadInput,
    Bools,
    Dataset,
    Example,
    Explanation,
    Input,
    Model,
    Place,
    Variants,
)

LITERAL = {UNK: "[UNK]", PAD: "[PAD]", MASK: "[MASK]"}
"""What stands in the text for a token that only a model has."""
NOTHING = "."
"""What a field becomes when all of its words are gone: a text must not be empty."""
KEPT, GONE = "x", "_"
"""Words of the control, which sees only where words were removed."""

Said = tuple[tuple[str, str], ...]
"""What an example says, whatever its name and label."""
Scores = Mapping[Said, Explanation]
"""One method's explanations by what their examples say."""


def said(example: Example) -> Said:
    """The texts of an example: what its explanations are found by."""
    return tuple(example.fields.items())


@dataclass(frozen=True, eq=False, slots=True)
class Without:
    """An example after removal, and where its features stand now (None: gone, or another word is in its place)."""

    example: Example
    places: tuple[Place | None, ...]
    emptied: int
    """Fields that lost every word."""


def count(words: int, rate: float) -> int:
    """How many of ``words`` are removed: ceil(rate * (words - 1)), at least 1 and at most all; 0 at rate 0.

    >>> [count(n, 0.1) for n in (1, 2, 11, 12, 71)], count(9, 0.0), count(4, 1.0)
    ([1, 1, 1, 2, 7], 0, 3)
    """
    if not 0 <= rate <= 1:
        raise BadInput(f"a rate of removal lies between 0 and 1, got {rate}")
    return min(words, max(1, math.ceil(rate * (words - 1) - 1e-9))) if rate else 0


def kept(explanation: Explanation, rate: float) -> Bools:
    """[n]: False for the words of highest signed score (near-ties from the left), as many as ``count`` says."""
    x = explanation.x
    scores = complete(x, explanation.scores)
    keep = np.ones(x.n, dtype=bool)
    keep[np.flatnonzero(x.free)[order(scores)[: count(x.size, rate)]]] = False
    return keep


def removed_data(
    data: Dataset, scores: Scores, rate: float, removal: str | Bound = "delete", *, model: Model, seed: int = 0
) -> Dataset:
    """The data with each text's highest-scored words taken away for good, all at once, by any removal operator.

    ``delete`` cuts the words out; pad, mask and unk leave the literal token; a language model's operator leaves its
    words (of several fills one is drawn by weight). Gold labels stay, marks are dropped. A field without a word left
    becomes "." and is counted in ``notes``. ``model``: the explained model, for operators that ask it.

    >>> from assay.models.additive import Additive
    >>> from assay.types import OWN
    >>> x = (model := Additive()).read(Example("1", {"text": "a truly good film"}, 1))
    >>> mine = Explanation(x, model.name, "mine", OWN, np.array([0.0, 0.1, 2.0, -3.0]))
    >>> removed_data(Dataset("d", (x.example,)), {said(x.example): mine}, 0.2, model=model).examples[0].fields
    {'text': 'a truly film'}
    """
    found = [_of(e, scores) for e in data.examples]
    done = taken_away([(f.x, kept(f, rate)) for f in found], removal, model=model, seed=seed)
    notes = {**data.notes, "removed": {"rate": rate, "emptied fields": sum(d.emptied for d in done)}}
    return replace(data, examples=tuple(d.example for d in done), notes=notes)


def where_data(data: Dataset, scores: Scores, rate: float) -> Dataset:
    """The control's data: each kept word is "x", each removed one "_"; what leads beyond chance here is leakage.

    Removal depends on the model's prediction, so its places and amount may tell the label (Rong 2022, Song 2023).
    """
    examples = []
    for example in data.examples:
        found = _of(example, scores)
        keep = kept(found, rate)
        fields = {
            name: " ".join(KEPT if k else GONE for k, p in zip(keep, found.x.places, strict=True) if p.field == name)
            for name in example.fields
        }
        examples.append(Example(example.id, fields, example.gold))
    return replace(data, examples=tuple(examples))


def _of(example: Example, scores: Scores) -> Explanation:
    found = scores.get(said(example))
    if found is None:
        raise BadInput(f"example {example.id} has no explanation; leave it out, or explain it first")
    return found


# --------------------------------------------------------------------------------------------- taking away


def taken_away(
    asked: Sequence[tuple[Input, Bools]], removal: str | Bound, *, model: Model, seed: int = 0
) -> list[Without]:
    """Every input without what its ``keep`` [n] leaves out; the operator is asked for all of them side by side."""
    bound = operator(removal)
    out: list[Without | None] = [None] * len(asked)
    cases = ((i, bound(x, keep[None, :])) for i, (x, keep) in enumerate(asked))
    for done in Engine(model).run(cases):
        if done.error is not None:
            raise done.error
        out[done.key] = _without(asked[done.key][0], done.result, bound.label, seed)
    return [w for w in out if w is not None]


def operator(removal: str | Bound) -> Bound:
    """The removal operator of this name, with the language model that it may name."""
    if isinstance(removal, Bound):
        return removal
    return registry.bind("removals", removal, {"models": resolve.model_by_name})


def _without(x: Input, variants: Variants, name: str, seed: int) -> Without:
    weight = np.asarray(variants.weight, dtype=np.float64)
    row = 0 if len(weight) == 1 else int(rng(seed, x, "roar").choice(len(weight), p=weight / weight.sum()))
    codes = variants.edit.codes[row]
    if np.isin(codes, (ZERO, HIDE)).any():
        raise BadInput(f"{name} changes embeddings or attention, not text: retrain with delete, mask, unk, pad or mlm")
    words = [_stands(int(code), variants.edit.fills) for code in codes]
    fields, places, emptied = {}, list[Place | None](x.places), 0
    for field, text in x.example.fields.items():
        mine = [i for i, p in enumerate(x.places) if p.field == field]
        fields[field], spans = spliced(
            text, [(x.places[i].start, x.places[i].end) for i in mine], [words[i] for i in mine]
        )
        if not fields[field].strip():
            fields[field], emptied = NOTHING, emptied + 1
        for i, span in zip(mine, spans, strict=True):
            places[i] = None if span is None else Place(field, *span)
    return Without(Example(x.example.id, fields, x.example.gold), tuple(places), emptied)


def _stands(code: int, fills: Sequence[str]) -> str | None:
    """What stands in a feature's place: None = the word itself, '' = nothing."""
    if code == KEEP:
        return None
    if code == DROP:
        return ""
    return fills[code - FILL] if code >= FILL else LITERAL[code]


def spliced(text: str, spans: Sequence[Span], words: Sequence[str | None]) -> tuple[str, list[Span | None]]:
    """The text with other words in these places, and where the untouched ones stand now.

    None leaves a word as it is, '' cuts it out: the spaces around become one, and two words never grow together.

    >>> spliced("A good, dull film", [(0, 1), (2, 6), (6, 7), (8, 12), (13, 17)], [None, "", "", "so", None])
    ('A so film', [(0, 1), None, None, None, (5, 9)])
    """
    out, gap, last, cut = "", "", 0, False
    places: list[Span | None] = []
    for (start, end), word in zip(spans, words, strict=True):
        near = text[last:start]
        gap, last = gap + near, end
        if word == "":
            cut = True
            places.append(None)
            continue
        shown = text[start:end] if word is None else word
        out += _joint(out, gap, near, shown) if cut else gap
        places.append((len(out), len(out) + len(shown)) if word is None else None)
        out, gap, cut = out + shown, "", False
    tail = gap + text[last:]
    return out + (tail if tail.strip() or not cut else ""), places


def _joint(before: str, gap: str, near: str, after: str) -> str:
    """What is left between two words when what stood between them is gone; ``near``: the last of the gaps."""
    if gap.strip():
        return gap
    grown = before[-1:].isalnum() and after[:1].isalnum()
    return " " if before and (near or grown) else ""


def explained_by_all(data: Dataset, scores: Iterable[Scores]) -> tuple[Dataset, int]:
    """The examples that every method could rank, and how many were left out: all curves share their examples."""
    every = list(scores)
    kept_examples = tuple(e for e in data.examples if all(_rankable(s.get(said(e))) for s in every))
    return replace(data, examples=kept_examples), len(data.examples) - len(kept_examples)


def _rankable(found: Explanation | None) -> bool:
    return found is not None and found.x.size > 0 and bool(np.isfinite(found.scores).all())
