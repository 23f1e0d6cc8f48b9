"""Knows tab-separated tables with a header line, as GLUE distributes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.data.examples import build
from assay.data.rows import some, table_rows
from assay.registry import dataset
from assay.types import Dataset


@dataset("tsv")
def tsv(
    path: Path | str,
    *,
    split: str = "",
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] | None = None,
    quoted: bool = False,
) -> Dataset:
    """A .tsv file (also .tsv.gz) whose first line names the columns; quotes are ordinary characters unless ``quoted``.

    ``columns`` and ``labels`` as for ``jsonl``.
    """
    path = Path(path)
    rows = some(table_rows(path, "\t", quoted=quoted), path)
    return build(rows, name=path.name, split=split, columns=columns, labels=labels)
