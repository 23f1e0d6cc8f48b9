"""Knows JSON lines: one object per line, plain or gzip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.data.examples import build
from assay.data.rows import json_rows, some
from assay.registry import dataset
from assay.types import Dataset


@dataset("jsonl")
def jsonl(
    path: Path | str,
    *,
    split: str = "",
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] | None = None,
) -> Dataset:
    """A .jsonl or .jsonl.gz file: one object per line.

    ``columns`` says which column is which field ({"text": "review"}), and in the same way ``label``, ``id`` and
    ``rationale``; what is not said is taken from the usual names. ``labels`` are the class names in their order.
    """
    path = Path(path)
    return build(some(json_rows(path), path), name=path.name, split=split, columns=columns, labels=labels)
