"""Knows how to score a word by the words that could have stood in its place."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from assay.ask import all_then_each_left_out, average, value
from assay.registry import method
from assay.types import Floats, Input, Output, Probe, Reading, Removal, Target, Variants

SHOWN = 3
"""Fills per word that a view shows, as the figures of Pham et al. 2022 do."""


@method(
    "input-marginalisation",
    needs={"replace"},
    family="removal",
    slow=True,
    paper="Kim et al. 2020, Interpretation of NLP models through input marginalization; Pham et al. 2022",
)
def input_marginalisation(
    x: Input, target: Target, *, removal: Removal = "mlm-marginal", output: Output = "logodds"
) -> Generator[Any, Any, tuple[Floats, dict[str, Any]]]:
    """Fall of the score when a word is replaced by all that a language model could put there.

    a_i = logodds f(x) - logodds E_w f(x with w at i), w drawn from the language model's fills of gap i: probabilities
    are averaged, then log-odds taken (natural logarithm; Pham et al. 2022 use base 2). High: the word matters beyond
    what its context lets one guess. With p the renormalised probability of the word itself,
    a_i <= logodds f(x) - logodds (p f(x)): near zero wherever the language model is certain of the word, however much
    the model needs it. That is its known failure (Pham et al. 2022), and fills of the opposite meaning are its noise.
    Costs one row of the language model and about ten of the model per word. Settings of the fills belong to the
    operator: ``removal=mlm-marginal(top=5)``.

    Notes: ``lm``; ``mass``, the mean probability that the counted fills cover; ``fills``, per word the three likeliest
    with their probabilities.
    """
    keep = all_then_each_left_out(x)
    variants: Variants = yield from removal(x, keep)
    reading: Reading = yield Probe(x, variants.edit)
    f = value(average(reading, variants, len(keep)), target, output)
    scores: Floats = f[0] - f[1:]
    return scores, _notes(x, removal, variants)


def _notes(x: Input, removal: Any, variants: Variants) -> dict[str, Any]:
    lm = getattr(removal, "settings", {}).get("lm")
    mass = list(variants.detail.get("mass", {}).values())
    out: dict[str, Any] = {} if lm is None else {"lm": str(getattr(lm, "name", lm))}
    return out | ({"mass": round(float(np.mean(mass)), 4)} if mass else {}) | _fills(x, variants)


def _fills(x: Input, variants: Variants) -> dict[str, Any]:
    """The likeliest fills of every free word, where the operator tells them."""
    told = variants.detail.get("fills")
    if not told:
        return {}
    best = [sorted(told.get(i, ()), key=lambda fill: -fill[1])[:SHOWN] for i in np.flatnonzero(x.free).tolist()]
    return {"fills": [[[word, round(p, 4)] for word, p in fills] for fills in best]}
