"""Input marginalisation against hand values, its bound, and texts at the edge of what can be asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

from assay.engine import Engine
from assay.models import masked_lm
from assay.models.black_box import BlackBox
from assay.models.hf_load import quiet
from assay.models.masked_lm import MaskedLM
from assay.registry import bind
from assay.testing.toy_lm import ToyLM
from assay.testing.toys import Toy
from assay.types import Example, Floats, Model, Target

YES = Target((1,))


def logodds(p: float) -> float:
    return float(np.log(p / (1 - p)))


def sigmoid(z: float) -> float:
    return float(1 / (1 + np.exp(-z)))


def explained(
    model: Model, lm: Any, text: str, spec: str = "input-marginalisation", target: Target = YES
) -> tuple[Floats, dict[str, Any]]:
    method = bind("methods", spec, {"models": lambda _: lm})
    scores, notes = Engine(model).ask(method(model.read(Example("1", {"text": text})), target))
    return scores, notes


def test_a_word_that_the_language_model_is_sure_of_scores_exactly_zero() -> None:
    scores, notes = explained(Toy({"good": 3.0}), ToyLM({"good": 1.0}), "good")
    assert scores.tolist() == [0.0]
    assert notes == {"lm": "toy-lm", "mass": 1.0, "fills": [[["good", 1.0]]]}


def test_two_equally_likely_words_give_the_hand_value() -> None:
    """The toy adds 0.3 to every text: a = logodds s(2.3) - logodds((s(2.3) + s(-0.7)) / 2)."""
    scores, _ = explained(Toy({"good": 2.0, "dull": -1.0}), ToyLM({"good": 0.5, "dull": 0.5}), "good")
    assert scores.tolist() == pytest.approx([2.3 - logodds((sigmoid(2.3) + sigmoid(-0.7)) / 2)])


def test_probabilities_of_the_fills_are_renormalised() -> None:
    """Fills of .3 and .1 count as 3/4 and 1/4; the mass that they cover is told."""
    scores, notes = explained(Toy({"good": 2.0, "dull": -1.0}), ToyLM({"dull": 0.3, "fine": 0.1}), "good")
    assert scores.tolist() == pytest.approx([2.3 - logodds(0.75 * sigmoid(-0.7) + 0.25 * sigmoid(0.3))])
    assert notes["mass"] == pytest.approx(0.4)
    assert notes["fills"] == [[["dull", 0.3], ["fine", 0.1]]], "as likely as the language model says, likeliest first"


@pytest.mark.parametrize("p", [0.05, 0.5, 0.99])
@pytest.mark.parametrize("weight", [0.5, 3.0, 12.0])
def test_the_score_is_bounded_by_how_sure_the_language_model_is(p: float, weight: float) -> None:
    """a <= logodds f - logodds(p f), since the other fills cannot take away more than all they have."""
    scores, _ = explained(Toy({"good": weight, "awful": -20.0}), ToyLM({"good": p, "awful": 1 - p}), "good")
    f = sigmoid(weight + 0.3)
    assert scores[0] <= logodds(f) - logodds(p * f) + 1e-9
    assert scores[0] == pytest.approx(logodds(f) - logodds(p * f + (1 - p) * sigmoid(-19.7)))


def test_settings_of_the_fills_belong_to_the_operator() -> None:
    toy, lm = Toy({"good": 2.0, "dull": -1.0}), ToyLM({"good": 0.6, "dull": 0.4})
    first, _ = explained(toy, lm, "good", "input-marginalisation(removal=mlm-marginal(top=1))")
    assert first.tolist() == [0.0]
    other, _ = explained(toy, lm, "good", "input-marginalisation(removal=mlm-marginal(original=leave-out))")
    assert other.tolist() == pytest.approx([3.0])


# -------------------------------------------------------------------------------------------------- edges


@pytest.fixture(scope="module")
def lm() -> MaskedLM:
    """A small BERT with random weights that knows a few words and the alphabet."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "of", "and", "good", "film", ".", *letters]
    tokens = [*words, *(f"##{c}" for c in letters)]
    config = BertConfig(
        vocab_size=len(tokens), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24
    )
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = BertForMaskedLM(config)
    reader = BertTokenizer(vocab={w: i for i, w in enumerate(tokens)}, model_max_length=512)
    return masked_lm.load((net, reader), device="cpu")


EDGES = {
    "a document of 300 words": " ".join(["the good film of"] * 75),
    "one word": "good",
    "only stop words": "the of and the",
    "a word of ten pieces": "the qwertyuiop film",
    "punctuation": "good . film .",
}


@pytest.mark.parametrize("text", EDGES.values(), ids=EDGES.keys())
def test_every_word_of_any_text_gets_a_finite_score(lm: MaskedLM, text: str) -> None:
    scores, notes = explained(Toy({"good": 2.0, "film": -1.0}, budget=10**6), lm, text)
    assert scores.shape == (len(text.split()),)
    assert np.isfinite(scores).all()
    assert 0 < notes["mass"] <= 1


def test_a_class_that_is_certain_gives_finite_scores(lm: MaskedLM) -> None:
    toy = Toy({"good": 900.0})
    assert sigmoid(900.3) == 1.0
    scores, _ = explained(toy, lm, "the good film")
    assert np.isfinite(scores).all()
    box = BlackBox(lambda texts: [[0.0, 1.0] if "good" in t else [1.0, 0.0] for t in texts], name="certain")
    scores, _ = explained(box, lm, "the good film")
    assert np.isfinite(scores).all()
    assert scores.argmax() == 1
