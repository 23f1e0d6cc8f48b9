"""The contracts catch tests that are one small step away from an honest one."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assay import registry
from assay.ask import outcomes, value
from assay.testing import check
from assay.types import Asking, BadInput, Floats, Input, Removal, Target


def broken(thing: Callable[..., Any]) -> dict[str, str]:
    return {r.contract: r.message for r in check(thing) if not r.ok}


def _curve(x: Input, target: Target, scores: Floats, operator: Any) -> Any:
    if np.isnan(scores).any():
        raise BadInput("the method gives no score for a word")
    order = np.argsort(-scores, kind="stable")
    keep = np.ones((x.size + 1, x.size), dtype=bool)
    for k, i in enumerate(order):
        keep[k + 1 :, i] = False
    reading = yield from outcomes(x, keep, operator)
    return float(value(reading, target, "prob").mean())


@registry.test(
    "good-curve", asks="faithfulness", headline="area", better="lower", claim="It falls.", bounds=(0.0, 1.0),
    paper="Nobody 2020",
)  # fmt: skip
def good_curve(x: Input, target: Target, scores: Floats, *, removal: Removal = "delete") -> Asking:
    """Mean probability while words go.

    Low is good.
    """
    return {"area": (yield from _curve(x, target, scores, removal))}


@registry.test(
    "wrong-direction", asks="faithfulness", headline="area", better="higher", claim="It falls.", bounds=(0.0, 1.0),
    paper="Nobody 2020",
)  # fmt: skip
def wrong_direction(x: Input, target: Target, scores: Floats, *, removal: Removal = "delete") -> Asking:
    """Mean probability while words go, declared the wrong way round.

    Low is good.
    """
    return {"area": (yield from _curve(x, target, scores, removal))}


@registry.test(
    "wrong-order", asks="faithfulness", headline="area", better="lower", claim="It falls.", bounds=(0.0, 1.0),
    paper="Nobody 2020",
)  # fmt: skip
def wrong_order(x: Input, target: Target, scores: Floats, *, removal: Removal = "delete") -> Asking:
    """Takes the lowest first.

    Low is good.
    """
    return {"area": (yield from _curve(x, target, -scores, removal))}


@registry.test(
    "no-signal", asks="faithfulness", headline="area", better="lower", claim="It falls.", paper="Nobody 2020"
)
def no_signal(x: Input, target: Target, scores: Floats, *, removal: Removal = "delete") -> Asking:
    """Does not look at the scores.

    Low is good.
    """
    return {"area": (yield from _curve(x, target, np.arange(x.size, dtype=float) + 0 * scores.sum(), removal))}


@registry.test(
    "out-of-bounds", asks="faithfulness", headline="area", better="lower", claim="It falls.", bounds=(0.0, 1.0),
    paper="Nobody 2020",
)  # fmt: skip
def out_of_bounds(x: Input, target: Target, scores: Floats, *, removal: Removal = "delete") -> Asking:
    """Three times too large.

    Low is good.
    """
    return {"area": 3 * (yield from _curve(x, target, scores, removal))}


@registry.test(
    "with-units", asks="faithfulness", headline="area", better="higher", claim="It falls.", paper="Nobody 2020"
)
def with_units(x: Input, target: Target, scores: Floats, *, removal: Removal = "delete") -> Asking:
    """Multiplies by the size of the scores.

    High is good.
    """
    return {"area": (1 - (yield from _curve(x, target, scores, removal))) * float(np.abs(scores).max())}


@registry.test(
    "sorts-in-place", asks="faithfulness", headline="area", better="lower", claim="It falls.", paper="Nobody 2020"
)
def sorts_in_place(x: Input, target: Target, scores: Floats, *, removal: Removal = "delete") -> Asking:
    """Sorts the caller's array.

    Low is good.
    """
    area = yield from _curve(x, target, scores, removal)
    scores.sort()
    return {"area": area}


@registry.test(
    "fills-holes", asks="faithfulness", headline="area", better="lower", claim="It falls.", paper="Nobody 2020"
)
def fills_holes(x: Input, target: Target, scores: Floats, *, removal: Removal = "delete") -> Asking:
    """Takes a missing score for zero.

    Low is good.
    """
    return {"area": (yield from _curve(x, target, np.nan_to_num(scores), removal))}


@registry.test("draws", asks="faithfulness", headline="area", better="lower", claim="It falls.", paper="Nobody 2020")
def draws(x: Input, target: Target, scores: Floats, *, removal: Removal = "delete") -> Asking:
    """Adds noise from the global state.

    Low is good.
    """
    return {"area": (yield from _curve(x, target, scores, removal)) + 1e-3 * random.random()}


@registry.test("misnamed", asks="faith", headline="aera", claim="no sentence", paper="Nobody 2020")
def misnamed(x: Input, target: Target, scores: Floats, *, removal: Removal = "delete") -> Asking:
    """Names a headline that it does not return.

    Low is good.
    """
    return {"area": (yield from _curve(x, target, scores, removal))}


WRONG_TESTS: list[tuple[Callable[..., Any], str]] = [
    (wrong_direction, "direction"),
    (wrong_order, "direction"),
    (no_signal, "direction"),
    (out_of_bounds, "bounds"),
    (with_units, "units"),
    (sorts_in_place, "input-untouched"),
    (fills_holes, "holes"),
    (draws, "repeatable"),
    (misnamed, "declared"),
    (misnamed, "bounds"),
]


def test_an_honest_test_passes() -> None:
    assert broken(good_curve) == {}


@pytest.mark.parametrize(("thing", "contract"), WRONG_TESTS, ids=lambda t: t if isinstance(t, str) else t.__name__)
def test_a_wrong_test_is_caught_by_the_right_contract(thing: Callable[..., Any], contract: str) -> None:
    found = broken(thing)
    assert contract in found, found
