"""Masked language models that are trained here: they learn, keep their seed, and are saved as ordinary folders."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.changes.lm_vocabulary import SPECIAL, learned
from assay.changes.train_mlm import MlmResult, _Texts, train_mlm
from assay.changes.transformer import minilm_folder
from assay.data.reviews import reviews
from assay.models import masked_lm
from assay.testing import global_draws
from assay.types import MASK, AssayError, BadInput, Dataset, Edit, Example, Probe

RULE = {"red": "apple", "blue": "sky", "green": "leaf", "white": "snow"}


def pairs(count: int, shift: int = 0) -> Dataset:
    """The noun follows from the colour, so a gap at the noun has one right word and a gap at the colour too."""
    colours = list(RULE)
    made = [colours[(i + shift) % 4] for i in range(count)]
    examples = tuple(Example(str(i), {"text": f"The {c} {RULE[c]}.", "n": "so"}) for i, c in enumerate(made))
    return Dataset("pairs", examples)


def trained(out: Path, **settings: Any) -> MlmResult:
    small: dict[str, Any] = {"epochs": 24, "layers": 1, "width": 32, "lr": 5e-3, "rows": 8, "device": "cpu"}
    return train_mlm(pairs(64), pairs(8, 1), out=out, **small | settings)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MlmResult:
    return trained(tmp_path_factory.mktemp("lm") / "model")


def test_it_learns_a_rule_that_decides_every_word(made: MlmResult) -> None:
    assert made.top1 == 1.0
    assert made.mass > 0.9
    lm = masked_lm.load(made.folder, device="cpu")
    x = lm.read(Example("1", {"text": "The blue leaf.", "n": "so"}))
    codes = np.zeros((1, x.n), dtype=np.int32)
    codes[0, list(x.words).index("leaf")] = MASK
    (reading,) = lm.answer([Probe(x, Edit(codes), frozenset({"fill"}), how=(("top", 1),))])
    assert lm.word(int(reading["fill"].max())) == "sky"


def test_the_folder_is_an_ordinary_one_with_notes(made: MlmResult) -> None:
    assert {"config.json", "model.safetensors", "tokenizer.json", "training.json"} <= {
        p.name for p in made.folder.iterdir()
    }
    notes = json.loads((made.folder / "training.json").read_text(encoding="utf-8"))
    assert notes["held_out"] == {
        "top1": 1.0,
        "mass": pytest.approx(made.mass, abs=1e-4),
        "one_piece": 1.0,
        "examples": 8,
    }
    assert notes["settings"]["share"] == 0.18
    assert made.facts["folder"] == str(made.folder)


def test_the_seed_decides_and_no_global_draw_is_moved(tmp_path: Path, made: MlmResult) -> None:
    before = global_draws.state()
    again = trained(tmp_path / "again")
    other = trained(tmp_path / "other", seed=1, epochs=1)
    assert global_draws.state() == before
    prints = [masked_lm.load(m.folder, device="cpu").fingerprint for m in (made, again, other)]
    assert prints[0] == prints[1] != prints[2]


def test_progress_reaches_one(tmp_path: Path) -> None:
    told: list[float] = []
    trained(tmp_path / "lm", epochs=2, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_masks_hide_whole_words_at_least_one_per_text(made: MlmResult) -> None:
    lm = masked_lm.load(made.folder, device="cpu")
    texts = _Texts(lm, pairs(8))
    masked = texts.masked(np.arange(8), np.random.default_rng(0), share=1e-9)
    assert masked.at.sum(dim=1).tolist() == [1] * 8
    assert set(masked.batch.ids[masked.at].tolist()) == {lm.mask_id}
    every = texts.masked(np.arange(8), np.random.default_rng(0), share=1.0 - 1e-9)
    assert every.at.sum(dim=1).tolist() == [5] * 8, "four words and a full stop; special tokens are never masked"
    assert lm.tokenizer.convert_ids_to_tokens(every.words[:5].tolist()) == ["the", "red", "apple", ".", "so"]


def test_reviews_are_learned_a_little_in_a_moment(tmp_path: Path) -> None:
    """Held-out loss below that of a guess among all pieces, falling with every epoch."""
    data, dev = reviews(split="train", size=300), reviews(split="dev", size=40)
    found = train_mlm(data, dev, out=tmp_path / "lm", epochs=3, width=64, lr=5e-3, device="cpu")
    losses = [-s for s in found.notes["scores"]]
    size = json.loads((found.folder / "config.json").read_text(encoding="utf-8"))["vocab_size"]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < np.log(size) - 1
    assert 0 < found.top1 < found.notes["held_out"]["one_piece"] < 1


def test_a_vocabulary_holds_words_before_endings_and_spells_the_rest() -> None:
    texts = ["Walking and talking", "Walking, walking", "barking"]
    small, large = learned(texts, 38), learned(texts, 100)
    letters = set("abdgiklnrtw,")
    assert set(large) == {*SPECIAL, *letters, *(f"##{c}" for c in letters)} | {
        *("walking", "and", "talking", "barking", "##king", "##ing", "##ng")
    }
    assert [w for w in small if w[0] not in "[#" and len(w) > 1] == ["walking", "and", "barking", "talking"]
    assert list(small.values()) == list(range(len(small)))
    with pytest.raises(BadInput, match="no room for words"):
        learned(texts, 20)


def test_an_encoder_gets_a_head(tmp_path: Path, made: MlmResult) -> None:
    """A fresh head on a trained encoder: here the encoder of the model above."""
    net = masked_lm.load(made.folder, device="cpu").net
    net.base_model.save_pretrained(tmp_path / "encoder")
    masked_lm.load(made.folder, device="cpu").tokenizer.save_pretrained(tmp_path / "encoder")
    with pytest.raises(AssayError, match="no trained masked-language-model head"):
        masked_lm.load(tmp_path / "encoder")
    found = trained(tmp_path / "lm", encoder=str(tmp_path / "encoder"), lr=2e-2)
    assert found.top1 > 0.9
    assert found.notes["settings"]["encoder"] == "encoder"
    head = masked_lm.load(found.folder, device="cpu").net
    assert head.get_output_embeddings().weight is head.get_input_embeddings().weight


def test_minilm_gets_a_head(tmp_path: Path) -> None:
    try:
        encoder = str(minilm_folder())
    except AssayError as error:
        pytest.skip(str(error))
    found = train_mlm(pairs(16), pairs(4), out=tmp_path / "lm", encoder=encoder, epochs=1, device="cpu")
    assert masked_lm.load(found.folder, device="cpu").gathers


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="pairs has no examples"):
        train_mlm(pairs(0), pairs(4), out=tmp_path / "a")
    with pytest.raises(BadInput, match=r"between 0 and 1, got 1\.5"):
        trained(tmp_path / "a", share=1.5)
    with pytest.raises(AssayError, match="cannot train"):
        trained(tmp_path / "a", encoder=str(tmp_path / "nowhere"))
    empty = replace(pairs(1), examples=(Example("1", {"text": " "}),))
    with pytest.raises(BadInput, match="example 1 has no text"):
        train_mlm(pairs(8), empty, out=tmp_path / "a", layers=1, width=32)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(BadInput, match="is not empty"):
        trained(tmp_path / "full")
