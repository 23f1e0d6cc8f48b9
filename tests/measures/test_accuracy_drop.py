"""Fall of accuracy on cut-up texts, against enumeration."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest

from assay.engine import Engine
from assay.methods import lime
from assay.registry import bind
from assay.sampling import neighbours
from assay.types import BadInput, Example, Target


def drop(model: Any, text: str, gold: int | None, settings: str = "") -> dict[str, float]:
    x = model.read(Example("1", {"text": text}, gold))
    values: dict[str, float] = Engine(model).ask(bind("tests", f"accuracy-drop{settings}")(x, Target((1,))))
    return values


def test_a_model_that_needs_one_word(function: Any) -> None:
    """Right while b is there. A sample keeps b with probability mean over k = 1..n of (n - k) / n = (n - 1) / 2n."""
    n, samples = 4, 4001
    values = drop(function(lambda there: 0.9 if "b" in there else 0.1), "a b c d", 1, f"(samples={samples})")
    assert values["drop_one"] == pytest.approx(1 / n)
    assert values["flips_one"] == pytest.approx(1 / n)
    kept = (n - 1) / (2 * n)
    assert values["drop_lime"] == pytest.approx(1 - kept, abs=5 * np.sqrt(kept * (1 - kept) / samples))


def test_a_model_that_needs_all_but_one(function: Any) -> None:
    """Wrong from two missing words on: a sample is right only when k = 1, so its fall is 1 - 1 / n."""
    n, samples = 5, 4001
    values = drop(function(lambda there: 0.9 if len(there) >= 4 else 0.1), "a b c d e", 1, f"(samples={samples})")
    assert (values["drop_one"], values["flips_one"]) == (0.0, 0.0)
    assert values["drop_lime"] == pytest.approx(1 - 1 / n, abs=5 * np.sqrt(0.16 / samples))


def test_a_text_that_was_wrong_can_become_right(function: Any) -> None:
    """Gold is 0; only with all words there does the model say 1."""
    model = function(lambda there: 0.9 if len(there) == 3 else 0.1)
    values = drop(model, "a b c", 0)
    assert (values["drop_one"], values["drop_lime"], values["flips_one"]) == (-1.0, -1.0, 1.0)


def test_without_gold_the_models_own_choice_is_right(function: Any) -> None:
    model = function(lambda there: 0.1 if "a" in there else 0.9)
    assert drop(model, "a b", None)["drop_one"] == 0.5
    assert drop(model, "a b", 0)["drop_one"] == 0.5
    assert drop(model, "a b", 1)["drop_one"] == -0.5


def test_the_samples_are_those_of_lime_and_are_asked_once(function: Any) -> None:
    one, two = (f(np.random.default_rng(5), 50, 7) for f in (neighbours, lime.neighbours))
    assert np.array_equal(one, two)
    model = function(lambda there: 0.5)
    x = model.read(Example("1", {"text": "a b c d e f g h i j k l"}, 1))

    def both() -> Any:
        yield from bind("methods", "lime(samples=60)")(x, Target((1,)))
        before = len(model.asked)
        yield from bind("tests", "accuracy-drop(samples=60)")(x, Target((1,)))
        return len(model.asked) - before

    fresh = Engine(model).ask(both())
    assert fresh <= x.size  # leaving one word out: at most one new row each


def test_the_operator_is_a_setting_and_too_few_samples_are_refused(function: Any) -> None:
    values = drop(function(lambda there: 0.9 if there else 0.1), "a", 1, "(removal=mask, samples=9)")
    assert values == {"drop_one": 1.0, "drop_lime": 1.0, "flips_one": 1.0}
    with pytest.raises(BadInput, match="samples"):
        drop(function(lambda there: 0.5), "a b", 1, "(samples=1)")


def test_the_expected_share_is_that_of_enumeration() -> None:
    """The closed form used above: of all sets of k words of 4, those that leave one given word alone."""
    kept = [comb(3, k) / comb(4, k) for k in range(1, 5)]
    assert np.mean(kept) == pytest.approx(3 / 8)
