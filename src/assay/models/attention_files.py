"""The folder that keeps an attention model: config.json and model.safetensors, and what can be wrong with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from assay.types import BadInput

FAMILY = "attention-rnn"
FORMAT = 1
CONFIG, WEIGHTS = "config.json", "model.safetensors"


def write_folder(folder: Path, facts: Mapping[str, Any], weights: Mapping[str, Tensor]) -> Path:
    """Write the weights, then the configuration: a folder without a configuration was never finished."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).unlink(missing_ok=True)
    save_file({k: v.detach().cpu().contiguous() for k, v in weights.items()}, folder / WEIGHTS)
    text = json.dumps({"family": FAMILY, "format": FORMAT, **facts}, indent=1, ensure_ascii=False)
    (folder / CONFIG).write_text(text + "\n", encoding="utf-8")
    return folder


def read_folder(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The configuration and the weights of a folder."""
    return _facts(folder), _weights(folder / WEIGHTS)


def _facts(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    if not path.is_file():
        raise BadInput(f"{folder} holds no {CONFIG}: expected a folder that 'assay train' wrote")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # broken JSON and broken UTF-8 both are
        raise BadInput(f"{path} is damaged: it is not JSON; train the model again") from error
    if not isinstance(facts, dict) or facts.get("family") != FAMILY:
        raise BadInput(f"{path} is not of the family {FAMILY}: expected a folder that 'assay train' wrote")
    if facts.get("format") != FORMAT:
        raise BadInput(f"{path} has format {facts.get('format')}, this version reads {FORMAT}: train the model again")
    return facts


def _weights(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise BadInput(f"{path.parent} holds no {path.name}: the training was not finished, or a file is missing")
    try:
        weights: dict[str, Tensor] = load_file(path)
    except (SafetensorError, OSError) as error:
        raise BadInput(f"{path} is damaged or cut short ({error}); train the model again") from error
    return weights


def is_folder(folder: Path) -> bool:
    """Does the folder's config.json name this family? False for any other or unreadable one."""
    try:
        return bool(_facts(folder))
    except BadInput:
        return False
