"""Opens a Hugging Face classifier: from a folder, from the hub or live; every refusal is one line with a remedy."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.types import AssayError

TRAIN = "train one with `assay train classifier`"
VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model", "merges.txt", "*.tiktoken", "tekken.json")


@contextmanager
def quiet() -> Iterator[None]:
    """transformers and the hub without chatter and progress bars, their settings put back afterwards."""
    from transformers.utils import logging as chatter

    hub = logging.getLogger("huggingface_hub")
    level, bars, hub_level = chatter.get_verbosity(), chatter.is_progress_bar_enabled(), hub.level
    chatter.set_verbosity(logging.CRITICAL)
    hub.setLevel(logging.CRITICAL)
    chatter.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        chatter.set_verbosity(level)
        hub.setLevel(hub_level)
        if bars:
            chatter.enable_progress_bar()


def open_classifier(ref: str, trust_remote_code: bool) -> tuple[Any, Any]:
    """(model, tokenizer) of a folder or a hub id; safetensors only."""
    if Path(ref).is_dir():
        check_folder(Path(ref))
    elif Path(ref).exists() or ref.startswith((".", "/", "~")) or ref.count("/") > 1:
        raise AssayError(f"{ref} is not a folder: give a model folder, a hub id or builtin")
    with quiet():
        return _network(ref, trust_remote_code), _tokenizer(ref, trust_remote_code)


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot hold a classifier, and say what is missing."""
    config = folder / "config.json"
    if not config.is_file():
        raise AssayError(
            f"{folder} has no config.json, so it is no model folder: give a folder saved by save_pretrained"
        )
    try:
        read = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise AssayError(f"{config} is not readable JSON ({_line(error)}): save the model again") from error
    if not isinstance(read, dict) or "model_type" not in read:
        raise AssayError(
            f"{config} names no model_type, so it is not a Hugging Face model: save it with save_pretrained"
        )
    if not any(folder.glob("*.safetensors")):
        pickled = next((p.name for p in [*folder.glob("*.bin"), *folder.glob("*.pt")]), None)
        if pickled:
            raise AssayError(
                f"{folder} has only pickled weights ({pickled}), which can run code when opened: "
                "convert them with save_pretrained(safe_serialization=True)"
            )
        raise AssayError(f"{folder} has no weights (*.safetensors): save the model there with save_pretrained")
    if not any(p for pattern in VOCABULARIES for p in folder.glob(pattern)):
        raise AssayError(f"{folder} has no tokenizer: save it there with tokenizer.save_pretrained")


def _network(ref: str, trust_remote_code: bool) -> Any:
    from transformers import AutoModelForSequenceClassification

    try:
        net, report = AutoModelForSequenceClassification.from_pretrained(
            ref,
            use_safetensors=True,
            trust_remote_code=trust_remote_code,
            output_loading_info=True,
        )
    except Exception as error:  # the library raises many kinds; all mean that this model cannot be opened
        raise AssayError(f"{ref} cannot be opened as a text classifier: {_reason(error)}") from error
    if missing := sorted(report["missing_keys"]) + sorted(str(k) for k in report["mismatched_keys"]):
        raise AssayError(f"{ref} has no trained classification head ({missing[0]} is missing): {TRAIN}")
    return net


def _tokenizer(ref: str, trust_remote_code: bool) -> Any:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(ref, trust_remote_code=trust_remote_code)
    except Exception as error:  # as above
        raise AssayError(f"the tokenizer of {ref} cannot be opened: {_reason(error)}") from error
    if len(tokenizer) <= len(tokenizer.all_special_tokens):
        raise AssayError(f"the tokenizer of {ref} has no words: save it again with tokenizer.save_pretrained")
    return tokenizer


def _reason(error: Exception) -> str:
    text = _line(error)
    if "trust_remote_code" in str(error):
        return "it needs code from its author; read that code, then pass trust_remote_code=True"
    if "connect to" in text:
        return "no such folder here, and the hub cannot be reached: check the name, or give a model folder"
    return text


def _line(error: Exception) -> str:
    """The first line of an error, shortened."""
    text = str(error).strip().splitlines()
    return (text[0] if text else type(error).__name__)[:200]


def head_of(config: Any, ref: str) -> tuple[str, tuple[str, ...]]:
    """How logits become probabilities, and the labels; a regression model is refused."""
    names = tuple(str(config.id2label[i]) for i in range(config.num_labels))
    kind = config.problem_type
    if kind == "regression":
        raise AssayError(f"{ref} is a regression model (problem_type regression): only classifiers can be tested")
    if len(names) == 1:
        return "binary", (f"not {names[0]}", names[0])
    return ("multilabel" if kind == "multi_label_classification" else "softmax"), names


def longest_of(net: Any, tokenizer: Any) -> int | None:
    """Most tokens that model and tokenizer take; None when neither says."""
    import torch

    limits = []
    places = getattr(net.config, "max_position_embeddings", None)
    if isinstance(places, int) and places > 0:
        tables = [m for m in net.modules() if isinstance(m, torch.nn.Embedding) and m.num_embeddings == places]
        shifts = [
            m.padding_idx + 1 for m in tables if m.padding_idx is not None and m is not net.get_input_embeddings()
        ]
        limits.append(places - max(shifts, default=0))
    if isinstance(tokenizer.model_max_length, int) and 0 < tokenizer.model_max_length < 10**9:
        limits.append(tokenizer.model_max_length)
    return min(limits, default=None)
