"""Erased attention: closed forms, orders, the first flip by brute force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assay.case import applicable
from assay.engine import Engine
from assay.measures.erasure import without
from assay.models.additive import Additive
from assay.registry import bind
from assay.stats import jsd
from assay.types import OWN, BadInput, Example

Make = Callable[..., Any]


def sigmoid(z: float) -> float:
    return float(1 / (1 + np.exp(-z)))


def ask(model: Any, text: str, test: str = "erasure") -> dict[str, float]:
    x = model.read(Example("1", {"text": text}))
    values: dict[str, float] = Engine(model).ask(bind("tests", test)(x, OWN))
    return values


def test_without_the_top_weight_by_hand(attending: Make) -> None:
    """a = (.6, .3, .1), s = (2, -1, .5): without the first, z = (.3 * -1 + .1 * .5) / .4 = -.625, which flips."""
    model = attending({"a": (2.0, 0.6), "b": (-1.0, 0.3), "c": (0.5, 0.1)})
    got = ask(model, "a b c")
    before, after = sigmoid(0.95), sigmoid(-0.625)
    assert got["tvd"] == pytest.approx(before - after, abs=1e-4)
    assert got["jsd"] == pytest.approx(float(jsd([1 - before, before], [1 - after, after])), abs=1e-4)
    assert got["flip"] == 1.0
    assert got["fraction"] == pytest.approx(1 / 3)


def test_orders_find_their_first_flip_as_brute_force_does(attending: Make) -> None:
    draw = np.random.default_rng(3)
    names = [f"w{i}" for i in range(40)]
    words = {
        w: (float(s), float(a)) for w, s, a in zip(names, draw.normal(0.4, 2, 40), draw.exponential(1, 40), strict=True)
    }
    model, text = attending(words), " ".join(names)
    s, a = np.array(list(words.values())).T
    a = a / a.sum()
    sign = 1 if a @ s > 0 else -1
    ranked = {"": np.argsort(-a), "_gradient": np.argsort(-sign * s), "_product": np.argsort(-sign * s * a)}
    got = ask(model, text)
    for name, order in ranked.items():
        z = [sign * float(without(a, order[:k]) @ s) for k in range(1, 40)]
        first = next((k for k, v in enumerate(z, 1) if v < 0), None)
        assert got[f"fraction{name}"] == pytest.approx(1.0 if first is None else first / 40), name
    assert got["fraction_product"] <= got["fraction"]


def test_a_decision_that_nothing_holds_never_flips(attending: Make) -> None:
    model = attending({"a": (1.0, 0.5), "b": (1.0, 0.3), "c": (2.0, 0.2)})
    got = ask(model, "a b c")
    assert got["flip"] == got["random_flip"] == 0.0
    assert all(got[f"fraction{n}"] == 1.0 for n in ("", "_gradient", "_product", "_random"))


def test_erasing_all_that_has_weight_leaves_the_rest_even(attending: Make) -> None:
    assert without(np.array([1.0, 0.0, 0.0]), np.array([0])).tolist() == [0.0, 0.5, 0.5]
    model = attending({"a": (1.0, 1.0), "b": (-4.0, 0.0), "c": (2.0, 0.0)})
    got = ask(model, "a b c")
    assert got["tvd"] == pytest.approx(sigmoid(1.0) - sigmoid(-1.0), abs=1e-5)


def test_several_top_weights_at_once(attending: Make) -> None:
    model = attending({"a": (2.0, 0.6), "b": (-1.0, 0.3), "c": (0.5, 0.1)})
    assert ask(model, "a b c", "erasure(top=2)")["tvd"] == pytest.approx(sigmoid(0.95) - sigmoid(0.5), abs=1e-4)
    with pytest.raises(BadInput, match="top must be between 1 and 2"):
        ask(model, "a b c", "erasure(top=3)")


def test_a_model_without_attention_gets_the_reason() -> None:
    reason = applicable(bind("tests", "erasure"), Additive(weights={"a": 1.0}))
    assert reason == "needs attend, attention, pull, which additive cannot give"


def test_long_text_stops_asking_at_the_flip(attending: Make) -> None:
    """400 words, the flip comes with the first: eight sets are asked per order and no more."""
    words = {"x": (30.0, 300.0), "y": (-0.5, 1.0)}
    model = attending(words)
    asked: list[int] = []
    answer = model.answer

    def counted(probes: Any) -> Any:
        asked.extend(p.rows for p in probes)
        return answer(probes)

    model.answer = counted
    got = ask(model, "x " + "y " * 399)
    assert got["fraction"] == pytest.approx(1 / 400)
    assert got["fraction_product"] == pytest.approx(1 / 400)
    assert sum(asked) < 500
