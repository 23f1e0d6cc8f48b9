"""Knows how to score words by what the model loses without the stretch of text they stand in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from assay.ask import Scores, score
from assay.registry import method
from assay.types import BadInput, Bools, Floats, Input, Output, Removal, Target

Stretch = tuple[int, ...]
"""Free words that are taken away together."""
Spans = Literal["windows", "sentences", "phrases"]

ENDS = frozenset(".!?…。！？")
_LISTED = """
a an the this that these those and or but nor so yet if then than because while although though as of to in on at by
for from with without into onto over under about after before between through during is are was were be been being am
do does did have has had will would shall should can could may might must it its he she they we you i him her them us
me his their our your my who whom which what there here
"""
FUNCTION_WORDS = frozenset(_LISTED.split())
"""Words that end a phrase and stand alone. Negations are not among them: 'not good' is one phrase."""


@method(
    "occlusion",
    family="removal",
    paper="Zeiler & Fergus 2014, Visualizing and understanding convolutional networks; Li et al. 2016",
)
def occlusion(
    x: Input,
    target: Target,
    *,
    spans: Spans = "windows",
    window: int = 3,
    removal: Removal = "delete",
    output: Output = "logodds",
) -> Scores:
    """Fall of the score when a stretch of words is taken away at once, handed on to its words.

    With F(S) = f(x) - f(x without S): ``windows``: a_i = mean of F over all stretches of ``window`` neighbouring free
    words of one field that hold word i (a shorter field is one stretch); window=1 is leave-one-out. ``phrases`` (runs
    of words between punctuation and function words, which stand alone) and ``sentences`` (up to . ! ?) cut each field
    into stretches that do not overlap: a_i = F(S) / |S|, so the words of a stretch sum to its fall.
    High: the model needs the place; below zero: it speaks against the target. At most one row per word. Words that
    say the same in one stretch are found, which leave-one-out misses; in return a word shares the score of its
    neighbours, so read stretches, not single words. The lists are English; where no word of them occurs, a field is
    one phrase and all its words score alike.

    >>> from assay.api import explain
    >>> from assay.models.additive import Additive
    >>> toy = Additive(weights={"good": 3.0, "dull": -1.5})
    >>> text = "very good , but dull"
    >>> explain(text, model=toy, method="occlusion", target=1).scores.round(4).tolist()
    [3.0, 3.0, 1.5, 0.75, -1.5]
    >>> explain(text, model=toy, method="occlusion(spans=phrases)", target=1).scores.round(4).tolist()
    [1.5, 1.5, 0.0, 0.0, -1.5]
    """
    if window < 1:
        raise BadInput(f"occlusion: window must be at least 1 word, got {window}")
    found = stretches(x, spans, window)
    gone = np.zeros((len(found), x.size), dtype=bool)
    for row, stretch in enumerate(found):
        gone[row, list(stretch)] = True
    f = yield from score(x, target, output, ~np.vstack([np.zeros((1, x.size), dtype=bool), gone]), removal)
    return handed_on(gone, f[0] - f[1:], shared=spans != "windows")


def handed_on(gone: Bools, fall: Floats, shared: bool) -> Floats:
    """Scores of words from falls of stretches [stretches, words]: the mean of those it is in, or its equal share.

    >>> handed_on(np.array([[True, True, False], [False, True, True]]), np.array([2.0, 4.0]), shared=False).tolist()
    [2.0, 3.0, 4.0]
    >>> handed_on(np.array([[True, True, False], [False, False, True]]), np.array([2.0, 4.0]), shared=True).tolist()
    [1.0, 1.0, 4.0]
    """
    weight = gone / (gone.sum(axis=1, keepdims=True) if shared else gone.sum(axis=0, keepdims=True))
    scores: Floats = fall @ weight
    return scores


def stretches(x: Input, spans: Spans, window: int) -> list[Stretch]:
    """The stretches of every field; together they hold every free word."""
    fields = [p.field for p, free in zip(x.places, x.free, strict=True) if free]
    out: list[Stretch] = []
    for field in dict.fromkeys(fields):
        mine = [i for i, f in enumerate(fields) if f == field]
        words = [x.free_words[i] for i in mine]
        cut = windows(len(mine), window) if spans == "windows" else runs(words, _CUTS[spans])
        out += [tuple(mine[i] for i in part) for part in cut]
    return out


def windows(n: int, size: int) -> list[Stretch]:
    """All stretches of ``size`` neighbours among n words.

    >>> windows(4, 3), windows(2, 3)
    ([(0, 1, 2), (1, 2, 3)], [(0, 1)])
    """
    size = min(size, n)
    return [tuple(range(i, i + size)) for i in range(n - size + 1)]


def runs(words: Sequence[str], cut: Callable[[str], Literal["alone", "last", ""]]) -> list[Stretch]:
    """Words in order cut into stretches: where ``cut`` says alone, the word is one; where it says last, one ends.

    >>> runs("It was not good . Bad !".split(), phrase_cut)
    [(0,), (1,), (2, 3), (4,), (5,), (6,)]
    >>> runs("It was good . Bad !".split(), sentence_cut)
    [(0, 1, 2, 3), (4, 5)]
    """
    out: list[list[int]] = [[]]
    for i, word in enumerate(words):
        how = cut(word)
        if how == "alone":
            out += [[i], []]
            continue
        out[-1].append(i)
        if how == "last":
            out.append([])
    return [tuple(part) for part in out if part]


def phrase_cut(word: str) -> Literal["alone", "last", ""]:
    """Punctuation and function words stand alone."""
    return "alone" if word.lower() in FUNCTION_WORDS or not any(c.isalnum() for c in word) else ""


def sentence_cut(word: str) -> Literal["alone", "last", ""]:
    """A full stop, question or exclamation mark is the last of its sentence."""
    return "last" if word[-1:] in ENDS else ""


_CUTS: dict[str, Callable[[str], Literal["alone", "last", ""]]] = {"phrases": phrase_cut, "sentences": sentence_cut}
