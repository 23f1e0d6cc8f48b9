"""Attention that is imposed: own gives the own prediction, other gives what arithmetic says, in every family."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from assay.engine import Engine
from assay.models.attention_layers import Shape
from assay.models.attention_net import new_net
from assay.models.attention_rnn import AttentionRNN
from assay.models.attention_text import SPECIALS, Reader, Vocabulary
from assay.models.hf_text import HFText, load
from assay.registry import bind
from assay.types import DROP, HIDE, OWN, BadInput, CannotDo, Edit, Example, Floats, Input, Probe, Target

WORDS = ["a", "good", "film", ",", "un", "##believ", "##able", "that", "was", "seen", "!", "bad", "not"]
TEXT = "A good film, unbelievable that was seen!"
FAMILIES = ("bert", "distilbert", "roberta", "albert", "electra", "gpt2", "llama")
CHOICES = [{}, {"head": 1}, {"layer": 0}, {"head": 0, "layer": 0, "to": "mean"}, {"to": "mean"}, {"layer": -1}]
How = dict[str, Any]
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # DeBERTa scripts on import


def tokenizer() -> Any:
    vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])}
    made = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = {"unk": "[UNK]", "pad": "[PAD]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    tokens = {f"{k}_token": v for k, v in names.items()}
    return hf.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=64, **tokens)


def config(family: str) -> Any:
    flat = {"vocab_size": len(WORDS) + 5, "num_labels": 3, "initializer_range": 0.3, "pad_token_id": 0}
    long = {"max_position_embeddings": 66}
    deep = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 32}
    if family == "distilbert":
        return hf.DistilBertConfig(n_layers=2, n_heads=2, dim=16, hidden_dim=32, **flat, **long)
    if family == "gpt2":
        return hf.GPT2Config(n_layer=2, n_head=2, n_embd=16, n_positions=66, bos_token_id=2, eos_token_id=3, **flat)
    kinds = {"bert": hf.BertConfig, "albert": hf.AlbertConfig, "electra": hf.ElectraConfig, "roberta": hf.RobertaConfig}
    if family == "llama":
        return hf.LlamaConfig(**deep, **flat, **long, num_key_value_heads=1, bos_token_id=2, eos_token_id=3)
    return kinds[family](**deep, **flat, **long)


@cache
def transformer(family: str) -> HFText:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        net = hf.AutoModelForSequenceClassification.from_config(config(family))
    return load((net.eval(), tokenizer()), device="cpu")


def read(model: Any, text: str = TEXT, unit: str = "word") -> Input:
    return model.read(Example("e", {"text": text}), unit)  # type: ignore[no-any-return]  # any model


def own(model: Any, x: Input, how: How, edit: Edit | None = None) -> Floats:
    probe = Probe(x, edit or Edit.none(x), frozenset({"attention"}), how=tuple(sorted(how.items())))
    return np.asarray(model.answer([probe])[0]["attention"])


def logits(model: Any, x: Input, attention: Floats | None, how: How | None = None, edit: Edit | None = None) -> Floats:
    edit = edit or Edit.none(x, 1 if attention is None else len(attention))
    probe = Probe(x, edit, attention=attention, how=tuple(sorted((how or {}).items())))
    return np.asarray(model.answer([probe])[0]["logits"])


# ------------------------------------------------------------------------------------------- transformers


@pytest.mark.parametrize("how", CHOICES, ids=str)
@pytest.mark.parametrize("unit", ["word", "piece"])
@pytest.mark.parametrize("family", FAMILIES)
def test_own_attention_gives_the_own_prediction(family: str, unit: str, how: How) -> None:
    model = transformer(family)
    x = read(model, unit=unit)
    np.testing.assert_allclose(logits(model, x, own(model, x, how), how), logits(model, x, None), atol=1e-5)


@pytest.mark.parametrize("how", CHOICES, ids=str)
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_imposed_is_what_is_read_and_it_matters(family: str, how: How) -> None:
    model = transformer(family)
    x = read(model)
    other = own(model, x, how)[:, ::-1].copy()
    if family in ("gpt2", "llama") and how.get("to") == "mean":
        other = own(model, x, how) * np.linspace(0.2, 1.5, x.n)  # a later token cannot get weight from earlier ones
    probe = Probe(x, Edit.none(x), frozenset({"attention"}), attention=other, how=tuple(sorted(how.items())))
    got = model.answer([probe])[0]
    np.testing.assert_allclose(got["attention"], other, atol=1e-5)
    assert np.abs(got["logits"] - logits(model, x, None)).max() > 1e-3


@pytest.mark.parametrize("family", FAMILIES)
def test_the_layers_result_is_linear_in_what_is_imposed(family: str) -> None:
    """One layer, no layer above: the attention's output at the query is sum_i a_i u_i, checked on hidden sums."""
    model = transformer(family)
    x = read(model)
    caught: list[torch.Tensor] = []
    from assay.models import hf_attention

    first = own(model, x, {})
    second = np.random.default_rng(0).dirichlet(np.ones(x.n), 1)
    batch = model.batch([Probe(x, Edit.none(x))])
    for weights in (first, second, 0.3 * first + 0.7 * second):
        caught.append(_result(model, batch, batch.share_pieces(torch.tensor(weights, dtype=torch.float32))))
    assert model.net.config._attn_implementation != hf_attention.NAME
    torch.testing.assert_close(caught[2], 0.3 * caught[0] + 0.7 * caught[1], atol=1e-5, rtol=1e-4)


