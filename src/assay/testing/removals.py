"""What every removal operator must keep: it touches what it is told to, all of it, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.engine import Engine
from assay.registry import Bound
from assay.testing import global_draws
from assay.testing.bench import additive, read, require
from assay.testing.result import expect
from assay.testing.toys import ALL
from assay.types import KEEP, Bools, Edit, Example, Input, Probe, Variants

KEEPS = np.array([[1, 1, 1, 1, 1], [0, 1, 1, 1, 1], [1, 0, 1, 0, 1], [0, 0, 0, 0, 0]], dtype=bool)
"""All, one gone, two gone, none left."""


def _made(r: Bound, keep: Bools = KEEPS, x: Input | None = None) -> tuple[Input, Variants]:
    require(r)
    model = additive()
    x = read(model) if x is None else x
    made = Engine(model).ask(r(x, keep))
    expect(isinstance(made, Variants), f"returns {type(made).__name__}, expected Variants")
    return x, made


def identity(r: Bound) -> None:
    """When everything is kept, the text is untouched."""
    _, made = _made(r)
    expect((made.edit.codes[made.owner == 0] == KEEP).all(), "a row that keeps everything is changed")


def only_what_is_listed(r: Bound) -> None:
    """A feature that is kept is not touched."""
    x, made = _made(r)
    kept = np.ones((len(KEEPS), x.n), dtype=bool)
    kept[:, x.free] = KEEPS
    touched = made.edit.codes != KEEP
    expect(not (touched & kept[made.owner]).any(), "a kept word is changed")


def all_that_is_listed(r: Bound) -> None:
    """A feature that is not kept is gone or replaced."""
    x, made = _made(r)
    codes = made.edit.codes[:, x.free]
    expect((codes[~KEEPS[made.owner]] != KEEP).all(), "a word that should go is kept")


def never_what_is_not_free(r: Bound) -> None:
    """Special tokens and held words stay, even when the question says otherwise."""
    two = Example("two", {"text": "alpha bravo", "more": "charlie"})
    held = additive().read(two).hold("more")
    _, made = _made(r, np.zeros((2, held.n), dtype=bool), held)
    expect((made.edit.codes[:, ~held.free] == KEEP).all(), "a feature that is not free is changed")


def weights_sum_to_one(r: Bound) -> None:
    """Every question has rows, and their weights sum to one."""
    _, made = _made(r)
    total = np.bincount(made.owner, made.weight, minlength=len(KEEPS))
    expect(len(total) == len(KEEPS), "rows stand for questions that were not asked")
    expect(np.allclose(total, 1.0) and (made.weight >= 0).all(), f"weights sum to {total.tolist()}")


def nothing_left(r: Bound) -> None:
    """A text of which nothing free is left can still be asked about."""
    x, made = _made(r)
    model = additive()
    (reading,) = model.answer([Probe(x, Edit(made.edit.codes[made.owner == 3], made.edit.fills))])
    expect(np.isfinite(reading["logits"]).all(), "the model has no answer when all words are gone")


def repeatable(r: Bound) -> None:
    """Asked twice, the same rows; and global random states stay where they are."""
    found: list[Any] = []
    for seed in (1, 2):
        with global_draws.seeded(seed):
            before = global_draws.state()
            _, made = _made(r)
            expect(global_draws.state() == before, "moves a global random state")
        found.append((made.edit.codes.tolist(), made.edit.fills, made.weight.tolist()))
    expect(found[0] == found[1], "two runs give different rows")


def needs(r: Bound) -> None:
    """A model that can do what is declared and nothing else can answer."""
    require(r)
    model = additive().without(*(ALL - r.needs - {"logits", "logp", "choice"}))
    x = read(model)
    made: Variants = Engine(model).ask(r(x, KEEPS))
    Engine(model).ask(_ask(Probe(x, made.edit)))


def _ask(probe: Probe) -> Any:
    return (yield probe)


CONTRACTS = (
    identity,
    only_what_is_listed,
    all_that_is_listed,
    never_what_is_not_free,
    weights_sum_to_one,
    nothing_left,
    repeatable,
    needs,
)
