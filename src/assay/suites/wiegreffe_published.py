"""Knows what Wiegreffe & Pinter 2019 printed, by data set. Their TVD is half of the full one."""

from __future__ import annotations

from collections.abc import Mapping

from assay.suites.jain_data import AG, IMDB, NEWS, SST

UNIFORM, OWN, BASE, ADVERSARY = "uniform", "own", "base", "adversary"

T2: Mapping[str, tuple[float, float]] = {
    SST: (0.831, 0.822),
    IMDB: (0.902, 0.879),
    AG: (0.964, 0.960),
    NEWS: (0.942, 0.934),
}
"""F1 of the base and of the uniform model."""
T3: Mapping[str, Mapping[str, float]] = {
    SST: {UNIFORM: 0.812, OWN: 0.817, BASE: 0.824, ADVERSARY: 0.592},
    IMDB: {UNIFORM: 0.863, OWN: 0.888, BASE: 0.905, ADVERSARY: 0.700},
}
"""F1 of the word-by-word model under each guide."""
T4: Mapping[str, tuple[float, float, float, float]] = {
    SST: (5.25e-4, 0.823, 0.036, 0.514),
    IMDB: (8e-4, 0.906, 0.014, 0.405),
}
"""Lambda, F1, TVD (half), JSD of the adversary of highest F1 among those with mean JSD above .4."""
T5: Mapping[str, Mapping[float, tuple[float, float]]] = {
    SST: {
        0.0: (0.075, 0.032),
        5e-4: (0.100, 0.031),
        5.25e-4: (0.514, 0.036),
        1e-3: (0.623, 0.038),
        0.1: (0.653, 0.047),
    },
    IMDB: {0.0: (0.043, 0.011), 4e-4: (0.202, 0.015), 8e-4: (0.405, 0.014), 1e-3: (0.615, 0.022), 5e-3: (0.691, 0.038)},
}
"""Lambda -> (JSD, TVD (half)), a selection of the table."""
LAMBDAS: Mapping[str, tuple[float, ...]] = {
    SST: (0.0, 1e-5, 5e-5, 1e-4, 5e-4, 5.2e-4, 5.25e-4, 5.35e-4, 5.5e-4, 6e-4, 7.5e-4, 1e-3, 0.01, 0.1, 0.5, 1.0),
    IMDB: (0.0, 1e-4, 2e-4, 4e-4, 5e-4, 7e-4, 8e-4, 1e-3, 5e-3, 0.01),
}
"""The grids of table 5; other data sets take that of SST."""
FEW = (0.0, 5e-4, 1e-3, 1e-2)
"""The grid for built-in data."""
SMALL_LOSS = (SST, AG, NEWS)
"""Data sets on which uniform attention costs less than 1.5 points of F1."""


def full_tvd(half: float) -> str:
    """The paper's TVD on the scale of ours.

    >>> full_tvd(0.036)
    '.072 (2 x .036)'
    """
    return f"{2 * half:.3f} (2 x {half:.3f})".replace("0.", ".")
