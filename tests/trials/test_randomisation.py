"""Maps under a head drawn anew: what must stay to the bit, what must flip, and that nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from scipy.stats import spearmanr
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from assay.changes.reinitialise import reinitialise
from assay.engine import Engine
from assay.models.attention_layers import Shape
from assay.models.attention_net import new_net
from assay.models.attention_rnn import AttentionRNN
from assay.models.attention_text import SPECIALS, Reader, Vocabulary
from assay.models.black_box import BlackBox
from assay.models.hf_text import HFText, load
from assay.models.torch import TorchModel
from assay.registry import bind
from assay.trials.randomisation import compared, randomisation, scaled, sign_changes
from assay.types import BadInput, CannotDo, Dataset, Edit, Example, Probe, Record, Seed, Target

WORDS = ("a", "bad", "but", "dull", "film", "good", "it", "not", "the", "was")
TEXTS = (
    "the film was not good",
    "a dull film",
    "it was good but bad",
    "good film",
    "not a bad film but dull",
    "it was",
)
DATA = Dataset("hand", tuple(Example(str(i), {"text": t}) for i, t in enumerate(TEXTS)))


@cache
def attentive() -> AttentionRNN:
    net = new_net(Shape(len(WORDS) + len(SPECIALS), 1, "bilstm", "additive", False, embed=6, width=8, align=5), 1)
    with torch.no_grad():
        net.embedding.weight.mul_(10)
    return AttentionRNN(net, Reader(Vocabulary(WORDS), ("text",), ""), labels=("negative", "positive"), device="cpu")


@cache
def bert() -> HFText:
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    vocabulary = {w: i for i, w in enumerate([*special, *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=32, **names)
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 32}
    config = hf.BertConfig(vocab_size=len(vocabulary), num_labels=3, initializer_range=0.3, **sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        net = hf.BertForSequenceClassification(config)
    return load((net.eval(), tokenizer), device="cpu")


MODELS = [pytest.param(attentive, id="attention-rnn"), pytest.param(bert, id="bert")]


def choice(model: TorchModel, example: Example) -> int:
    x = model.read(example)
    return int(model.answer([Probe(x, Edit.none(x))])[0].choice[0, 0])


def explained(model: TorchModel, example: Example, method: str, label: int) -> np.ndarray:
    result = Engine(model).ask(bind("methods", method)(model.read(example), Target((label,))))
    found = result[0] if isinstance(result, tuple) else result
    return np.asarray(found if model.read(example).size == len(found) else found[model.read(example).free])


def by(records: Sequence[Record], method: str) -> dict[tuple[str, str], Record]:
    return {(r.example, r.replicate): r for r in records if r.method == method}


@pytest.mark.parametrize("make", MODELS)
def test_what_does_not_look_at_the_head_stays_as_it_is(make: Any) -> None:
    """Attention stands below the classifier and random scores know no model: nothing may change."""
    records = randomisation(make(), DATA, ("attention", "random"), seeds=2)
    assert len(records) == 2 * 2 * len(TEXTS)
    for r in records:
        assert r.values is not None, r.reason
        assert r.values["sign_change"] == 0.0
        assert r.values["difference"] == pytest.approx(0.0, abs=1e-6)
        assert r.values["spearman"] == pytest.approx(1.0)
    assert {r.replicate for r in records} == {"seed 0", "seed 1"}


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("own_label", [False, True])
@pytest.mark.parametrize("method", ["leave-one-out", "gradient(output=logit)"])
def test_records_compare_the_maps_of_both_models(make: Any, own_label: bool, method: str) -> None:
    """Every number from maps computed apart; labels fixed to the original's choice, or each model's own."""
    model = make()
    records = by(randomisation(model, DATA, (method,), seeds=2, own_label=own_label, seed=5), method)
    assert len(records) == 2 * len(TEXTS)
    for seed in (5, 6):
        copy = reinitialise(model, seed=Seed(seed))
        for e in DATA.examples:
            label, other = choice(model, e), choice(copy, e)
            a = explained(model, e, method, label)
            b = explained(copy, e, method, other if own_label else label)
            values = records[e.id, f"seed {seed}"].values
            assert values is not None
            small_a, small_b = a / np.abs(a).max(), b / np.abs(b).max()
            assert values["label_flip"] == float(label != other)
            assert values["sign_change"] == pytest.approx((np.sign(a) != np.sign(b)).mean())
            assert values["difference"] == pytest.approx(np.abs(small_a - small_b).mean(), abs=1e-5)
            assert values["spearman"] == pytest.approx(spearmanr(a, b).statistic)


def test_a_flipped_label_of_two_flips_every_sign() -> None:
    """Log-odds of the two classes are opposite numbers: own label and fixed label then change complementary words."""
    fixed, own = (
        by(randomisation(attentive(), DATA, ("leave-one-out",), seeds=6, own_label=o), "leave-one-out")
        for o in (False, True)
    )
    flips = 0
    for key, record in fixed.items():
        one, other = record.values, own[key].values
        assert one is not None
        assert other is not None
        assert one["label_flip"] == other["label_flip"]
        flips += int(one["label_flip"])
        due = 1 - one["sign_change"] if one["label_flip"] else one["sign_change"]
        assert other["sign_change"] == pytest.approx(due)
    assert 0 < flips < len(fixed)
    assert {r.test for r in fixed.values()} == {"randomisation"}
    assert {r.test for r in own.values()} == {"randomisation(own_label=true)"}


def test_a_cascade_below_the_attention_changes_the_attention() -> None:
    """decoder, then the two matrices of attention: from the second module on its map is another."""
    values = []
    for modules in (1, 2):
        records = randomisation(attentive(), DATA, ("attention",), seeds=1, what="cascade", modules=modules)
        values.append([r.values["difference"] for r in records if r.values])
        assert len(values[-1]) == len(TEXTS)
    assert max(values[0]) == 0.0
    assert min(values[1]) > 0.0


def test_methods_that_draw_meet_the_same_draws() -> None:
    """Both maps of the record are those of LIME with the run's seed, for the original and for the copy."""
    model = attentive()
    one, two = (explained_lime(m) for m in (model, reinitialise(model, seed=Seed(1))))
    assert not np.allclose(one, two)
    (record,) = randomisation(model, DATA, ("lime(samples=40)",), seeds=1, limit=1, seed=1)
    assert record.detail is not None
    assert record.detail["original"] == pytest.approx(one.tolist(), abs=1e-6)
    assert record.detail["copy"] == pytest.approx(two.tolist(), abs=1e-6)


