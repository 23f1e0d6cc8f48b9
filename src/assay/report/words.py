"""Knows which words each method points at most, per explained class, over all examples."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from assay.report.tables import Column, Entry, Table
from assay.summary import ExampleView, Summary

Shares = dict[tuple[str, str], dict[str, list[float]]]
"""(method, class) -> word -> its share of each map it stands in."""


def top_words(summary: Summary, most: int = 8) -> Table:
    """The words with the largest mean share of a map, per method and class.

    share = score / sum of |scores| of its map, so that no example and no method's unit outweighs another. A word
    counts once per example; with 20 examples or more it must stand in at least two.
    """
    fewest = 2 if len(summary.examples) >= 20 else 1
    shares = _shares(summary.examples)
    classes = sorted({c for _, c in shares})
    rows = []
    for method in summary.methods:
        cells = [Entry(_line(shares.get((method, c), {}), fewest, most)) for c in classes]
        rows.append((Entry(method), *cells))
    note = f"Largest mean share of a map, in percent, over words that stand in {fewest} or more examples of the class."
    columns = (Column("method"), *map(Column, classes))
    return Table("words", "Words that each method points at", columns, tuple(rows), note)


def _line(found: dict[str, list[float]], fewest: int, most: int) -> str:
    means = {w: float(np.mean(s)) for w, s in found.items() if len(s) >= fewest}
    best = sorted(means, key=lambda w: (-means[w], w))[:most]
    return ", ".join(f"{_short(w)} {100 * means[w]:.0f}" for w in best if means[w] >= 0.005) or "–"


def _short(word: str, most: int = 24) -> str:
    return word if len(word) <= most else word[: most - 1] + "…"


def _shares(examples: tuple[ExampleView, ...]) -> Shares:
    out: Shares = defaultdict(lambda: defaultdict(list))
    for e in examples:
        words = [w.lower() for w in e.words]
        for method, scores in e.scores.items():
            for word, share in _one_map(words, scores).items():
                out[method, e.target][word].append(share)
    return out


def _one_map(words: list[str], scores: tuple[float, ...]) -> dict[str, float]:
    """Each letter-bearing word's summed share of one map."""
    values = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    total = float(np.abs(values).sum())
    out: dict[str, float] = defaultdict(float)
    for word, value in zip(words, values, strict=True):
        if total > 0 and any(c.isalnum() for c in word):
            out[word] += float(value) / total
    return out
