"""Gradient methods against captum, on our own small network and on a BERT."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from captum.attr import InputXGradient, IntegratedGradients  # type: ignore[import-untyped]  # ships no types

from assay.engine import Engine
from assay.registry import bind
from assay.types import Example, Target

CLASS = 2


def ours(model: Any, method: str, example: Example, target: int = CLASS) -> Any:
    result = Engine(model).ask(bind("methods", method)(model.read(example), Target((target,))))
    return result[0] if isinstance(result, tuple) else result


def embedded(model: Any, example: Example) -> tuple[torch.Tensor, Any]:
    ids = torch.from_numpy(model.encode(model.read(example)).ids)[None]
    real = torch.ones_like(ids, dtype=torch.bool)
    return model.net["look"](ids).clone(), lambda e: model.logits(e, real.expand(e.shape[:2]))


def test_gradient_times_input(pooled: Any, sentence: Example) -> None:
    e, f = embedded(pooled, sentence)
    theirs = InputXGradient(f).attribute(e.requires_grad_(), target=CLASS).sum(-1)[0]
    assert ours(pooled, "gradient(output=logit)", sentence) == pytest.approx(theirs.detach().numpy(), abs=1e-6)


@pytest.mark.parametrize(("rule", "method"), [("gauss-legendre", "gausslegendre"), ("midpoint", "riemann_middle")])
def test_integrated_gradients(pooled: Any, sentence: Example, rule: str, method: str) -> None:
    e, f = embedded(pooled, sentence)
    theirs = IntegratedGradients(f).attribute(e, target=CLASS, n_steps=20, method=method).sum(-1)[0]
    scores = ours(pooled, f"integrated-gradients(output=logit, rule={rule}, steps=20)", sentence)
    assert scores == pytest.approx(theirs.detach().numpy(), abs=1e-6)


def test_integrated_gradients_from_a_token(pooled: Any, sentence: Example) -> None:
    e, f = embedded(pooled, sentence)
    base = pooled.net["look"](torch.full((1, e.shape[1]), pooled.pad_id))
    theirs = IntegratedGradients(f).attribute(e, base, target=CLASS, n_steps=20).sum(-1)[0]
    scores = ours(pooled, "integrated-gradients(output=logit, base=pad, steps=20)", sentence)
    assert scores == pytest.approx(theirs.detach().numpy(), abs=1e-6)


@pytest.mark.parametrize("method", ["gradient(output=logit)", "integrated-gradients(output=logit, steps=20)"])
def test_through_bert(tiny_bert: Path, sentence: Example, method: str) -> None:
    """Word embeddings go in, positions and types stay; the two pieces of 'suggests' are one word of ours."""
    from assay.models.hf_text import load

    model = load(str(tiny_bert), device="cpu")
    x = model.read(sentence)
    encoding = model.encode(x)
    e = model.net.get_input_embeddings()(torch.from_numpy(encoding.ids)[None]).clone().requires_grad_()

    def f(embeddings: torch.Tensor) -> Any:
        return model.net(inputs_embeds=embeddings).logits

    pieces = (
        InputXGradient(f).attribute(e, target=1)
        if method.startswith("gradient")
        else IntegratedGradients(f).attribute(e, target=1, n_steps=20)
    )
    words = np.bincount(encoding.owner, weights=pieces.sum(-1)[0].detach().numpy(), minlength=x.n)
    assert len(words) == len(encoding.ids) - 1
    assert ours(model, method, sentence, target=1) == pytest.approx(words, abs=1e-4 * np.abs(words).max())


def test_attention_of_bert_is_what_transformers_gives(tiny_bert: Path, sentence: Example) -> None:
    from transformers import BertForSequenceClassification

    from assay.models.hf_text import load

    model = load(str(tiny_bert), device="cpu")
    encoding = model.encode(model.read(sentence))
    reference = BertForSequenceClassification.from_pretrained(tiny_bert, attn_implementation="eager").eval()
    ids = torch.from_numpy(encoding.ids)[None]
    maps = reference(input_ids=ids, output_attentions=True).attentions
    last = np.bincount(encoding.owner, weights=maps[-1][0].mean(0)[0].detach().numpy())
    first = np.bincount(encoding.owner, weights=maps[0][0, 1].mean(0).detach().numpy())
    assert ours(model, "attention", sentence) == pytest.approx(last, abs=1e-5)
    assert ours(model, "attention(layer=0, head=1, to=mean)", sentence) == pytest.approx(first, abs=1e-5)
