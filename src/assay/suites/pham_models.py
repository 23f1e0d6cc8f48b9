"""Knows the classifier and the two language models that Pham et al. 2022 are repeated with, and makes the missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay import resolve
from assay.changes.train_mlm import train_mlm
from assay.changes.transformer import minilm_folder, train_transformer
from assay.lab import Lab
from assay.types import Dataset, Model, Seed

HELD = 500
"""Training rows on which the epoch to keep is chosen: the evaluated examples have no part in training."""
TRAIN_ON = {"esnli": "snli"}
"""Data sets that come without a training split -> whose training split fits them."""
MINILM, SCRATCH = "minilm", "scratch"
ROWS = 14_000
EPOCHS = 2
SMALLER: dict[str, Any] = {"layers": 1, "width": 64, "epochs": 8}
"""The second language model of built-in data must not be the first one once more."""


@dataclass(frozen=True, eq=False, slots=True)
class Cast:
    """Who plays: the explained classifier, the language model for fills, and a second one to check that it was not it.

    ``lm`` and ``second`` are what operators name: a folder, a hub id or ``builtin:mlm``.
    """

    model: Model
    lm: str
    second: str
    told: dict[str, Any]
    """What the report says of them."""


def cast(lab: Lab, data: str, model: str, lm: str, second: str) -> Cast:
    """Load or make all three; what is made is kept in the lab."""
    small = data.startswith("builtin")
    ref = model or (data if small else str(classifier(lab, data)))
    first = lm or ("builtin:mlm" if small else str(language_model(lab, data, MINILM)))
    kind = MINILM if lm and not small else SCRATCH  # where one is given, MiniLM is free to be the other
    other = second or str(language_model(lab, data, kind))
    told = {
        "classifier": described(ref, made=not model),
        "language model": described(first, made=not lm),
        "second language model": described(other, made=not second),
    }
    return Cast(resolve.model(ref, device=lab.device, dtype=lab.dtype), first, other, told)


def described(ref: str, *, made: bool = False) -> str:
    """A model in words: its name, or what its folder says of its training; one made here stands on MiniLM, if any."""
    path = Path(ref) / "training.json"
    if not path.is_file():
        return Path(ref).name
    notes = json.loads(path.read_text(encoding="utf-8"))
    learned, held, encoder = notes["trained_on"], notes["held_out"], notes["settings"].get("encoder")
    start = "from scratch" if not encoder else "on top of MiniLM" if made else f"on top of '{encoder}'"
    score = next((f"held-out {k} {held[k]:.3f}" for k in ("top1", "accuracy") if k in held), "not judged")
    return f"trained {start} on {learned['examples']} rows of {learned['name']}, {score}"


def trained_on(data: str) -> str:
    """The data set whose training split goes with this one."""
    return TRAIN_ON.get(data, data)


def training_rows(data: str, rows: int) -> tuple[Dataset, Dataset]:
    """A fair sample of the training split, and rows beside it on which epochs are chosen."""
    every = resolve.distinct(resolve.data(trained_on(data), split="train")).sample(rows + HELD)
    held = min(HELD, max(1, len(every) // 10))
    return replace(every, examples=every.examples[held:]), replace(every, examples=every.examples[:held])


def classifier(lab: Lab, data: str, rows: int = ROWS, epochs: int = EPOCHS) -> Path:
    """MiniLM fine-tuned on the data, in the lab's folder."""
    place = lab.place("classifier", {"data": trained_on(data), "rows": rows, "epochs": epochs})
    if not (place / "training.json").is_file():
        train, held = training_rows(data, rows)
        train_transformer(
            minilm_folder(), train, held, out=place, epochs=epochs, seed=Seed(lab.seed), device=lab.device,
            progress=_telling(lab, "classifier"),
        )  # fmt: skip
    return place


def language_model(lab: Lab, data: str, kind: str, rows: int = ROWS) -> Path:
    """A masked language model of the data's texts: MiniLM with a new head, or a small one from scratch."""
    place = lab.place("language-model", {"data": trained_on(data), "rows": rows, "kind": kind})
    if not (place / "training.json").is_file():
        train, held = training_rows(data, rows)
        encoder = str(minilm_folder()) if kind == MINILM else None
        size = SMALLER if data.startswith("builtin") else {}
        train_mlm(
            train, held, out=place, encoder=encoder, seed=Seed(lab.seed), device=lab.device,
            progress=_telling(lab, f"language model ({kind})"), **size,
        )  # fmt: skip
    return place


def _telling(lab: Lab, what: str) -> Callable[[float], None]:
    return lambda share: lab.tell(what, share)
