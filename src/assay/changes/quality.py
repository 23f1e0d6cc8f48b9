"""What training needs to know of labelled data: is it fit to train on, and how good are answers to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.training import Fit
from assay.types import BadInput, Dataset, Floats


@dataclass(frozen=True, slots=True)
class TrainResult:
    """A trained model: its folder, how good it is on held-out data, what training it took."""

    folder: Path
    accuracy: float
    f1: float
    epochs: int
    seconds: float
    seed: int

    @property
    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "folder": str(self.folder)}


def golds(data: Dataset, labels: tuple[str, ...]) -> NDArray[np.int64]:
    """The right answers; an example without one or with an unknown label is an error."""
    out = []
    for example in data.examples:
        if example.gold is None:
            raise BadInput(f"{_named(data)}: example {example.id} has no label; training needs one for every example")
        if not 0 <= example.gold < len(labels):
            raise BadInput(f"{_named(data)}: example {example.id} has label {example.gold}, labels are {_list(labels)}")
        out.append(example.gold)
    return np.array(out, dtype=np.int64)


def labels_of(data: Dataset, dev: Dataset) -> tuple[str, ...]:
    """The labels that a model of this data shall have; two classes at least, the same in both sets."""
    if not data.examples or not dev.examples:
        empty = data if not data.examples else dev
        raise BadInput(f"{_named(empty)} has no examples; training needs examples to learn from and held-out ones")
    top = max((e.gold for d in (data, dev) for e in d.examples if e.gold is not None), default=0)
    labels = data.labels or dev.labels or tuple(str(i) for i in range(top + 1))
    if dev.labels and dev.labels != labels:
        raise BadInput(f"{_named(dev)} has the labels {_list(dev.labels)}, {_named(data)} has {_list(labels)}")
    found = set(golds(data, labels).tolist())
    if len(found) < 2:
        only = labels[found.pop()]
        raise BadInput(f"{_named(data)}: every example is '{only}'; training needs examples of two labels at least")
    golds(dev, labels)
    return labels


def measured(logp: Floats, gold: NDArray[np.int64]) -> dict[str, float]:
    """Accuracy, F1 (of the second of two classes; the mean over classes of more) and, for two classes, ROC-AUC.

    >>> p = np.log([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.7, 0.3]])
    >>> {k: round(v, 3) for k, v in measured(p, np.array([0, 0, 1, 1])).items()}
    {'accuracy': 0.5, 'f1': 0.5, 'auc': 0.75}
    """
    choice, classes = logp.argmax(axis=1), logp.shape[1]
    each = [_f1(choice == c, gold == c) for c in range(classes)]
    out = {"accuracy": float((choice == gold).mean()), "f1": each[1] if classes == 2 else float(np.mean(each))}
    if classes == 2 and 0 < gold.sum() < len(gold):
        out["auc"] = auc(logp[:, 1] - logp[:, 0], gold)
    return out


def auc(score: Floats, gold: NDArray[np.int64]) -> float:
    """Chance that a random positive scores above a random negative; a tie counts half."""
    negatives = np.sort(score[gold == 0])
    below = np.searchsorted(negatives, score[gold == 1], side="left")
    up_to = np.searchsorted(negatives, score[gold == 1], side="right")
    return float((below + up_to).mean() / (2 * len(negatives)))


def _f1(chosen: NDArray[np.bool_], right: NDArray[np.bool_]) -> float:
    """2 tp / (chosen + right); 0 when there is neither."""
    return float(2 * (chosen & right).sum() / max(1, chosen.sum() + right.sum()))


def free_folder(folder: Path) -> Path:
    """The folder, which must not hold anything yet: a trained model never overwrites another."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} is not empty; give another folder for the trained model, or empty it first")
    return folder


def training_notes(
    done: Fit, data: Dataset, held_out: Mapping[str, float], held: int, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """How a model was trained and what it reached, as JSON."""
    return {
        "trained_on": {"name": data.name, "split": data.split, "examples": len(data)},
        "settings": dict(settings),
        "held_out": {k: round(v, 4) for k, v in held_out.items()} | {"examples": held},
        "epochs": len(done.epochs),
        "kept": done.kept,
        "losses": [round(e.losses["loss"], 4) for e in done.epochs],
        "scores": [None if e.score is None else round(e.score, 4) for e in done.epochs],
        "seconds": round(done.seconds, 2),
        "seed": done.seed,
    }


def finished(folder: Path, notes: Mapping[str, Any]) -> TrainResult:
    """Write the notes beside the model as training.json and sum them up."""
    (folder / "training.json").write_text(json.dumps(notes, indent=1) + "\n", encoding="utf-8")
    held = notes["held_out"]
    return TrainResult(folder, held["accuracy"], held["f1"], notes["epochs"], notes["seconds"], notes["seed"])


def _named(data: Dataset) -> str:
    return f"{data.name} ({data.split})" if data.split else data.name


def _list(labels: tuple[str, ...]) -> str:
    return ", ".join(labels)
