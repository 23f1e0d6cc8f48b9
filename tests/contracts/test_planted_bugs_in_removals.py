"""The contracts catch removal operators that are one small step away from an honest one."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assay.registry import removal
from assay.testing import check
from assay.types import DROP, FILL, KEEP, UNK, Asking, Bools, Edit, Input, Variants


def broken(thing: Callable[..., Any]) -> dict[str, str]:
    return {r.contract: r.message for r in check(thing) if not r.ok}


@removal("cuts", paper="Nobody 2020")
def cuts(x: Input, keep: Bools) -> Asking:
    """Cuts words out.

    One row per question.
    """
    yield from ()
    return Variants.plain(Edit.where_gone(x, keep, DROP))


@removal("cuts-too-much", paper="Nobody 2020")
def cuts_too_much(x: Input, keep: Bools) -> Asking:
    """Cuts the next word too.

    One row per question.
    """
    codes = (yield from cuts(x, keep)).edit.codes.copy()
    codes[:, 2:] |= codes[:, 1:-1]
    return Variants.plain(Edit(codes))


@removal("inverted", paper="Nobody 2020")
def inverted(x: Input, keep: Bools) -> Asking:
    """Takes what should stay.

    One row per question.
    """
    return (yield from cuts(x, ~keep))


@removal("cuts-specials", paper="Nobody 2020")
def cuts_specials(x: Input, keep: Bools) -> Asking:
    """Cuts what is not free.

    One row per question.
    """
    made = yield from cuts(x, keep)
    codes = made.edit.codes.copy()
    codes[np.ix_((codes != KEEP).any(axis=1), ~x.free)] = DROP
    return Variants.plain(Edit(codes))


@removal("half-weights", paper="Nobody 2020")
def half_weights(x: Input, keep: Bools) -> Asking:
    """Weights that do not sum to one.

    One row per question.
    """
    made = yield from cuts(x, keep)
    return Variants(made.edit, made.owner, made.weight / 2)


@removal("silent-need", paper="Nobody 2020")
def silent_need(x: Input, keep: Bools) -> Asking:
    """Needs an unknown-word token and does not say so.

    One row per question.
    """
    yield from ()
    return Variants.plain(Edit.where_gone(x, keep, UNK))


@removal("partly", paper="Nobody 2020")
def partly(x: Input, keep: Bools) -> Asking:
    """Takes the first word only.

    One row per question.
    """
    codes = (yield from cuts(x, keep)).edit.codes.copy()
    codes[:, 2:] = KEEP
    return Variants.plain(Edit(codes))


@removal("restless", paper="Nobody 2020")
def restless(x: Input, keep: Bools) -> Asking:
    """Draws the fill from the global state.

    One row per question.
    """
    yield from ()
    word = random.choice(["alpha", "bravo", "charlie"])
    return Variants.plain(Edit(Edit.where_gone(x, keep, FILL).codes, (word,)))


WRONG_REMOVALS: list[tuple[Callable[..., Any], str]] = [
    (cuts_too_much, "only-what-is-listed"),
    (inverted, "identity"),
    (inverted, "all-that-is-listed"),
    (cuts_specials, "never-what-is-not-free"),
    (half_weights, "weights-sum-to-one"),
    (silent_need, "needs"),
    (partly, "all-that-is-listed"),
    (restless, "repeatable"),
]


def test_an_honest_operator_passes() -> None:
    assert broken(cuts) == {}


@pytest.mark.parametrize(("thing", "contract"), WRONG_REMOVALS, ids=lambda t: t if isinstance(t, str) else t.__name__)
def test_a_wrong_operator_is_caught_by_the_right_contract(thing: Callable[..., Any], contract: str) -> None:
    found = broken(thing)
    assert contract in found, found
