"""A store as files for other programs: JSON, JSON lines, CSV, Parquet, pandas. One tidy row per number or word."""

from __future__ import annotations

import csv
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.store.file import FiledExplanation, FiledRecord, Store
from assay.types import AssayError, BadInput, CannotDo, Record

if TYPE_CHECKING:
    import pandas as pd

RECORD_COLUMNS = ("key", "model", "test", "example", "method", "other", "replicate", "name", "value", "reason")
WORD_COLUMNS = (
    "key",
    "model",
    "example",
    "method",
    "target",
    "place",
    "field",
    "start",
    "end",
    "word",
    "free",
    "score",
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
Row = Mapping[str, Any]


def export(store: Store, path: str | Path) -> tuple[Path, ...]:
    """Write records and explanations; the suffix says how. Returns the files written.

    ``.json`` and ``.jsonl`` hold both (NaN becomes null, infinities the words "Infinity" and "-Infinity"); ``.csv`` and
    ``.parquet`` hold one row per number, and one row per word in NAME.explanations.SUFFIX beside it. In CSV a cell that
    a spreadsheet would run as a formula starts with '.
    """
    path = Path(path)
    writers = {".json": _json, ".jsonl": _jsonl, ".csv": _csv, ".parquet": _parquet}
    if path.suffix not in writers:
        raise BadInput(f"cannot export to '{path.name}': the name must end in {', '.join(writers)}")
    try:
        return writers[path.suffix](store, path)
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}; the run itself is safe in {store.path}") from error


def to_pandas(records: Iterable[Record]) -> pd.DataFrame:
    """Tidy table: one row per number (``name``, ``value``); a failure is one row with NaN and its reason."""
    try:
        import pandas
    except ImportError as error:
        raise CannotDo("pandas is not installed; install assay[data]") from error
    columns = list(RECORD_COLUMNS[2:])
    return pandas.DataFrame([r for record in records for r in _record_rows(record)], columns=columns)


# ---------------------------------------------------------------------------------------------- tidy rows


def _record_rows(record: Record) -> Iterator[dict[str, Any]]:
    names = {c: _clean(getattr(record, c)) for c in ("test", "example", "method", "other", "replicate", "reason")}
    for name, value in (record.values or {"": math.nan}).items():
        yield names | {"name": _clean(name), "value": float(value)}


def _number_rows(store: Store) -> Iterator[Row]:
    for filed in store.filed_records():
        for row in _record_rows(filed.record):
            yield {"key": filed.key, "model": _clean(filed.model)} | row


def _word_rows(store: Store) -> Iterator[Row]:
    for key, model, e in store.filed_explanations():
        same = {"key": key, "model": _clean(model), "example": _clean(e.example.id), "method": _clean(e.method)}
        same["target"] = _clean(e.target_name)
        features = zip(e.x.places, e.x.words, e.x.free.tolist(), e.values.tolist(), strict=True)
        for place, (where, word, free, score) in enumerate(features):
            span = {"field": _clean(where.field), "start": where.start, "end": where.end}
            yield same | span | {"place": place, "word": _clean(word), "free": free, "score": score}


def _clean(text: str) -> str:
    """UTF-8 can hold it; a lone surrogate shows as its escape."""
    return text.encode("utf-8", "backslashreplace").decode()


# ------------------------------------------------------------------------------------------- whole objects


def _record_object(filed: FiledRecord) -> dict[str, Any]:
    return {"kind": "record", "key": filed.key, "model": filed.model, **asdict(filed.record)}


def _explanation_object(filed: FiledExplanation) -> dict[str, Any]:
    e = filed.explanation
    return {
        "kind": "explanation",
        "key": filed.key,
        "model": filed.model,
        "example": e.example.id,
        "method": e.method,
        "target": e.target_name,
        "fields": dict(e.example.fields),
        "unit": e.x.unit,
        "places": [asdict(p) for p in e.x.places],
        "free": e.x.free.tolist(),
        "words": e.x.words,
        "scores": e.values.tolist(),
        "labels": e.labels,
        "probabilities": e.probabilities,
        "notes": dict(e.notes),
        "cost": asdict(e.cost),
    }


def _objects(store: Store) -> Iterator[str]:
    for record in store.filed_records():
        yield json.dumps(_strict(_record_object(record)), allow_nan=False)
    for explanation in store.filed_explanations():
        yield json.dumps(_strict(_explanation_object(explanation)), allow_nan=False)


def _strict(value: Any) -> Any:
    """JSON has no NaN: null; and no infinities: their names."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {str(k): _strict(v) for k, v in value.items()}
    return [_strict(v) for v in value] if isinstance(value, list | tuple) else value


# ------------------------------------------------------------------------------------------------ writers


def _whole(path: Path, write: Callable[[Path], None]) -> Path:
    """Write beside, then rename: a reader never meets half a file."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def _json(store: Store, path: Path) -> tuple[Path, ...]:
    def write(part: Path) -> None:
        with part.open("w", encoding="utf-8") as out:
            out.write("[")
            for i, line in enumerate(_objects(store)):
                out.write((",\n" if i else "\n") + line)
            out.write("\n]\n")

    return (_whole(path, write),)


def _jsonl(store: Store, path: Path) -> tuple[Path, ...]:
    def write(part: Path) -> None:
        with part.open("w", encoding="utf-8") as out:
            out.writelines(line + "\n" for line in _objects(store))

    return (_whole(path, write),)


def _csv(store: Store, path: Path) -> tuple[Path, ...]:
    def table(columns: tuple[str, ...], rows: Iterable[Row]) -> Callable[[Path], None]:
        def write(part: Path) -> None:
            with part.open("w", encoding="utf-8", newline="") as out:
                to = csv.writer(out)
                to.writerow(columns)
                to.writerows([_harmless(row[c]) for c in columns] for row in rows)

        return write

    return _both(path, table(RECORD_COLUMNS, _number_rows(store)), table(WORD_COLUMNS, _word_rows(store)))


def _harmless(cell: Any) -> Any:
    """A text that a spreadsheet would run gets a leading '; numbers stay numbers."""
    if isinstance(cell, str) and cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell):
        return "'" + cell
    return cell


def _parquet(store: Store, path: Path) -> tuple[Path, ...]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise CannotDo("pyarrow is not installed; install assay[data], or export to .csv or .json") from error
    kinds = {"value": pa.float64(), "score": pa.float64(), "free": pa.bool_()}
    kinds |= dict.fromkeys(("place", "start", "end"), pa.int64())

    def table(columns: tuple[str, ...], rows: Iterator[Row]) -> Callable[[Path], None]:
        schema = pa.schema([(c, kinds.get(c, pa.string())) for c in columns])

        def write(part: Path) -> None:
            with pq.ParquetWriter(part, schema) as out:
                while block := list(islice(rows, 20_000)):
                    out.write_table(pa.Table.from_pylist(block, schema=schema))

        return write

    return _both(path, table(RECORD_COLUMNS, _number_rows(store)), table(WORD_COLUMNS, _word_rows(store)))


def _both(path: Path, numbers: Callable[[Path], None], words: Callable[[Path], None]) -> tuple[Path, ...]:
    return _whole(path, numbers), _whole(path.with_suffix(f".explanations{path.suffix}"), words)
