"""Knows what it means to put words drawn from a language model in the place of words."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from assay.registry import removal
from assay.removal.fills import ORDERS, Guesses, Source, inverse_cdf, spread_draws
from assay.types import Asking, BadInput, Bools, Edit, Input, ModelName, Seed, Variants, full_keep

SEED = Seed(0)


@removal("mlm-sample", needs={"replace"}, kin="mlm", paper="Kim et al. 2020; Pham et al. 2022, Double trouble")
def mlm_sample(
    x: Input,
    keep: Bools,
    *,
    lm: ModelName = "builtin:mlm",
    samples: int = 8,
    top: int = 10,
    order: Literal["at-once", "left-to-right"] = "at-once",
    pieces: Literal["whole", "all"] = "whole",
    seed: Seed = SEED,
) -> Asking:
    """Puts words drawn from the language model in the words' places, ``samples`` times; the rows are averaged.

    p(fill) is that of the ``top`` likeliest whole words, renormalised; each row weighs 1 / samples. The expectation is
    that of marginalisation over the gaps (each on its own when filled at once; jointly from left to right). Draws
    depend on seed and example only and are spread evenly over each gap's distribution, which lowers the error of the
    average below that of independent draws. A question that takes nothing away has one row.
    ``pieces`` all also offers word endings, pasted as they are.
    """
    if samples < 1 or top < 1:
        raise BadInput(f"mlm-sample: samples and top must be 1 or more, got {samples} and {top}")
    gone = ~full_keep(x, keep)
    counts = np.where(gone.any(axis=1), samples, 1)
    owner = np.repeat(np.arange(len(gone)), counts)
    sample = np.concatenate([np.arange(c) for c in counts])
    u = spread_draws(seed, x, samples)

    def drawn(guesses: Guesses, rows: Any, features: Any, at: Any) -> Any:
        return inverse_cdf(guesses.p[rows, features], u[sample[at], features])

    edit: Edit = yield from ORDERS[order](x, gone[owner], Source(lm, top, pieces), drawn)
    return Variants(edit, owner, 1.0 / counts[owner])