def _result(model: HFText, batch: Any, imposed: torch.Tensor) -> torch.Tensor:
    """What the last layer's attention gives to the query that is meant."""
    from assay.models.hf_attention import Watch, Which, watching

    class Catching(Watch):
        def seen(self, weights: torch.Tensor, value: torch.Tensor, mask: Any) -> torch.Tensor:
            used = super().seen(weights, value, mask)
            self.caught = (used @ value)[:, :, int(which.query[0])]  # type: ignore[index]  # to = cls has a query
            return used

    which = Which.of(batch, model.depth, model.heads, model.decoder)
    watch = Catching(False, False, which, imposed)
    with torch.no_grad(), watching(model.net, watch):
        model.net(input_ids=batch.ids, attention_mask=batch.seen.long())
    return watch.caught


@pytest.mark.parametrize("family", FAMILIES)
def test_the_slope_of_attention_agrees_with_finite_differences(family: str) -> None:
    model = transformer(family)
    x = read(model)
    base = own(model, x, {})
    probe = Probe(x, Edit.none(x), frozenset({"pull"}), Target((1,)), "logit", attention=base)
    slope = model.answer([probe])[0]["pull"][0]
    h = 1e-2
    for i in range(x.n):
        step = np.zeros((1, x.n))
        step[0, i] = h
        up, down = (logits(model, x, base + s * step)[0, 0, 1] for s in (1, -1))
        assert slope[i] == pytest.approx((up - down) / (2 * h), abs=5e-3, rel=2e-2)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_hidden_and_dropped_words_and_padding_change_nothing(family: str) -> None:
    model = transformer(family)
    x, y = read(model), read(model, "bad film")
    codes = np.zeros((2, x.n), dtype=np.int32)
    codes[0, 3], codes[1, 4] = HIDE, DROP
    edit = Edit(codes)
    weights = own(model, x, {}, edit)
    both = model.answer([Probe(x, edit, attention=weights), Probe(y, Edit.none(y), attention=own(model, y, {}))])
    np.testing.assert_allclose(both[0]["logits"], logits(model, x, None, edit=edit), atol=1e-5)
    np.testing.assert_allclose(both[1]["logits"], logits(model, y, None), atol=1e-5)


def test_weight_that_underflows_to_zero_can_be_raised_again() -> None:
    from assay.models.hf_attention import Which

    model = transformer("bert")
    x = read(model, "good film")
    batch = model.batch([Probe(x, Edit.none(x))])
    which = Which.of(batch, 2, 2, False)
    weights = torch.zeros(1, 2, 4, 4)
    weights[..., 0] = 1.0
    wanted = torch.tensor([[0.25, 0.5, 0.25, 0.0]])
    got = which.put(weights, wanted, None)
    torch.testing.assert_close(which.read(got), wanted)
    torch.testing.assert_close(got[:, :, 1:], weights[:, :, 1:])


def test_wrong_places_are_named() -> None:
    model = transformer("bert")
    x = read(model)
    weights = own(model, x, {})
    for how, words in (({"layer": 2}, "layer cannot be 2"), ({"head": 9}, "head cannot be 9"), ({"to": "x"}, "to ca")):
        with pytest.raises(BadInput, match=words):
            logits(model, x, weights, how)
    with pytest.raises(BadInput, match="unknown setting depth"):
        logits(model, x, weights, {"depth": 1})


