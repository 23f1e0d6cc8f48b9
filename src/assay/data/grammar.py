"""Knows what a user may write for DATA, and finds the reader for it."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay import registry
from assay.data import shared
from assay.data.rows import lines, present
from assay.data.splits import choose, split_of
from assay.registry import Spec, did_you_mean
from assay.types import BadInput, Dataset

SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
_FORMAT = re.compile(r"([A-Za-z][\w-]*(?:\([^()]*\))?):(.+)", re.DOTALL)
_HUB = re.compile(r"[\w.-]+(/[\w.-]+)?(:[\w.-]+)?")


def read(
    ref: str,
    *,
    split: str | None = None,
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] | None = None,
    limit: int | None = None,
) -> Dataset:
    """The examples that a reference names.

    ``builtin`` (the reviews), ``builtin:NAME`` or ``builtin:NAME(key=value)``; a file, by its suffix; a folder (saved
    Hugging Face data, ERASER, SST trees, one file per split, one subfolder per class); ``FORMAT:PATH`` for a format
    that no suffix tells, as ``agnews:test.csv``; a name under ASSAY_DATA; else an id on the hub.
    ``split``: test when none is said, else dev, else the only one. ``limit``: a fair sample, of which smaller are part.
    """
    if limit is not None and limit < 1:
        raise BadInput(f"limit must be at least 1, got {limit}")
    found = _read(ref.strip(), {"split": split or "", "columns": columns, "labels": labels})
    return found if limit is None else found.sample(limit)


def _read(ref: str, wanted: Mapping[str, Any]) -> Dataset:
    if ref == "builtin" or ref.startswith("builtin:"):
        return _builtin(ref.partition(":")[2] or "reviews", wanted)
    path = Path(ref).expanduser()
    if path.is_dir():
        return _folder(path, wanted)
    if path.exists():
        return _file(path, wanted)
    given = _FORMAT.fullmatch(ref)
    if given and Spec.parse(given[1]).name in [e.name for e in registry.entries("datasets")]:
        return _call(given[1], given[2], wanted)
    if ref in shared.names():
        return _call("shared", ref, wanted)
    return _hub(ref, wanted)


def _call(spec: str, ref: Path | str, wanted: Mapping[str, Any]) -> Dataset:
    """Call a format with what the user wants; what it cannot do is an error, not forgotten."""
    bound = registry.bind("datasets", spec)
    if wanted["columns"] and "columns" not in bound.settings:
        raise BadInput(f"{ref}: the format {bound.entry.name} has its own columns; leave columns out")
    taken = {k: v for k, v in wanted.items() if v and k in bound.settings}
    found: Dataset = bound.with_settings(**taken)(ref)
    return found if "labels" in taken else _renamed(found, wanted["labels"])


# --------------------------------------------------------------------------------------------- built in


def _builtin(text: str, wanted: Mapping[str, Any]) -> Dataset:
    spec = Spec.parse(text)
    known = [e.name for e in registry.entries("datasets") if e.facts.get("builtin")]
    if spec.name not in known:
        raise BadInput(f"no built-in data set '{spec.name}'{did_you_mean(spec.name, known)}")
    if wanted["columns"]:
        raise BadInput(f"builtin:{spec.name} has its own columns; leave columns out")
    bound = registry.bind("datasets", spec)
    found: Dataset = (bound.with_settings(split=wanted["split"]) if wanted["split"] else bound)()
    return _renamed(found, wanted["labels"])


def _renamed(found: Dataset, labels: Sequence[str] | None) -> Dataset:
    if not labels:
        return found
    if len(labels) != len(found.labels):
        raise BadInput(f"{found.name} has {len(found.labels)} labels ({', '.join(found.labels)}), got {len(labels)}")
    return replace(found, labels=tuple(labels))


# ------------------------------------------------------------------------------------ files and folders


def _format_of(path: Path) -> str:
    suffixes = [s for s in path.suffixes if s != ".gz"]
    return SUFFIXES.get(suffixes[-1], "") if suffixes else ""


def _split_of(path: Path) -> str:
    stem = path.name.removesuffix(".gz").removesuffix(f".{path.name.removesuffix('.gz').rpartition('.')[2]}")
    return split_of(stem) or stem


def _file(path: Path, wanted: Mapping[str, Any]) -> Dataset:
    name = _format_of(path) or ("sst-trees" if _first_line(path).startswith("(") else "")
    if not name:
        raise BadInput(f"{path}: unknown kind of file; expected {', '.join(SUFFIXES)}, or write FORMAT:{path}")
    if not wanted["columns"]:
        name = _known_header(name, path)
    split = split_of(path.name) if not wanted["split"] else choose([_split_of(path)], wanted["split"], str(path))
    return _call(name, path, {**wanted, "split": split})


def _first_line(path: Path) -> str:
    return next((text for _, text in lines(present(path))), "")


def _known_header(name: str, path: Path) -> str:
    """SNLI and e-SNLI are known by columns that nothing else has."""
    if name == "csv" and "Sentence1_marked_1" in _first_line(path):
        return "esnli"
    if name == "jsonl" and all(f'"{c}"' in _first_line(path) for c in ("gold_label", "sentence1", "sentence2")):
        return "snli"
    return name


def _folder(path: Path, wanted: Mapping[str, Any]) -> Dataset:
    if name := _folder_format(path):
        return _call(name, str(path) if name == "hf" else path, wanted)
    files = sorted(p for p in path.iterdir() if p.is_file() and _format_of(p))
    if not files:
        raise BadInput(
            f"{path}: no data found; expected files named by split ({', '.join(SUFFIXES)}), one subfolder per class, "
            "an ERASER folder, SST trees or a saved Hugging Face data set"
        )
    split = choose({_split_of(p) for p in files}, wanted["split"], str(path))
    parts = [_file(p, {**wanted, "split": ""}) for p in files if _split_of(p) == split]
    return _joined(parts, path.name, split)


def _folder_format(path: Path) -> str:
    if (path / "dataset_dict.json").exists() or (path / "state.json").exists():
        return "hf"
    if (path / "docs").is_dir() or (path / "docs.jsonl").exists():
        return "eraser"
    trees = [*path.glob("*.txt"), *path.glob("trees/*.txt")]
    if any(p.stem in ("train", "dev", "test") and _first_line(p).startswith("(") for p in trees):
        return "sst-trees"
    if any(p.is_file() and _format_of(p) for p in path.iterdir()):
        return ""
    return "folder" if any(p.is_dir() and not p.name.startswith(".") for p in path.iterdir()) else ""


def _joined(parts: Sequence[Dataset], name: str, split: str) -> Dataset:
    """One split from its shards, whose examples must not share ids."""
    if len(parts) == 1:
        return replace(parts[0], name=name, split=split)
    if len({p.labels for p in parts}) > 1:
        raise BadInput(f"{name}: the parts of split '{split}' have different labels; give labels=[...] in order")
    examples = tuple(replace(e, id=f"{k}/{e.id}") for k, part in enumerate(parts) for e in part.examples)
    dropped = sum((Counter(p.notes.get("dropped", {})) for p in parts), Counter[str]())
    return Dataset(name, examples, parts[0].labels, split, {"dropped": dict(dropped), "parts": len(parts)})


# ------------------------------------------------------------------------------------------------- hub


def _hub(ref: str, wanted: Mapping[str, Any]) -> Dataset:
    known = [f"builtin:{e.name}" for e in registry.entries("datasets") if e.facts.get("builtin")] + shared.names()
    tried = f"'{ref}' is no built-in data, file, folder or set under ASSAY_DATA"
    if Path(ref).suffix in (*SUFFIXES, ".gz", ".txt") or ref.startswith(("/", ".", "~")):
        present(Path(ref).expanduser())
    alike = difflib.get_close_matches(ref, known, cutoff=0.6) or [k for k in known if k.endswith(f":{ref}")]
    if (alike and "/" not in ref) or not _HUB.fullmatch(ref):
        raise BadInput(f"{tried}{did_you_mean(ref, alike or known)}")
    try:
        return _call("hf", ref, wanted)
    except BadInput as error:
        raise BadInput(f"{tried}, and the hub did not give it: {error}") from error
