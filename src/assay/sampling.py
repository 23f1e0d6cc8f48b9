"""Draws that methods and tests share, so that they can meet the same cut-up copies of a text."""

from __future__ import annotations

import numpy as np

from assay.types import Bools


def neighbours(draw: np.random.Generator, samples: int, d: int) -> Bools:
    """[samples, d]: the text itself, then copies with 1..d of its d words gone, both number and choice uniform.

    As the ``lime`` package draws them (Ribeiro et al. 2016).

    >>> neighbours(np.random.default_rng(0), 3, 4).astype(int).tolist()[0]
    [1, 1, 1, 1]
    """
    sizes = draw.integers(1, d + 1, samples - 1)
    ranks = draw.random((samples - 1, d)).argsort(axis=1).argsort(axis=1)
    return np.vstack([np.ones((1, d), dtype=bool), ranks >= sizes[:, None]])
