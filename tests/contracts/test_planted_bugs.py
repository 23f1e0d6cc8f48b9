"""The contracts catch what they are for: each wrong method here is one small step away from an honest one."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

from assay.ask import all_then_each_left_out, rng, score
from assay.registry import method
from assay.testing import check
from assay.types import Asking, Edit, Input, Output, Probe, Reading, Removal, Seed, Target

SEED = Seed(0)


def _fall(x: Input, target: Target, operator: Any, output: str) -> Any:
    f = yield from score(x, target, output, all_then_each_left_out(x), operator)
    return f[0] - f[1:]


@method("honest", family="removal", paper="Nobody 2020")
def honest(x: Input, target: Target, *, removal: Removal = "delete", output: Output = "logodds") -> Asking:
    """Fall of the score without the word.

    High: the word supports the target.
    """
    return (yield from _fall(x, target, removal, output))


@method("flipped", family="removal", paper="Nobody 2020")
def flipped(x: Input, target: Target, *, removal: Removal = "delete", output: Output = "logodds") -> Asking:
    """Rise instead of fall.

    High: wrong.
    """
    return -(yield from _fall(x, target, removal, output))


@method("wrong-target", family="removal", paper="Nobody 2020")
def wrong_target(x: Input, target: Target, *, removal: Removal = "delete", output: Output = "logodds") -> Asking:
    """Explains class 1, whatever was asked.

    High: wrong.
    """
    return (yield from _fall(x, Target((1,)), removal, output))


@method("own-choice", family="removal", paper="Nobody 2020")
def own_choice(x: Input, target: Target, *, removal: Removal = "delete", output: Output = "logodds") -> Asking:
    """Explains what each row happens to choose.

    High: wrong.
    """
    return (yield from _fall(x, Target(), removal, output))


@method("off-by-one", family="removal", paper="Nobody 2020")
def off_by_one(x: Input, target: Target, *, removal: Removal = "delete", output: Output = "logodds") -> Asking:
    """Every score one word too far.

    High: wrong.
    """
    return np.roll((yield from _fall(x, target, removal, output)), 1)


@method("absolute", family="removal", paper="Nobody 2020")
def absolute(x: Input, target: Target, *, removal: Removal = "delete", output: Output = "logodds") -> Asking:
    """Loses the sign and does not say so.

    High: wrong.
    """
    return np.abs((yield from _fall(x, target, removal, output)))


@method("normalising", family="removal", paper="Nobody 2020")
def normalising(x: Input, target: Target, *, removal: Removal = "delete", output: Output = "logodds") -> Asking:
    """Divides by the largest score and does not say so.

    High: wrong.
    """
    scores = yield from _fall(x, target, removal, output)
    return scores / max(np.abs(scores).max(), 1e-9)


@method("short", family="removal", paper="Nobody 2020")
def short(x: Input, target: Target, *, removal: Removal = "delete", output: Output = "logodds") -> Asking:
    """Forgets the last word.

    High: wrong.
    """
    return (yield from _fall(x, target, removal, output))[:-1]


@method("writes", family="removal", paper="Nobody 2020")
def writes(x: Input, target: Target, *, removal: Removal = "delete", output: Output = "logodds") -> Asking:
    """Writes to its input.

    High: wrong.
    """
    scores = yield from _fall(x, target, removal, output)
    x.free[-1] = False
    return np.append([0.0], scores)


REMEMBERED: list[float] = []


@method("remembers", family="removal", paper="Nobody 2020")
def remembers(x: Input, target: Target, *, removal: Removal = "delete", output: Output = "logodds") -> Asking:
    """Centres scores on the mean of all it has seen.

    High: wrong.
    """
    scores = yield from _fall(x, target, removal, output)
    REMEMBERED.append(float(scores.mean()))
    return scores - np.mean(REMEMBERED) * 1e-3


@method("integrated", family="gradient", needs={"dot", "scale"}, paper="Nobody 2020")
def integrated(
    x: Input,
    target: Target,
    *,
    base: Literal["zero", "pad", "mask", "unk"] = "zero",
    output: Output = "logodds",
) -> Asking:
    """Integrated gradients by Gauss-Legendre.

    High: the word supports the target.
    """
    return (yield from _path(x, target, base, output))


def _path(x: Input, target: Target, base: str, output: str) -> Any:
    nodes, weights = np.polynomial.legendre.leggauss(30)
    edit = Edit.none(x, 30)
    how = (("base", base),)
    reading: Reading = yield Probe(x, edit, frozenset({"dot"}), target, output, scale=(nodes + 1) / 2, how=how)
    return weights / 2 @ reading["dot"]


@method("wrong-base", family="gradient", needs={"dot", "scale"}, paper="Nobody 2020")
def wrong_base(
    x: Input,
    target: Target,
    *,
    base: Literal["zero", "pad", "mask", "unk"] = "zero",
    output: Output = "logodds",
) -> Asking:
    """Starts from padding, whatever was asked.

    High: wrong.
    """
    return (yield from _path(x, target, "pad", output))


@method("needy", family="gradient", paper="Nobody 2020")
def needy(x: Input, target: Target, *, output: Output = "logodds") -> Asking:
    """Needs gradients and does not say so.

    High: the word supports the target.
    """
    reading: Reading = yield Probe(x, Edit.none(x), frozenset({"dot"}), target, output)
    return reading["dot"][0]


def _sampled(x: Input, target: Target, draw: Any, operator: Any) -> Any:
    keep = draw.random((200, x.size)) < 0.5
    f = yield from score(x, target, "logodds", keep, operator)
    centred = keep - keep.mean(axis=0)
    return np.linalg.lstsq(centred, f - f.mean(), rcond=None)[0]


@method("sampled", family="removal", paper="Nobody 2020")
def sampled(x: Input, target: Target, *, removal: Removal = "delete", seed: Seed = SEED) -> Asking:
    """Regression on random subsets.

    High: the word supports the target.
    """
    return (yield from _sampled(x, target, rng(seed, x, "sampled"), removal))


@method("ignores-seed", family="removal", paper="Nobody 2020")
def ignores_seed(x: Input, target: Target, *, removal: Removal = "delete", seed: Seed = SEED) -> Asking:
    """Takes a seed and draws with another.

    High: wrong.
    """
    return (yield from _sampled(x, target, rng(0, x, "sampled"), removal))


@method("numpy-global", family="removal", paper="Nobody 2020")
def numpy_global(x: Input, target: Target, *, removal: Removal = "delete", seed: Seed = SEED) -> Asking:
    """Draws from numpy's global state.

    High: wrong.
    """
    return (yield from _sampled(x, target, np.random, removal))


@method("seeds-globally", family="removal", paper="Nobody 2020")
def seeds_globally(x: Input, target: Target, *, removal: Removal = "delete", seed: Seed = SEED) -> Asking:
    """Repeatable, because it seeds everybody's generator.

    High: wrong.
    """
    random.seed(seed)
    draw = np.random.default_rng(random.getrandbits(64))
    return (yield from _sampled(x, target, draw, removal))


@method("torch-global", family="removal", paper="Nobody 2020")
def torch_global(x: Input, target: Target, *, removal: Removal = "delete", seed: Seed = SEED) -> Asking:
    """Draws its seed from torch's global state.

    High: wrong.
    """
    import torch

    draw = np.random.default_rng(int(torch.randint(0, 2**31, ())))
    return (yield from _sampled(x, target, draw, removal))


@method("unseeded", family="removal", paper="Nobody 2020")
def unseeded(x: Input, target: Target, *, removal: Removal = "delete") -> Asking:
    """A generator of its own, never seeded.

    High: wrong.
    """
    return (yield from _sampled(x, target, np.random.default_rng(), removal))


@method("control", family="control", paper="Nobody 2020")
def control(x: Input, target: Target, *, seed: Seed = SEED) -> Asking:
    """Noise.

    High means nothing.
    """
    yield from ()
    return rng(seed, x, "control").random(x.size)


@method("peeking", family="control", paper="Nobody 2020")
def peeking(x: Input, target: Target, *, removal: Removal = "delete", seed: Seed = SEED) -> Asking:
    """A control that looks at the model.

    High: wrong.
    """
    scores = yield from _fall(x, target, removal, "logit")
    return scores + rng(seed, x, "control").random(x.size)


@method("undescribed", family="other", version=0)
def undescribed(x: Input, target: Target, *, removal: Removal = "delete", strength=1, must: int) -> Asking:  # type: ignore[no-untyped-def]  # that is the bug
    """no sentence"""
    yield from ()


HONEST = [honest, integrated, sampled, control]
WRONG: list[tuple[Callable[..., Any], str]] = [
    (flipped, "sign"),
    (flipped, "weights"),
    (wrong_target, "target"),
    (own_choice, "target"),
    (off_by_one, "weights"),
    (absolute, "weights"),
    (absolute, "sign"),
    (normalising, "no-hidden-scale"),
    (short, "shape"),
    (writes, "input-untouched"),
    (remembers, "repeatable"),
    (wrong_base, "complete"),
    (needy, "needs"),
    (ignores_seed, "seed"),
    (numpy_global, "own-draws"),
    (seeds_globally, "own-draws"),
    (torch_global, "own-draws"),
    (unseeded, "repeatable"),
    (peeking, "blind"),
]


def broken(thing: Callable[..., Any]) -> dict[str, str]:
    return {r.contract: r.message for r in check(thing) if not r.ok}


@pytest.mark.parametrize("thing", HONEST, ids=lambda t: t.__name__)
def test_an_honest_method_passes(thing: Callable[..., Any]) -> None:
    assert broken(thing) == {}


@pytest.mark.parametrize(("thing", "contract"), WRONG, ids=lambda t: t if isinstance(t, str) else t.__name__)
def test_a_wrong_method_is_caught_by_the_right_contract(thing: Callable[..., Any], contract: str) -> None:
    if thing is torch_global:
        pytest.importorskip("torch")
    found = broken(thing)
    assert contract in found, found
    assert found[contract]
    assert "\n" not in found[contract]


ONLY: list[tuple[Callable[..., Any], str]] = [
    (wrong_target, "target"),
    (normalising, "no-hidden-scale"),
    (wrong_base, "complete"),
    (needy, "needs"),
    (ignores_seed, "seed"),
]


@pytest.mark.parametrize(("thing", "contract"), ONLY, ids=lambda t: getattr(t, "__name__", t))
def test_one_bug_breaks_one_contract(thing: Callable[..., Any], contract: str) -> None:
    assert set(broken(thing)) == {contract}


def test_what_declares_nothing_is_told_all_of_it() -> None:
    (result,) = check(undescribed)
    assert (result.contract, result.ok) == ("binding", False)
    assert "needs a value for 'must'" in result.message


@method("bare", family="other", version=0)
def bare(x: Input, target: Target, *, strength=1) -> Asking:  # type: ignore[no-untyped-def]  # that is the bug
    """no sentence"""
    yield from ()
    return np.ones(x.size)


def test_a_bare_method_is_told_what_it_lacks() -> None:
    assert {"docstring", "paper", "version", "settings", "family"} <= set(broken(bare))
