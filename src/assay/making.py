"""Training as users call it: a classifier or a language model from a data set, as an ordinary model folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay import resolve
from assay.types import AssayError, Dataset, Seed


def train(
    data: Any,
    *,
    model: str = "attention-rnn",
    out: str | Path,
    split: str = "train",
    dev: str | None = None,
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
    epochs: int | None = None,
    encoder: str = "bilstm",
    attention: str = "additive",
    progress: Callable[[float], None] | None = None,
) -> Any:
    """Train a classifier on labelled data: ``attention-rnn`` (small, from scratch) or any encoder folder or hub id."""
    from assay.changes import train as training

    whole = resolve.data(data, split=split, columns=columns, labels=labels).sample(limit)
    held = _held_out(data, whole, dev, columns, labels)
    chosen: dict[str, Any] = {} if epochs is None else {"epochs": epochs}
    if model == "attention-rnn":
        return training.train_attention_folder(
            held[0],
            held[1],
            out=Path(out),
            encoder=encoder,
            attention=attention,
            seed=seed,
            progress=progress,
            **chosen,
        )
    ref = str(training.minilm_folder()) if model == "builtin:minilm" else model
    return training.train_transformer(
        ref, held[0], held[1], out=Path(out), seed=Seed(seed), progress=progress, **chosen
    )


def train_lm(
    data: Any,
    *,
    encoder: str = "",
    out: str | Path,
    split: str = "train",
    dev: str | None = None,
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    epochs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Any:
    """Train a masked language model on a data set's texts, from scratch or on top of an encoder (folder or hub id)."""
    from assay.changes.train_mlm import train_mlm
    from assay.changes.transformer import minilm_folder

    whole = resolve.data(data, split=split, columns=columns).sample(limit)
    texts, held = _held_out(data, whole, dev, columns, ())
    ref = str(minilm_folder()) if encoder == "builtin:minilm" else encoder or None
    return train_mlm(texts, held, out=Path(out), encoder=ref, epochs=epochs, seed=Seed(seed), progress=progress)


def _held_out(
    ref: Any, whole: Dataset, dev: str | None, columns: Mapping[str, str] | None, labels: Sequence[str]
) -> tuple[Dataset, Dataset]:
    """The dev split where there is one, else a tenth of the training data in hashed order."""
    if dev is not None:
        return whole, resolve.data(ref, split=dev, columns=columns, labels=labels)
    for name in ("dev", "validation", "val"):
        try:
            return whole, resolve.data(ref, split=name, columns=columns, labels=labels)
        except AssayError:
            continue
    cut = max(1, len(whole) // 10)
    return replace(whole, examples=whole.examples[cut:]), replace(whole, examples=whole.examples[:cut])
