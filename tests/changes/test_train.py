"""Training classifiers: what is learnt, what is written, what is refused."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from assay import registry
from assay.changes.encoded import Encoded
from assay.changes.quality import measured
from assay.changes.train import (
    TrainResult,
    minilm_folder,
    train_attention,
    train_attention_folder,
    train_transformer,
)
from assay.changes.transformer import freeze
from assay.models import attention_rnn, hf_text
from assay.models.attention_text import MASK, PAD, UNK
from assay.models.hf_load import quiet
from assay.types import AssayError, BadInput, Dataset, Example

GOOD, BAD = ("lovely", "superb", "brilliant", "charming"), ("awful", "dreadful", "tedious", "clumsy")
THINGS = ("film", "meal", "phone", "doctor", "hotel")


def opinions(size: int, seed: int = 0, labels: tuple[str, ...] = ("negative", "positive")) -> Dataset:
    """'the film was (not) lovely': the adjective decides, negation turns it round."""
    rng = np.random.default_rng(seed)
    examples = []
    for i in range(size):
        gold, turned = i % 2, bool(rng.random() < 0.3)
        word = rng.choice(GOOD if gold != turned else BAD)
        text = f"{'really ' * int(rng.integers(3))}the {rng.choice(THINGS)} was {'not ' if turned else ''}{word}"
        examples.append(Example(f"{seed}-{i}", {"text": text}, gold))
    return Dataset("opinions", tuple(examples), labels, "train")


def pairs(size: int, seed: int = 0) -> Dataset:
    """Is the thing of the hypothesis the thing of the premise? Three labels: no, perhaps (no thing), yes."""
    rng = np.random.default_rng(seed)
    examples = []
    for i in range(size):
        one, other = rng.choice(THINGS[:2], 2, replace=False)
        said = (other, "something", one)[i % 3]
        examples.append(Example(f"{seed}-{i}", {"premise": f"I saw the {one}", "hypothesis": f"a {said}"}, i % 3))
    return Dataset("pairs", tuple(examples), ("no", "perhaps", "yes"))


def weights(model: attention_rnn.AttentionRNN) -> torch.Tensor:
    return torch.cat([p.flatten() for p in model.net.parameters()])


# ----------------------------------------------------------------------------------------- attention models


@pytest.mark.parametrize("attention", ["additive", "dot", "uniform"])
@pytest.mark.parametrize("encoder", ["bilstm", "cnn"])
def test_a_rule_with_negation_is_learnt(encoder: Any, attention: Any) -> None:
    model = train_attention(opinions(300), opinions(80, 1), encoder=encoder, attention=attention, epochs=8, rows=16)
    assert model.notes["held_out"]["accuracy"] > 0.9
    assert Encoded(model, opinions(80, 2)).scores()["accuracy"] > 0.9
    assert not any(p.requires_grad for p in model.net.parameters())
    assert not model.net.training


def test_words_that_decide_alone_are_learnt_by_the_average() -> None:
    def plain(data: Dataset) -> Dataset:
        return replace(data, examples=tuple(e for e in data.examples if "not" not in e.fields["text"]))

    model = train_attention(plain(opinions(300)), plain(opinions(80, 1)), encoder="average", epochs=8, rows=16)
    assert model.notes["held_out"]["accuracy"] > 0.9


def test_a_pair_is_learnt_with_the_last_field_asking() -> None:
    model = train_attention(pairs(300), pairs(90, 1), encoder="cnn", epochs=7, rows=16, lr=2e-2)
    assert model.reader.query == "hypothesis"
    assert model.head == "softmax"
    assert model.notes["held_out"]["accuracy"] > 0.9  # without the premise, 2/3 is the best there is
    joined = train_attention(pairs(30), pairs(9, 1), query="", epochs=1)
    assert joined.reader.query == ""
    assert "hide" in joined.can


def test_one_seed_one_model_and_another_seed_another() -> None:
    first, again, other = (train_attention(opinions(60), opinions(20, 1), epochs=2, seed=s) for s in (7, 7, 8))  # type: ignore[arg-type]  # a plain number is a seed
    assert torch.equal(weights(first), weights(again))
    assert first.fingerprint == again.fingerprint
    assert not torch.equal(weights(first), weights(other))


def test_training_leaves_the_global_generators_alone() -> None:
    before = torch.get_rng_state()
    train_attention(opinions(40), opinions(20, 1), epochs=1)
    assert torch.equal(before, torch.get_rng_state())


def test_the_notes_say_what_was_trained_how() -> None:
    shares: list[float] = []
    model = train_attention(opinions(60), opinions(20, 1), epochs=3, progress=shares.append)
    assert model.notes["trained_on"] == {"name": "opinions", "split": "train", "examples": 60}
    assert len(model.notes["losses"]) == len(model.notes["scores"]) == model.notes["epochs"] == 3
    kept = model.notes["scores"][model.notes["kept"] - 1]
    assert kept == max(model.notes["scores"]) == model.notes["held_out"]["accuracy"]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_the_papers_sizes_and_vectors_can_be_chosen() -> None:
    table = np.arange(600, dtype=np.float32).reshape(2, 300) / 600
    model = train_attention(
        opinions(8),
        opinions(4, 1),
        sizes="code",
        encoder="average",
        vectors=(table, ["film", "was"]),
        lr=1e-9,
        epochs=1,
    )
    rows = model.net.embedding.weight
    assert rows.shape[1] == 300
    assert torch.allclose(rows[model.word_ids("was")[0]], torch.from_numpy(table[1]), atol=1e-5)
    assert rows[model.word_ids("the")[0]].abs().max() < 1e-5
    normal = train_attention(
        opinions(8), opinions(4, 1), vectors=(table, ["film", "was"]), missing="normal", lr=1e-9, epochs=1
    )
    assert normal.net.embedding.weight[normal.word_ids("the")[0]].std() == pytest.approx(1, abs=0.2)
    assert (normal.net.embedding.weight[PAD] == 0).all()


def test_hidden_words_are_unknown_or_masked_and_never_edges() -> None:
    model = train_attention(opinions(40), opinions(20, 1), epochs=1)
    data = Encoded(model, opinions(400, 5))
    plain = data.batch(np.arange(400)).batch
    hidden = data.batch(np.arange(400), np.random.default_rng(0), 0.4).batch
    moved = plain.ids != hidden.ids
    assert set(hidden.ids[moved].tolist()) == {UNK, MASK}
    free = plain.real & (plain.ids != 2) & (plain.ids != 3)
    assert not (moved & ~free).any()
    assert moved.sum().item() / free.sum().item() == pytest.approx(0.4, abs=0.03)
    assert (hidden.ids == MASK).sum().item() / moved.sum().item() == pytest.approx(0.5, abs=0.05)


def test_the_loss_weighs_the_rarer_class_as_the_papers_do() -> None:
    model = train_attention(opinions(40), opinions(20, 1), epochs=1)
    few = replace(opinions(8), examples=opinions(8).examples[::2] + opinions(8).examples[1:2])  # 4 negative, 1 positive
    data = Encoded(model, few)
    p = np.exp(data.logp()[:, 1])
    expected = -np.mean(np.where(data.gold == 1, (5 / 1 - 1) * np.log(p), np.log1p(-p)))
    with torch.no_grad():
        assert float(data.loss(data.batch(np.arange(5)))) == pytest.approx(expected, rel=1e-5)


def test_a_folder_holds_the_model_and_its_training(tmp_path: Path) -> None:
    result = train_attention_folder(opinions(60), opinions(20, 1), out=tmp_path / "m", epochs=2, seed=4)
    back = attention_rnn.load(result.folder)
    notes = json.loads((tmp_path / "m" / "training.json").read_text())
    assert isinstance(result, TrainResult)
    assert back.notes == notes
    assert (result.accuracy, result.f1, result.epochs, result.seed) == (
        notes["held_out"]["accuracy"], notes["held_out"]["f1"], 2, 4,
    )  # fmt: skip
    assert Encoded(back, opinions(20, 1)).scores()["accuracy"] == pytest.approx(result.accuracy, abs=1e-4)
    with pytest.raises(BadInput, match="is not empty"):
        train_attention_folder(opinions(60), opinions(20, 1), out=tmp_path / "m", epochs=1)


def test_it_is_registered() -> None:
    entry = registry.find("changes", "train")
    assert entry.facts["purpose"] == "training"
    assert entry.load() is train_attention


# --------------------------------------------------------------------------------------------------- data


def with_gold(data: Dataset, gold: int | None) -> Dataset:
    return replace(data, examples=tuple(replace(e, gold=gold) for e in data.examples))


@pytest.mark.parametrize(
    ("data", "dev", "says"),
    [
        (with_gold(opinions(4), None), opinions(4), "opinions \\(train\\): example 0-0 has no label"),
        (with_gold(opinions(4), 1), opinions(4), "every example is 'positive'; training needs examples of two labels"),
        (with_gold(opinions(4), 5), opinions(4), "has label 5, labels are negative, positive"),
        (opinions(4), with_gold(opinions(4), None), "has no label"),
        (opinions(4), opinions(4, labels=("bad", "good")), "has the labels bad, good, opinions .* has negative"),
        (replace(opinions(4), examples=()), opinions(4), "has no examples"),
        (opinions(4), replace(opinions(4), examples=()), "has no examples"),
        (opinions(4), replace(pairs(6), labels=()), "has label 2, labels are negative, positive"),
    ],
)
def test_data_that_cannot_be_trained_on_is_refused_in_one_line(
    data: Dataset, dev: Dataset, says: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=says) as caught:
        train_attention(data, dev, epochs=1)
    assert "\n" not in str(caught.value)
    with pytest.raises(BadInput, match=says):
        train_transformer("nowhere", data, dev, out=tmp_path / "m")


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(BadInput, match="query cannot be 'hypotesis'; did you mean 'hypothesis'"):
        train_attention(pairs(6), pairs(6), query="hypotesis")
    with pytest.raises(BadInput, match="cannot select by 'auc'"):
        train_attention(pairs(6), pairs(6), select="auc", epochs=1)
    mixed = replace(opinions(4), examples=(*opinions(4).examples, *pairs(3).examples[:2]))
    with pytest.raises(BadInput, match="has the fields premise, hypothesis, expected text"):
        train_attention(mixed, opinions(4))


def test_labels_without_names_are_numbers() -> None:
    model = train_attention(opinions(8, labels=()), opinions(4, labels=()), epochs=1)
    assert model.labels == ("0", "1")


@pytest.mark.parametrize("classes", [2, 4])
def test_scores_equal_scikit_learn(classes: int) -> None:
    rng = np.random.default_rng(classes)
    gold = rng.integers(classes, size=60)
    logp = np.log(rng.dirichlet(np.ones(classes), size=60).round(1) + 0.01)  # rounded: ties
    logp -= np.log(np.exp(logp).sum(1, keepdims=True))
    found = measured(logp, gold)
    choice = logp.argmax(1)
    assert found["accuracy"] == pytest.approx(accuracy_score(gold, choice))
    assert found["f1"] == pytest.approx(f1_score(gold, choice, average="binary" if classes == 2 else "macro"))
    if classes == 2:
        assert found["auc"] == pytest.approx(roc_auc_score(gold, logp[:, 1] - logp[:, 0]))


# ------------------------------------------------------------------------------------------- transformers


def test_minilm_is_fine_tuned_into_an_ordinary_folder(tmp_path: Path) -> None:
    shares: list[float] = []
    result = train_transformer(
        minilm_folder(), opinions(64), opinions(24, 1), out=tmp_path / "m", epochs=2, rows=16, lr=5e-4,
        progress=shares.append,
    )  # fmt: skip
    model = hf_text.load(result.folder)
    assert model.labels == ("negative", "positive")
    assert Encoded(model, opinions(24, 1)).scores()["accuracy"] == pytest.approx(result.accuracy, abs=1e-4)
    assert result.accuracy > 0.6
    assert shares == pytest.approx([i / 8 for i in range(1, 9)])
    notes = json.loads((result.folder / "training.json").read_text())
    assert notes["settings"]["frozen_layers"] == 2
    assert notes["held_out"]["examples"] == 24
    assert sorted(p.name for p in result.folder.iterdir() if p.suffix in (".bin", ".pt")) == []


def tiny(kind: str, layers: int = 6) -> Any:
    from transformers import AutoConfig, AutoModelForSequenceClassification

    sizes: dict[str, Any] = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 50}
    if kind == "gpt2":
        sizes = {"n_embd": 16, "n_head": 2, "vocab_size": 50}
    elif kind == "distilbert":
        sizes = {"dim": 16, "n_heads": 2, "hidden_dim": 16, "vocab_size": 50}
    elif kind == "albert":
        sizes |= {"embedding_size": 8}
    with quiet():  # importing DeBERTa warns of torch.jit
        config = AutoConfig.for_model(kind, num_hidden_layers=layers, **sizes)
        return AutoModelForSequenceClassification.from_config(config)


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert", "electra", "gpt2", "llama", "deberta-v2"])
def test_the_lowest_layers_are_found_without_names(kind: str) -> None:
    with torch.random.fork_rng(devices=[]):
        net = tiny(kind)
    assert freeze(net, None) == 2
    fixed = {name for name, p in net.named_parameters() if not p.requires_grad}
    assert not net.get_input_embeddings().weight.requires_grad
    numbers = {part for name in fixed for part in name.split(".") if part.isdigit()}
    assert numbers == {"0", "1"}
    assert all(p.requires_grad for n, p in net.named_parameters() if n.startswith(("classifier", "score")))


def test_layers_that_are_not_there_cannot_be_frozen() -> None:
    with torch.random.fork_rng(devices=[]):
        shared, short = tiny("albert"), tiny("bert", 2)
    assert freeze(shared, None) == 0
    assert freeze(short, None) == 0
    with pytest.raises(BadInput, match="cannot freeze 1 layers: this encoder has no separate layers"):
        freeze(shared, 1)
    with pytest.raises(BadInput, match="cannot freeze 3 layers: this encoder has 2 layers"):
        freeze(short, 3)


def test_what_is_no_encoder_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(AssayError, match="cannot fine-tune") as caught:
        train_transformer(tmp_path / "empty", opinions(4), opinions(4), out=tmp_path / "m")
    assert "\n" not in str(caught.value)


def test_without_the_package_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(AssayError, match=r"pip install assay\[demo\]"):
        minilm_folder()
