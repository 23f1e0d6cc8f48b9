"""What every attribution method must find on toys whose true attributions are known."""

from __future__ import annotations

import numpy as np

from assay.ask import value
from assay.registry import Bound
from assay.testing.bench import CLASSES, NEAR, WEIGHTS, additive, bent, explain, of_three, read
from assay.testing.declared import family_of, looking, same, signed
from assay.testing.result import NotTried, expect
from assay.testing.toys import Toy
from assay.types import Edit, Probe, Reading, Target

STRONG = 0.4
"""Weights from here on must have the right sign; a sampled score may lose a smaller one in its noise."""


def weights(m: Bound) -> None:
    """On words that add up, a heavier word never scores below a lighter one, and the heaviest above the lightest."""
    m = looking(m)
    model = additive()
    free = explain(m, model, read(model)).free
    true = np.array(list(WEIGHTS.values()))
    true = true if signed(m) else np.abs(true)
    slack = NEAR * float(np.abs(free).max())
    for i in np.argsort(true):
        wrong = np.flatnonzero((true > true[i]) & (free < free[i] - slack))
        message = f"'{list(WEIGHTS)[i]}' ({true[i]:+g}) scores above '{list(WEIGHTS)[wrong[0] if len(wrong) else i]}'"
        expect(not len(wrong), f"{message}: {np.round(free, 4).tolist()} for weights {true.tolist()}")
    expect(free[true.argmax()] > free[true.argmin()], "all words score the same")


def sign(m: Bound) -> None:
    """Words that support the class score above zero, words against it below; unsigned scores are never negative."""
    m = looking(m)
    model = additive()
    free = explain(m, model, read(model)).free
    if not signed(m):
        expect((free >= 0).all(), f"declared without sign, but scores {np.round(free, 4).tolist()}")
        return
    for score, (word, weight) in zip(free, WEIGHTS.items(), strict=True):
        if abs(weight) >= STRONG:
            expect(score * weight > 0, f"'{word}' speaks {'for' if weight > 0 else 'against'} and scores {score:.4g}")


def target(m: Bound) -> None:
    """The class that was asked about is explained: two classes have opposite signs, of three each finds its word."""
    m = looking(m)
    if family_of(m) == "attention":
        raise NotTried("attention is the same for every class")
    if signed(m):
        model = additive()
        one, zero = (explain(m, model, read(model), label).free for label in (1, 0))
        strong = np.abs(list(WEIGHTS.values())) >= STRONG
        expect((one * zero)[strong].max() < 0, "classes 0 and 1 of a two-class model do not have opposite signs")
    model = of_three()
    for label, word in enumerate(CLASSES):
        free = explain(m, model, read(model, " ".join(CLASSES)), label).free
        expect(free.argmax() == label, f"'{word}' decides class {label} and is not its top word: {free.tolist()}")


def no_hidden_scale(m: Bound) -> None:
    """When the logit doubles, scores of the logit double: nothing is normalised behind the user's back.

    Binds whoever has a setting ``output``; a method that normalises must say so by a setting ``normalise``.
    """
    m = looking(m)
    if "output" not in m.settings or m.settings.get("normalise") is True:
        raise NotTried("has no setting output, or says that it normalises")
    logit = m.with_settings(output="logit")
    one, two = (explain(logit, model, read(model)).free for model in (additive(), additive(2.0)))
    same(two, 2 * one, "twice the logit must give twice the scores", 1e-4)


def complete(m: Bound) -> None:
    """Who names a ``base`` sums to f(x) - f(base) over all features, for every base it offers."""
    m = looking(m)
    if not signed(m):
        raise NotTried("its scores have no sign")
    if "base" not in m.settings or "output" not in m.settings:
        raise NotTried("names no base")
    if m.settings.get("normalise") is True:
        raise NotTried("says that it normalises")
    model = bent()
    for base in ("zero", "pad", "mask", "unk"):
        made = explain(m.with_settings(base=base), model, read(model))
        due = _difference(model, base, str(m.settings["output"]))
        total = float(np.nansum(made.all))
        expect(abs(total - due) <= 1e-3 * max(1.0, abs(due)), f"base {base}: scores sum to {total:.4g}, not {due:.4g}")


def _difference(model: Toy, base: str, output: str) -> float:
    x = read(model)
    probe = Probe(x, Edit.none(x, 2), scale=np.array([1.0, 0.0]), how=(("base", base),))
    reading: Reading = model.answer([probe])[0]
    f = value(reading, Target((1,)), output)
    return float(f[0] - f[1])


def blind(m: Bound) -> None:
    """A control gives every model and every class the same scores."""
    if family_of(m) != "control":
        raise NotTried("is no control")
    tried = ((additive(), 1), (bent(), 0), (additive(-1.0), 1))
    made = [explain(m, model, read(model), label).free for model, label in tried]
    expect(all(np.array_equal(made[0], free) for free in made), "a control must not look at the model")


CONTRACTS = (weights, sign, target, no_hidden_scale, complete, blind)
