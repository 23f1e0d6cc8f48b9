"""Any Hugging Face sequence classifier as a Model; what it can do is tried on one row, never read off its class."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.answers.batch import NOTHING
from assay.models.hf_attention import Watch, attention_by, watching
from assay.models.hf_load import head_of, longest_of, open_classifier, quiet
from assay.models.hf_tokens import Cutter, Pieces, encoding, features, shorten
from assay.models.torch import GRADED, Batch, Change, Encoding, Out, TorchModel, gated
from assay.registry import family
from assay.types import HIDE, AssayError, BadInput, CannotDo, Edit, Example, Input, Probe

TRIED = "a good film that was seen by many people"


@family("hf-text")
def load(
    ref: str | Path | tuple[Any, Any], *, device: str = "auto", dtype: str = "auto", trust_remote_code: bool = False
) -> HFText:
    """A Hugging Face sequence classifier from a folder, a hub id or a live (model, tokenizer) pair.

    Weights must be safetensors. A live model is copied, so that it can go on training while its copy is tested.
    """
    if isinstance(ref, str | Path):
        net, tokenizer = open_classifier(str(ref), trust_remote_code)
        name = str(ref)
    else:
        net, tokenizer = _pair(ref)
        net = copy.deepcopy(net)
        name = str(getattr(net.config, "_name_or_path", "") or type(net).__name__)
    return HFText(net, tokenizer, name=name, device=device, dtype=dtype)


def _pair(ref: Any) -> tuple[Any, Any]:
    """A live model and its tokenizer, in this order."""
    if not isinstance(ref, tuple) or len(ref) != 2 or not hasattr(ref[0], "get_input_embeddings"):
        raise BadInput(f"expected a folder, a hub id or (model, tokenizer), got {type(ref).__name__}: give one of them")
    if not hasattr(ref[1], "convert_ids_to_tokens"):
        raise BadInput(f"the second of (model, tokenizer) is a {type(ref[1]).__name__}: give the model's tokenizer")
    return ref


class HFText(TorchModel):
    """A transformer with a classification head and its tokenizer."""

    net: Any
    decoder: bool = False
    """True when a token sees only those before it (found by looking)."""

    def __init__(self, net: Any, tokenizer: Any, *, name: str, device: str = "auto", dtype: str = "auto") -> None:
        head, labels = head_of(net.config, name)
        super().__init__(net, name=name, labels=labels, head=head, device=device, dtype=dtype)
        self.tokenizer = tokenizer
        self.longest = longest_of(net, tokenizer)
        rows = net.get_input_embeddings().num_embeddings
        for kind in ("unk", "pad", "mask"):
            token = getattr(tokenizer, f"{kind}_token_id")
            setattr(self, f"{kind}_id", token if token is not None and token < rows else None)
        takes = "token_type_ids" in signature(net.forward).parameters and getattr(net.config, "type_vocab_size", 2) > 1
        self._cutter = Cutter(tokenizer, takes and "token_type_ids" in tokenizer.model_input_names)
        self._words: dict[str, list[int]] = {}
        self._shows = ""
        with quiet():
            _try_out(self)

    # ----------------------------------------------------------------------------------------- reading

    def read(self, example: Example, unit: str = "word") -> Input:
        """Words (or pieces) and special tokens in reading order; special tokens are not free."""
        texts = dict(example.fields)
        if not any(text.strip() for text in texts.values()):
            raise BadInput(f"example {example.id} has no text in {', '.join(texts) or 'any field'}: leave it out")
        pieces = self._cutter.pieces(list(texts.values()))
        ends, cut = shorten(pieces, texts, self.longest)
        pieces = _within(pieces, ends) if cut else pieces
        places = tuple(features(pieces, texts, ends, unit, self.tokenizer.convert_ids_to_tokens))
        free = np.array([not p.special for p in places], dtype=bool)
        if not free.any():
            raise BadInput(
                f"example {example.id}: the tokenizer of {self.name} makes nothing of its text: leave it out"
            )
        return Input(example, unit, places, free, cut)

    def encode(self, x: Input) -> Encoding:
        """The pieces of the places that ``read`` found."""
        texts = dict(x.example.fields)
        pieces = self._cutter.pieces(list(texts.values()))
        if x.cut:
            pieces = _within(pieces, [max((p.end for p in x.places if p.field == f), default=0) for f in texts])
        return encoding(pieces, x.places, list(texts), x.unit, self._cutter.typed)

    def word_ids(self, word: str) -> list[int]:
        """The ids of a word inside a sentence."""
        if word not in self._words:
            self._words[word] = self._cutter.word(word)
        return self._words[word]

    @property
    def filler(self) -> int:
        """The padding id that the network's own configuration names, if any: decoders look for it."""
        configured = self.net.config.get_text_config().pad_token_id
        return int(configured) if configured is not None and configured >= 0 else super().filler

    def identity(self) -> Any:
        """Configuration, labels and tokenizer."""
        skipped = {"transformers_version", "dtype", "torch_dtype"}
        config = {k: v for k, v in self.net.config.to_dict().items() if k not in skipped and k[:1] != "_"}
        fast = getattr(self.tokenizer, "backend_tokenizer", None)
        words = json.loads(fast.to_str()) if fast is not None else sorted(self.tokenizer.get_vocab().items())
        return [config, self.labels, self.longest, words]

    # ----------------------------------------------------------------------------------------- the network

    def lookup(self, batch: Batch) -> Tensor:
        """The input embeddings of the ids."""
        found: Tensor = self.net.get_input_embeddings()(batch.ids)
        return found

    def forward(
        self,
        batch: Batch,
        change: Change | None = None,
        attention: Tensor | None = None,
        hold: bool = False,
        keep: frozenset[str] = NOTHING,
    ) -> Out:
        """Logits, attention maps when kept; ``graph`` in ``keep``: the gradient can be differentiated again."""
        if attention is not None:
            raise CannotDo(f"{self.name} has many attention layers: one attention cannot be imposed on it")
        watch = Watch(hold, "attention" in keep)
        asked: dict[str, Any] = {}
        with ExitStack() as stack:
            if hold or (watch.keep and self._shows != "outputs"):
                stack.enter_context(watching(self.net, watch))
            elif watch.keep or "graph" in keep:
                stack.enter_context(attention_by(self.net, "eager"))
                asked = {"output_attentions": True} if watch.keep else {}
            if change is not None or batch.gate is not None:
                stack.enter_context(_lookup_changed(self.net, lambda e: gated(e, batch, change)))
            ids = stack.enter_context(_padded(self.net, batch))
            given = dict(batch.extra) if self._cutter.typed else {}
            out = self.net(input_ids=ids, attention_mask=batch.seen.long(), **given, **asked)
        z = out.logits
        if self.head == "binary":
            z = torch.cat([-z, z], dim=-1)
        return Out(z.unsqueeze(1), maps=tuple(out.attentions) if asked else tuple(watch.maps))


