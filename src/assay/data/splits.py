"""Knows the names of splits: which one is meant when none is said, and which names mean the same."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.registry import did_you_mean
from assay.types import BadInput

DEV = ("dev", "validation", "val", "valid")
"""Names of one and the same split."""
NAMES = ("train", "test", *DEV)
"""Splits that a file's name may tell."""


def choose(there: Iterable[str], wanted: str | None, where: str) -> str:
    """The wanted split; else test, else dev, else the only one.

    >>> choose(["train", "validation"], None, "x"), choose(["train", "validation"], "dev", "x")
    ('validation', 'validation')
    """
    there = sorted(there)
    if wanted:
        known = (wanted, *DEV) if wanted in DEV else (wanted,)
        if chosen := next((name for name in known if name in there), ""):
            return chosen
        raise BadInput(f"{where}: no split '{wanted}'{did_you_mean(wanted, there)}")
    if chosen := next((name for name in ("test", *DEV) if name in there), ""):
        return chosen
    if len(there) == 1:
        return there[0]
    raise BadInput(f"{where}: which split? there are: {', '.join(there)}")


def split_of(stem: str) -> str:
    """The split that a file's name tells, '' when it tells none.

    >>> split_of("train-00000-of-00002"), split_of("snli_1.0_dev"), split_of("reviews")
    ('train', 'dev', '')
    """
    return next((part for part in re.split(r"[_.-]", stem) if part in NAMES), "")
