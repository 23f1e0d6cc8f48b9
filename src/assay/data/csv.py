"""Knows comma-separated tables with quotes and a header line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.data.examples import build
from assay.data.rows import some, table_rows
from assay.registry import dataset
from assay.types import Dataset


@dataset("csv")
def csv_table(
    path: Path | str,
    *,
    split: str = "",
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] | None = None,
    delimiter: str = ",",
) -> Dataset:
    """A .csv file (also .csv.gz) whose first line names the columns; cells in quotes may hold commas and line ends.

    ``columns`` and ``labels`` as for ``jsonl``; a rationale cell holds JSON or a passage of the text.
    """
    path = Path(path)
    return build(some(table_rows(path, delimiter), path), name=path.name, split=split, columns=columns, labels=labels)
