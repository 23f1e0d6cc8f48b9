"""Any Hugging Face sequence classifier as a Model; what it can do is tried on one row, never read off its class."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.answers.batch import NOTHING
from assay.models.hf_abilities import try_out
from assay.models.hf_attention import Watch, Which, attention_by, watching
from assay.models.hf_load import head_of, longest_of, open_classifier, quiet
from assay.models.hf_tokens import Cutter, Pieces, encoding, features, shorten
from assay.models.torch import Batch, Change, Encoding, Out, TorchModel, gated
from assay.registry import family
from assay.types import BadInput, Example, Input


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
    depth: int = 0
    """Layers whose attention can be read, each with so many ``heads`` (found by looking)."""
    heads: int = 0
    shows: str = ""
    """How attention is read: through the ``interface``, as ``outputs`` of the network, or not at all."""

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
        with quiet():
            try_out(self)

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
        watch = self._watch(batch, attention, hold, keep)
        asked: dict[str, Any] = {}
        with ExitStack() as stack:
            if hold or watch.which is not None or (watch.keep and self.shows != "outputs"):
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
        maps = tuple(out.attentions) if asked else tuple(watch.maps)
        return Out(z.unsqueeze(1), maps=maps, states=watch.values, norms=tuple(watch.norms))

    def _watch(self, batch: Batch, attention: Tensor | None, hold: bool, keep: frozenset[str]) -> Watch:
        if attention is None and not keep & {"states", "norms"}:
            return Watch(hold, "attention" in keep)
        every = "norms" in keep and attention is None  # lengths of all layers: none has to be chosen
        chosen = replace(batch, where={k: v for k, v in batch.where.items() if k != "layer"}) if every else batch
        which = Which.of(chosen, self.depth, self.heads, self.decoder)
        return Watch(hold, "attention" in keep, which, attention, "norms" in keep)

    def attended(self, batch: Batch) -> Tensor:
        """[B, L] bool: what is there and not hidden."""
        return batch.seen

    def held(self, batch: Batch) -> HeldHF:
        """The attention that ``batch.where`` means, to be replaced; everything below its layer stays as it is."""
        out = self.forward(batch, keep=frozenset({"attention"}))
        which = Which.of(batch, self.depth, self.heads, self.decoder)
        return HeldHF(self, batch, batch.seen, which.read(out.maps[which.layer].float()))


@dataclass(frozen=True, eq=False, slots=True)
class HeldHF:
    """One attention of a transformer: what may be attended [B, L], what is [B, L], and the logits under another."""

    model: HFText
    batch: Batch
    attend: Tensor
    attention: Tensor

    def logits(self, attention: Tensor) -> Tensor:
        """[k, B, heads, classes] of attention [k, B, L]: a whole pass, differentiable."""
        k, rows = attention.shape[:2]
        many = self.batch.take(torch.arange(rows, device=attention.device).repeat(k))
        z = self.model.forward(many, attention=attention.flatten(0, 1)).logits
        return z.view(k, rows, *z.shape[1:])

    def place_logits(self) -> None:
        """Layers stand above: nothing is linear in attention."""
        return


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
