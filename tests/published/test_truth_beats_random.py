"""Where the evidence is known: truth beats random, and random beats inverted, on every faithfulness test."""

import numpy as np
import pytest

from assay import registry, resolve, stats
from assay.align import marked
from assay.ask import attempt, predict, rng, together
from assay.case import Target
from assay.engine import Engine

FAITHFUL = [e.name for e in registry.entries("tests") if e.facts.get("asks") == "faithfulness"]


def orders(x):
    """Scores by the marked evidence, at random, and against the evidence; ties broken by the same draws."""
    noise = rng(0, x, "ties").random(x.size) * 1e-3
    evidence = (marked(x, x.example.rationale)[x.free] > 0).astype(float)
    return {"true": evidence + noise, "random": rng(1, x, "order").random(x.size), "inverted": -evidence + noise}


def graded(model, example, tests):
    x = model.read(example)
    reading = yield from predict(x)
    if int(reading.choice[0, 0]) != example.gold:
        return None
    target = Target((int(reading.choice[0, 0]),))
    named = [(t, kind, scores) for t in tests for kind, scores in orders(x).items()]
    outcomes = yield from together([attempt(t(x, target, s)) for t, _, s in named])
    values = [o.result[0] if isinstance(o.result, tuple) else o.result for o in outcomes]
    return {(t.entry.name, kind): v[t.entry.facts["headline"]] for (t, kind, _), v in zip(named, values, strict=True)}


@pytest.fixture(scope="module", params=["planted", "reviews"])
def measured(request):
    model = resolve.model(f"builtin:{request.param}")
    examples = resolve.data(f"builtin:{request.param}").sample(400).examples
    if request.param == "planted":  # only the class that the token decides has evidence
        examples = tuple(e for e in examples if e.rationale and e.gold == 1)
    tests = [registry.bind("tests", name, {}) for name in FAITHFUL]
    done = Engine(model).run((e, graded(model, e, tests)) for e in examples if e.rationale)
    return [d.result for d in done if d.error is None and d.result is not None]


@pytest.mark.parametrize("name", FAITHFUL)
def test_truth_beats_random_beats_inverted(measured, name):
    sign = {"higher": 1, "lower": -1}[registry.find("tests", name).facts["better"]]
    column = {k: sign * np.array([m[name, k] for m in measured]) for k in ("true", "random", "inverted")}
    assert len(measured) >= 40
    for better, worse in (("true", "random"), ("random", "inverted")):
        gain = stats.paired(column[better], column[worse])
        assert gain.low > 0, f"{name}: {better} - {worse} = {gain}"
