"""How good fills are, on a language model whose offers are known."""

from __future__ import annotations

import numpy as np
import pytest

from assay.align import places
from assay.engine import Engine
from assay.registry import bind
from assay.testing.toy_lm import ToyLM
from assay.testing.toys import Toy
from assay.types import BadInput, Example, Input, Mark, Target

TOY = Toy({})


class ShortSighted(ToyLM):
    """Sees the first two words only."""

    def read(self, example: Example, unit: str = "word") -> Input:
        found = places(example, unit)[:2]
        return Input(example, unit, found, np.ones(len(found), dtype=bool), "the rest")


def quality(text: str, lm: ToyLM, *marks: Mark, hold: str = "") -> dict[str, float]:
    x = TOY.read(Example("1", {"text": text, "aside": "golf golf"} if hold else {"text": text}, 1, marks)).hold(hold)
    found: dict[str, float] = Engine(TOY).ask(bind("tests", "fill-quality", {"models": lambda _: lm})(x, Target((1,))))
    return found


def test_shares_over_all_words_and_over_the_evidence() -> None:
    """Every gap is offered golf .5, foxtrot .2: two of four words match, of the marked words one of two."""
    lm = ToyLM({"golf": 0.5, "foxtrot": 0.2})
    got = quality("golf club golf foxtrot", lm, Mark("text", 10, 22))
    assert got == pytest.approx(
        {"match": 0.5, "match_evidence": 0.5, "probability": 0.5, "mass": 0.7, "one_piece": 0.75, "seen": 1.0}
    )


def test_what_does_not_exist_is_not_told() -> None:
    assert set(quality("a club", ToyLM())) == {"match", "mass", "one_piece", "seen"}


def test_held_words_do_not_count() -> None:
    assert quality("a golf", ToyLM({"golf": 1.0}), hold="aside")["match"] == 0.5


def test_words_that_the_language_model_does_not_see_are_told() -> None:
    got = quality("golf club golf golf", ShortSighted({"golf": 1.0}))
    assert (got["match"], got["seen"]) == (0.5, 0.5)


def test_a_text_that_it_reads_otherwise_is_refused() -> None:
    x = TOY.read(Example("1", {"text": "golf club", "aside": "golf"})).hold("text")
    with pytest.raises(BadInput, match="sees none of the words: it leaves out the rest"):
        Engine(TOY).ask(bind("tests", "fill-quality", {"models": lambda _: ShortSighted()})(x, Target((1,))))
