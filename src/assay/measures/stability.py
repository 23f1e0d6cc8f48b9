"""Knows how much a map changes when only the seed of its method does."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from assay.ask import together
from assay.measures.agreement import overlap, tau
from assay.measures.ranking import complete
from assay.registry import test
from assay.types import Asking, BadInput, Floats, Input, Target


@test(
    "stability",
    of="explanation",
    asks="stability",
    headline="kendall",
    better="higher",
    claim="The same method gives the same map again when only its seed changes.",
    view="points",
    bounds=(-1.0, 1.0),
    reruns=True,
    paper="Visani et al. 2022, Statistical stability indices for LIME",
)
def stability(
    x: Input,
    target: Target,
    scores: Floats,
    rerun: Callable[[int], Any] | None,
    *,
    times: int = 3,
    top: int = 5,
) -> Asking:
    """Agreement of a method with itself under other seeds.

    ``kendall`` = mean tau-b and ``overlap`` = mean overlap of the ``top`` words over all pairs of ``times`` + 1 runs;
    ``spread`` = mean standard deviation of a word's score over the runs / mean |score|. High agreement: the number of
    samples suffices. Low: the map is partly a draw, and a single one must not be shown. Says nothing of
    faithfulness. A method without a seed gives the reason "deterministic" instead of a number.

    Detail for the view: ``runs``, the scores of every run.
    """
    if rerun is None:
        raise BadInput("deterministic: nothing varies with a seed")
    if times < 1:
        raise BadInput(f"times must be at least 1, got {times}")
    again = yield from together([rerun(offset) for offset in range(1, times + 1)])
    runs = np.stack([complete(x, s) for s in (scores, *again)])
    pairs = list(combinations(runs, 2))
    values = {
        "kendall": float(np.mean([tau(a, b) for a, b in pairs])),
        "overlap": float(np.mean([overlap(a, b, top) for a, b in pairs])),
        "spread": float(runs.std(axis=0, ddof=1).mean() / np.abs(runs).mean()),
    }
    return values, {"runs": runs.tolist()}
