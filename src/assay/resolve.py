"""The one grammar of all commands: what a word for a model, a data set, methods or tests means."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay import registry
from assay.registry import Bound, Spec, did_you_mean
from assay.types import AssayError, BadInput, Dataset, Example, Model, content_key

Progress = Callable[[str, float], None]
"""Called with what is being made and the share that is done."""

TOYS = ("additive", "interacting")
TRAINED: Mapping[str, Mapping[str, Any]] = {
    "reviews": {},
    "planted": {},
    "pairs": {"query": "", "epochs": 16},  # one encoder reads both sides: two that never meet cannot compare words
}
"""Built-in classifiers, trained on the built-in data of that name when first asked for, with these settings."""
LM = "mlm"
"""The built-in masked language model, trained on the built-in reviews: small, for trying things out."""


def cache_folder() -> Path:
    """Where trained built-in models are kept: ``ASSAY_CACHE``, else the user's cache."""
    home = os.environ.get("ASSAY_CACHE")
    if home:
        return Path(home)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay"


# ----------------------------------------------------------------------------------------------- models


def model(
    ref: Any,
    *,
    device: str = "auto",
    dtype: str = "auto",
    trust_remote_code: bool = False,
    progress: Progress | None = None,
) -> Model:
    """A model from ``builtin``, ``builtin:NAME``, a folder, a hub id, live objects or a callable."""
    if not isinstance(ref, str | Path):
        return _live(ref, device, dtype)
    text = str(ref)
    if text == "builtin" or text.startswith("builtin:"):
        return _builtin(text.partition(":")[2] or "reviews", device, dtype, progress)
    if Path(text).is_dir():
        return _folder(Path(text), device, dtype, trust_remote_code)
    if Path(text).exists():
        raise BadInput(f"{text} is a file; a model is a folder with config.json and model.safetensors, or a hub id")
    if text.startswith((".", "/", "~")):
        raise BadInput(f"there is no model folder {text}")
    from assay.models import hf_text

    return hf_text.load(text, device=device, dtype=dtype, trust_remote_code=trust_remote_code)


def _folder(folder: Path, device: str, dtype: str, trust_remote_code: bool) -> Model:
    from assay.models import attention_files, attention_rnn, hf_text

    if attention_files.is_folder(folder):
        return attention_rnn.load(folder, device=device, dtype=dtype)
    return hf_text.load(str(folder), device=device, dtype=dtype, trust_remote_code=trust_remote_code)


def _live(ref: Any, device: str, dtype: str) -> Model:
    if isinstance(ref, Model):
        return ref
    if hasattr(ref, "model") and hasattr(ref, "tokenizer"):  # a transformers pipeline: what it holds can do more
        ref = (ref.model, ref.tokenizer)
    if isinstance(ref, tuple) and len(ref) == 2 and hasattr(ref[0], "get_input_embeddings"):
        from assay.models import hf_text

        return hf_text.load(ref, device=device, dtype=dtype)
    if hasattr(ref, "get_input_embeddings"):
        raise BadInput("a transformers model needs its tokenizer: give (model, tokenizer)")
    if callable(ref) or hasattr(ref, "predict_proba"):
        from assay.models.black_box import BlackBox

        return BlackBox(ref)
    raise BadInput(
        f"cannot use a {type(ref).__name__} as a model; give a name, a folder, (model, tokenizer), "
        "a function from texts to probabilities, or a scikit-learn classifier"
    )


def _builtin(name: str, device: str, dtype: str, progress: Progress | None) -> Model:
    if name in TOYS:
        toy: Model = registry.find("models", name).load()()
        return toy
    if name == "minilm":
        from assay.changes.train import minilm_folder

        raise BadInput(
            f"builtin:minilm is an encoder without a classification head; train one first: "
            f"assay train classifier DATA --model builtin:minilm (its files: {minilm_folder().name})"
        )
    if name not in TRAINED:
        known = [f"builtin:{n}" for n in (*TRAINED, *TOYS)]
        raise BadInput(f"unknown model 'builtin:{name}'{did_you_mean(f'builtin:{name}', known)}")
    from assay.models import attention_rnn

    folder = trained(name, progress)
    found = attention_rnn.load(folder, device=device, dtype=dtype)
    found.name = f"builtin:{name}"
    return found


def trained(name: str, progress: Progress | None = None) -> Path:
    """Folder of a built-in classifier, trained once and kept."""
    from assay.changes import train

    def make(folder: Path, told: Callable[[float], None] | None) -> None:
        parts = [data(f"builtin:{name}", split=split) for split in ("train", "dev")]
        train.train_attention(*parts, progress=told, **TRAINED[name]).save(folder)

    return _kept(name, [registry.find("datasets", name).key, registry.find("changes", "train").key, TRAINED[name]],
                 make, progress)  # fmt: skip


def trained_lm(progress: Progress | None = None) -> Path:
    """Folder of the built-in masked language model, trained once and kept."""
    from assay.changes.train_mlm import train_mlm

    def make(folder: Path, told: Callable[[float], None] | None) -> None:
        parts = [data("builtin:reviews", split=split) for split in ("train", "dev")]
        train_mlm(*parts, out=folder, progress=told)

    return _kept(
        LM, [registry.find("datasets", "reviews").key, registry.find("changes", "train-mlm").key], make, progress
    )


def _kept(name: str, recipe: list[Any], make: Callable[..., None], progress: Progress | None) -> Path:
    """Make once, under a name of this process, then rename: two processes at once do no harm."""
    folder = cache_folder() / f"{name}-{content_key('builtin', name, recipe)[:12]}"
    if (folder / "model.safetensors").exists():
        return folder
    fresh = folder.with_name(f"{folder.name}.{os.getpid()}")
    told = (lambda share: progress(f"training builtin:{name}", share)) if progress else None
    try:
        make(fresh, told)
        fresh.replace(folder)
    except OSError as error:
        if not (folder / "model.safetensors").exists():
            where = f"{folder.parent} ({error.strerror})"
            raise AssayError(f"cannot keep the built-in model in {where}; set ASSAY_CACHE to a folder") from error
    return folder


