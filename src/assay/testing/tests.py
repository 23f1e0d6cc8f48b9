"""What every test of explanations must keep, tried on maps that are known to be right, random or turned round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from assay.engine import Engine
from assay.registry import Bound
from assay.testing import global_draws
from assay.testing.bench import NEAR, Exhibit, exhibit_model, exhibits, headline, read, require
from assay.testing.result import Broken, NotTried, expect
from assay.types import AssayError, Floats, Target

OF = ("explanation", "pair", "input", "model")
ASKS = ("faithfulness", "plausibility", "agreement", "stability", "manipulation", "size", "fills", "")
SIGN = {"higher": 1.0, "lower": -1.0}
FLOOR = 2.0
"""A difference must be this many standard errors above zero, over thirty texts."""
Values = Mapping[str, float]


def _kind(t: Bound, scores: bool = False) -> str:
    require(t)
    of = str(t.entry.facts["of"])
    if of == "model" or (scores and of == "input"):
        raise NotTried(f"a test of {of}s gets no {'scores' if scores else 'text'}")
    return of


def _run(t: Bound, e: Exhibit, scores: Floats, other: Floats | None = None) -> Values:
    """One test on one map. ``other``: the second map of a pair, or what the method gives under another seed."""
    arguments: list[Any] = [e.x, e.target, scores]
    second = scores if other is None else other
    if t.entry.facts["of"] == "input":
        arguments.pop()
    elif t.entry.facts["reruns"]:
        arguments.append(_rerun(second))
    elif t.entry.facts["of"] == "pair":
        arguments.append(second)
    result = Engine(exhibit_model()).ask(t(*arguments))
    values: Values = result[0] if isinstance(result, tuple) else result
    expect(isinstance(values, Mapping) and values, f"returns {type(values).__name__}, expected named numbers")
    return values


def _rerun(scores: Floats) -> Callable[[int], Any]:
    def rerun(offset: int) -> Any:
        yield from ()
        return scores

    return rerun


def _some(count: int = 6) -> list[Exhibit]:
    return exhibits(exhibit_model(), count)


def declared(t: Bound) -> None:
    """Says what it is of, what it asks, which number to show, which way is better and what that claims."""
    f = t.entry.facts
    expect(f["of"] in OF, f"of is '{f['of']}', expected one of {', '.join(OF)}")
    expect(f["asks"] in ASKS, f"asks is '{f['asks']}', expected one of {', '.join(filter(None, ASKS))}")
    expect(f["better"] in ("higher", "lower", ""), f"better is '{f['better']}', expected higher, lower or nothing")
    expect(f["better"] or f["asks"] != "faithfulness", "a test of faithfulness must say which way is better")
    expect(f["headline"], "names no headline")
    expect(str(f["claim"]).endswith("."), "the claim is not a sentence")
    low, high = f["bounds"]
    expect(low is None or high is None or low < high, f"bounds {f['bounds']} are empty")


def direction(t: Bound) -> str | None:
    """True scores do better than random ones, and those better than true scores turned round."""
    of = _kind(t, scores=True)
    better = t.entry.facts["better"]
    if better not in SIGN:
        raise NotTried("evidence, not a score: no direction declared")
    found = exhibits(exhibit_model())
    if of == "pair" or t.entry.facts["reruns"]:
        ladder = [[_run(t, e, e.true, other(e)) for e in found] for other in _LADDER]
    else:
        ladder = [[_run(t, e, scores(e)) for e in found] for scores in _LADDER]
    best, middle, worst = (SIGN[better] * headline(t, values) for values in ladder)
    _above(best, middle, f"true scores are not {better} than random ones")
    _above(middle, worst, f"random scores are not {better} than inverted ones")
    return None


_LADDER: tuple[Callable[[Exhibit], Floats], ...] = (lambda e: e.true, lambda e: e.random, lambda e: e.inverted)


def _above(one: Floats, two: Floats, message: str) -> None:
    gap = one - two
    error = float(gap.std(ddof=1) / np.sqrt(len(gap)))
    expect(gap.mean() > FLOOR * error, f"{message}: difference {gap.mean():+.4g}, standard error {error:.2g}")


def bounds(t: Bound) -> None:
    """The headline is finite and within the declared bounds, for good, random and bad maps."""
    _kind(t)
    low, high = t.entry.facts["bounds"]
    for e in _some():
        for scores in _LADDER:
            (number,) = headline(t, [_run(t, e, scores(e), e.random)])
            expect(np.isfinite(number), f"the headline is {number}")
            inside = (low is None or number >= low - 1e-9) and (high is None or number <= high + 1e-9)
            expect(inside, f"{number:.4g} is outside the declared bounds {t.entry.facts['bounds']}")


def units(t: Bound) -> str | None:
    """Scores have no unit: three times the map has the same headline. Says whether the order alone counts."""
    _kind(t, scores=True)
    ranks = True
    for e in _some():
        one, three = _run(t, e, e.true, e.random), _run(t, e, 3 * e.true, 3 * e.random)
        before, after = headline(t, [one, three])
        expect(abs(before - after) <= NEAR, f"three times the scores give {after:.4g} instead of {before:.4g}")
        bent = _run(t, e, e.true**3, e.random**3)
        ranks &= all(np.isclose(one[k], bent.get(k, np.nan)) for k in one)
    return "only the order of the scores counts" if ranks else "the size of the scores counts"


def _equal(one: Values, two: Values, message: str) -> None:
    gap = max((abs(one[k] - two.get(k, np.inf)) for k in one), default=np.inf)
    expect(gap <= 1e-6, f"{message}: {dict(one)}, {dict(two)}")


def repeatable(t: Bound) -> None:
    """Asked twice, the same numbers, whatever the global random states; and those stay where they are."""
    _kind(t)
    for e in _some(2):
        found = []
        for seed in (1, 2):
            with global_draws.seeded(seed):
                before = global_draws.state()
                found.append(_run(t, e, e.true, e.random))
                expect(global_draws.state() == before, "moves a global random state")
        _equal(found[0], found[1], "two runs give different numbers")


def input_untouched(t: Bound) -> None:
    """Neither the scores nor the features are written to."""
    _kind(t)
    for e in _some(2):
        scores, other, free = e.true.copy(), e.random.copy(), e.x.free.copy()
        _run(t, e, scores, other)
        same = np.array_equal(scores, e.true) and np.array_equal(other, e.random) and np.array_equal(free, e.x.free)
        expect(same, "the test wrote to the scores or to the input")


def holes(t: Bound) -> None:
    """A map with a hole gives a reason, not a number."""
    _kind(t, scores=True)
    (e,) = _some(1)
    scores = e.true.copy()
    scores[2] = np.nan
    try:
        values = _run(t, e, scores, e.random)
    except AssayError:
        return
    raise Broken(f"a missing score gives {dict(values)} instead of a reason")


def one_word(t: Bound) -> str | None:
    """A text of one word gives a finite number or a reason."""
    _kind(t)
    x = read(exhibit_model(), "word1")
    e = Exhibit(x, Target((1,)), np.array([1.0]), np.array([0.5]))
    try:
        (number,) = headline(t, [_run(t, e, e.true, e.random)])
    except AssayError as reason:
        return str(reason)
    expect(np.isfinite(number), f"one word gives {number}")
    return None


CONTRACTS = (declared, direction, bounds, units, repeatable, input_untouched, holes, one_word)
