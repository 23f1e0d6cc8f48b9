"""A closed-form toy in which pairs of words act together, with known Shapley values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.models.additive import Additive, Table, Weights, table
from assay.models.torch import TorchModel
from assay.registry import family

HASHED_PAIRS = 2


@family("interacting", builtin=True)
class Interacting(Additive):
    """logit_c = bias_c + sum of w_c(word) + sum over pairs k of v_kc (sum of a_k(word)) (sum of b_k(word)).

    With output logit: Shapley values and integrated gradients from zero are w_i + v (a_i B + A b_i) / 2, leave-one-out
    is w_i + v (a_i B + A b_i - a_i b_i), so methods that ignore interaction are seen to differ. ``pairs``:
    (first word, second word) -> strength for the last class, acting when both are present. Without ``weights`` words
    are hashed and every word plays a random part in two products.

    >>> from assay.types import Example, Target
    >>> toy = Interacting(weights={"good": 1.0}, pairs={("not", "good"): -4.0})
    >>> x = toy.read(Example("1", {"text": "not good"}))
    >>> toy.truth(x, Target((1,))).tolist(), toy.fall(x, Target((1,))).tolist()
    ([-2.0, -1.0], [-4.0, -3.0])
    """

    def __init__(
        self,
        *,
        weights: Weights | None = None,
        pairs: Mapping[tuple[str, str], float] | None = None,
        labels: Sequence[str] = ("negative", "positive"),
        bias: Sequence[float] | None = None,
        seed: int = 0,
        device: str = "auto",
        dtype: str = "auto",
    ) -> None:
        classes, pairs = len(labels), dict(pairs or {})
        if weights is None and not pairs:
            rows, self._ids = table(None, classes, seed, HASHED_PAIRS)
            strengths = np.random.default_rng(seed + 1).normal(0.0, 0.5, (HASHED_PAIRS, classes))
        else:
            known: Weights = {w: 0.0 for pair in pairs for w in pair} | dict(weights or {})
            rows, self._ids = table(known, classes, seed, len(pairs))
            strengths = np.zeros((len(pairs), classes))
            for k, ((first, second), strength) in enumerate(pairs.items()):
                rows[self._ids[first.lower()], classes + k] = 1.0
                rows[self._ids[second.lower()], classes + len(pairs) + k] = 1.0
                strengths[k, -1] = strength
        net = Table(rows, strengths, np.zeros(classes) if bias is None else np.asarray(bias))
        TorchModel.__init__(self, net, name="interacting", labels=labels, device=device, dtype=dtype)
