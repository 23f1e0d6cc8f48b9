"""Every method, test and removal operator of the registry keeps every contract of its kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.engine import Engine
from assay.registry import Bound, Entry, bind, bind_entry, entries
from assay.registry import Spec as Wanted
from assay.testing import check
from assay.testing.bench import TEXT, WEIGHTS, explain, read
from assay.testing.checking import KINDS, TOYS
from assay.testing.result import Contract, judge
from assay.testing.toys import Toy
from assay.types import BadInput, Edit, Example, Probe, Target

LISTED = [e for kind in KINDS for e in entries(kind)]


@pytest.mark.parametrize(
    ("entry", "contract"),
    [pytest.param(e, c, id=f"{e.name}-{c.__name__}") for e in LISTED for c in KINDS[e.kind]],
)
def test_contract(entry: Entry, contract: Contract) -> None:
    (result,) = judge([contract], bind_entry(entry, Wanted(entry.name), TOYS))
    assert result.ok, str(result)


CONVENTIONS = [
    "gradient(reduce=l2)",
    "gradient(signed=false)",
    "gradient(normalise=true)",
    "gradient(output=prob)",
    "gradient(output=loss)",
    "integrated-gradients(rule=trapezoid)",
    "integrated-gradients(signed=false, normalise=true)",
    "leave-one-out(removal=mask)",
    "leave-one-out(removal=zero, output=prob)",
    "shapley(removal=pad, budget=64)",
    "lime(bow=true)",
    "lime(removal=unk)",
]


@pytest.mark.parametrize("spec", CONVENTIONS)
def test_other_settings_keep_the_contracts_too(spec: str) -> None:
    bound = bind("methods", spec)
    # the length of an additive model's gradient is the same at every word; and only this setting asks for norm
    loose = {"weights", "target", "needs"} if "l2" in spec else set()
    broken = [r for r in judge(KINDS["methods"], bound) if not r.ok and r.contract not in loose]
    assert not broken, "\n".join(map(str, broken))


# --------------------------------------------------------------------- exact values, on both kinds of toy

EXACT = ["leave-one-out", "gradient", "integrated-gradients", "shapley", "kernel-shap", "smoothgrad"]


def method(name: str) -> Bound:
    return bind("methods", {"name": name, "output": "logit"})


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("label", [0, 1])
def test_scores_of_an_additive_model_are_its_weights(name: str, label: int) -> None:
    toy = Toy(WEIGHTS)
    free = explain(method(name), toy, read(toy), label).free
    np.testing.assert_allclose(free, (2 * label - 1) * np.array(list(WEIGHTS.values())), atol=1e-9)


@pytest.mark.parametrize("name", EXACT)
def test_scores_of_the_additive_network_are_its_weights(name: str) -> None:
    additive = pytest.importorskip("assay.models.additive")
    model: Any = additive.Additive(weights=WEIGHTS)
    x = read(model)
    np.testing.assert_allclose(explain(method(name), model, x).free, model.truth(x, Target((1,))), atol=1e-5)


@pytest.mark.parametrize("name", ["integrated-gradients", "shapley", "leave-one-out"])
def test_scores_where_words_act_together(name: str) -> None:
    interacting = pytest.importorskip("assay.models.interacting")
    pairs = {("alpha", "charlie"): 1.5, ("bravo", "delta"): -0.7}
    model: Any = interacting.Interacting(weights=WEIGHTS, pairs=pairs)
    x = read(model)
    true = model.fall(x, Target((1,))) if name == "leave-one-out" else model.truth(x, Target((1,)))
    np.testing.assert_allclose(explain(method(name), model, x).free, true, atol=1e-4)


@pytest.mark.parametrize("bend", [0.0, 0.3, -0.2])
def test_shapley_values_of_the_bent_toy(bend: float) -> None:
    toy = Toy(WEIGHTS, bend=bend)
    x = read(toy)
    for label in (0, 1):
        np.testing.assert_allclose(explain(method("shapley"), toy, x, label).free, toy.truth(x, label), atol=1e-9)


# ------------------------------------------------------------------------------- the toy itself is right


@pytest.mark.parametrize("output", ["loss", "prob", "logit", "logprob", "logodds"])
@pytest.mark.parametrize("target", [Target((0,)), Target((1,)), Target((1,), (0,)), Target()])
@pytest.mark.parametrize("weights", [WEIGHTS, {"alpha": (1.0, -0.5, 0.2), "charlie": (0.1, 0.4, -1.0)}])
def test_the_toys_gradient_is_the_slope_of_its_answer(output: str, target: Target, weights: Any) -> None:
    """dot = sum of slopes in every token, so it is d f / d scale at scale 1; by central differences."""
    from assay.ask import value

    toy = Toy(weights, bend=0.15, gain=1.7)
    x = read(toy)
    h = 1e-5
    (ends,) = toy.answer([Probe(x, Edit.none(x, 2), scale=np.array([1 + h, 1 - h]))])
    f = value(ends, target, output)
    (at,) = toy.answer([Probe(x, Edit.none(x), frozenset({"dot"}), target, output)])
    assert at["dot"].sum() == pytest.approx((f[0] - f[1]) / (2 * h), rel=1e-5, abs=1e-8)


def test_the_toy_and_the_network_agree() -> None:
    additive = pytest.importorskip("assay.models.additive")
    toy, net = Toy(WEIGHTS), additive.Additive(weights=WEIGHTS)
    for name in EXACT[:4]:
        one, two = (explain(method(name), m, read(m)).free for m in (toy, net))
        np.testing.assert_allclose(one, two, atol=1e-5)


# -------------------------------------------------------------------------------------- what check accepts


def test_check_takes_an_entry_a_module_or_its_name() -> None:
    import assay.removal.delete as module

    by_module, by_name = check(module), check("assay.removal.delete")
    assert by_module == by_name == check(module.delete) == check(bind("removals", "delete").entry)
    assert {r.entry for r in by_module} == {"delete"}
    assert all(r.ok for r in by_module)
    assert str(by_module[0]).startswith("ok   delete: docstring")


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ("assay.types", "declares no method, test or removal operator"),
        ("no_such_module_here", "there is no module 'no_such_module_here'"),
        ("nowhere/x.py", "there is no file"),
    ],
)
def test_check_says_what_it_cannot_use(thing: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        check(thing)


def test_contracts_do_not_move_global_draws() -> None:
    from assay.testing import global_draws

    before = global_draws.state()
    check(bind("methods", "lime").entry)
    assert global_draws.state() == before


def test_a_method_runs_on_the_toy_through_the_engine() -> None:
    toy = Toy(WEIGHTS)
    x = toy.read(Example("1", {"text": TEXT}))
    scores, _ = Engine(toy).ask(bind("methods", "leave-one-out(output=logit)")(x, Target((1,))))
    assert scores == pytest.approx(list(WEIGHTS.values()))
