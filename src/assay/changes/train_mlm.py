"""Trains masked language models: a small one from scratch, or an encoder that is given a head that predicts words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from assay.changes.lm_vocabulary import learned
from assay.changes.quality import free_folder, training_notes
from assay.models.hf_load import quiet
from assay.models.masked_lm import MaskedLM
from assay.models.torch import Batch
from assay.registry import change
from assay.training import Stream, buckets, fit
from assay.types import MASK, AssayError, BadInput, Dataset, Edit, Probe, Seed

SEED = Seed(0)
Ids = NDArray[np.int64]
HELD_GAPS = 1000
"""Words of held-out text that the finished model is measured on, each masked alone."""
PER_TEXT = 20
"""Most of them from one text."""


@dataclass(frozen=True, slots=True)
class MlmResult:
    """A trained masked language model: its folder, how good its fills are on held-out text, what training it took."""

    folder: Path
    top1: float
    """Share of held-out words that are the likeliest fill of their own gap (a word of several pieces never is)."""
    mass: float
    """Mean sum of the ten likeliest fills' probabilities."""
    epochs: int
    seconds: float
    seed: int
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "folder": str(self.folder)}


@change("train-mlm", paper="Devlin et al. 2019, BERT; Pham et al. 2022, Double trouble", purpose="training")
def train_mlm(
    data: Dataset,
    dev: Dataset,
    *,
    out: Path,
    encoder: str | None = None,
    epochs: int | None = None,
    lr: float | None = None,
    share: float = 0.18,
    rows: int = 32,
    longest: int = 128,
    vocabulary: int = 6000,
    layers: int = 2,
    width: int = 128,
    seed: Seed = SEED,
    device: str = "auto",
    progress: Callable[[float], None] | None = None,
) -> MlmResult:
    """Train a masked language model on the texts of all fields; labels are not looked at.

    Without ``encoder`` a small BERT (``layers`` x ``width``) with a lower-cased vocabulary of its own is trained from
    scratch (16 epochs, lr 2e-3): enough for short texts of few kinds. An encoder (a folder or hub id) gets a fresh head
    tied to its word embeddings and is trained whole (3 epochs, lr 1e-3; its layers at 0.3 of that rate, its embeddings
    at 0.2): the head alone learns little. A ``share`` of the words that are one piece is masked, at least one per
    text; AdamW, the rate rises over a tenth of the updates and falls to zero; the best epoch by held-out loss is kept.
    Texts are cut at ``longest`` tokens. The folder holds safetensors, the tokenizer and training.json with held-out
    top-1 and mass of the top 10.
    """
    folder = free_folder(Path(out))
    _check(data, dev, share)
    epochs = (16 if encoder is None else 3) if epochs is None else epochs
    lr = (2e-3 if encoder is None else 1e-3) if lr is None else lr
    size = (vocabulary, layers, width)
    model = _scratch(data, size, seed, device) if encoder is None else _headed(encoder, seed, device)
    model.longest = longest if model.longest is None else min(longest, model.longest)
    train, held = _Texts(model, data), _Texts(model, dev)
    model.net.requires_grad_(True)
    total = epochs * -(-len(train) // rows)
    done = fit(
        model.net,
        [_stream(train, encoder is None, lr, rows, share, total)],
        epochs=epochs,
        select=lambda epoch: -held.mean_loss(share),
        seed=seed,
        on_step=None if progress is None else lambda step: progress(min(1.0, step.step / total)),
    )
    model.net.requires_grad_(False)
    settings = {"encoder": Path(encoder).name if encoder else None, "lr": lr, "share": share, "rows": rows}
    quality = held_out(model, dev)
    notes = training_notes(done, data, quality, len(dev), settings | {"longest": longest})
    _save(model, folder, notes)
    return MlmResult(folder, quality["top1"], quality["mass"], len(done.epochs), notes["seconds"], seed, notes)


def _check(data: Dataset, dev: Dataset, share: float) -> None:
    for part in (data, dev):
        if not part.examples:
            raise BadInput(f"{part.name} has no examples; training needs texts to learn from and held-out ones")
    if not 0 < share < 1:
        raise BadInput(f"share of masked words must be between 0 and 1, got {share}")


# ---------------------------------------------------------------------------------------------- the networks


def _scratch(data: Dataset, size: tuple[int, int, int], seed: int, device: str) -> MaskedLM:
    """A small BERT of that vocabulary, depth and width; the vocabulary is learned from the texts."""
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    most, layers, width = size
    vocabulary = learned((text for e in data.examples for text in e.fields.values()), most)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=max(1, width // 32),
        intermediate_size=2 * width,
        initializer_range=width**-0.5,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = BertForMaskedLM(config)
        tokenizer = BertTokenizer(vocab=vocabulary, model_max_length=config.max_position_embeddings)
    return MaskedLM(net, tokenizer, name="masked-lm", device=device)


def _headed(encoder: str, seed: int, device: str) -> MaskedLM:
    """An encoder with a head that predicts words, drawn from the seed where the encoder has none."""
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            tokenizer = AutoTokenizer.from_pretrained(encoder)
            net = AutoModelForMaskedLM.from_pretrained(encoder, use_safetensors=True)
        except (OSError, ValueError, KeyError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
            raise AssayError(f"cannot train '{encoder}' to fill gaps ({reason}); give an encoder's folder") from error
    return MaskedLM(net, tokenizer, name=encoder, device=device)


def _save(model: MaskedLM, folder: Path, notes: Mapping[str, Any]) -> None:
    with quiet():
        model.net.save_pretrained(folder)
        model.tokenizer.save_pretrained(folder)
    (folder / "training.json").write_text(json.dumps(notes, indent=2) + "\n", encoding="utf-8")


# -------------------------------------------------------------------------------------------------- training


@dataclass(frozen=True, eq=False, slots=True)
class _Masked:
    batch: Batch
    at: Tensor
    """[B, L]: the masked places."""
    words: Tensor
    """[M]: what stood there."""


class _Texts:
    """Every text read and encoded once; batches with some words masked."""

    def __init__(self, model: MaskedLM, data: Dataset) -> None:
        self.model = model
        inputs = [model.read(e) for e in data.examples]
        made = [model.encode(x) for x in inputs]
        own = [np.append(model.own(x), -1)[e.owner] >= 0 for x, e in zip(inputs, made, strict=True)]
        usable = [i for i, o in enumerate(own) if o.any()]
        if not usable:
            raise BadInput(f"{data.name}: no text holds a word that is one piece of the vocabulary")
        self.ids, self.own = [made[i].ids for i in usable], [own[i] for i in usable]
        self.extra = {name: [made[i].extra[name] for i in usable] for name in made[0].extra}
        self.lengths = np.array([len(i) for i in self.ids], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.ids)

    def batches(self, rng: np.random.Generator, *, rows: int, share: float) -> Iterator[_Masked]:
        """One epoch, in batches of near-equal length."""
        for chosen in buckets(self.lengths, rows=rows, rng=rng, noise=0.1):
            yield self.masked(chosen, rng, share)

    def masked(self, chosen: Ids, rng: np.random.Generator, share: float) -> _Masked:
        """These texts with a share of the words masked, at least one in each."""
        ids, own = self._padded(self.ids, chosen, self.model.filler), self._padded(self.own, chosen, 0)
        draw = np.where(own, rng.random(ids.shape), 2.0)
        at = (draw < share) | (draw == draw.min(axis=1, keepdims=True))
        words = torch.from_numpy(ids[at])
        ids[at] = self.model.mask_id
        real = torch.from_numpy(np.arange(ids.shape[1]) < self.lengths[chosen, None]).to(self.model.device)
        extra = {k: self._tensor(self._padded(v, chosen, 0)) for k, v in self.extra.items()}
        unowned = torch.full(ids.shape, -1, device=self.model.device)
        batch = Batch(self._tensor(ids), real, real, unowned, 0, extra=extra)
        return _Masked(batch, self._tensor(at), words.to(self.model.device))

    def loss(self, masked: _Masked) -> Tensor:
        """Mean cross-entropy of the masked words."""
        return cross_entropy(self.model.gap_logits(masked.batch, masked.at), masked.words)

    def mean_loss(self, share: float) -> float:
        """The loss over all texts, the same words masked every time."""
        with torch.inference_mode():
            batches = self.batches(np.random.default_rng(0), rows=64, share=share)
            parts = [(float(self.loss(m)), len(m.words)) for m in batches]
        return float(np.average([p[0] for p in parts], weights=[p[1] for p in parts]))

    def _padded(self, arrays: list[Any], chosen: Ids, filler: int) -> Any:
        out = np.full((len(chosen), int(self.lengths[chosen].max())), filler, dtype=arrays[0].dtype)
        for row, i in enumerate(chosen.tolist()):
            out[row, : self.lengths[i]] = arrays[i]
        return out

    def _tensor(self, array: Any) -> Tensor:
        return torch.from_numpy(array).to(self.model.device)


def _stream(train: _Texts, fresh: bool, lr: float, rows: int, share: float, total: int) -> Stream:
    """AdamW; a trained encoder moves more slowly than its new head, its word embeddings most slowly."""
    net = train.model.net
    table, inside = set(net.get_input_embeddings().parameters()), set(net.base_model.parameters())
    rate = {p: 1.0 if fresh or p not in inside else 0.2 if p in table else 0.3 for p in net.parameters()}
    groups = [{"params": [p for p in rate if rate[p] == r], "lr": lr * r} for r in sorted(set(rate.values()))]
    optimiser = torch.optim.AdamW(groups, lr=lr, weight_decay=0.01)
    warm = max(1, total // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / warm, max(0.0, (total - step) / max(1, total - warm)))
    )

    def batches(rng: np.random.Generator) -> Iterator[_Masked]:
        return train.batches(rng, rows=rows, share=share)

    return Stream(batches, train.loss, optimiser, schedule=schedule, clip=1.0)


def held_out(model: MaskedLM, data: Dataset) -> dict[str, float]:
    """Top-1 match, mass of the top 10 and share of one-piece words, one word masked at a time, on a fair sample."""
    match, mass, single = [], [], []
    for example in data.sample(None).examples:
        x = model.read(example)
        free = np.flatnonzero(x.free)
        gaps = free[:: -(-len(free) // PER_TEXT)]
        codes = np.zeros((len(gaps), x.n), dtype=np.int32)
        codes[np.arange(len(gaps)), gaps] = MASK
        (reading,) = model.answer([Probe(x, Edit(codes), frozenset({"fill"}))])
        at = (np.arange(len(gaps)), gaps)
        own = reading["own"][at]
        match += ((reading["fill"][at][:, 0] == own) & (own >= 0)).tolist()
        mass += reading["fill_p"][at].sum(axis=1).tolist()
        single += (own >= 0).tolist()
        if len(match) >= HELD_GAPS:
            break
    return {"top1": float(np.mean(match)), "mass": float(np.mean(mass)), "one_piece": float(np.mean(single))}
