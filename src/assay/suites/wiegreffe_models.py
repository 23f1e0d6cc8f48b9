"""Knows tables 2 and 3 and figure 3: uniform attention, other seeds, and guides of a model without context."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.exhibit import Entry, Figure, Series, Table, claim
from assay.suites import wiegreffe_published as printed
from assay.suites.jain_data import IMDB, class_counts
from assay.suites.pham_runs import Part
from assay.suites.wiegreffe_runs import GUIDE_LAMBDA, Setup, estimate
from assay.trials.attention_models import f1_difference
from assay.trials.guided_mlp import GUIDES
from assay.types import Estimate, Finding

POINTS = 0.015
"""F1 that counts as little: 1.5 points."""
STEADY = 0.139
"""A fifth of ln 2: what counts as a small JSD between seeds."""
BINS = 4
TITLES = {
    "uniform": "uniform",
    "own": "trained with the MLP (own)",
    "base": "base LSTM",
    "adversary": "adversary",
    "permuted-base": "control: base, weights on other words",
    "other-seed": "control: base of another seed",
}


def uniform_part(s: Setup, found: dict[str, Any]) -> Part:
    """Table 2 and what it says."""
    base, even, gap = (estimate(found[k]) for k in ("base", "uniform", "difference"))
    known = printed.T2.get(s.material.nearest)
    theirs = [f"{v:.3f}" for v in (*known, known[0] - known[1])] if known else ["", "", ""]
    entries = tuple(Entry(e, p) for e, p in zip((base, even, gap), theirs, strict=True))
    many = estimate(found["over_seeds"])
    table = Table("T2", "F1 with attention and with uniform weights", ("base", "uniform", "base - uniform"),
                  ((s.material.sets.test.name, entries),),
                  f"Mean difference over {many.n} seeds: {many}.")  # fmt: skip
    return Part((table,), findings=(_cost(s, gap, theirs[2]),))


def _cost(s: Setup, gap: Estimate, said: str) -> Finding:
    why = "F1 of the base minus that of the uniform model, same seed, interval over test texts"
    if s.material.nearest == IMDB:
        return claim("Uniform weights cost more than 1.5 points of F1", gap, said, above=POINTS, why=why,
                     subject="uniform")  # fmt: skip
    return claim("Uniform weights cost less than 1.5 points of F1: attention is hardly needed here", minus(gap, POINTS),
                 f"{said} (difference)", why=f"0.015 - ({why})", subject="uniform")  # fmt: skip


def minus(e: Estimate, top: float = 0.0) -> Estimate:
    """top - estimate, its interval turned round.

    >>> print(minus(Estimate(0.01, 0.0, 0.03, 0.95, 50), 0.02))
    0.010 [-0.010, 0.020]
    """
    low, high = (None if v is None else top - v for v in (e.high, e.low))
    return Estimate(top - e.value, low, high, e.level, e.n, e.skipped, e.how)


def seeds_part(s: Setup, found: dict[str, Any]) -> Part:
    """Figure 3: how far other seeds move attention, by largest base attention and class."""
    series = []
    for c, name in enumerate(s.labels):
        mine = [t for t in found["texts"] if t["choice"] == c]
        at = tuple(min(int(t["max_attention"] * BINS), BINS - 1) / BINS for t in mine)
        series.append(Series(name, at, tuple(round(t["jsd"], 6) for t in mine)))
    note = "Median over seeds per text, as the paper's code has it (its caption says maximum); by the base's choice."
    figure = Figure("F3", "JSD of attention between the base and other seeds", "violin",
                    "largest base attention, from (4 equal bins)", "median JSD over seeds",
                    tuple(x for x in series if x.x), note)  # fmt: skip
    rows = tuple((f"seed {p['seed']}", (Entry(p["f1"]), Entry(p["jsd"]), Entry(p["tvd"]))) for p in found["points"])
    table = Table("", "Other seeds against the base", ("F1", "mean JSD", "mean TVD"), rows)
    finding = claim(
        "Other seeds attend to nearly the same words", minus(estimate(found["jsd"]), STEADY), "small on SST (figure 3)",
        subject="seeds", why=f"{STEADY} (a fifth of ln 2) - mean over texts of the median JSD over seeds",
    )  # fmt: skip
    return Part((table,), (figure,), findings=(finding,), notes=tuple(f"Not trained: {f}" for f in found["failed"]))


def guides_part(s: Setup, found: dict[str, Any], chosen: float | None) -> Part:
    """Table 3 with its two controls; ``chosen``: lambda of the adversary that guides, None when none has moved."""
    known = printed.T3.get(s.material.nearest, {})
    rows = []
    for name in GUIDES:
        row = found["rows"].get(name)
        told = Entry(found["failed"].get(name, "not trained")) if row is None else Entry(estimate(row["f1"]))
        more = Entry(None if row is None else estimate(row["accuracy"]))
        rows.append((TITLES[name], (Entry(told.ours, f"{known[name]:.3f}" if name in known else ""), more)))
    rows.append(("the base itself (with context)", (Entry(estimate(found["base_f1"])), Entry(None))))
    note = (
        "A model that sees one word at a time, trained under imposed weights. The guides saw the labels in training "
        "and may tell them by their shape: the first control keeps the shape and moves the weights to other words."
    )
    note += f" The adversary's lambda: {GUIDE_LAMBDA if chosen is None else chosen:g} (the paper's: 1e-3)."
    table = Table("T3", "F1 of a word-by-word model under guides", ("F1", "accuracy"), tuple(rows), note)
    return Part((table,), findings=_orders(s, found, chosen is not None))


def _orders(s: Setup, found: dict[str, Any], moved: bool) -> tuple[Finding, ...]:
    known = printed.T3.get(s.material.nearest, {})
    asked = (
        ("own", "uniform", "Attention of its own helps the word-by-word model more than uniform weights"),
        ("base", "own", "The base's attention helps it more than its own"),
        ("uniform", "adversary", "The adversary's attention is worse than uniform weights"),
        ("base", "permuted-base", "Control: it is where the base looks that helps, not the shape of its weights"),
    )
    out = []
    for one, other, text in asked:
        said = f"{known[one]:.3f} against {known[other]:.3f}" if one in known and other in known else ""
        why = f"F1 under {TITLES[one]} minus F1 under {TITLES[other]}, interval over test texts"
        if other == "adversary" and not moved:
            why = "no adversary has a mean JSD above .4: this one attends nearly as the base does, so nothing follows"
        gap = guide_gap(s, found, one, other) if moved or other != "adversary" else None
        out.append(claim(text, gap, said, why=why, subject="guides"))
    return tuple(out)


def guide_gap(s: Setup, found: dict[str, Any], one: str, other: str) -> Estimate | None:
    """F1 under one guide minus F1 under another, on the same texts; None when one was not trained."""
    a, b = (found["choices"].get(name) for name in (one, other))
    if a is None or b is None:
        return None
    return f1_difference(np.array(a), np.array(b), s.material.sets.gold, len(s.labels))


def statistics(s: Setup, accuracy: Estimate) -> Table:
    """Table 1."""
    sets = s.material.sets
    rows = (
        ("average length in words", (Entry(round(float(np.mean(s.material.lengths)), 1)),)),
        ("train, texts per class", (Entry(class_counts(sets.train)),)),
        ("test, texts per class", (Entry(class_counts(sets.test)),)),
        ("accuracy of the base", (Entry(accuracy),)),
    )
    return Table("T1", "Data", ("value",), rows)


def steady(found: dict[str, Any]) -> list[float]:
    """Per test text the median JSD over seeds."""
    return [float(t["jsd"]) for t in found["texts"]]
