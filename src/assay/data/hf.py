"""Knows Hugging Face data sets: a folder saved by ``save_to_disk``, or an id on the hub."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from assay.data.examples import build, layout
from assay.data.rows import Row, some
from assay.data.splits import choose
from assay.registry import dataset
from assay.types import AssayError, BadInput, Dataset


@dataset("hf")
def hf(
    ref: str,
    *,
    split: str = "",
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] | None = None,
) -> Dataset:
    """A saved folder, or ``owner/name`` (``owner/name:config``) on the hub; nothing is fetched with HF_HUB_OFFLINE=1.

    ``columns`` and ``labels`` as for ``jsonl``; class names come from the data set where it has them.
    """
    table, split = _one_split(_load(ref), split, ref)
    plan = layout(table.column_names, columns, ref)
    names = getattr(table.features.get(plan.label), "names", None) if plan.label else None
    return build(some(_rows(table, ref), ref), name=ref, split=split, columns=columns, labels=labels or names)


def _load(ref: str) -> Any:
    try:
        import datasets
    except ImportError as error:
        raise AssayError(f"'{ref}' needs the datasets package, which is missing: pip install assay[data]") from error
    name, _, config = ref.partition(":")
    if not (local := Path(ref).is_dir()):
        _reachable(ref)
    try:
        return datasets.load_from_disk(ref) if local else datasets.load_dataset(name, config or None)
    except Exception as error:  # the library raises many kinds, all of which mean that it has no such data
        reason = (str(error).splitlines() or [""])[0]
        raise BadInput(f"'{ref}' could not be loaded by datasets ({type(error).__name__}: {reason:.120})") from error


def _reachable(ref: str) -> None:
    """Say at once that there is no network: the library would try for half a minute."""
    host = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co")).hostname or ""
    if os.environ.get("HF_HUB_OFFLINE", "0").lower() in ("1", "true", "yes", "on"):
        return
    try:
        socket.getaddrinfo(host, None)
    except OSError as error:
        remedy = "connect, or set HF_HUB_OFFLINE=1 to use a copy fetched before"
        raise BadInput(f"'{ref}' needs the network and {host} cannot be reached; {remedy}") from error


def _one_split(loaded: Any, split: str, ref: str) -> tuple[Any, str]:
    if isinstance(loaded, Mapping):
        split = choose(list(loaded), split, ref)
        return loaded[split], split
    if split and split != str(loaded.split or ""):
        raise BadInput(f"{ref}: no split '{split}'; it holds one table{f', {loaded.split}' if loaded.split else ''}")
    return loaded, str(loaded.split or "")


def _rows(table: Any, ref: str) -> Iterator[Row]:
    for number, cells in enumerate(table, start=1):
        yield Row(f"{ref}:{number}", cells)
