"""Knows how rows come out of files (plain or gzip, JSON lines or tables), and says exactly where one is broken."""

from __future__ import annotations

import csv
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.registry import did_you_mean
from assay.types import BadInput

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Row:
    """Named cells and where they stand: 'reviews.csv:12'."""

    place: str
    cells: Mapping[str, Any]


def near(name: str, there: Iterable[str]) -> str:
    """'; did you mean ...?' when something there is like it, else ''."""
    hint = did_you_mean(name, list(there))
    return hint if "did you mean" in hint else ""


def present(path: Path | str) -> Path:
    """The path, or an error when nothing is there."""
    path = Path(path)
    if not path.exists():
        there = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise BadInput(f"{path}: no such file{near(path.name, there)}")
    return path


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines of a UTF-8 file without their ends; a file whose name ends in .gz is unpacked."""
    for number, raw in enumerate(_raw_lines(present(path)), start=1):
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            byte = f"byte 0x{raw[error.start]:02x} at position {error.start + 1} of the line"
            raise BadInput(f"{path}:{number}: not UTF-8, {byte}; convert the file to UTF-8") from error
        yield number, text


def _raw_lines(path: Path) -> Iterator[bytes]:
    rest, count = b"", 0
    chunks = _unpacked(path) if path.suffix == ".gz" else _plain(path)
    while True:
        try:
            chunk = next(chunks, None)
        except EOFError as error:
            raise BadInput(f"{path}: the gzip file ends too early, after {count} good rows; fetch it again") from error
        except zlib.error as error:
            raise BadInput(f"{path}: not a gzip file or damaged after {count} good rows ({error})") from error
        if chunk is None:
            break
        *whole, rest = (rest + chunk).split(b"\n")
        count += len(whole)
        yield from (line.removesuffix(b"\r") for line in whole)
    if rest:
        yield rest.removesuffix(b"\r")


def _plain(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _unpacked(path: Path) -> Iterator[bytes]:
    """Gives everything that can be unpacked before it raises EOFError, so that good rows can be counted."""
    unpack, begun = zlib.decompressobj(wbits=31), False
    for packed in _plain(path):
        while packed:
            begun = True
            yield unpack.decompress(packed)
            packed = unpack.unused_data
            if unpack.eof:
                unpack, begun = zlib.decompressobj(wbits=31), False
    if begun:
        raise EOFError(path)


def json_rows(path: Path) -> Iterator[Row]:
    """One JSON object per line; empty lines are passed over."""
    for number, line in lines(path):
        if not line.strip():
            continue
        try:
            cells = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadInput(f"{path}:{number}: broken JSON at column {error.colno} ({error.msg})") from error
        if not isinstance(cells, dict):
            raise BadInput(f"{path}:{number}: expected a JSON object, found {type(cells).__name__}")
        yield Row(f"{path}:{number}", cells)


def table_rows(path: Path, delimiter: str, *, quoted: bool = True, header: Sequence[str] = ()) -> Iterator[Row]:
    """Rows of a table whose first line names the columns, unless ``header`` does."""
    reader = csv.reader(
        (text + "\n" for _, text in lines(path)),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=quoted,
    )
    names = list(header)
    for start, cells in _records(path, reader):
        if not names:
            names = [c.strip() for c in cells]
        elif len(cells) != len(names):
            raise BadInput(f"{path}:{start}: {len(cells)} cells where {len(names)} columns are expected")
        else:
            yield Row(f"{path}:{start}", dict(zip(names, cells, strict=True)))


def _records(path: Path, reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Records with the line each starts on; long texts are allowed while one is read."""
    while True:
        start, limit = reader.line_num + 1, csv.field_size_limit(2**31 - 1)
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise BadInput(f"{path}:{start}: broken table row ({error})") from error
        finally:
            csv.field_size_limit(limit)
        if cells is None:
            return
        if cells:
            yield start, cells


def some(rows: Iterable[Row], path: Path | str) -> Iterator[Row]:
    """The rows, or an error when there is none."""
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        raise BadInput(f"{path}: no rows in it; expected at least one example")
