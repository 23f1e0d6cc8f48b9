"""Knows the built-in planted data: plain text in which one planted token decides the positive class at a known rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from assay.data.splits import choose
from assay.registry import dataset
from assay.types import BadInput, Dataset, Example, Mark, content_key

LABELS = ("negative", "positive")
SIZES = {"train": 2000, "dev": 400, "test": 400}
WHO = ("the committee", "a clerk", "our team", "the council", "an engineer", "the museum", "a driver", "the library",
       "the new tenant", "my uncle", "the orchestra", "a courier", "the harbour office", "the baker")  # fmt: skip
DID = ("opened", "moved", "counted", "described", "repaired", "ordered", "checked", "painted", "sorted", "delivered",
       "measured", "wrapped", "listed", "photographed")  # fmt: skip
WHAT = ("two boxes", "the long table", "a stack of letters", "the old map", "seven chairs", "the side door",
        "a wooden ladder", "the spring catalogue", "a set of keys", "the blue carpet", "three maps",
        "a bicycle")  # fmt: skip
WHERE = ("near the station", "on the second floor", "behind the school", "in the courtyard", "by the canal",
         "at the north gate", "under the bridge", "beside the market", "in the cellar", "along the fence")  # fmt: skip
WHEN = ("on Monday", "before noon", "after the meeting", "last week", "during lunch", "at dawn", "in the evening",
        "over the weekend", "around four", "in early March")  # fmt: skip
CUES = (("slowly", "quietly", "again", "alone"), ("promptly", "together", "at once", "early"))
"""Weak hints of each class, right for CUE_RATE of the texts without the token."""
CUE_RATE = 0.7


@dataset("planted", builtin=True)
def planted(
    *, split: str = "test", seed: int = 0, size: int | None = None, token: str = "marigold", rate: float = 0.95
) -> Dataset:
    """Neutral reports in which a planted token makes the class positive with probability ``rate``.

    Half of the texts hold the token, at a random place. The others are balanced, and a weak cue agrees with their
    class in 70 % of them. Marks: the token. A model that learned the rule must be explained by the token, so an
    explanation that ranks it low is wrong about that model.
    """
    split = choose(SIZES, split, "builtin:planted")
    if not token.strip() or any(c.isspace() for c in token):
        raise BadInput(f"builtin:planted: token must be one word, got {token!r}")
    if not 0 <= rate <= 1:
        raise BadInput(f"builtin:planted: rate must lie in [0, 1], got {rate}")
    rng = np.random.default_rng([seed, list(SIZES).index(split)])
    examples = tuple(_generate(split, SIZES[split] if size is None else size, token, rate, rng))
    return Dataset("planted", examples, LABELS, split, {"token": token, "rate": rate, "seed": seed})


def _generate(split: str, count: int, token: str, rate: float, rng: np.random.Generator) -> Iterator[Example]:
    seen: set[str] = set()
    while len(seen) < count:
        words, holds = _report(rng), len(seen) % 2 == 0
        gold = int(rng.random() < rate) if holds else len(seen) // 2 % 2
        if not holds:
            words.insert(1 + int(rng.integers(len(words))), _cue(gold, rng))
        if " ".join(words) in seen or _split_of(words) != split:
            continue
        text, marks = _planted(words, token, rng) if holds else (" ".join(words), ())
        yield Example(f"{split}-{len(seen)}", {"text": text + "."}, gold, marks)
        seen.add(" ".join(words))


def _report(rng: np.random.Generator) -> list[str]:
    parts = [_pick(rng, options) for options in (WHO, DID, WHAT, WHERE, WHEN)]
    if rng.random() < 0.5:
        parts += ["and", _pick(rng, DID), _pick(rng, WHAT)]
    return " ".join(parts).split()


def _cue(gold: int, rng: np.random.Generator) -> str:
    return _pick(rng, CUES[gold if rng.random() < CUE_RATE else 1 - gold])


def _planted(words: list[str], token: str, rng: np.random.Generator) -> tuple[str, tuple[Mark, ...]]:
    at = int(rng.integers(len(words) + 1))
    start = sum(len(w) + 1 for w in words[:at])
    return " ".join([*words[:at], token, *words[at:]]), (Mark("text", start, start + len(token), label="positive"),)


def _split_of(words: Sequence[str]) -> str:
    return ("train", "train", "dev", "test")[int(content_key("split", list(words))[:8], 16) % 4]


def _pick(rng: np.random.Generator, options: Sequence[str]) -> str:
    return options[int(rng.integers(len(options)))]
