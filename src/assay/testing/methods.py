"""What every attribution method must keep, tried on toys whose true attributions are known.

Which contracts bind is decided by what a method declares. ``family`` control: it must not look at the model.
gradient and removal: signed, unless a setting says otherwise (``signed`` = false, ``reduce`` = l2). attention: never
negative, and the same for every class.
"""

from __future__ import annotations

import numpy as np

from assay.ask import value
from assay.case import applicable
from assay.engine import Engine
from assay.registry import Bound
from assay.testing import global_draws
from assay.testing.bench import (
    CLASSES,
    LONG,
    NEAR,
    TEXT,
    WEIGHTS,
    additive,
    bent,
    explain,
    of_three,
    read,
    require,
    unpacked,
)
from assay.testing.result import NotTried, expect
from assay.testing.toys import ALL, Recorder, Toy
from assay.types import Edit, Example, Floats, Probe, Reading, Target

FAMILIES = ("gradient", "removal", "attention", "control")
STRONG = 0.4
"""Weights from here on must have the right sign; a sampled score may lose a smaller one in its noise."""


def _family(m: Bound) -> str:
    return str(m.entry.facts.get("family", ""))


def _signed(m: Bound) -> bool:
    loud = m.settings.get("signed", True) is not False and m.settings.get("reduce", "dot") != "l2"
    return loud and _family(m) in ("gradient", "removal")


def _looks(m: Bound) -> None:
    require(m)
    if _family(m) == "control":
        raise NotTried("a control does not look at the model")


def _only_signed(m: Bound) -> None:
    _looks(m)
    if not _signed(m):
        raise NotTried("its scores have no sign")


def _same(a: Floats, b: Floats, what: str, near: float = NEAR) -> None:
    size = max(float(np.abs(b).max(initial=0.0)), 1e-12)
    gap = float(np.abs(a - b).max(initial=0.0))
    expect(gap <= near * size, f"{what}: scores differ by {gap:.3g} of {size:.3g}")


# ------------------------------------------------------------------------------------ shape and identity


def family(m: Bound) -> None:
    """Declares one of the families that a verdict compares."""
    expect(_family(m) in FAMILIES, f"family is '{_family(m)}', expected one of {', '.join(FAMILIES)}")


def shape(m: Bound) -> None:
    """One finite score per free word: short, long, with held words, in two fields."""
    require(m)
    model = bent()
    two = model.read(Example("two", {"text": "alpha bravo", "more": "charlie delta"}))
    for x in (read(model), read(model, LONG), two, two.hold("text")):
        free = explain(m, model, x).free
        expect(np.isfinite(free).all(), f"a score of '{' '.join(x.free_words)[:30]}' is not finite")


def one_word(m: Bound) -> None:
    """A text of one word has a finite score, of the right sign where scores have one."""
    require(m)
    for word in ("charlie", "delta"):
        model = additive()
        (score,) = explain(m, model, read(model, word)).free
        expect(np.isfinite(score), f"the only word '{word}' scores {score}")
        if _signed(m):
            expect(np.sign(score) == np.sign(WEIGHTS[word]), f"'{word}' alone scores {score:.3g}")


def equal_words(m: Bound) -> None:
    """The same word four times, in a model that ignores order: finite, and equal unless drawn."""
    require(m)
    model = bent()
    free = explain(m, model, read(model, "charlie " * 4)).free
    expect(np.isfinite(free).all(), "equal words: a score is not finite")
    if not m.seeded:
        _same(free, np.full(4, free.mean()), "equal words")


def input_untouched(m: Bound) -> None:
    """Neither the features nor what may be taken away is written to."""
    require(m)
    model = additive()
    x = read(model)
    before, places = x.free.copy(), x.places
    explain(m, model, x)
    expect(np.array_equal(x.free, before) and x.places == places, "the method wrote to its input")


# ------------------------------------------------------------------------------------------ repeatability


def repeatable(m: Bound) -> None:
    """Asked twice, the same scores to the last bit."""
    require(m)
    model = bent()
    for text in (TEXT, LONG):
        one, two = (explain(m, model, read(model, text)).free for _ in range(2))
        expect(np.array_equal(one, two), "two runs give different scores; draw from rng(seed, x, purpose)")


def own_draws(m: Bound) -> None:
    """Global random states are neither used nor moved."""
    require(m)
    model = bent()
    found = []
    for seed in (1, 2):
        with global_draws.seeded(seed):
            before = global_draws.state()
            found.append(explain(m, model, read(model, LONG)).free)
            after = global_draws.state()
        moved = [name for name, s in before.items() if after[name] != s]
        expect(not moved, f"moves the global random state of {', '.join(moved)}")
    expect(np.array_equal(found[0], found[1]), "scores depend on a global random state")


