"""Knows the built-in stories: people carry things about, and one, two or three sentences tell where something is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from assay.data.marks import join_tokens
from assay.data.splits import choose
from assay.registry import dataset
from assay.types import BadInput, Dataset, Example, Mark, content_key

SIZES = {"train": 2000, "dev": 400, "test": 400}
PEOPLE = ("Ada", "Ben", "Clara", "David")
PLACES = ("attic", "barn", "cellar", "kitchen", "library", "studio")
THINGS = ("basket", "coat", "lamp", "violin")
WENT = ("walked to", "went into", "ran to", "entered")
TOOK = ("picked up", "took", "lifted")
LEFT = ("put down", "left", "dropped")
LENGTHS = {1: (2, 8), 2: (4, 12), 3: (7, 18)}
"""Sentences of a story by the number of facts that its question needs: from, to."""


@dataset("stories", builtin=True)
def stories(*, split: str = "test", seed: int = 0, size: int | None = None, facts: int = 1) -> Dataset:
    """Questions about who and what is where, answered by ``facts`` (1, 2 or 3) sentences of a story, which are marked.

    1: "Where is Ada?" (where she went last). 2: "Where is the lamp?" (who took it or put it down, and where she went
    last before). 3: "Where was the lamp before the barn?" (who took it, where she was, and how she came to the barn
    with it). Fields ``context`` and ``question``; the answer is one of six places. The rule is the story itself, so
    every question can be answered; a text belongs to one split whatever the seed.

    >>> [len(stories(split=s)) for s in ("train", "dev", "test")]
    [2000, 400, 400]
    """
    split = choose(SIZES, split, "builtin:stories")
    if facts not in LENGTHS:
        raise BadInput(f"builtin:stories: facts must be 1, 2 or 3, got {facts}")
    rng = np.random.default_rng([seed, facts, list(SIZES).index(split)])
    examples = tuple(_generate(split, SIZES[split] if size is None else size, facts, rng))
    return Dataset("stories", examples, PLACES, split, {"source": "generated", "seed": seed, "facts": facts})


def _generate(split: str, count: int, facts: int, rng: np.random.Generator) -> Iterator[Example]:
    seen: set[str] = set()
    while len(seen) < count:
        world = _World(rng)
        for _ in range(int(rng.integers(LENGTHS[facts][0], LENGTHS[facts][1] + 1))):
            world.step()
        asked = [q for q in _questions(world, facts) if q.place == PLACES[len(seen) % len(PLACES)]]
        if not asked:
            continue
        q = asked[int(rng.integers(len(asked)))]
        context, spans = join_tokens(world.told)
        text = f"{context} {q.text}"
        if text in seen or _split_of(text) != split:
            continue
        marks = tuple(Mark("context", *spans[i], label=q.place) for i in sorted(set(q.facts)))
        fields = {"context": context, "question": q.text}
        yield Example(f"{split}-{len(seen)}", fields, PLACES.index(q.place), marks)
        seen.add(text)


def _split_of(text: str) -> str:
    return ("train", "train", "dev", "test")[int(content_key("split", text)[:8], 16) % 4]


@dataclass(frozen=True, slots=True)
class _Question:
    text: str
    place: str
    facts: tuple[int, ...]
    """Numbers of the sentences that tell the answer."""


@dataclass(frozen=True, slots=True)
class _Stay:
    """A thing is at a place because of these sentences."""

    place: str
    facts: tuple[int, ...]


@dataclass(slots=True)
class _World:
    """Who is where and holds what, what was told, and every place each thing has been."""

    rng: np.random.Generator
    told: list[str] = field(default_factory=list)
    at: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Person -> place and the sentence that says so."""
    held: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Thing -> person and the sentence in which it was taken."""
    been: dict[str, list[_Stay]] = field(default_factory=dict)

    def step(self) -> None:
        """One more sentence."""
        who, how = self._pick(PEOPLE), self.rng.random()
        if who in self.at and how < 0.25:
            free = [t for t in THINGS if self._reach(t, who)]
            if free:
                return self._take(who, self._pick(free))
        mine = [t for t, (holder, _) in self.held.items() if holder == who]
        if mine and how > 0.9:
            return self._leave(who, self._pick(mine))
        return self._go(who)

    def _reach(self, thing: str, who: str) -> bool:
        """Nobody holds it, and it lies here or has not been mentioned."""
        stays = self.been.get(thing)
        return thing not in self.held and (not stays or stays[-1].place == self.at[who][0])

    def _go(self, who: str) -> None:
        here = self.at.get(who, ("", -1))[0]
        place, now = self._pick([p for p in PLACES if p != here]), len(self.told)
        self.told.append(f"{who} {self._pick(WENT)} the {place}.")
        self.at[who] = (place, now)
        for thing, (holder, taken) in self.held.items():
            if holder == who:
                self.been[thing].append(_Stay(place, (taken, now)))

    def _take(self, who: str, thing: str) -> None:
        place, came = self.at[who]
        now = len(self.told)
        self.told.append(f"{who} {self._pick(TOOK)} the {thing}.")
        self.held[thing] = (who, now)
        stays = self.been.setdefault(thing, [])
        if stays and stays[-1].place == place:
            stays.pop()
        stays.append(_Stay(place, (now, came)))

    def _leave(self, who: str, thing: str) -> None:
        place, came = self.at[who]
        self.been[thing][-1] = _Stay(place, (len(self.told), came))
        self.told.append(f"{who} {self._pick(LEFT)} the {thing}.")
        del self.held[thing]

    def _pick(self, options: Sequence[str]) -> str:
        return options[int(self.rng.integers(len(options)))]


def _questions(world: _World, facts: int) -> list[_Question]:
    """What can be asked of this story and needs exactly so many sentences."""
    if facts == 1:
        return [_Question(f"Where is {who}?", place, (i,)) for who, (place, i) in world.at.items()]
    if facts == 2:
        return [_Question(f"Where is the {t}?", s[-1].place, s[-1].facts) for t, s in world.been.items()]
    out = []
    for thing, stays in world.been.items():
        places = [s.place for s in stays]
        for before, after in pairwise(stays):
            needed = tuple(sorted({*before.facts, *after.facts}))
            if places.count(after.place) == 1 and len(needed) == 3:
                out.append(_Question(f"Where was the {thing} before the {after.place}?", before.place, needed))
    return out
