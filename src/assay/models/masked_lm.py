"""Any Hugging Face masked language model as a Model that fills gaps; only the gaps pass the vocabulary head."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assay.answers.asked import Asked
from assay.answers.fill import Pieces, fill
from assay.models.hf_abilities import TRIED
from assay.models.hf_load import check_folder, longest_of, quiet
from assay.models.hf_text import HFText
from assay.models.torch import Batch
from assay.registry import family, parameters
from assay.types import AssayError, BadInput, CannotDo, Edit, Example, Input, Probe, Reading

TRAIN = "make one with `assay train mlm`"


@family("masked-lm", paper="Devlin et al. 2019, BERT")
def load(
    ref: str | Path | tuple[Any, Any], *, device: str = "auto", dtype: str = "auto", trust_remote_code: bool = False
) -> MaskedLM:
    """A masked language model from a folder, a hub id or a live (model, tokenizer) pair.

    Weights must be safetensors, in any precision: they are computed with in float32 unless ``dtype`` says otherwise.
    An encoder or a classifier has no head that predicts words and is refused.
    """
    if isinstance(ref, str | Path):
        net, tokenizer = _opened(str(ref), trust_remote_code)
        name = str(ref)
    else:
        net, tokenizer = copy.deepcopy(ref[0]), ref[1]
        name = str(getattr(net.config, "_name_or_path", "") or type(net).__name__)
    return MaskedLM(net, tokenizer, name=name, device=device, dtype=dtype)


class MaskedLM(HFText):
    """A transformer that predicts masked words, with its tokenizer; answers ``fill`` and nothing else."""

    budget = 1024  # logits over a vocabulary for every gap: larger batches only cost memory

    def __init__(self, net: Any, tokenizer: Any, *, name: str, device: str = "auto", dtype: str = "auto") -> None:
        if tokenizer.mask_token_id is None:
            raise AssayError(f"the tokenizer of {name} has no mask token, so it is no masked language model: {TRAIN}")
        net.config.num_labels, net.config.problem_type = 2, None  # what it carries of classes means nothing here
        self._inputs: dict[tuple[int, str], tuple[Example, Input]] = {}
        super().__init__(net, tokenizer, name=name, device=device, dtype=dtype)
        self.labels = ()
        self.longest = longest_of(net, tokenizer)
        self.gathers = _gathers(self)
        """True when the head can be given the gaps alone (tried at load)."""

    @cached_property
    def can(self) -> frozenset[str]:
        """It fills gaps in texts whose words may be replaced."""
        tokens = {name for name in ("unk", "pad", "mask") if getattr(self, f"{name}_id") is not None}
        return frozenset({"fill", "replace"} | tokens)

    def read(self, example: Example, unit: str = "word") -> Input:
        """As any Hugging Face model; the same Input for the same Example, so that equal questions are asked once."""
        found = self._inputs.get((id(example), unit))
        if found is None or found[0] is not example:
            if len(self._inputs) >= self.remembered:
                self._inputs = {}
            found = self._inputs[(id(example), unit)] = (example, super().read(example, unit))
        return found[1]

    def answer(self, probes: Sequence[Probe]) -> list[Reading]:
        """``fill`` for every gap; there is no prediction beside it."""
        if probes[0].want != {"fill"}:
            asked = ", ".join(sorted(probes[0].want)) or "a prediction"
            raise CannotDo(f"{self.name} is a masked language model: it answers fill, not {asked}")
        how = dict(probes[0].how)
        if unknown := set(how) - set(parameters(fill)):
            raise BadInput(f"unknown setting {', '.join(sorted(unknown))} of fill; there are: top, pieces")
        arrays = fill(Asked(self, self.batch(probes), probes, probes[0].want, how), **how)
        return [Reading({k: a[i] for k, a in arrays.items()}, self.head) for i in range(len(probes))]

    # ------------------------------------------------------------------------------------------ gaps

    def gap_logits(self, batch: Batch, at: Tensor) -> Tensor:
        """[M, V]: logits at the M True places of ``at`` [B, L]; differentiable."""
        if not self.gathers:
            return self.forward(batch).logits[:, 0][at]
        with _only(self.net, at):
            return self.forward(batch).logits[:, 0]

    def own(self, x: Input) -> NDArray[np.int64]:
        """[n]: the id of every word that is one piece of the vocabulary, -1 for the others."""
        made = self.encoding(x)
        out = np.full(x.n, -1, dtype=np.int64)
        single = (made.owner >= 0) & (made.pieces_of(x.n)[np.maximum(made.owner, 0)] == 1)
        single &= ~np.isin(made.ids, self.tokenizer.all_special_ids)
        out[made.owner[single]] = made.ids[single]
        return out

    def spaced(self, x: Input) -> NDArray[np.int64]:
        """[n]: 1 for a word with white space before it (some vocabularies spell such words differently)."""
        before = [
            not p.special and x.example.fields[p.field][max(0, p.start - 1) : p.start].isspace() for p in x.places
        ]
        return np.array(before, dtype=np.int64)

    # ------------------------------------------------------------------------------------------ vocabulary

    def word(self, piece: int) -> str:
        """A piece as text, in the vocabulary's own casing; a word ending keeps its mark ("##ing")."""
        return self._texts[piece]

    def candidates(self, pieces: Pieces) -> Tensor:
        """[2, V] bool: what may fill a gap that no space (row 0) or a space (row 1) precedes.

        ``whole``: a piece that, written as a word in such a place, is read back as that very piece; so no word
        endings, no special or unused pieces, nothing invisible. Punctuation may fill a gap. ``all``: no special ones.
        """
        if pieces not in ("whole", "all"):
            raise BadInput(f"pieces cannot be {pieces!r}; use whole or all")
        return self._whole if pieces == "whole" else self._every

    @cached_property
    def _texts(self) -> list[str]:
        tokens = self.tokenizer.convert_ids_to_tokens(list(range(min(self._size, len(self.tokenizer)))))
        return ["" if t is None else str(self.tokenizer.convert_tokens_to_string([t])).strip() for t in tokens]

    @property
    def _size(self) -> int:
        """How many logits a gap has."""
        return int(self.net.config.get_text_config().vocab_size)

    @cached_property
    def _every(self) -> Tensor:
        out = torch.zeros(self._size, dtype=torch.bool)
        out[: len(self._texts)] = torch.tensor([bool(t) for t in self._texts])
        out[[i for i in self.tokenizer.all_special_ids if i < self._size]] = False
        return torch.stack([out, out])

    @cached_property
    def _whole(self) -> Tensor:
        out = self._every.clone()
        usable = out[0].tolist()
        fit = [i for i, t in enumerate(self._texts) if usable[i] and t.isprintable() and " " not in t]
        out[:] = False
        for row, lead in enumerate(("", self._cutter.lead) if self._cutter.lead else ("",)):
            read = self.tokenizer([lead + self._texts[i] for i in fit], add_special_tokens=False)["input_ids"]
            out[row, [i for i, ids in zip(fit, read, strict=True) if list(ids) == [i]]] = True
        return out if self._cutter.lead else out[:1].repeat(2, 1)


