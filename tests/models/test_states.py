"""How alike states are: conicity by hand, padding and unattended places left out, in batches."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from assay.answers.states import cosine_to_mean
from assay.models.additive import Additive
from assay.models.attention_layers import Shape
from assay.models.attention_net import new_net
from assay.models.attention_rnn import AttentionRNN
from assay.models.attention_text import SPECIALS, Reader, Vocabulary
from assay.types import HIDE, CannotDo, Edit, Example, Probe

STATES = frozenset({"states"})


def recurrent(query: bool = False) -> AttentionRNN:
    fields = ("premise", "hypothesis") if query else ("text",)
    reader = Reader(Vocabulary(("a", "bad", "film", "good", "not", "the")), fields, "hypothesis" if query else "")
    net = new_net(Shape(6 + len(SPECIALS), 2, query=query, embed=6, width=8, align=5), 3)
    with torch.no_grad():
        net.embedding.weight.mul_(10)
    return AttentionRNN(net, reader, labels=("no", "yes"), device="cpu")


def test_conicity_by_hand() -> None:
    states = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [9.0, 9.0]], [[2.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]])
    attend = torch.tensor([[True, True, False], [True, True, True]])
    half = 2**-0.5
    torch.testing.assert_close(cosine_to_mean(states, attend), torch.tensor([[half, half, 0.0], [1.0, 1.0, -1.0]]))


def test_nothing_attended_is_zero_and_no_nan() -> None:
    got = cosine_to_mean(torch.ones(1, 2, 3), torch.zeros(1, 2, dtype=torch.bool))
    assert got.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("query", [False, True])
def test_the_answer_is_what_the_nets_states_give(query: bool) -> None:
    model = recurrent(query)
    texts = {"premise": "the film not bad", "hypothesis": "a good"} if query else {"text": "the film not bad"}
    x = model.read(Example("1", texts))
    got = model.answer([Probe(x, Edit.none(x), STATES)])[0]
    batch = model.batch([Probe(x, Edit.none(x))])
    states = model.forward(batch).states
    assert states is not None
    h = states[0][model.attended(batch)[0]].detach().numpy()
    assert len(h) == 4
    middle = h.mean(0)
    cosines = h @ middle / (np.linalg.norm(h, axis=1) * np.linalg.norm(middle))
    assert got["conicity"][0] == pytest.approx(cosines.mean(), abs=1e-5)
    np.testing.assert_allclose(got["states"][0][got["states"][0] != 0], cosines, atol=1e-5)


def test_padding_and_hidden_words_change_nothing() -> None:
    model = recurrent()
    x, y = (model.read(Example(t, {"text": t})) for t in ("not bad", "the film not bad a good film"))
    alone = [model.answer([Probe(z, Edit.none(z), STATES)])[0]["conicity"][0] for z in (x, y)]
    both = model.answer([Probe(x, Edit.none(x), STATES), Probe(y, Edit.none(y), STATES)])
    np.testing.assert_allclose([r["conicity"][0] for r in both], alone, atol=1e-5)
    codes = np.zeros((1, y.n), dtype=np.int32)
    codes[0, 1] = HIDE
    hidden = model.answer([Probe(y, Edit(codes), STATES)])[0]
    assert hidden["states"][0, 1] == 0.0
    assert hidden["conicity"][0] != pytest.approx(alone[1], abs=1e-6)


def test_a_model_without_states_says_so() -> None:
    model = Additive(weights={"a": 1.0})
    x = model.read(Example("1", {"text": "a b"}))
    with pytest.raises(CannotDo, match="states"):
        model.answer([Probe(x, Edit.none(x), STATES)])
