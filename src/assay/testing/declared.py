"""Knows which contracts bind a method, by what it declares.

``family`` control: it must not look at the model. gradient and removal: scores have a sign, unless a setting says
otherwise (``signed`` = false, ``reduce`` = l2). attention: never negative, and the same for every class. A method of
stretches (a setting ``window``) is held to the truth with stretches of one word.
"""

from __future__ import annotations

import numpy as np

from assay.registry import Bound
from assay.testing.bench import NEAR, require
from assay.testing.result import NotTried, expect
from assay.types import Floats

FAMILIES = ("gradient", "removal", "attention", "control")


def family_of(m: Bound) -> str:
    """The declared family."""
    return str(m.entry.facts.get("family", ""))


def signed(m: Bound) -> bool:
    """Do its scores say for and against?"""
    loud = m.settings.get("signed", True) is not False and m.settings.get("reduce", "dot") != "l2"
    return loud and family_of(m) in ("gradient", "removal")


def looking(m: Bound) -> Bound:
    """The method as it is held to the truth; controls are not."""
    require(m)
    if family_of(m) == "control":
        raise NotTried("a control does not look at the model")
    return m.with_settings(window=1) if isinstance(m.settings.get("window"), int) else m


def same(a: Floats, b: Floats, what: str, near: float = NEAR) -> None:
    """Equal up to a share of the largest score."""
    size = max(float(np.abs(b).max(initial=0.0)), 1e-12)
    gap = float(np.abs(a - b).max(initial=0.0))
    expect(gap <= near * size, f"{what}: scores differ by {gap:.3g} of {size:.3g}")
