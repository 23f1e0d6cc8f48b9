"""Knows figures 1, A6 to A11 and A17: fills under words, sizes where the language model is certain, every deletion."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from assay import registry, resolve, stats
from assay.ask import all_then_each_left_out, outcomes
from assay.engine import Engine
from assay.exhibit import Entry, Figure, Heatmap, Series, Table, claim
from assay.removal.fills import Source, guess
from assay.suites import pham_published as printed
from assay.suites.pham_deletion import methods, table_run
from assay.suites.pham_runs import Part, Stage, label
from assay.types import MASK, Asking, Edit, Example, Explanation, Finding, Floats, Input

SHOWN = 3
"""Examples with fills under their words."""
TOP = 3
CERTAIN = 0.9
"""Probability of the original word from which the language model counts as certain of it."""
MOST_POINTS = 400


def texts(stage: Stage) -> Part:
    """Fills under words, the size of scores against the probability of the word, and every one-word deletion."""
    run = table_run(stage)
    names = (label("methods", methods(stage)[row], stage.lab.seed) for row in (printed.LOO_EMPTY, printed.IM))
    loo, im = (run.maps(name) for name in names)
    shared = [e.id for e in stage.few(stage.limit).examples if e.id in loo and e.id in im]
    fills = _fills(stage, [im[e] for e in shared])
    certain = _certain(stage, [(loo[e], im[e], fills[e]) for e in shared])
    heat = tuple(_heatmap(loo[e], im[e], fills[e]) for e in _telling(shared, loo, im, fills))
    tables = tuple(_deletions(stage, loo[e].example) for e in shared[:2])
    return Part(tables, certain[0], heat, certain[1])


# --------------------------------------------------------------------------------------------------- fills


def _fills(stage: Stage, made: Sequence[Explanation]) -> dict[str, dict[str, Any]]:
    """Example -> top fills of every word with probabilities, and the probability of the word itself (-1: unknown)."""
    lm = resolve.model_by_name(stage.cast.lm)
    asked = {"lm": lm.fingerprint, "examples": [e.example.content for e in made]}

    def make() -> dict[str, dict[str, Any]]:
        cases = ((e.example.id, _guessed(e.x, lm)) for e in made)
        out: dict[str, dict[str, Any]] = {}
        for done in Engine(stage.cast.model).run(cases):
            if done.error is not None:
                raise done.error
            out[done.key] = done.result
        return out

    found: dict[str, dict[str, Any]] = stage.lab.step("fills", asked, make)
    return found


def _guessed(x: Input, lm: Any) -> Generator[Any, Any, dict[str, Any]]:
    free = np.flatnonzero(x.free)
    codes = np.zeros((len(free), x.n), dtype=np.int32)
    codes[np.arange(len(free)), free] = MASK
    found = yield from guess(x, Edit(codes), Source(lm, TOP, "whole"))
    at = (np.arange(len(free)), free)
    ids, p, own = found.ids[at], found.p[at], found.own_p[at]
    top = [[(lm.word(int(i)), round(float(q), 4)) for i, q in zip(*row, strict=True) if i >= 0]
           for row in zip(ids, p, strict=True)]  # fmt: skip
    return {"top": top, "own": [-1.0 if np.isnan(v) else round(float(v), 5) for v in own]}


def _telling(shared: Sequence[str], loo: dict[str, Explanation], im: dict[str, Explanation], fills: Any) -> list[str]:
    """Texts in which the word that LOO calls most important is put back by the language model."""
    short = [e for e in shared if 5 <= len(loo[e].words) <= 25]
    lost = {e: fills[e]["own"][int(np.argmax(loo[e].scores))] for e in short}
    return sorted(short, key=lambda e: (-lost[e], e))[:SHOWN]


def _heatmap(loo: Explanation, im: Explanation, fills: dict[str, Any]) -> Heatmap:
    notes = tuple(
        f"{word}: " + ", ".join(f"{fill} {p:.2f}" for fill, p in top)
        for word, top in zip(loo.words, fills["top"], strict=True)
    )
    rows = ((printed.LOO, tuple(loo.scores.tolist())), (printed.IM, tuple(im.scores.tolist())))
    title = f"{loo.target_name}: likeliest fills and both maps (figures 1, A6 to A11)"
    return Heatmap(title, loo.words, rows, notes)


# ------------------------------------------------------------------------------------------------- certainty


def _certain(stage: Stage, found: Sequence[tuple[Explanation, Explanation, dict[str, Any]]]) -> Any:
    """Figure: |score| against the probability of the word itself; finding: what is left of LOO where that is high."""
    p = np.concatenate([np.asarray(f["own"]) for _, _, f in found])
    loo = np.abs(np.concatenate([a.scores for a, _, _ in found]))
    im = np.abs(np.concatenate([b.scores for _, b, _ in found]))
    owner = np.concatenate([np.full(len(a.scores), i) for i, (a, _, _) in enumerate(found)])
    known = p >= 0
    step = max(1, int(known.sum()) // MOST_POINTS)
    series = tuple(
        Series(name, tuple(p[known][::step].tolist()), tuple(values[known][::step].round(5).tolist()))
        for name, values in ((printed.IM, im), (printed.LOO, loo))
    )
    figure = Figure("", "Scores where the language model knows the word", "points",
                    "probability of the original word", "|score| (log-odds)", series)  # fmt: skip
    return (figure,), _vanishing(p, loo, im, owner)


def _vanishing(p: Floats, loo: Floats, im: Floats, owner: Any) -> tuple[Finding, ...]:
    def lost(a: Floats, b: Floats) -> float:
        return 1.0 - float(a.sum()) / float(b.sum()) if b.sum() > 0 else float("nan")

    sure, rest = p >= CERTAIN, (p >= 0) & (p < CERTAIN)
    said = "IM is near zero where the language model is certain of the word, whatever LOO says of it"
    if len(set(owner[sure].tolist())) < 2:
        why = f"the language model gives {CERTAIN} to the word itself at {int(sure.sum())} places: too few"
        return (claim(said, None, "", why=why, subject="size"),)
    mine = stats.bootstrap(lost, [im[sure], loo[sure]], clusters=owner[sure].tolist(), draws=1000)
    other = lost(im[rest], loo[rest])
    why = (
        f"share of LOO's total |score| that IM does not give, over {int(sure.sum())} words with probability of at "
        f"least {CERTAIN}; over the other words {other:.2f}; holds above 0.5"
    )
    return (claim(said, mine, "near zero (figures 1, A6 to A11)", above=0.5, why=why, subject="size"),)


# ------------------------------------------------------------------------------------------------- deletions


def _deletions(stage: Stage, example: Example) -> Table:
    """Figures A17 and A18: the text without each word, with label and confidence."""
    model = stage.cast.model
    x = model.read(example)
    reading = Engine(model).ask(_without_each(x))
    rows = []
    for i, name in enumerate(["(nothing removed)", *(f"without '{w}'" for w in x.free_words)]):
        choice = int(reading.choice[i, 0])
        rows.append((name, (Entry(model.labels[choice]), Entry(round(float(np.exp(reading.logp[i, 0, choice])), 3)))))
    text = " / ".join(example.fields.values())
    shown = text if len(text) <= 90 else text[:87] + "..."
    return Table("A17", f"Every one-word deletion of: {shown}", ("label", "confidence"), tuple(rows))


def _without_each(x: Input) -> Asking:
    return (yield from outcomes(x, all_then_each_left_out(x), registry.bind("removals", "delete")))
