"""Knows how good a language model's fills are: every number made with fills depends on them."""

from __future__ import annotations

import numpy as np

from assay.align import marked
from assay.registry import test
from assay.types import MASK, Asking, BadInput, Bools, Edit, Floats, Input, ModelName, Probe, Reading, Target

TOP = 10


@test(
    "fill-quality",
    of="input",
    asks="fills",
    headline="match",
    claim="The language model's fills are words that could stand there.",
    bounds=(0.0, 1.0),
    paper="Pham et al. 2022, Double trouble (tables A3 and A4)",
)
def fill_quality(x: Input, target: Target, *, lm: ModelName = "builtin:mlm") -> Asking:
    """How often a masked language model puts back the very word that was taken away, and how sure it is.

    Each free word is masked alone. ``match`` = share of words whose likeliest fill is the word itself;
    ``match_evidence`` the same over marked words (only where some are marked); ``probability`` = mean probability of
    the likeliest fill where it matches (only where one does); ``mass`` = mean sum of the ten likeliest fills'
    probabilities; ``one_piece`` = share of words that are one piece of the vocabulary. A word of several pieces can
    never be put back and counts as no match, so ``match`` is at most ``one_piece``. Neither high nor low is good: a
    low mass means that ten fills miss most of what could stand there, a high match that replacing words changes
    little. Words that the language model cuts off are not counted; ``seen`` is the share that it sees.
    """
    read = lm.read(x.example, x.unit)
    wanted = {(p.field, p.start, p.end) for p, free in zip(x.places, x.free, strict=True) if free}
    gaps = np.flatnonzero([not p.special and (p.field, p.start, p.end) in wanted for p in read.places])
    if not len(gaps):
        why = f"it leaves out {read.cut}" if read.cut else f"it cuts the text into other {x.unit}s; use unit word"
        raise BadInput(f"example {x.example.id}: {lm.name} sees none of the words: {why}")
    codes = np.zeros((len(gaps), read.n), dtype=np.int32)
    codes[np.arange(len(gaps)), gaps] = MASK
    reading: Reading = yield Probe(read, Edit(codes), frozenset({"fill"}), how=(("top", TOP),), to=lm)
    at = (np.arange(len(gaps)), gaps)
    fill, own, p = reading["fill"][at], reading["own"][at], reading["fill_p"][at]
    evidence = np.asarray(marked(read, x.example.rationale)[gaps] > 0)
    values = _values(np.asarray((fill[:, 0] == own) & (own >= 0)), p, evidence)
    return values | {"one_piece": float((own >= 0).mean()), "seen": len(gaps) / len(wanted)}


def _values(match: Bools, p: Floats, evidence: Bools) -> dict[str, float]:
    out = {"match": float(match.mean()), "mass": float(p.sum(axis=1).mean())}
    if evidence.any():
        out["match_evidence"] = float(match[evidence].mean())
    if match.any():
        out["probability"] = float(p[match, 0].mean())
    return out