def explained_lime(model: TorchModel) -> np.ndarray:
    (first,) = DATA.sample(1).examples
    bound = bind("methods", "lime(samples=40)").with_settings(seed=1)
    return np.asarray(Engine(model).ask(bound(model.read(first), Target((choice(attentive(), first),))))[0])


def test_the_model_and_the_global_state_stay_and_runs_repeat() -> None:
    model = attentive()
    key, before = model.fingerprint, torch.random.get_rng_state()
    one, two = (randomisation(model, DATA, ("leave-one-out",), seeds=1) for _ in range(2))
    assert torch.equal(before, torch.random.get_rng_state())
    model.__dict__.pop("fingerprint")
    assert model.fingerprint == key
    assert [r.values for r in one] == [r.values for r in two]


def test_what_cannot_be_computed_is_recorded_with_its_reason() -> None:
    data = Dataset("hand", (*DATA.examples[:2], Example("blank", {"text": "  "})))
    records = randomisation(attentive(), data, ("leave-one-out", "lime(samples=1)"), seeds=2)
    blank = [r for r in records if r.example == "blank"]
    assert len(blank) == 2
    assert all(r.values is None and "no words" in r.reason for r in blank)
    failed = [r for r in records if r.method == "lime(samples=1)"]
    assert len(failed) == 2 * 2
    assert all("samples" in r.reason for r in failed)
    assert sum(r.values is not None for r in records) == 2 * 2


def test_a_method_that_does_not_fit_is_told_once() -> None:
    model = reinitialise(attentive())  # a copy: the shared model keeps its abilities
    model.__dict__.pop("can", None)
    model.abilities = model.abilities - {"attention"}
    records = randomisation(model, DATA, ("attention", "random"), seeds=2)
    told = [r for r in records if r.method == "attention"]
    assert [r.example for r in told] == [""]
    assert "needs attention" in told[0].reason


def test_refusals() -> None:
    with pytest.raises(BadInput, match="seeds"):
        randomisation(attentive(), DATA, ("random",), seeds=0)
    with pytest.raises(CannotDo, match="no network"):
        randomisation(BlackBox(lambda texts: [[0.5, 0.5] for _ in texts]), DATA, ("random",))


def test_limit_takes_the_same_sample_as_everywhere() -> None:
    records = randomisation(attentive(), DATA, ("random",), seeds=1, limit=3)
    assert {r.example for r in records} == {e.id for e in DATA.sample(3).examples}


def test_hand_values_of_comparisons() -> None:
    a, b = np.array([2.0, -1.0, 0.0, 4.0]), np.array([-1.0, -1.0, 1.0, 2.0])
    assert sign_changes(a, b) == 2 / 4
    assert scaled(a).tolist() == [0.5, -0.25, 0.0, 1.0]
    assert compared(a, b)["difference"] == pytest.approx((1.0 + 0.25 + 0.5 + 0.0) / 4)
    assert "spearman" not in compared(a, np.ones(4))
    assert compared(np.zeros(3), np.zeros(3)) == {"sign_change": 0.0, "difference": 0.0}