def test_deberta_takes_our_function_ignores_it_and_is_not_believed() -> None:
    flat = {"vocab_size": len(WORDS) + 5, "num_labels": 3, "pad_token_id": 0, "max_position_embeddings": 64}
    deep = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 32}
    net = hf.AutoModelForSequenceClassification.from_config(hf.DebertaV2Config(**deep, **flat))
    model = load((net.eval(), tokenizer()), device="cpu")
    assert not model.can & {"attend", "adversary", "states", "pull"}
    x = read(model)
    with pytest.raises(CannotDo, match="attend"):
        logits(model, x, np.full((1, x.n), 1 / x.n))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_question_about_attention_can_be_put_to_a_transformer(family: str) -> None:
    model = transformer(family)
    x = read(model)
    engine = Engine(model)
    values = engine.ask(bind("tests", "permutation(times=5)")(x, OWN))
    assert 0 < values["median"] <= 1
    assert -1 <= values["conicity"] <= 1
    gone = engine.ask(bind("tests", "erasure(layer=0)")(x, OWN))
    assert 0 < gone["fraction"] <= 1
    found, detail = engine.ask(bind("tests", "adversarial-attention(steps=30, k=2, epsilon=0.2)")(x, OWN))
    assert found["found"] == 1.0
    assert np.isclose(sum(detail["adversarial"]), 1.0)
    assert found["tvd"] <= 0.2 + 1e-6


# ------------------------------------------------------------------------------------ rollout and norms


def test_rollout_by_hand_on_the_librarys_maps() -> None:
    model = transformer("bert")
    x = read(model, unit="piece")
    batch = model.batch([Probe(x, Edit.none(x))])
    maps = [m.mean(1)[0] for m in model.forward(batch, keep=frozenset({"attention"})).maps]
    eye = torch.eye(x.n)
    wanted = ((maps[1] + eye) / 2) @ ((maps[0] + eye) / 2)
    np.testing.assert_allclose(own(model, x, {"kind": "rollout"})[0], wanted[0].detach(), atol=1e-6)
    np.testing.assert_allclose(own(model, x, {"kind": "rollout", "layer": 0})[0], ((maps[0] + eye) / 2)[0], atol=1e-6)
    assert own(model, x, {"kind": "rollout"}).sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("to", ["cls", "mean"])