def _opened(ref: str, trust_remote_code: bool) -> tuple[Any, Any]:
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    if Path(ref).is_dir():
        check_folder(Path(ref))
    elif Path(ref).exists() or ref.startswith((".", "/", "~")):
        raise AssayError(f"{ref} is not a folder: give a masked language model's folder, a hub id or builtin:mlm")
    with quiet():
        try:
            net, report = AutoModelForMaskedLM.from_pretrained(
                ref, use_safetensors=True, trust_remote_code=trust_remote_code, output_loading_info=True
            )
            tokenizer = AutoTokenizer.from_pretrained(ref, trust_remote_code=trust_remote_code)
        except Exception as error:  # the library raises many kinds; all mean that this model cannot be opened
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
            raise AssayError(f"{ref} cannot be opened as a masked language model ({reason}): {TRAIN}") from error
    if missing := sorted(report["missing_keys"]) + sorted(str(k) for k in report["mismatched_keys"]):
        raise AssayError(f"{ref} has no trained masked-language-model head ({missing[0]} is missing): {TRAIN}")
    return net, tokenizer


@contextmanager
def _only(net: Any, at: Tensor) -> Iterator[None]:
    """The vocabulary head is given the states at these places only."""
    handle = net.get_output_embeddings().register_forward_pre_hook(lambda _m, given: (given[0][at], *given[1:]))
    try:
        yield
    finally:
        handle.remove()


def _gathers(model: MaskedLM) -> bool:
    """Does the head give the same for two places alone as within the whole row?"""
    if model.net.get_output_embeddings() is None:
        return False
    x = HFText.read(model, Example("tried", {"text": TRIED}))
    batch = model.batch([Probe(x, Edit.none(x))])
    at = torch.zeros_like(batch.real)
    at[0, :2] = True
    with torch.inference_mode():
        whole = model.forward(batch).logits[:, 0][at]
        try:
            with _only(model.net, at):
                part = model.forward(batch).logits[:, 0]
        except (RuntimeError, IndexError, ValueError):  # a head that looks at the whole row: use the plain way
            return False
    exact = 1e-4 if part.dtype == torch.float32 else 3e-2
    return part.shape == whole.shape and bool(torch.allclose(part, whole, rtol=exact, atol=exact))
