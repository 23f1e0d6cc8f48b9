"""Draws words with scores as coloured HTML or terminal text; knows nothing of models or methods."""

from collections.abc import Sequence
from html import escape
from math import isfinite

# Orange supports, blue opposes: distinguishable with every common colour-vision deficiency.
SUPPORTS = (230, 97, 1)
OPPOSES = (44, 123, 182)


def shade(score: float, top: float) -> float:
    """Strength of a colour in [0, 1]: |score| against the largest of its map (0 for no score)."""
    if not isfinite(score) or top <= 0:
        return 0.0
    return min(1.0, abs(score) / top)


def largest(scores: Sequence[float]) -> float:
    """The largest finite |score|, 0 when there is none."""
    return max((abs(s) for s in scores if isfinite(s)), default=0.0)


def html(words: Sequence[str], scores: Sequence[float], top: float | None = None) -> str:
    """One heatmap as escaped inline HTML; the score is in each word's title, so it can be read exactly."""
    top = largest(scores) if top is None else top
    return " ".join(_word_html(w, s, top) for w, s in zip(words, scores, strict=True))


def _word_html(word: str, score: float, top: float) -> str:
    red, green, blue = SUPPORTS if score > 0 else OPPOSES
    title = f"{score:+.4g}" if isfinite(score) else "no score"
    return (
        f'<span title="{title}" style="background:rgba({red},{green},{blue},{shade(score, top):.2f});'
        f'padding:.1em .2em;border-radius:.2em">{escape(word)}</span>'
    )


def rich_markup(words: Sequence[str], scores: Sequence[float], top: float | None = None) -> list[tuple[str, str]]:
    """The same heatmap as (text, rich style) pairs: background mixed with white, black letters."""
    top = largest(scores) if top is None else top
    out: list[tuple[str, str]] = []
    for word, score in zip(words, scores, strict=True):
        strength = shade(score, top)
        base = SUPPORTS if score > 0 else OPPOSES
        red, green, blue = (round(255 - (255 - c) * strength) for c in base)
        out.append((word, f"black on rgb({red},{green},{blue})" if strength >= 0.05 else ""))
    return out