def test_norms_by_hand_with_berts_own_matrices(to: str) -> None:
    """|sum_h a_h W_h v_h|, from the layer's parameters; the parts add up to what the layer computes."""
    model = transformer("bert")
    x = read(model, unit="piece")
    batch = model.batch([Probe(x, Edit.none(x))])
    layer = model.net.bert.encoder.layer[1].attention
    inputs: list[torch.Tensor] = []
    hook = layer.register_forward_pre_hook(lambda _m, given, kept: inputs.append(given[0]), with_kwargs=True)
    maps = model.forward(batch, keep=frozenset({"attention"})).maps
    hook.remove()
    values = layer.self.value(inputs[0]).view(1, x.n, 2, 8)
    mixed = torch.einsum("bhqk,bkhd->bqkhd", maps[1], values).flatten(3)
    lengths = (mixed @ layer.output.dense.weight.T).norm(dim=-1)[0]
    wanted = lengths[0] if to == "cls" else lengths.mean(0)
    np.testing.assert_allclose(own(model, x, {"kind": "norms", "to": to})[0], wanted.detach(), atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_norms_are_found_in_every_family_layer_and_head(family: str) -> None:
    model = transformer(family)
    x = read(model)
    every = [own(model, x, {"kind": "norms", "layer": i, "head": h}) for i in (0, 1) for h in (0, 1)]
    assert all(np.isfinite(a).all() and (a >= 0).all() and a.max() > 0 for a in every)
    assert not np.allclose(every[0], every[1])
    mean = own(model, x, {"kind": "norms", "layer": "mean"})
    both = [own(model, x, {"kind": "norms", "layer": i}) for i in (0, 1)]
    np.testing.assert_allclose(mean, np.mean(both, axis=0), atol=1e-6)
    assert not any(m._forward_pre_hooks for m in model.net.modules())


def test_the_attention_method_takes_the_kind() -> None:
    model = transformer("bert")
    x = read(model)
    for kind in ("rollout", "norms"):
        scores = Engine(model).ask(bind("methods", f"attention(kind={kind})")(x, OWN))
        np.testing.assert_allclose(scores, own(model, x, {"kind": kind})[0], atol=1e-6)


# ------------------------------------------------------------------------------------------ one layer


def small(query: bool = False, encoder: str = "bilstm") -> AttentionRNN:
    fields = ("premise", "hypothesis") if query else ("text",)
    reader = Reader(Vocabulary(("a", "bad", "film", "good", "not", "the")), fields, "hypothesis" if query else "")
    shape = Shape(6 + len(SPECIALS), 3 if query else 1, encoder, "additive", query, embed=6, width=8, align=5)  # type: ignore[arg-type]  # encoder by name
    net = new_net(shape, 3)
    with torch.no_grad():
        net.embedding.weight.mul_(10)
    labels = ("no", "maybe", "yes") if query else ("negative", "positive")
    return AttentionRNN(net, reader, labels=labels, device="cpu")


@pytest.mark.parametrize("query", [False, True])
def test_rows_that_differ_only_in_attention_are_encoded_once(query: bool) -> None:
    model = small(query)
    texts = {"premise": "the film", "hypothesis": "not bad"} if query else {"text": "the film not bad"}
    x = model.read(Example("e", texts))
    y = model.read(Example("f", {k: v.replace("film", "good") for k, v in texts.items()}))
    draw = np.random.default_rng(0)
    weights = draw.dirichlet(np.ones(x.n), 7)
    rows: list[int] = []
    encode = model.net.encode
    model.net.encode = lambda text, change=None: rows.append(len(text.ids)) or encode(text, change)  # type: ignore[func-returns-value,method-assign]  # counts calls
    got = model.answer([Probe(x, Edit.none(x, 7), attention=weights), Probe(y, Edit.none(y, 7), attention=weights)])
    assert rows == [2]
    for reading, z in zip(got, (x, y), strict=True):
        batch = model.batch([Probe(z, Edit.none(z))])
        for i in range(7):
            imposed = batch.share_pieces(torch.tensor(weights[i : i + 1], dtype=torch.float32))
            alone = model.net(model.text(batch), lambda e: e, imposed)
            np.testing.assert_allclose(reading["logits"][i], model.columns(alone.logits)[0].detach(), atol=1e-5)


def test_own_attention_gives_the_own_prediction_of_a_recurrent_model() -> None:
    for model, texts in (
        (small(), {"text": "not a bad film"}),
        (small(True), {"premise": "a film", "hypothesis": "bad"}),
    ):
        x = model.read(Example("e", texts))
        np.testing.assert_allclose(logits(model, x, own(model, x, {})), logits(model, x, None), atol=1e-6)


def test_query_words_and_edges_are_told_apart_from_words_that_may_be_attended() -> None:
    model = small(True)
    x = model.read(Example("e", {"premise": "the film", "hypothesis": "not bad"}))
    got = model.answer([Probe(x, Edit.none(x), frozenset({"attention"}))])[0]
    assert [w for w, a in zip(x.words, got["attended"][0], strict=True) if a] == ["the", "film"]


def test_norms_of_one_layer_are_weight_times_length_of_the_state() -> None:
    model = small()
    x = model.read(Example("e", {"text": "not a bad film"}))
    out = model.forward(model.batch([Probe(x, Edit.none(x))]))
    assert out.attention is not None
    assert out.states is not None
    wanted = (out.attention * out.states.norm(dim=-1)).detach()
    np.testing.assert_allclose(own(model, x, {"kind": "norms"}), wanted, atol=1e-6)
    with pytest.raises(BadInput, match="one attention layer"):
        own(model, x, {"kind": "rollout"})


@pytest.mark.parametrize("query", [False, True])
def test_slope_of_attention_in_one_layer(query: bool) -> None:
    model = small(query)
    texts = {"premise": "the film", "hypothesis": "not bad"} if query else {"text": "the film not bad"}
    x = model.read(Example("e", texts))
    base = own(model, x, {})
    got = model.answer([Probe(x, Edit.none(x), frozenset({"pull"}), Target((1,)), "logit")])[0]["pull"][0]
    for i in np.flatnonzero(base[0] > 0):
        step = np.zeros((1, x.n))
        step[0, i] = 1e-2
        up, down = (logits(model, x, base + s * step)[0, 0, 1] for s in (1, -1))
        assert got[i] == pytest.approx((up - down) / 2e-2, abs=2e-3)
