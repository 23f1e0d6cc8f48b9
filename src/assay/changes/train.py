"""Trains classifiers: the attention papers' models from scratch here, transformers through ``transformer``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch

from assay.align import words
from assay.changes.encoded import Encoded
from assay.changes.quality import TrainResult, finished, free_folder, labels_of, training_notes
from assay.changes.transformer import minilm_folder, train_transformer
from assay.models.attention_layers import Attention, Encoder, Shape, Sizes, sized
from assay.models.attention_net import AttentionNet, new_net
from assay.models.attention_rnn import AttentionRNN
from assay.models.attention_text import PAD, Reader, Vectors, Vocabulary, vectors_for
from assay.registry import change, did_you_mean
from assay.training import Stream, fit
from assay.types import BadInput, Dataset, Seed

__all__ = ["TrainResult", "minilm_folder", "train_attention", "train_attention_folder", "train_transformer"]

Progress = Callable[[float], None]
"""Called with the share of the training that is done."""
SEED = Seed(0)
Missing = Literal["zero", "normal"]


@change("train", paper="Jain & Wallace 2019; Wiegreffe & Pinter 2019", purpose="training")
def train_attention(
    data: Dataset,
    dev: Dataset,
    *,
    encoder: Encoder = "bilstm",
    attention: Attention = "additive",
    sizes: Sizes = "small",
    epochs: int = 10,
    lr: float = 5e-3,
    rows: int = 32,
    decay: float = 1e-5,
    hidden_words: float = 0.1,
    select: Literal["accuracy", "auc", "f1"] = "accuracy",
    query: str | None = None,
    unit: str = "word",
    edges: bool = True,
    lower: bool = True,
    digits: bool = False,
    min_count: int = 1,
    vectors: Any = None,
    missing: Missing = "zero",
    seed: Seed = SEED,
    device: str = "auto",
    progress: Progress | None = None,
) -> AttentionRNN:
    """Train a classifier that attends to words, from scratch; the best epoch on held-out data is kept.

    ``sizes`` small suits one core; paper and code are Jain & Wallace's (their recipe: 8 epochs, lr 1e-3, rows 32,
    hidden_words 0, select auc). ``query``: the field that asks and is not attended; by default the last of two or
    more fields, '' for none. ``hidden_words``: share of training words shown as [UNK] or [MASK], so that both come
    to mean "some word". ``vectors``: a file or (array, words); a word they lack is ``missing``: zero, or N(0, 1).
    Two labels make one logit. ``model.notes`` holds the held-out scores and what was trained how.
    """
    labels = labels_of(data, dev)
    fields = _fields(data, dev)
    texts = ([text[a:b] for a, b in words(text, unit)] for e in data.examples for text in e.fields.values())
    vocabulary = Vocabulary.of(texts, min_count=min_count, lower=lower, digits=digits)
    reader = Reader(vocabulary, fields, _query(query, fields), unit, edges)
    outputs = 1 if len(labels) == 2 else len(labels)
    shape = sized(Shape(len(vocabulary), outputs, encoder, attention, bool(reader.query)), sizes)
    net = new_net(shape, seed) if vectors is None else _with_vectors(shape, vocabulary, vectors, missing, seed)
    model = AttentionRNN(net, reader, labels=labels, name=f"{encoder}-{attention}", device=device)
    train, held = Encoded(model, data), Encoded(model, dev)
    net.requires_grad_(True)
    stream = Stream(
        lambda rng: train.batches(rng, rows=rows, hidden_words=hidden_words), train.loss, _adam(net, lr, decay)
    )
    total = epochs * -(-len(data) // rows)
    done = fit(
        net,
        [stream],
        epochs=epochs,
        select=lambda epoch: held.score(select),
        seed=seed,
        on_step=None if progress is None else lambda step: progress(step.step / total),
    )
    net.requires_grad_(False)
    settings = {"sizes": sizes, "lr": lr, "rows": rows, "decay": decay, "hidden_words": hidden_words, "select": select}
    model.notes = training_notes(done, data, held.scores(), len(dev), settings)
    return model


def train_attention_folder(data: Dataset, dev: Dataset, *, out: Path, **settings: Any) -> TrainResult:
    """``train_attention`` with these settings, saved in the folder ``out`` with a training.json beside it."""
    free_folder(out)
    model = train_attention(data, dev, **settings)
    return finished(model.save(out), model.notes)


def _adam(net: AttentionNet, lr: float, decay: float) -> torch.optim.Optimizer:
    """Adam with amsgrad; weight decay on everything but attention, as the papers' code has it."""
    attention = set(net.attention.parameters())
    others = [p for p in net.parameters() if p not in attention]
    groups = [{"params": others, "weight_decay": decay}]
    if attention:
        groups.append({"params": list(net.attention.parameters()), "weight_decay": 0.0})
    return torch.optim.Adam(groups, lr=lr, amsgrad=True)


def _with_vectors(shape: Shape, vocabulary: Vocabulary, source: Vectors, missing: Missing, seed: int) -> AttentionNet:
    """A fresh net whose word vectors are the given ones, trainable; the query's table begins as the same."""
    given, found = vectors_for(vocabulary, source)
    net = new_net(replace(shape, embed=given.shape[1]), seed)
    table = torch.from_numpy(given)
    if missing == "normal":
        drawn = torch.randn(table.shape, generator=torch.Generator().manual_seed(seed))
        table = torch.where(torch.from_numpy(found)[:, None], table, drawn)
        table[PAD] = 0.0
    with torch.no_grad():
        net.embedding.weight.copy_(table.repeat(2 if shape.query else 1, 1))
    return net


def _fields(data: Dataset, dev: Dataset) -> tuple[str, ...]:
    """The names of the fields, the same in every example."""
    fields = tuple(data.examples[0].fields)
    for example in (*data.examples, *dev.examples):
        if tuple(example.fields) != fields:
            there = ", ".join(example.fields)
            raise BadInput(f"{data.name}: example {example.id} has the fields {there}, expected {', '.join(fields)}")
    return fields


def _query(name: str | None, fields: tuple[str, ...]) -> str:
    if name is None:
        return fields[-1] if len(fields) > 1 else ""
    if name and (name not in fields or len(fields) == 1):
        raise BadInput(f"query cannot be '{name}'{did_you_mean(name, list(fields[1:]))} ('' = no field asks)")
    return name