def seed(m: Bound) -> None:
    """Who takes a seed uses it: another seed asks other questions or gives other scores."""
    require(m)
    if not m.seeded:
        raise NotTried("takes no seed")
    seen = []
    for offset in (0, 1):
        model = Recorder(bent())
        other = m.with_settings(**{m.seeded: m.settings[m.seeded] + offset})
        free = explain(other, model, read(model, LONG)).free.tolist()
        seen.append((sorted(map(repr, model.rows)), free))
    expect(seen[0] != seen[1], f"'{m.seeded}' changes neither the questions nor the scores")


def crowd(m: Bound) -> None:
    """The same alone, in a crowd of other texts, and in batches of any size."""
    require(m)
    model = bent()
    texts = [TEXT, "delta", LONG, "alpha echo", "charlie charlie bravo"]
    xs = [read(model, t, t) for t in texts]
    for budget in (1, 40, 100_000):
        for done in Engine(model, budget=budget).run((x, m(x, Target((1,)))) for x in reversed(xs)):
            expect(done.error is None, f"fails in a crowd: {done.error}")
            alone = explain(m, model, read(model, done.key.example.id, done.key.example.id)).free
            _same(unpacked(done.result, done.key).free, alone, f"alone or in batches of {budget} tokens")


# ----------------------------------------------------------------------------------------- right answers


def weights(m: Bound) -> None:
    """On words that add up, a heavier word never scores below a lighter one, and the heaviest above the lightest."""
    _looks(m)
    model = additive()
    free = explain(m, model, read(model)).free
    true = np.array(list(WEIGHTS.values()))
    true = true if _signed(m) else np.abs(true)
    slack = NEAR * float(np.abs(free).max())
    for i in np.argsort(true):
        wrong = np.flatnonzero((true > true[i]) & (free < free[i] - slack))
        message = f"'{list(WEIGHTS)[i]}' ({true[i]:+g}) scores above '{list(WEIGHTS)[wrong[0] if len(wrong) else i]}'"
        expect(not len(wrong), f"{message}: {np.round(free, 4).tolist()} for weights {true.tolist()}")
    expect(free[true.argmax()] > free[true.argmin()], "all words score the same")


def sign(m: Bound) -> None:
    """Words that support the class score above zero, words against it below; unsigned scores are never negative."""
    _looks(m)
    model = additive()
    free = explain(m, model, read(model)).free
    if not _signed(m):
        expect((free >= 0).all(), f"declared without sign, but scores {np.round(free, 4).tolist()}")
        return
    for score, (word, weight) in zip(free, WEIGHTS.items(), strict=True):
        if abs(weight) >= STRONG:
            expect(score * weight > 0, f"'{word}' speaks {'for' if weight > 0 else 'against'} and scores {score:.4g}")


def target(m: Bound) -> None:
    """The class that was asked about is explained: two classes have opposite signs, of three each finds its word."""
    _looks(m)
    if _family(m) == "attention":
        raise NotTried("attention is the same for every class")
    if _signed(m):
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
    _looks(m)
    if "output" not in m.settings or m.settings.get("normalise") is True:
        raise NotTried("has no setting output, or says that it normalises")
    logit = m.with_settings(output="logit")
    one, two = (explain(logit, model, read(model)).free for model in (additive(), additive(2.0)))
    _same(two, 2 * one, "twice the logit must give twice the scores", 1e-4)


def complete(m: Bound) -> None:
    """Who names a ``base`` sums to f(x) - f(base) over all features, for every base it offers."""
    _only_signed(m)
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
    if _family(m) != "control":
        raise NotTried("is no control")
    tried = ((additive(), 1), (bent(), 0), (additive(-1.0), 1))
    made = [explain(m, model, read(model), label).free for model, label in tried]
    expect(all(np.array_equal(made[0], free) for free in made), "a control must not look at the model")


def needs(m: Bound) -> None:
    """A model that can do what is declared and nothing else suffices; one that cannot is refused with the reason."""
    require(m)
    least = additive().without(*(ALL - m.needs - {"logits", "logp", "choice"}))
    explain(m, least, read(least))
    for ability in m.needs - {"logits", "logp", "choice"}:
        reason = applicable(m, least.without(ability))
        expect(ability in reason, f"a model without {ability} is not refused: '{reason}'")


CONTRACTS = (
    family,
    shape,
    one_word,
    equal_words,
    input_untouched,
    repeatable,
    own_draws,
    seed,
    crowd,
    weights,
    sign,
    target,
    no_hidden_scale,
    complete,
    blind,
    needs,
)
