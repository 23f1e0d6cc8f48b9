"""Models drawn anew: what changes, what stays, and that nothing else in the process notices."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from assay.changes.reinitialise import below, classifier, reinitialise
from assay.models.additive import Additive
from assay.models.attention_layers import ATTENTIONS, ENCODERS, Shape
from assay.models.attention_net import new_net
from assay.models.attention_rnn import AttentionRNN
from assay.models.attention_text import SPECIALS, Reader, Vocabulary
from assay.models.black_box import BlackBox
from assay.models.hf_text import HFText, load
from assay.models.torch import TorchModel
from assay.types import BadInput, CannotDo, Edit, Example, Probe, Seed

WORDS = ("a", "bad", "dull", "film", "good", "not")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
FAMILIES = ("bert", "distilbert", "roberta", "gpt2")


def attention_model(encoder: str = "bilstm", attention: str = "additive", query: bool = False) -> AttentionRNN:
    shape = Shape(len(WORDS) + len(SPECIALS), 3 if query else 1, encoder, attention, query, embed=6, width=8, align=5)  # type: ignore[arg-type]  # names come from the tables
    reader = Reader(Vocabulary(WORDS), ("premise", "hypothesis") if query else ("text",), "hypothesis" if query else "")
    labels = ("no", "maybe", "yes") if query else ("negative", "positive")
    return AttentionRNN(new_net(shape, 1), reader, labels=labels, device="cpu")


def transformer(family: str = "bert", labels: int = 3) -> HFText:
    vocabulary = {w: i for i, w in enumerate([*SPECIAL, *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=32, **names)
    kind = {"bert": hf.BertConfig, "distilbert": hf.DistilBertConfig, "roberta": hf.RobertaConfig}.get(family)
    size = {"vocab_size": len(vocabulary), "num_labels": labels, "pad_token_id": 0, "initializer_range": 0.3}
    deep = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 32}
    if family == "gpt2":
        config = hf.GPT2Config(n_layer=2, n_head=2, n_embd=16, n_positions=32, bos_token_id=2, eos_token_id=3, **size)
    elif family == "distilbert":
        config = hf.DistilBertConfig(n_layers=2, n_heads=2, dim=16, hidden_dim=32, max_position_embeddings=34, **size)
    else:
        config = kind(**deep, max_position_embeddings=34, **size)  # type: ignore[misc]  # bert or roberta
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        net = hf.AutoModelForSequenceClassification.from_config(config)
    return load((net.eval(), tokenizer), device="cpu")


def logits(model: TorchModel, *texts: str) -> np.ndarray:
    fields = ("text",) if len(texts) == 1 else ("premise", "hypothesis")
    x = model.read(Example("1", dict(zip(fields, texts, strict=True))))
    return np.asarray(model.answer([Probe(x, Edit.none(x))])[0]["logits"][0, 0])


def states(model: TorchModel) -> dict[str, torch.Tensor]:
    return {k: v.clone() for k, v in model.net.state_dict().items()}


def changed(one: dict[str, torch.Tensor], two: dict[str, torch.Tensor]) -> set[str]:
    return {k for k in one if not torch.equal(one[k], two[k])}


MODELS: list[Any] = [
    *(pytest.param(lambda f=f: transformer(f), id=f) for f in FAMILIES),
    *(pytest.param(lambda e=e, a=a: attention_model(e, a), id=f"{e}-{a}")
      for e, a in itertools.product(ENCODERS, ATTENTIONS)),
]  # fmt: skip


@pytest.mark.parametrize("make", MODELS)
def test_only_the_classifiers_weight_changes_and_the_original_not_at_all(make: Any) -> None:
    model = make()
    before, text = states(model), "good film not dull"
    said, key = logits(model, text), model.fingerprint
    made = reinitialise(model, seed=Seed(1))
    head = next(n for n, m in model.net.named_modules() if m is classifier(model))
    assert changed(before, states(model)) == set()
    assert changed(before, states(made)) == {f"{head}.weight"}
    assert np.array_equal(logits(model, text), said)
    assert not np.allclose(logits(made, text), said)
    assert model.fingerprint == key != made.fingerprint
    assert type(made) is type(model)
    assert made.can == model.can
    assert "drawn anew" in made.name
    assert "drawn anew" not in model.name


@pytest.mark.parametrize("make", MODELS)
def test_the_new_logits_are_the_new_weight_times_the_old_features(make: Any) -> None:
    """z' = W' h + b with h what the original classifier was handed."""
    model = make()
    made = reinitialise(model, seed=Seed(2))
    handed: list[torch.Tensor] = []
    hook = classifier(model).register_forward_hook(lambda _m, given, _o: handed.append(given[0]))
    logits(model, "good film not dull")
    hook.remove()
    layer = classifier(made)
    z = handed[-1].reshape(-1, layer.in_features) @ layer.weight.T
    z = z if layer.bias is None else z + layer.bias
    due = torch.cat([-z, z], dim=-1)[-1] if model.head == "binary" else z
    found = torch.from_numpy(logits(made, "good film not dull"))
    assert (due.reshape(-1, len(found)) - found).abs().max(dim=-1).values.min() < 1e-5


def test_weights_are_xavier_uniform() -> None:
    """Within the bound, and as spread as a uniform law: variance bound^2 / 3 (over 300 draws of 8 numbers)."""
    model = attention_model()
    drawn = torch.cat([classifier(reinitialise(model, seed=Seed(s))).weight.flatten() for s in range(300)])
    bound = float(np.sqrt(6 / (8 + 1)))
    assert drawn.abs().max() <= bound
    assert drawn.abs().max() > 0.99 * bound
    assert float(drawn.var()) == pytest.approx(bound**2 / 3, rel=0.06)


def test_seeds_repeat_differ_and_leave_the_global_state_alone() -> None:
    model = attention_model()
    before = torch.random.get_rng_state()
    one, again, other = (states(reinitialise(model, seed=Seed(s))) for s in (1, 1, 2))
    assert torch.equal(before, torch.random.get_rng_state())
    assert changed(one, again) == set()
    assert changed(one, other) == {"decoder.weight"}


def test_a_cascade_goes_down_module_by_module() -> None:
    """Of BERT: classifier, pooler, then the last layer's norm and its matrices; biases fall to 0, norms to 1."""
    model = transformer()
    with torch.no_grad():
        for parameter in model.net.parameters():
            parameter.add_(0.01)
    kept = states(model)
    names = [n for n, p in model.net.named_modules() if next(p.parameters(recurse=False), None) is not None][::-1]
    assert names[:3] == ["classifier", "bert.pooler.dense", "bert.encoder.layer.1.output.LayerNorm"]
    for modules in (1, 2, 3, 6):
        made = states(reinitialise(model, what="cascade", modules=modules, seed=Seed(3)))
        touched = {n.rpartition(".")[0] for n in changed(kept, made)}
        assert touched == set(names[:modules])
    assert torch.equal(made["classifier.bias"], kept["classifier.bias"])
    assert not made["bert.pooler.dense.bias"].any()
    assert (made["bert.encoder.layer.1.output.LayerNorm.weight"] == 1).all()
    assert not made["bert.encoder.layer.1.output.LayerNorm.bias"].any()


@pytest.mark.parametrize("query", [False, True])
def test_a_full_cascade_reaches_the_embeddings_and_keeps_their_padding(query: bool) -> None:
    model = attention_model(query=query)
    depth = len(below(model.net, classifier(model))) + 1
    made = reinitialise(model, what="cascade", modules=depth + 50, seed=Seed(4))
    matrices = {n for n, p in model.net.named_parameters() if p.dim() > 1}
    assert matrices <= changed(states(model), states(made))
    assert not made.net.embedding.weight[0].any()
    assert np.isfinite(logits(made, *(["good film", "not good"] if query else ["good film"]))).all()


def test_what_has_no_classifier_or_network_is_refused() -> None:
    with pytest.raises(CannotDo, match="no linear layer with 2 outputs"):
        reinitialise(Additive(weights={"good": 1.0}))
    with pytest.raises(CannotDo, match="no network"):
        reinitialise(BlackBox(lambda texts: [[0.5, 0.5] for _ in texts]))  # type: ignore[type-var]  # refused for that
    with pytest.raises(BadInput, match="modules"):
        reinitialise(attention_model(), modules=0)