# ------------------------------------------------------------------------------------------------- data


def data(
    ref: Any,
    *,
    split: str | None = None,
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] | None = None,
) -> Dataset:
    """Examples from ``builtin``, ``builtin:NAME``, a file, a folder, a set under ASSAY_DATA, a hub id, or a Dataset."""
    if isinstance(ref, Dataset):
        return ref
    if isinstance(ref, list | tuple):
        return _listed(ref)
    if not isinstance(ref, str | Path):
        raise BadInput(f"cannot use a {type(ref).__name__} as data; give a name, a file, texts, Examples or a Dataset")
    from assay.data.grammar import read

    return read(str(ref), split=split, columns=columns or None, labels=labels or None)


def _listed(items: Sequence[Any]) -> Dataset:
    """Texts, mappings of fields, or Examples, as a data set without labels' names."""
    examples = []
    for i, item in enumerate(items):
        fields = {"text": item} if isinstance(item, str) else item
        if not isinstance(fields, Mapping | Example):
            raise BadInput(
                f"item {i} of the data is a {type(item).__name__}; give texts, mappings of fields, or Examples"
            )
        examples.append(fields if isinstance(fields, Example) else Example(str(i), dict(fields)))
    return Dataset("given texts", tuple(examples))


def distinct(found: Dataset) -> Dataset:
    """Each text once: the same text again would be the same result again; how many were left out is noted."""
    kept = tuple({e.content: e for e in reversed(found.examples)}.values())[::-1]
    if len(kept) == len(found.examples):
        return found
    dropped = {**found.notes.get("dropped", {}), "same text and label as another": len(found.examples) - len(kept)}
    return replace(found, examples=kept, notes={**found.notes, "dropped": dropped})


def matched(found: Dataset, model: Model, *, by_position: bool = False) -> Dataset:
    """The data with its labels in the model's order; a set of labels that does not fit is an error.

    Names match by what they say (``neg`` is ``negative``). By position only where one side has no names (LABEL_0, 1)
    or the user gave the order (``by_position``).
    """
    mine, theirs = found.labels, model.labels
    if not mine or not theirs or all(e.gold is None for e in found.examples):
        return found
    if len(mine) != len(theirs):
        raise BadInput(
            f"{found.name} has {len(mine)} labels ({', '.join(mine)}) and {model.name} has {len(theirs)} "
            f"({', '.join(theirs)}); give the data's labels in the model's order with --labels"
        )
    order = _same_names(mine, theirs)
    if order is None:
        if not (by_position or _nameless(mine) or _nameless(theirs)):
            raise BadInput(
                f"cannot tell which label of {found.name} ({', '.join(mine)}) is which of {model.name} "
                f"({', '.join(theirs)}); give the data's labels in the model's order with --labels"
            )
        note = f"labels matched by position: {', '.join(f'{a} = {b}' for a, b in zip(mine, theirs, strict=True))}"
        return replace(found, notes={**found.notes, "labels": note})
    examples = tuple(replace(e, gold=None if e.gold is None else order[e.gold]) for e in found.examples)
    return replace(found, examples=examples, labels=theirs)


def _same_names(mine: Sequence[str], theirs: Sequence[str]) -> list[int] | None:
    """For each of our labels the place of the one that says the same, or None when that is not clear."""
    order = []
    for label in mine:
        a = label.casefold()
        exact = [i for i, b in enumerate(theirs) if b.casefold() == a]
        near = [i for i, b in enumerate(theirs) if b.casefold().startswith(a) or a.startswith(b.casefold())]
        hits = exact or near
        if len(hits) != 1:
            return None
        order.append(hits[0])
    return order if len(set(order)) == len(order) else None


def _nameless(labels: Sequence[str]) -> bool:
    """Numbers, or what a library writes where nobody named the classes."""
    return all(label.casefold().removeprefix("label").strip("_ ").isdigit() for label in labels)


# --------------------------------------------------------------------------------------- methods and tests


def methods(names: Sequence[str], seed: int = 0) -> tuple[Bound, ...]:
    """Bound methods; ``all`` means every method that is not marked slow."""
    return _bound("methods", names, seed)


def tests(names: Sequence[str], seed: int = 0) -> tuple[Bound, ...]:
    """Bound tests; ``all`` means every test."""
    return _bound("tests", names, seed)


def _bound(kind: str, names: Sequence[str], seed: int) -> tuple[Bound, ...]:
    out: dict[str, Bound] = {}
    for name in names:
        every = [e.name for e in registry.entries(kind) if not e.facts.get("slow")]
        for spec in every if name == "all" else [name]:
            bound = registry.bind(kind, spec, {"models": model_by_name})
            if bound.seeded and bound.seeded not in Spec.parse(spec).settings:
                bound = bound.with_settings(**{bound.seeded: seed})
            if any(b.label == bound.label and b.key != bound.key for b in out.values()):
                bound = replace(bound, label=str(spec))  # what tells them apart is what was written
            out.setdefault(bound.key, bound)
    return tuple(out.values())


@functools.lru_cache(maxsize=4)
def model_by_name(ref: str) -> Model:
    """A language model that a setting names: ``builtin:mlm``, a folder or a hub id."""
    from assay.models import masked_lm

    if ref == f"builtin:{LM}":
        found = masked_lm.load(str(trained_lm()))
        found.name = ref
        return found
    return masked_lm.load(ref)