def _within(pieces: Pieces, ends: list[int]) -> Pieces:
    """Pieces that begin before their field's end; special tokens stay."""
    return pieces.take([f < 0 or s < ends[f] for f, (s, _) in zip(pieces.field, pieces.offsets, strict=True)])


@contextmanager
def _lookup_changed(net: Any, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    handle = net.get_input_embeddings().register_forward_hook(lambda _m, _i, out: change(out))
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def _padded(net: Any, batch: Batch) -> Iterator[Tensor]:
    """Ids whose padding the network knows as such; one without a pad token is lent an id that no row uses."""
    config = net.config.get_text_config()
    if config.pad_token_id is not None:
        yield batch.ids
        return
    used = set(batch.ids[batch.real].tolist())
    lent = next(i for i in range(len(used) + 1) if i not in used)
    config.pad_token_id = lent
    try:
        yield torch.where(batch.real, batch.ids, lent)
    finally:
        config.pad_token_id = None


# -------------------------------------------------------------------------------- what works, tried on one row


def _try_out(model: HFText) -> None:
    """Find out what the network can do, on one short row."""
    x = model.read(Example("tried", {"text": TRIED}))
    batch = model.batch([Probe(x, Edit.none(x))])
    plain = _attempted(lambda: model.forward(batch).logits.detach())
    if plain is None or not torch.isfinite(plain).all():
        model.forward(batch)  # raises the network's own error, if it has one
        raise AssayError(f"{model.name} gives no finite logits for '{TRIED}': its weights are broken")
    found: set[str] = set()
    model.lacking = frozenset() if _changes(model, batch, plain) else GRADED
    if _hides(model, x, plain):
        found.add("hide")
    maps = _shown(model, batch, plain)
    if maps:
        found.add("attention")
        model.decoder = maps[0].shape[-1] > 1 and bool((maps[0][..., 0, 1:] == 0).all())
    if maps and model._shows == "interface" and not model.lacking:
        found.add("hold")
    model.abilities = frozenset(found)


def _attempted(run: Callable[[], Any]) -> Any:
    """What ``run`` gives, or None when the network cannot do it."""
    try:
        return run()
    except Exception:  # whatever it raises, this network cannot do it: that is the question asked here
        return None


def _close(a: Tensor, b: Tensor) -> bool:
    tolerance = 1e-4 if a.dtype == torch.float32 else 3e-2
    return bool(torch.allclose(a.float(), b.float(), rtol=tolerance, atol=tolerance))


def _changes(model: HFText, batch: Batch, plain: Tensor) -> bool:
    """Is the lookup passed through exactly once, and does changing it change the logits, with a gradient?"""
    calls: list[Tensor] = []

    def change(e: Tensor) -> Tensor:
        calls.append((e * 0.5).detach().requires_grad_(True))
        return calls[-1]

    def run() -> bool:
        z = model.forward(batch, change).logits
        (slope,) = torch.autograd.grad(z.float().pow(2).sum(), calls[0])
        return len(calls) == 1 and not torch.equal(z, plain) and bool(torch.isfinite(slope).all())

    return bool(_attempted(run))


def _hides(model: HFText, x: Input, plain: Tensor) -> bool:
    codes = np.zeros((2, x.n), dtype=np.int32)
    codes[0, np.flatnonzero(x.free)[1]] = HIDE
    codes[1, x.free] = HIDE
    z = _attempted(lambda: model.forward(model.batch([Probe(x, Edit(codes))])).logits)
    return z is not None and bool(torch.isfinite(z).all()) and not torch.equal(z[:1], plain)


def _shown(model: HFText, batch: Batch, plain: Tensor) -> tuple[Tensor, ...]:
    """Attention maps by our function if the network calls it and its logits stay, else as the network gives them."""
    for way in ("interface", "outputs"):
        model._shows = way
        out = _attempted(lambda: model.forward(batch, keep=frozenset({"attention"})))
        if out is not None and out.maps and _close(out.logits, plain) and all(m.dim() == 4 for m in out.maps):
            return tuple(out.maps)
    model._shows = ""
    return ()
