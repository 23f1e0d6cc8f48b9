"""Masked language models: fills equal the library's own probabilities, and only gaps pass the vocabulary head."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    BertTokenizer,
    DistilBertConfig,
    DistilBertForMaskedLM,
    ElectraConfig,
    ElectraForMaskedLM,
    MobileBertConfig,
    MobileBertForMaskedLM,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
)

from assay.engine import Engine
from assay.models import masked_lm
from assay.models.hf_load import quiet
from assay.models.masked_lm import MaskedLM
from assay.types import FILL, KEEP, MASK, AssayError, Edit, Example, Input, Probe, Reading

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["a", "good", "film", "was", "seen", "by", "many", "people", "dull", "that", "not", ".", ",", "!", "[unused1]"]
LETTERS = list("bcdefghijklmnopqrstuvwxyz")
VOCABULARY = [*SPECIAL, *WORDS, *LETTERS, *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"), "##ing"]
V = len(VOCABULARY)
SMALL = {"vocab_size": V, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24}
NETS: dict[str, Callable[[], Any]] = {
    "bert": lambda: BertForMaskedLM(BertConfig(**SMALL, max_position_embeddings=64)),
    "albert": lambda: AlbertForMaskedLM(AlbertConfig(**SMALL, embedding_size=8)),
    "electra": lambda: ElectraForMaskedLM(ElectraConfig(**SMALL, embedding_size=8)),
    "distilbert": lambda: DistilBertForMaskedLM(
        DistilBertConfig(vocab_size=V, dim=16, n_layers=1, n_heads=2, hidden_dim=24)
    ),
    "mobilebert": lambda: MobileBertForMaskedLM(
        MobileBertConfig(**SMALL, embedding_size=8, intra_bottleneck_size=16, num_feedforward_networks=1)
    ),
}


def net(kind: str = "bert") -> Any:
    """A small network with random weights, large enough that fills differ."""
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        made = NETS[kind]()
        for p in made.parameters():
            if p.dim() > 1:
                p.data.normal_(0.0, 0.3)
    return made.eval()


def tokenizer() -> Any:
    return BertTokenizer(vocab={w: i for i, w in enumerate(VOCABULARY)}, model_max_length=64)


@pytest.fixture(scope="module")
def lm() -> MaskedLM:
    return masked_lm.load((net(), tokenizer()), device="cpu")


def ask(lm: MaskedLM, x: Input, codes: Any, fills: tuple[str, ...] = (), **how: Any) -> Reading:
    edit = Edit(np.array(codes, dtype=np.int32), fills)
    (reading,) = lm.answer([Probe(x, edit, frozenset({"fill"}), how=tuple(sorted(how.items())))])
    return reading


def gap(x: Input, *at: int) -> list[int]:
    """Codes with masks at these free words."""
    codes = [KEEP] * x.n
    for i in at:
        codes[int(np.flatnonzero(x.free)[i])] = MASK
    return codes


def library(lm: MaskedLM, *texts: str) -> torch.Tensor:
    """[gaps, V]: probabilities at the mask tokens, by the library alone."""
    given = lm.tokenizer(*texts, return_tensors="pt")
    with torch.inference_mode():
        z = lm.net(**given).logits
    found: torch.Tensor = z[given["input_ids"] == lm.tokenizer.mask_token_id].softmax(-1)
    return found


# -------------------------------------------------------------------------------------------------- fills


@pytest.mark.parametrize("kind", list(NETS))
def test_fills_are_the_librarys_probabilities_of_whole_words(kind: str) -> None:
    lm = masked_lm.load((net(kind), tokenizer()), device="cpu")
    assert lm.gathers is (kind != "mobilebert"), "a head that does not pass through its module takes the plain way"
    x = lm.read(Example("1", {"text": "a good film was seen"}))
    got = ask(lm, x, [gap(x, 1)], top=5)
    (expected,) = library(lm, "a [MASK] film was seen")
    whole = [VOCABULARY.index(w) for w in [*WORDS[:-1], *LETTERS]]
    order = sorted(whole, key=lambda i: -float(expected[i]))[:5]
    assert got["fill"][0, 2].tolist() == order
    assert got["fill_p"][0, 2] == pytest.approx(expected[order].numpy(), rel=1e-4)
    assert got["own"][0].tolist() == [-1, -1, VOCABULARY.index("good"), -1, -1, -1, -1]
    assert got["own_p"][0, 2] == pytest.approx(float(expected[VOCABULARY.index("good")]), rel=1e-4)


def test_what_is_no_gap_holds_nothing(lm: MaskedLM) -> None:
    x = lm.read(Example("1", {"text": "a good film"}))
    got = ask(lm, x, [gap(x, 1), gap(x)], top=3)
    assert (got["fill"][:, [0, 1, 3, 4]] == -1).all()
    assert (got["fill"][1] == -1).all()
    assert (got["fill_p"][1] == 0).all()
    assert np.isnan(got["own_p"][1]).all()


def test_several_gaps_two_fields_and_neighbours_of_other_lengths(lm: MaskedLM) -> None:
    x = lm.read(Example("1", {"one": "a good film", "two": "not dull"}))
    y = lm.read(Example("2", {"text": "a film that was seen by many people"}))
    codes = [gap(x, 0, 4), gap(x, 1)]
    want = frozenset({"fill"})
    alone = ask(lm, x, codes)
    beside = lm.answer([Probe(y, Edit(np.array([gap(y, 3)])), want), Probe(x, Edit(np.array(codes)), want)])[1]
    assert beside["fill_p"] == pytest.approx(alone["fill_p"], abs=1e-5)
    expected = library(lm, "[MASK] good film", "not [MASK]")
    ids = alone["fill"][0, [1, 6]].astype(np.int64)
    assert alone["fill_p"][0, [1, 6]] == pytest.approx(np.take_along_axis(expected.numpy(), ids, 1), rel=1e-4)


def test_a_mask_that_the_text_itself_holds_is_no_gap(lm: MaskedLM) -> None:
    x = lm.read(Example("1", {"text": "a [MASK] film"}), "piece")
    assert x.free_words == ("a", "[MASK]", "film")
    got = ask(lm, x, [gap(x, 2)])
    assert (got["fill"][0] >= 0).any(axis=1).tolist() == [False, False, False, True, False]


def test_a_word_of_ten_pieces_is_one_gap_and_has_no_probability(lm: MaskedLM) -> None:
    x = lm.read(Example("1", {"text": "a zyxwvutsrq film"}))
    assert (lm.encoding(x).owner == 2).sum() == 10
    got = ask(lm, x, [gap(x, 1)])
    (expected,) = library(lm, "a [MASK] film")
    assert got["own"][0, 2] == -1
    assert np.isnan(got["own_p"][0, 2])
    assert got["fill_p"][0, 2] == pytest.approx(expected[got["fill"][0, 2]].numpy(), rel=1e-4)


def test_a_fill_is_read_as_the_piece_it_was(lm: MaskedLM) -> None:
    """Left to right: what was filled in is shown to the model as that very piece."""
    x = lm.read(Example("1", {"text": "a good film"}))
    codes = gap(x, 2)
    codes[2] = FILL
    (expected,) = library(lm, "a dull [MASK]")
    got = ask(lm, x, [codes], ("dull",))
    assert got["fill_p"][0, 3] == pytest.approx(expected[got["fill"][0, 3]].numpy(), rel=1e-4)


def test_only_gaps_pass_the_vocabulary_head(lm: MaskedLM) -> None:
    seen: list[tuple[int, ...]] = []
    handle = lm.net.get_output_embeddings().register_forward_hook(lambda _m, given, _o: seen.append(given[0].shape))
    x = lm.read(Example("1", {"text": "a good film was seen"}))
    ask(lm, x, [gap(x, 1), gap(x, 0, 2), gap(x)])
    ask(lm, x, [gap(x)])
    handle.remove()
    assert [tuple(s) for s in seen] == [(3, 16)]


def test_more_fills_than_candidates_are_told_apart(lm: MaskedLM) -> None:
    x = lm.read(Example("1", {"text": "a good film"}))
    got = ask(lm, x, [gap(x, 1)], top=V + 5)
    whole = len(WORDS) - 1 + len(LETTERS)
    assert (got["fill"][0, 2] >= 0).sum() == whole
    assert (got["fill_p"][0, 2, whole:] == 0).all()
    assert got["fill_p"][0, 2].sum() < 1


# --------------------------------------------------------------------------------------------- candidates


def test_whole_words_and_all_pieces(lm: MaskedLM) -> None:
    whole, every = (
        {VOCABULARY[i] for i in lm.candidates(kind)[1].nonzero().flatten().tolist()} for kind in ("whole", "all")
    )
    assert whole == {*WORDS, *LETTERS} - {"[unused1]"}
    assert every == set(VOCABULARY) - set(SPECIAL)
    assert lm.word(VOCABULARY.index("##ing")) == "##ing"
    assert lm.word(VOCABULARY.index("good")) == "good"
    with pytest.raises(AssayError, match="use whole or all"):
        lm.candidates("some")  # type: ignore[arg-type]  # the point


def test_a_byte_level_vocabulary_spells_words_after_a_space_differently() -> None:
    lm = masked_lm.load((_roberta(), _byte_level()), device="cpu")
    token = lm.tokenizer.convert_ids_to_tokens
    glued, spaced = ({token(int(i)) for i in row.nonzero()} for row in lm.candidates("whole"))
    assert {"Ġgood", "Ġfilm"} <= spaced
    assert not {"good", "film"} & spaced
    assert {"good", "film"} <= glued
    good = lm.tokenizer.convert_tokens_to_ids("Ġgood")
    assert lm.word(good) == "good"
    x = lm.read(Example("1", {"text": "film good film"}))
    assert lm.tokenizer.convert_ids_to_tokens(lm.own(x)[x.free].tolist()) == ["film", "Ġgood", "Ġfilm"]
    assert lm.spaced(x)[x.free].tolist() == [0, 1, 1]


def _byte_level() -> Any:
    from tokenizers import ByteLevelBPETokenizer

    made = ByteLevelBPETokenizer()
    made.train_from_iterator(
        ["film good film", "good film", "good"] * 5,
        vocab_size=300,
        min_frequency=1,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        show_progress=False,
    )
    special = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"}
    return PreTrainedTokenizerFast(
        tokenizer_object=made._tokenizer, unk_token="<unk>", pad_token="<pad>", mask_token="<mask>", **special
    )


def _roberta() -> Any:
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return RobertaForMaskedLM(
            RobertaConfig(**SMALL | {"vocab_size": 300}, max_position_embeddings=40, pad_token_id=1)
        )


# ------------------------------------------------------------------------------------------ reading, loading


def test_an_example_is_read_into_one_input(lm: MaskedLM) -> None:
    example = Example("1", {"text": "a good film"})
    assert lm.read(example) is lm.read(example)
    assert lm.read(example, "piece") is not lm.read(example)


def test_a_long_document_is_cut_and_its_gaps_are_filled(lm: MaskedLM) -> None:
    x = lm.read(Example("1", {"text": " ".join(["a good film"] * 100)}))
    assert x.size == 62
    assert "the last 238 words" in x.cut
    got = Engine(lm).ask(_one(Probe(x, Edit(np.array([gap(x, i) for i in range(62)])), frozenset({"fill"}))))
    filled = got["fill"][np.arange(62), np.flatnonzero(x.free)]
    assert filled.shape == (62, 10)
    assert (filled >= 0).all()


def _one(probe: Probe) -> Any:
    return (yield probe)


def test_a_folder_is_opened_in_float32_whatever_is_on_disk(tmp_path: Path, lm: MaskedLM) -> None:
    _saved(net().half(), tmp_path)
    opened = masked_lm.load(tmp_path, device="cpu")
    assert next(opened.net.parameters()).dtype == torch.float32
    x, y = (m.read(Example("1", {"text": "a good film"})) for m in (lm, opened))
    assert ask(opened, y, [gap(y, 1)])["fill_p"] == pytest.approx(ask(lm, x, [gap(x, 1)])["fill_p"], abs=2e-3)
    assert opened.fingerprint == masked_lm.load(str(tmp_path), device="cpu").fingerprint != lm.fingerprint
    assert opened.can == {"fill", "replace", "mask", "unk", "pad"}


def _saved(network: Any, folder: Path) -> None:
    with quiet():
        network.save_pretrained(folder)
        tokenizer().save_pretrained(folder)


@pytest.mark.parametrize("other", [BertModel, BertForSequenceClassification])
def test_what_has_no_trained_head_is_refused_with_the_remedy(tmp_path: Path, other: Any) -> None:
    with quiet(), torch.random.fork_rng(devices=[]):
        _saved(other(BertConfig(**SMALL)), tmp_path)
    with pytest.raises(AssayError, match=r"no trained masked-language-model head \(cls.* missing\).*assay train mlm"):
        masked_lm.load(tmp_path)


def test_other_refusals(tmp_path: Path, lm: MaskedLM) -> None:
    with pytest.raises(AssayError, match=r"has no config\.json"):
        masked_lm.load(tmp_path)
    with pytest.raises(AssayError, match="is not a folder"):
        masked_lm.load(tmp_path / "nowhere")
    without = tokenizer()
    without.mask_token = None
    with pytest.raises(AssayError, match="has no mask token"):
        masked_lm.load((net(), without))
    x = lm.read(Example("1", {"text": "a good film"}))
    with pytest.raises(AssayError, match="it answers fill, not a prediction"):
        lm.answer([Probe(x, Edit.none(x))])
    with pytest.raises(AssayError, match="unknown setting best of fill; there are: top, pieces"):
        ask(lm, x, [gap(x, 1)], best=1)
    with pytest.raises(AssayError, match="top must be 1 or more"):
        ask(lm, x, [gap(x, 1)], top=0)


def test_the_shared_model_knows_some_words() -> None:
    home = Path(os.environ.get("ASSAY_MODELS", Path(__file__).parents[3] / "shared" / "models")) / "minilm-mlm"
    if not home.is_dir():
        pytest.skip("no MiniLM masked language model beside the project (ASSAY_MODELS)")
    lm = masked_lm.load(home, device="cpu")
    x = lm.read(Example("1", {"text": "I went to the cinema and watched a movie last night."}))
    got = ask(lm, x, [gap(x, i) for i in range(x.size)])
    at = np.flatnonzero(x.free)
    right = got["fill"][np.arange(len(at)), at, 0] == got["own"][np.arange(len(at)), at]
    assert right.mean() > 0.3, "it matches four words of ten on sentences of its training"
