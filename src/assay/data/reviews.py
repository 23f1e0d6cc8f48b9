"""Knows the built-in reviews: sentiment whose label rule and evidence are known because a grammar made the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import TypeVar

import numpy as np

from assay.data import review_phrases as phrases
from assay.data.braces import unbrace
from assay.registry import dataset, did_you_mean
from assay.types import BadInput, Dataset, Example, content_key

T = TypeVar("T")
LABELS = ("negative", "positive")
SIZES = {"train": 2000, "dev": 400, "test": 400}
SPLITS = (*SIZES, "natural")
WORDS = range(8, 26)
"""How long a review may be."""
NEGATED = 0.18
"""Share of opinions that are said by negating the opposite."""
IMPERSONAL = tuple(c for c in phrases.CLAUSES if not re.search(r"\b(I|we|me|us|my|our)\b", c))
TOPIC_NAMES = tuple(phrases.TOPICS)
KINDS = tuple(phrases.SHARES)
KIND_EDGES = np.cumsum(list(phrases.SHARES.values()))[:-1]
_SLOT = re.compile(r"<(\w+)>")
_SENTENCE_START = re.compile(r'(?:^|[.?!]"? )[{"]*[a-z]')
_ARTICLE = re.compile(r"\b([Aa])(?= \{?[aeiou])")


@dataset("reviews", builtin=True)
def reviews(*, split: str = "test", seed: int = 0, size: int | None = None) -> Dataset:
    """Sentiment of generated reviews of films, food, products and services, with the deciding words marked.

    The label is the opinion of the deciding clause: the main clause of a contrast ("A, but B", "although A, B"), the
    writer's opinion rather than somebody else's, what was rather than what was expected. Negation turns an opinion
    word round ("hardly a triumph", "not bad"). Facts and quoted names decide nothing. Marks: the opinion word of the
    deciding clause with its negator or intensifier. A text belongs to one split whatever the seed, and a fifth of
    the frames is kept for dev and test. ``natural`` are 300 sentences written by hand under the same rule.

    >>> [len(reviews(split=s)) for s in ("train", "dev", "test", "natural")]
    [2000, 400, 400, 300]
    """
    if split == "natural":
        examples = tuple(_natural())[:size]
        return Dataset("reviews", examples, LABELS, split, {"source": "written by hand for this project"})
    if split not in SIZES:
        raise BadInput(f"builtin:reviews has no split '{split}'{did_you_mean(split, list(SPLITS))}")
    count = SIZES[split] if size is None else size
    rng = np.random.default_rng([seed, list(SIZES).index(split)])
    return Dataset("reviews", tuple(_generate(split, count, rng)), LABELS, split, {"source": "generated", "seed": seed})


def _natural() -> Iterator[Example]:
    source = resources.files("assay.data").joinpath("natural_reviews.txt").read_text(encoding="utf-8")
    lines = [line for line in source.splitlines() if line and not line.startswith("#")]
    for number, line in enumerate(lines):
        gold = int(line[0] == "+")
        text, marks = unbrace(line[2:], label=LABELS[gold])
        yield Example(f"natural-{number}", {"text": text}, gold, marks)


def _generate(split: str, count: int, rng: np.random.Generator) -> Iterator[Example]:
    seen: set[str] = set()
    while len(seen) < count:
        gold = len(seen) % 2
        text, marks = unbrace(_review(split, gold, rng), label=LABELS[gold])
        if len(text.split()) in WORDS and text not in seen and _split_of(text) == split:
            yield Example(f"{split}-{len(seen)}", {"text": text}, gold, marks)
            seen.add(text)


def _split_of(text: str) -> str:
    """Every text belongs to one split, so no seed can put a test review among the training reviews."""
    return ("train", "train", "dev", "test")[int(content_key("split", text)[:8], 16) % 4]


# --------------------------------------------------------------------------------------------- grammar

Scene = dict[str, tuple[str, ...]]
"""What can still be said, by slot: a review names no aspect or fact twice, and one thing throughout."""


def _review(split: str, gold: int, rng: np.random.Generator) -> str:
    """One review with its evidence in braces."""
    topic = phrases.TOPICS[_pick(rng, TOPIC_NAMES)]
    scene = {**topic, "thing": (_pick(rng, topic["thing"]),), "day": phrases.DAY, "person": phrases.PERSON}
    kind = KINDS[int(np.searchsorted(KIND_EDGES, rng.random(), side="right"))]
    frame = _pick(rng, _frames(kind, split))
    text = _SLOT.sub(lambda m: _fill(m[1], scene, gold, rng), frame)
    text = _ARTICLE.sub(r"\1n", text)
    return _SENTENCE_START.sub(lambda m: m[0][:-1] + m[0][-1].upper(), text)


def _frames(kind: str, split: str) -> list[str]:
    """Of five frames one is for training only and one for dev and test only."""
    away = 4 if split == "train" else 3
    return [f for i, f in enumerate(phrases.FRAMES[kind]) if i % 5 != away]


def _fill(slot: str, scene: Scene, gold: int, rng: np.random.Generator) -> str:
    if slot == "c":
        return _clause(phrases.CLAUSES, scene, gold, rng)
    if slot in ("o", "i"):
        pool = phrases.CLAUSES if slot == "o" else IMPERSONAL
        return _clause(pool, scene, 1 - gold, rng).replace("{", "").replace("}", "")
    word = _pick(rng, scene[slot])
    if slot != "thing":
        scene[slot] = tuple(w for w in scene[slot] if w != word)
    return word


def _clause(pool: Sequence[str], scene: Scene, gold: int, rng: np.random.Generator) -> str:
    opinions = {"adj": _adjective, "verb": _verb, "noun": _noun}

    def fill(m: re.Match[str]) -> str:
        return "{" + opinions[m[1]](gold, rng) + "}" if m[1] in opinions else _fill(m[1], scene, gold, rng)

    return _SLOT.sub(fill, _pick(rng, pool))


def _adjective(gold: int, rng: np.random.Generator) -> str:
    how = rng.random()
    word = _pick(rng, phrases.ADJECTIVES[gold if how < NEGATED else 1 - gold])
    if how < NEGATED:  # turned round: not bad, far from brilliant
        return f"{_pick(rng, phrases.NEGATORS)} {word}"
    return f"{_pick(rng, phrases.INTENSIFIERS)} {word}" if how > 0.7 else word


def _verb(gold: int, rng: np.random.Generator) -> str:
    how = rng.random()
    infinitive, past = _pick(rng, phrases.VERBS[gold if how < NEGATED else 1 - gold])
    if how < NEGATED:
        return _pick(rng, (f"did not {infinitive}", f"never {past}", f"hardly {past}", f"did not really {infinitive}"))
    return f"{_pick(rng, ('really', 'truly', 'thoroughly', 'genuinely'))} {past}" if how > 0.7 else past


def _noun(gold: int, rng: np.random.Generator) -> str:
    how = rng.random()
    noun = _pick(rng, phrases.NOUNS[gold if how < NEGATED else 1 - gold])
    if how < NEGATED:
        return f"{_pick(rng, phrases.NO_NOUN)} {noun}"
    return f"a {_pick(rng, ('real', 'true', 'complete', 'total'))} {noun}" if how > 0.7 else f"a {noun}"


def _pick(rng: np.random.Generator, options: Sequence[T]) -> T:
    return options[int(rng.integers(len(options)))]
