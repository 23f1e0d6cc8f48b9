"""How every attribution method must behave: one finite score per word, repeatable, batched or not, nothing hidden."""

from __future__ import annotations

import numpy as np

from assay.case import applicable
from assay.engine import Engine
from assay.registry import Bound
from assay.testing import global_draws
from assay.testing.bench import LONG, TEXT, WEIGHTS, additive, bent, explain, read, require, unpacked
from assay.testing.declared import FAMILIES, family_of, same, signed
from assay.testing.result import NotTried, expect
from assay.testing.toys import ALL, Recorder
from assay.types import Example, Target


def family(m: Bound) -> None:
    """Declares one of the families that a verdict compares."""
    expect(family_of(m) in FAMILIES, f"family is '{family_of(m)}', expected one of {', '.join(FAMILIES)}")


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
        if signed(m):
            expect(np.sign(score) == np.sign(WEIGHTS[word]), f"'{word}' alone scores {score:.3g}")


def equal_words(m: Bound) -> None:
    """The same word four times, in a model that ignores order: finite, and equal unless drawn."""
    require(m)
    model = bent()
    free = explain(m, model, read(model, "charlie " * 4)).free
    expect(np.isfinite(free).all(), "equal words: a score is not finite")
    if not m.seeded:
        same(free, np.full(4, free.mean()), "equal words")


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
            same(unpacked(done.result, done.key).free, alone, f"alone or in batches of {budget} tokens")


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
    needs,
)
