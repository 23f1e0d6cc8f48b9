"""The attention papers' models: closed forms, exactness under padding, gradients, edits, folders."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from assay.ask import value
from assay.models.attention_layers import ATTENTIONS, ENCODERS, Shape, sized
from assay.models.attention_net import AttentionNet, Text, new_net
from assay.models.attention_rnn import AttentionRNN, is_folder, load
from assay.models.attention_text import MASK, PAD, SPECIALS, UNK, Reader, Vocabulary, vectors_for
from assay.types import DROP, FILL, HIDE, KEEP, ZERO, AssayError, BadInput, Edit, Example, Noise, Probe, Target

KINDS = list(itertools.product(ENCODERS, ATTENTIONS))
EVERY = list(itertools.product(ENCODERS, ATTENTIONS, (False, True)))
WORDS = ("a", "bad", "but", "dull", "film", "good", "it", "not", "the", "was")
POSITIVE = Target((1,))


def small(encoder: str = "bilstm", attention: str = "additive", query: bool = False, outputs: int = 1) -> Shape:
    return Shape(len(WORDS) + len(SPECIALS), outputs, encoder, attention, query, embed=6, width=8, align=5)  # type: ignore[arg-type]  # names come from the tables


def lively(shape: Shape, seed: int = 1) -> AttentionNet:
    """A fresh net with word vectors large enough for attention to differ between words."""
    net = new_net(shape, seed).eval()
    with torch.no_grad():
        net.embedding.weight.mul_(10)
    return net


def model(encoder: str = "bilstm", attention: str = "additive", query: bool = False, **settings: Any) -> AttentionRNN:
    fields = ("premise", "hypothesis") if query else ("text",)
    reader = Reader(Vocabulary(WORDS), fields, "hypothesis" if query else "", **settings)
    net = lively(small(encoder, attention, query, 3 if query else 1))
    labels = ("no", "maybe", "yes") if query else ("negative", "positive")
    return AttentionRNN(net, reader, labels=labels, device="cpu")


def example(*texts: str) -> Example:
    return Example("e", dict(zip(("text",) if len(texts) == 1 else ("premise", "hypothesis"), texts, strict=True)), 1)


def padded(lengths: list[int], query: bool = False) -> Text:
    """Random rows; with a query, the second half of each row asks."""
    draw = torch.Generator().manual_seed(0)
    ids = torch.zeros(len(lengths), max(lengths), dtype=torch.long)
    there, asks = torch.zeros_like(ids, dtype=torch.bool), torch.zeros_like(ids, dtype=torch.bool)
    for row, n in enumerate(lengths):
        ids[row, :n] = torch.randint(len(SPECIALS), len(SPECIALS) + len(WORDS), (n,), generator=draw)
        there[row, :n] = True
        asks[row, (n + 1) // 2 : n] = query
    return Text(ids, there, there & ~asks, asks if query else None)


def row_of(text: Text, row: int) -> Text:
    n = int(text.there[row].sum())
    cut = [None if t is None else t[row : row + 1, :n] for t in (text.ids, text.there, text.attend, text.query)]
    return Text(*cut)  # type: ignore[arg-type]  # only the query may be None


# ---------------------------------------------------------------------------------------------- the nets


@pytest.mark.parametrize(("encoder", "attention", "query"), EVERY)
def test_attention_sums_to_one_over_attended_places_and_is_zero_elsewhere(
    encoder: str, attention: str, query: bool
) -> None:
    text = padded([2, 5, 9], query)
    weights = lively(small(encoder, attention, query))(text).attention
    assert torch.allclose(weights.sum(1), torch.ones(3), atol=1e-6)
    assert (weights[~text.attend] == 0).all()
    assert (weights[text.attend] > 0).all()


@pytest.mark.parametrize(("encoder", "attention", "query"), EVERY)
def test_padding_never_changes_a_result(encoder: str, attention: str, query: bool) -> None:
    net, text = lively(small(encoder, attention, query, outputs=3)), padded([1, 6, 400], query)
    together = net(text)
    for row in range(3):
        alone = net(row_of(text, row))
        n = alone.attention.shape[1]
        assert torch.allclose(together.logits[row], alone.logits[0], atol=1e-5)
        assert torch.allclose(together.attention[row, :n], alone.attention[0], atol=1e-5)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_uniform_attention_is_mean_pooling(encoder: str) -> None:
    net, text = lively(small(encoder, "uniform")), padded([3, 7])
    seen = net(text)
    counts = text.there.sum(1, keepdim=True)
    assert torch.equal(seen.attention, text.there / counts)
    mean = (seen.states * text.there.unsqueeze(-1)).sum(1) / counts
    assert torch.allclose(seen.logits, net.decoder(mean), atol=1e-6)


@pytest.mark.parametrize(("encoder", "attention"), KINDS)
def test_the_binary_decoder_is_linear_in_attention(encoder: str, attention: str) -> None:
    net, text = lively(small(encoder, attention)), padded([4, 8])
    seen = net(text)
    scores = net.place_scores(seen.states)[..., 0]
    expected = (seen.attention * scores).sum(1) + net.decoder.bias
    assert torch.allclose(seen.logits[:, 0], expected, atol=1e-5)
    other = torch.rand(5, 2, 8, generator=torch.Generator().manual_seed(2))
    many = net.decode(other, net.encode(text))
    assert torch.allclose(many[..., 0], (other * scores).sum(-1) + net.decoder.bias, atol=1e-5)


def test_additive_attention_by_hand() -> None:
    """score_t = v . tanh(W1 h_t + W2 q): with W1 = 1, v = 2 and q given, the softmax is arithmetic."""
    layer = ATTENTIONS["additive"](Shape(9, 1, query=True, width=1, align=1))
    with torch.no_grad():
        for name, p in layer.named_parameters():
            p.fill_({"vector.weight": 2.0, "of_state.bias": 0.0}.get(name, 1.0))
    scores = layer(torch.tensor([[[0.5], [-1.0]]]), torch.tensor([[0.25]]))
    assert scores.tolist()[0] == pytest.approx([2 * np.tanh(0.75), 2 * np.tanh(-0.75)], abs=1e-6)


def test_scaled_dot_with_a_query_is_the_dot_product_over_the_root_of_the_width() -> None:
    layer = ATTENTIONS["dot"](Shape(9, 1, query=True, width=4))
    states, asked = torch.arange(8.0).reshape(1, 2, 4), torch.tensor([[1.0, 0.0, 2.0, 0.0]])
    assert layer(states, asked).tolist() == [[(0 + 4) / 2, (4 + 12) / 2]]


def test_bilstm_states_equal_the_library_run_row_by_row() -> None:
    net, text = lively(small()), padded([3, 9, 1])
    rnn: Any = net.encoder.rnn
    states = net.encode(text).states
    for row, n in enumerate((3, 9, 1)):
        alone, _ = rnn(net.embedding(text.ids[row : row + 1, :n]))
        assert torch.allclose(states[row, :n], alone[0], atol=1e-6)


@pytest.mark.parametrize(("encoder", "attention", "query"), EVERY)
def test_double_backward_agrees_with_finite_differences(encoder: str, attention: str, query: bool) -> None:
    net = lively(small(encoder, attention, query)).double()
    text = padded([3, 5], query)

    def slope(weight: Tensor) -> Tensor:
        leaf: list[Tensor] = []

        def change(e: Tensor) -> Tensor:
            leaf.append((e * weight).detach().requires_grad_(True) if not weight.requires_grad else e * weight)
            return leaf[0]

        z = net(text, change).logits.sum()
        (g,) = torch.autograd.grad(z, leaf[0], create_graph=True)
        return g.pow(2).sum()

    at = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    (exact,) = torch.autograd.grad(slope(at), at)
    h = 1e-5
    up, down = (slope(torch.tensor(w, dtype=torch.float64)) for w in (0.7 + h, 0.7 - h))
    assert exact.item() == pytest.approx((up - down).item() / (2 * h), rel=1e-6, abs=1e-8)


def test_sizes_of_paper_and_code_differ_where_the_facts_say() -> None:
    found = {
        (e, s): (shape.embed, shape.width, shape.align, shape.squash)
        for e in ("bilstm", "cnn", "average")
        for s in ("paper", "code")
        for shape in [sized(Shape(9, 1, e), s)]
    }
    assert found == {
        ("bilstm", "paper"): (300, 256, 128, "tanh"),
        ("bilstm", "code"): (300, 256, 128, "tanh"),
        ("cnn", "paper"): (300, 256, 128, "tanh"),
        ("cnn", "code"): (300, 128, 128, "tanh"),
        ("average", "paper"): (300, 256, 128, "relu"),
        ("average", "code"): (300, 128, 128, "tanh"),
    }
    net = new_net(sized(Shape(9, 1, "cnn"), "code"), 0)
    assert [tuple(f.weight.shape) for f in net.encoder.filters] == [(32, 300, k) for k in (1, 3, 5, 7)]  # type: ignore[union-attr]  # a ModuleList


# -------------------------------------------------------------------------------------------- the family


def test_reading_puts_each_field_between_edges_that_are_not_free() -> None:
    x = model().read(example("The film was good"))
    assert x.words == ("[SOS]", "The", "film", "was", "good", "[EOS]")
    assert x.free.tolist() == [False, True, True, True, True, False]
    pair = model(query=True).read(example("The film", "It was"))
    assert pair.words == ("[SOS]", "The", "film", "[EOS]", "[SOS]", "It", "was", "[EOS]")


def test_without_edges_there_are_only_words() -> None:
    m = model(edges=False)
    x = m.read(example("good film"))
    assert x.words == ("good", "film")
    assert m.encode(x).ids.tolist() == [10, 9]


def test_unit_of_the_explanation_need_not_be_the_models() -> None:
    m = model(unit="word")
    x = m.read(example("it was good, not bad"), "spacy")
    (reading,) = m.answer([Probe(x, Edit.none(x), frozenset({"attention"}))])
    assert reading["attention"].shape == (1, x.n)
    assert reading["attention"].sum() == pytest.approx(1, abs=1e-6)
    assert m.read(example("it was"), "piece").words == m.read(example("it was"), "word").words


def test_unknown_words_and_preparation() -> None:
    m = model()
    assert m.word_ids("Film") == [9]
    assert m.word_ids("zebra") == [UNK]
    assert m.word_ids("good film") == [10, 9]
    assert m.word_ids(" ") == [UNK]


@pytest.mark.parametrize("query", [False, True])
def test_edits_equal_the_edited_text(query: bool) -> None:
    """Dropping and filling words gives what the model says of the text so written."""
    m = model(query=query)
    texts = ("it was a good film", "the film was not bad") if query else ("it was a good film",)
    x = m.read(example(*texts))
    codes = np.zeros((2, x.n), dtype=np.int32)
    codes[0, [1, 4]] = DROP
    codes[1, 4] = FILL
    (edited,) = m.answer([Probe(x, Edit(codes, ("dull",)))])
    for row, first in enumerate(("was a film", "it was a dull film")):
        y = m.read(example(first, *texts[1:]))
        (plain,) = m.answer([Probe(y, Edit.none(y))])
        assert edited["logits"][row] == pytest.approx(plain["logits"][0], abs=1e-5)


def test_a_pair_is_answered_alike_in_any_company() -> None:
    m = model(query=True)
    pairs = [("it was good", "not bad"), ("the film", "the film was a bad but good film"), ("a " * 60, "it")]
    inputs = [m.read(example(*p)) for p in pairs]
    want = frozenset({"attention", "dot"})
    together = m.answer([Probe(x, Edit.none(x), want) for x in inputs])
    for x, found in zip(inputs, together, strict=True):
        (alone,) = m.answer([Probe(x, Edit.none(x), want)])
        for name in ("logits", "attention", "dot"):
            assert found[name] == pytest.approx(alone[name], abs=1e-5)
        asks = np.array([p.field == "hypothesis" for p in x.places])
        assert (found["attention"][0, asks] == 0).all()
        assert found["attention"].sum() == pytest.approx(1, abs=1e-6)


def test_hidden_words_get_no_attention_but_are_read() -> None:
    m = model()
    x = m.read(example("it was a good film"))
    codes = np.zeros((2, x.n), dtype=np.int32)
    codes[1, 4] = HIDE
    (found,) = m.answer([Probe(x, Edit(codes), frozenset({"attention"}))])
    plain, hidden = found["attention"]
    assert hidden[4] == 0
    rest = np.delete(plain, 4)
    assert np.delete(hidden, 4) == pytest.approx(rest / rest.sum(), abs=1e-6)  # the states stayed the same
    assert "hide" not in model(query=True).can


def test_zeroed_words_have_a_zero_vector() -> None:
    m = model()
    x = m.read(example("it was good"))
    (zeroed,) = m.answer([Probe(x, Edit.where_gone(x, np.array([[True, True, False]]), ZERO))])
    with torch.no_grad():
        m.net.embedding.weight[10] = 0.0
    (plain,) = m.answer([Probe(x, Edit.none(x))])
    assert zeroed["logits"] == pytest.approx(plain["logits"], abs=1e-6)


@pytest.mark.parametrize("edges", [True, False])
@pytest.mark.parametrize("code", [DROP, HIDE])
def test_nothing_attended_leaves_the_bias(edges: bool, code: int) -> None:
    m = model(edges=edges)
    x = m.read(example("it was good"))
    (found,) = m.answer([Probe(x, Edit.where_gone(x, np.zeros((1, 3), dtype=bool), code), frozenset({"attention"}))])
    bias = float(m.net.decoder.bias[0])
    assert found["logits"][0, 0].tolist() == pytest.approx([-bias, bias], abs=1e-6)
    assert (found["attention"] == 0).all()


def test_imposed_attention_is_what_the_decoder_averages() -> None:
    m = model()
    x = m.read(example("it was a good film"))
    batch = m.batch([Probe(x, Edit.none(x))])
    imposed = np.zeros((2, x.n))
    imposed[0, 4], imposed[1, 1:6] = 1.0, 0.2
    (found,) = m.answer([Probe(x, Edit.none(x, 2), attention=imposed)])
    scores = m.net.place_scores(m.net.encode(m.text(batch)).states)[0, :, 0].detach().numpy()
    bias = float(m.net.decoder.bias[0])
    assert found["logits"][:, 0, 1] == pytest.approx([scores[4] + bias, scores[1:6].mean() + bias], abs=1e-5)


def test_states_held_once_decode_under_many_attentions() -> None:
    for m in (model(), model(query=True)):
        x = m.read(example("it was a good film", *(["not bad"] if m.reader.query else [])))
        batch = m.batch([Probe(x, Edit.none(x))])
        held = m.held(batch)
        assert torch.allclose(held.logits(held.attention), m.forward(batch).logits, atol=1e-6)
        turned = torch.stack([held.attention, held.attention.roll(1, -1)])
        assert torch.allclose(held.logits(turned)[1], m.forward(batch, attention=turned[1]).logits, atol=1e-6)
        assert held.attend.sum() == 5


@pytest.mark.parametrize(("encoder", "attention", "query"), EVERY)
@pytest.mark.parametrize("hold", [False, True])
def test_dot_agrees_with_finite_differences(encoder: str, attention: str, query: bool, hold: bool) -> None:
    """Moving all embeddings of a feature by the factor 1 + h changes the score by h times its dot."""
    m = model(encoder, attention, query)
    m.net.double()
    x = m.read(example("it was a good film", *(["not bad"] if query else [])))
    how = (("hold", True),) if hold else ()
    (found,) = m.answer([Probe(x, Edit.none(x), frozenset({"dot"}), POSITIVE, "logprob", how=how)])
    batch = m.batch([Probe(x, Edit.none(x))])
    kept = m.forward(batch).attention if hold else None

    def score(feature: int, h: float) -> float:
        factor = torch.ones(1, x.n, 1, dtype=torch.float64)
        factor[0, feature] = 1 + h
        with torch.no_grad():
            logits = m.forward(batch, lambda e: e * factor, kept).logits
        reading = replace(found, arrays={"logits": logits.numpy()})
        return float(value(reading, POSITIVE, "logprob")[0])

    numeric = [(score(i, 1e-5) - score(i, -1e-5)) / 2e-5 for i in range(x.n)]
    assert found["dot"][0] == pytest.approx(numeric, abs=2e-5)


def test_two_labels_are_one_logit() -> None:
    m = model()
    x = m.read(example("it was a good film"))
    (found,) = m.answer([Probe(x, Edit.none(x))])
    z = float(m.net(m.text(m.batch([Probe(x, Edit.none(x))]))).logits[0, 0])
    assert m.head == "binary"
    assert found["logits"][0, 0].tolist() == pytest.approx([-z, z])
    assert np.exp(found.logp).sum() == pytest.approx(1)


def test_scale_noise_and_special_tokens_are_answered() -> None:
    m = model()
    assert {
        "dot",
        "norm",
        "attention",
        "hold",
        "attend",
        "hide",
        "zero",
        "unk",
        "pad",
        "mask",
        "scale",
        "noise",
    } <= m.can
    assert m.budget == 16384
    x = m.read(example("it was a good film"))
    noise = Noise(0.1, np.array([5, 5, 6]))
    (noisy,) = m.answer([Probe(x, Edit.none(x, 3), noise=noise)])
    assert noisy["logits"][0] == pytest.approx(noisy["logits"][1])
    assert noisy["logits"][0] != pytest.approx(noisy["logits"][2])
    (scaled,) = m.answer([Probe(x, Edit.none(x, 2), scale=np.array([0.0, 1.0]))])
    zeroed = np.full((2, x.n), ZERO, dtype=np.int32)
    zeroed[1] = KEEP
    (expected,) = m.answer([Probe(x, Edit(zeroed))])
    assert scaled["logits"] == pytest.approx(expected["logits"], abs=1e-6)


def test_wrong_fields_and_empty_texts_are_refused_in_one_line() -> None:
    with pytest.raises(
        BadInput, match="example e has the fields premise, hypothesis; attention-rnn was trained on text"
    ):
        model().read(example("a", "b"))
    with pytest.raises(BadInput, match="field 'text' has no words"):
        model().read(example("  "))
    renamed = Example("r", {"sentence": "it was good"})
    assert model().read(renamed).size == 3


# ----------------------------------------------------------------------------------------------- folders


@pytest.mark.parametrize("query", [False, True])
def test_a_saved_model_comes_back_to_the_bit(tmp_path: Path, query: bool) -> None:
    m = model(query=query)
    m.notes = {"seed": 3}
    back = load(m.save(tmp_path / "m"), device="cpu")
    assert all(
        torch.equal(a, b) for a, b in zip(m.net.state_dict().values(), back.net.state_dict().values(), strict=True)
    )
    assert (back.fingerprint, back.labels, back.head, back.notes) == (m.fingerprint, m.labels, m.head, {"seed": 3})
    x = m.read(example("it was good", *(["not bad"] if query else [])))
    ours, theirs = m.answer([Probe(x, Edit.none(x))])[0], back.answer([Probe(x, Edit.none(x))])[0]
    assert np.array_equal(ours["logits"], theirs["logits"])
    assert is_folder(tmp_path / "m")


def test_the_fingerprint_follows_weights_and_vocabulary() -> None:
    one, other = model(), model()
    assert one.fingerprint == other.fingerprint
    other = model()
    with torch.no_grad():
        other.net.decoder.bias.add_(1e-3)
    assert one.fingerprint != other.fingerprint
    words = AttentionRNN(one.net, replace(one.reader, vocabulary=Vocabulary(WORDS[::-1])), labels=one.labels)
    assert one.fingerprint != words.fingerprint


def broken(folder: Path, how: str) -> None:
    config, weights = folder / "config.json", folder / "model.safetensors"
    if how == "no config":
        config.unlink()
    elif how == "no weights":
        weights.unlink()
    elif how == "cut config":
        config.write_text(config.read_text()[:40])
    elif how == "cut weights":
        weights.write_bytes(weights.read_bytes()[:-100])
    elif how == "other family":
        config.write_text('{"model_type": "bert"}')
    elif how == "other format":
        config.write_text(json.dumps(json.loads(config.read_text()) | {"format": 99}))
    elif how == "other shape":
        facts = json.loads(config.read_text())
        config.write_text(json.dumps(facts | {"shape": facts["shape"] | {"width": 16}}))
    else:
        config.write_text(json.dumps({"family": "attention-rnn", "format": 1}))


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("no config", "holds no config.json"),
        ("no weights", "holds no model.safetensors"),
        ("cut config", "not JSON"),
        ("cut weights", "damaged or cut short"),
        ("other family", "is not of the family attention-rnn"),
        ("other format", "has format 99, this version reads 1"),
        ("other shape", "do not fit"),
        ("empty config", "do not fit"),
    ],
)
def test_a_broken_folder_is_one_line(tmp_path: Path, how: str, says: str) -> None:
    model().save(tmp_path)
    broken(tmp_path, how)
    with pytest.raises(AssayError, match=says) as caught:
        load(tmp_path)
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------------------------- vocabulary, vectors


def test_vectors_from_a_file_or_an_array_and_zero_for_the_rest(tmp_path: Path) -> None:
    vocabulary = Vocabulary(("film", "good", "odd"))
    file = tmp_path / "v.txt"
    file.write_text("3 2\ngood 1 2\nother 9 9\nfilm 3 4\n")
    array = (np.array([[1, 2], [3, 4]], dtype=np.float32), ["good", "film"])
    for source in (file, array):
        table, found = vectors_for(vocabulary, source)
        assert table[len(SPECIALS) :].tolist() == [[3, 4], [1, 2], [0, 0]]
        assert found[len(SPECIALS) :].tolist() == [True, True, False]
        assert not found[[PAD, UNK, MASK]].any()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("good 1 2\nfilm 3\n", "v.txt:2: expected a word and 2 numbers, got 1"),
        ("good 1 x\n", "v.txt:1: not a number"),
        ("gut 1 2\n", "none of the vocabulary's words"),
    ],
)
def test_bad_vectors_are_refused(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "v.txt"
    file.write_text(text)
    with pytest.raises(BadInput, match=says):
        vectors_for(Vocabulary(("film", "good")), file)
    with pytest.raises(BadInput, match="there is no file"):
        vectors_for(Vocabulary(("film",)), tmp_path / "none.txt")
    with pytest.raises(BadInput, match="2 words for an array of shape"):
        vectors_for(Vocabulary(("film",)), (np.zeros((1, 2)), ["a", "b"]))


def test_a_vocabulary_of_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match="no word occurs 3 times"):
        Vocabulary.of([["a", "a"]], min_count=3)
    assert Vocabulary.of([["Top10", "top"]], digits=True).words == ("qqq", "top")
