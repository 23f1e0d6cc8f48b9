"""Knows how often a model goes wrong on the cut-up texts from which removal methods draw their conclusions."""

from __future__ import annotations

import numpy as np

from assay.ask import all_then_each_left_out, outcomes, rng
from assay.registry import test
from assay.sampling import neighbours
from assay.types import Asking, BadInput, Bools, Input, Reading, Removal, Seed, Target

SEED = Seed(0)


@test(
    "accuracy-drop",
    of="input",
    asks="",
    headline="drop_one",
    better="",
    claim="Taking words away makes the model go wrong.",
    bounds=(-1.0, 1.0),
    paper="Pham et al. 2022, Double trouble",
)
def accuracy_drop(
    x: Input, target: Target, *, removal: Removal = "delete", samples: int = 1000, seed: Seed = SEED
) -> Asking:
    """Fall of accuracy when one word goes, and on LIME's samples.

    right(x) = 1 if the model chooses the right answer (where none is known: what it chose for the untouched text).
    ``drop_one`` = right(x) - mean_i right(x without i); ``drop_lime`` = right(x) - mean_s right(x_s) over ``samples``
    - 1 copies with 1..n words gone, number and choice uniform; ``flips_one`` = share of words without which the
    choice is another. Means over a data set times 100 are the percentage points of Pham et al. 2022's Table 4. High:
    the operator breaks the text, so methods that use it describe the model where it fails (LIME far more than
    leave-one-out). Below zero: texts that were wrong become right. A likely class keeps its accuracy without any
    words, so compare operators on the same examples. The samples are those of ``lime`` with the same seed, number
    and operator, and are then asked once.

    >>> from assay.engine import Engine
    >>> from assay.models.additive import Additive
    >>> from assay.registry import bind
    >>> from assay.types import Example
    >>> toy = Additive(weights={"good": 2.0}, bias=[0.0, -1.0])
    >>> x = toy.read(Example("1", {"text": "a good film"}, 1))
    >>> values = Engine(toy).ask(bind("tests", "accuracy-drop")(x, Target((1,))))
    >>> round(values["drop_one"], 4), round(values["flips_one"], 4)
    (0.3333, 0.3333)
    """
    if samples < 2:
        raise BadInput(f"accuracy-drop: needs samples >= 2, got {samples}")
    drawn = neighbours(rng(seed, x, "lime"), samples, x.size)[1:]
    reading = yield from outcomes(x, np.vstack([all_then_each_left_out(x), drawn]), removal)
    right = rightly(reading, x.example.gold)
    one, many = right[1 : 1 + x.size], right[1 + x.size :]
    same = (reading.choice == reading.choice[0]).all(axis=1)[1 : 1 + x.size]
    return {
        "drop_one": float(right[0]) - float(one.mean()),
        "drop_lime": float(right[0]) - float(many.mean()),
        "flips_one": 1.0 - float(same.mean()),
    }


def rightly(reading: Reading, gold: int | None) -> Bools:
    """Rows whose choice is the right answer, or, where none is known, the choice of the first row."""
    wanted = reading.choice[0] if gold is None else np.array([gold])
    return np.asarray((reading.choice == wanted).all(axis=1))
