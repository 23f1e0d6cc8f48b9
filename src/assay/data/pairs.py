"""Knows the built-in pairs: premise and hypothesis whose relation is known because it was built in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from assay.data.braces import unbrace
from assay.data.splits import choose
from assay.registry import dataset
from assay.types import Dataset, Example, content_key

LABELS = ("entailment", "neutral", "contradiction")
SIZES = {"train": 3000, "dev": 450, "test": 450}

# part -> general word -> its kinds; what is of one kind is not of another of the same part.
KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "who": {
        "dog": ("poodle", "terrier", "spaniel", "beagle"),
        "bird": ("parrot", "pigeon", "crow", "goose"),
        "child": ("toddler", "schoolboy", "schoolgirl", "baby"),
        "adult": ("nurse", "farmer", "judge", "retired teacher"),
    },
    "does": {
        "moving": ("running", "jumping", "dancing", "climbing", "racing"),
        "resting": ("sleeping", "lying down", "napping", "dozing", "snoozing"),
    },
    "where": {
        "indoors": ("in a kitchen", "in a library", "in a classroom", "in a cellar", "in an office"),
        "outdoors": ("on a beach", "in a meadow", "in a forest", "on a mountain", "in a garden"),
    },
}
LOOKS = {
    "brave": "timid", "timid": "brave", "wet": "dry", "dry": "wet", "quiet": "noisy", "noisy": "quiet",
    "clean": "dirty", "dirty": "clean", "thin": "fat", "fat": "thin",
}  # fmt: skip
DETAILS = ("near a window", "in the morning", "on a rainy day", "beside a red bag", "under a lamp", "next to a bench",
           "on a Tuesday", "close to the door", "for the third time", "with a friend", "before dinner",
           "after a long walk", "in front of a camera", "behind a curtain")  # fmt: skip

Scene = Mapping[str, str]
Pair = tuple[str, str]


@dataset("pairs", builtin=True)
def pairs(*, split: str = "test", seed: int = 0, size: int | None = None) -> Dataset:
    """Entailment, neutral or contradiction between two sentences, with the words that decide marked in both.

    A premise shows somebody, somewhere, doing something, with a detail. The hypothesis says it more generally
    (entailment: each such word and what it is a kind of are marked), has a detail that the premise does not tell
    (neutral: that detail is marked) or replaces one thing by what cannot be true with it (contradiction: both are
    marked). All three draw on the same words and generalise equally often: the hypothesis alone decides nothing.
    """
    split = choose(SIZES, split, "builtin:pairs")
    rng = np.random.default_rng([seed, list(SIZES).index(split)])
    examples = tuple(_generate(split, SIZES[split] if size is None else size, rng))
    return Dataset("pairs", examples, LABELS, split, {"source": "generated", "seed": seed})


def _generate(split: str, count: int, rng: np.random.Generator) -> Iterator[Example]:
    makers: tuple[Callable[[Scene, np.random.Generator], Pair], ...] = (_entailed, _open, _contradicted)
    seen: set[tuple[str, str]] = set()
    while len(seen) < count:
        gold = len(seen) % 3
        premise, hypothesis = (_sentence(s) for s in makers[gold](_scene(rng), rng))
        plain, marks = unbrace(premise, "premise", LABELS[gold])
        other, more = unbrace(hypothesis, "hypothesis", LABELS[gold])
        if (plain, other) not in seen and _split_of(plain) == split:
            yield Example(f"{split}-{len(seen)}", {"premise": plain, "hypothesis": other}, gold, marks + more)
            seen.add((plain, other))


def _split_of(premise: str) -> str:
    return ("train", "train", "dev", "test")[int(content_key("split", premise)[:8], 16) % 4]


def _sentence(text: str) -> str:
    text = re.sub(r"\b([Aa])(?= \{?[aeiou])", r"\1n", text)
    return text[0].upper() + text[1:] + "."


def _scene(rng: np.random.Generator) -> dict[str, str]:
    scene = {part: _pick(rng, [w for ws in kinds.values() for w in ws]) for part, kinds in KINDS.items()}
    return scene | {"look": _pick(rng, list(LOOKS)), "detail": _pick(rng, DETAILS)}


def _say(scene: Scene, marked: Sequence[str] = (), leave_out: Sequence[str] = ()) -> str:
    """The scene as a sentence, with the marked parts in braces."""
    said = {k: "{" + v + "}" if k in marked else v for k, v in scene.items() if k not in leave_out}
    order = ("a", said.get("look"), said["who"], "is", said["does"], said.get("where"), said.get("detail"))
    return " ".join(p for p in order if p)


def _less(rng: np.random.Generator, *kept: str) -> list[str]:
    """Parts that the hypothesis does not mention."""
    return [p for p in ("look", "where") if p not in kept and rng.random() < 0.4]


# ------------------------------------------------------------------------------------- the three relations


def _entailed(scene: Scene, rng: np.random.Generator) -> Pair:
    part = _pick(rng, list(KINDS))
    told = {**_loose(scene, part, rng), part: _kind(part, scene[part])}
    left_out = _less(rng, part)
    loosened = [p for p in KINDS if told[p] != scene[p] and p not in left_out]
    return _say(scene, loosened), _say(told, loosened, left_out)


def _open(scene: Scene, rng: np.random.Generator) -> Pair:
    other = _pick(rng, [d for d in DETAILS if d != scene["detail"]])
    part = _pick(rng, list(KINDS))
    told = {**_loose(scene, part, rng), part: _kind(part, scene[part]), "detail": other}
    return _say(scene), _say(told, ["detail"], _less(rng, part))


def _contradicted(scene: Scene, rng: np.random.Generator) -> Pair:
    part = _pick(rng, (*KINDS, "look"))
    if part == "look":
        general = _pick(rng, list(KINDS))
        told = {**_loose(scene, general, rng), general: _kind(general, scene[general]), "look": LOOKS[scene["look"]]}
        return _say(scene, [part]), _say(told, [part], _less(rng, part, general))
    kind = _pick(rng, [k for k in KINDS[part] if k != _kind(part, scene[part])])
    other = kind if rng.random() < 0.9 else _pick(rng, KINDS[part][kind])
    told = {**_loose(scene, part, rng), part: other}
    return _say(scene, [part]), _say(told, [part], _less(rng, part))


def _kind(part: str, word: str) -> str:
    return next(kind for kind, words in KINDS[part].items() if word in words)


def _loose(scene: Scene, but: str, rng: np.random.Generator) -> dict[str, str]:
    """The scene with each of its other parts said more generally, a third of the time."""
    return {
        part: _kind(part, word) if part in KINDS and part != but and rng.random() < 0.33 else word
        for part, word in scene.items()
    }


def _pick(rng: np.random.Generator, options: Sequence[str]) -> str:
    return options[int(rng.integers(len(options)))]
