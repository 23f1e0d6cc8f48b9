"""What every entry must keep, whatever it is: a sentence that says what it does, a paper, a version, typed settings."""

from __future__ import annotations

import re
from typing import Any

from assay.registry import Bound, parameters
from assay.testing.result import NotTried, expect

NEEDS_PAPER = ("methods", "tests", "removals")


def docstring(b: Bound) -> None:
    """Begins with a sentence and goes on to say what the numbers mean."""
    expect(b.entry.summary.endswith((".", ":")), "the docstring does not begin with a sentence that ends in a point")
    expect(len(b.entry.doc) > len(b.entry.summary), "the docstring is one sentence: say what high and low mean")


def paper(b: Bound) -> None:
    """Names the paper it comes from, with the year."""
    if b.entry.kind not in NEEDS_PAPER:
        raise NotTried(f"{b.entry.kind} need no paper")
    expect(re.search(r"\b(1[89]|20)\d\d\b", str(b.entry.facts.get("paper", ""))), "names no paper with its year")


def version(b: Bound) -> None:
    """Has a version from 1 on; results are filed under it."""
    expect(isinstance(b.entry.version, int) and b.entry.version >= 1, f"version is {b.entry.version!r}")


def settings(b: Bound) -> None:
    """Every setting has a type and a default, so it can be listed, checked and left out."""
    for name, p in parameters(b.function).items():
        expect(p.type is not Any or p.names, f"setting '{name}' has no type")
        expect(not p.required, f"setting '{name}' has no default")


CONTRACTS = (docstring, paper, version, settings)
