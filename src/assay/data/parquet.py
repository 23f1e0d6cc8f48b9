"""Knows Parquet files, read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from assay.data.examples import build
from assay.data.rows import Row, present, some
from assay.registry import dataset
from assay.types import AssayError, BadInput, Dataset


@dataset("parquet")
def parquet(
    path: Path | str,
    *,
    split: str = "",
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] | None = None,
) -> Dataset:
    """A .parquet file; ``columns`` and ``labels`` as for ``jsonl``."""
    path = present(path)
    return build(some(_rows(path), path), name=path.name, split=split, columns=columns, labels=labels)


def _rows(path: Path) -> Iterator[Row]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise AssayError(f"{path}: Parquet needs pyarrow, which is not installed: pip install assay[data]") from error
    number = 0
    try:
        for batch in pyarrow.parquet.ParquetFile(path).iter_batches():
            for cells in batch.to_pylist():
                number += 1
                yield Row(f"{path}:{number}", cells)
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise BadInput(f"{path}: not a readable Parquet file, after {number} good rows ({reason})") from error
