"""One SQLite file per run: what was made, under its key. One writer, any number of readers, nothing half-written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from assay.store import codec
from assay.store.lock import Lock
from assay.store.schema import StoreDamaged, explained, prepare, transaction
from assay.types import BadInput, Example, Explanation, Input, Record

FILE = "store.sqlite"
_CHUNK = 500


class FiledRecord(NamedTuple):
    """A record with its key and the model it is filed under."""

    key: str
    model: str
    record: Record


class FiledExplanation(NamedTuple):
    """An explanation with its key and the model it is filed under."""

    key: str
    model: str
    explanation: Explanation


class Store:
    """Open with ``create`` or ``open``; a context manager. Every method raises one-line AssayErrors only."""

    def __init__(self, path: Path, db: sqlite3.Connection, lock: Lock | None) -> None:
        self.path = path
        self._db = db
        self._lock = lock

    @staticmethod
    def exists(folder: str | Path) -> bool:
        """Is there a store in this folder?"""
        path = Path(folder) / FILE
        try:
            return path.is_file() and path.stat().st_size > 0
        except OSError as error:
            raise BadInput(f"cannot look into {folder}: {error.strerror}; check its permissions") from error

    @classmethod
    def create(cls, folder: str | Path) -> Self:
        """A new store, open for writing; the folder is made."""
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot make {folder}: {error.strerror}; choose a folder you may write to") from error
        return cls._writing(folder, new=True)

    @classmethod
    def open(cls, folder: str | Path, write: bool = False) -> Self:
        """The store of a run; only one process may have it open for writing."""
        folder = Path(folder)
        if not cls.exists(folder):
            raise BadInput(f"{folder} holds no run (there is no {FILE} in it)")
        return cls._writing(folder, new=False) if write else cls._reading(folder / FILE)

    @classmethod
    def _writing(cls, folder: Path, *, new: bool) -> Self:
        lock, path, db = Lock(folder), folder / FILE, None
        try:
            with explained(path):
                db = sqlite3.connect(path, isolation_level=None)
                db.execute("PRAGMA busy_timeout = 5000")
                prepare(db, path, write=True, new=new)
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = FULL")
                db.execute("PRAGMA foreign_keys = ON")
            return cls(path, db, lock)
        except BaseException:
            if db is not None:
                db.close()
            lock.release()
            raise

    @classmethod
    def _reading(cls, path: Path) -> Self:
        with explained(path):
            try:
                return cls(path, _connect(path, "mode=ro"), None)
            except sqlite3.OperationalError:
                if path.with_name(FILE + "-wal").exists():
                    raise
            # a folder nobody may write to has no place for SQLite's index of the log; without a log none is needed
            return cls(path, _connect(path, "mode=ro&immutable=1"), None)

    def close(self) -> None:
        """Fold the log into the file and let the next writer in."""
        self._db.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------ writing

    def put(
        self,
        explanations: Iterable[tuple[str, Explanation]] = (),
        records: Iterable[tuple[str, Record]] = (),
        examples: Iterable[Example] = (),
        model: str = "",
    ) -> None:
        """File everything in one transaction: all of it is there afterwards, or none.

        The same key again is ignored when it says the same (up to float32 rounding) and refused when not; a failure
        gives way to numbers. ``model``: what to file under (an explanation's own model when left out).
        """
        made, numbers = list(explanations), list(records)
        with explained(self.path), transaction(self._write()):
            there = self.has([k for k, _ in made] + [k for k, _ in numbers])
            for example in examples:
                self._db.execute("INSERT OR IGNORE INTO examples VALUES (?, ?)", codec.example_row(example))
            inputs = {id(e.x): e.x for k, e in made if k not in there}
            keys = {at: self._put_input(x) for at, x in inputs.items()}
            for key, explanation in made:
                if key in there:
                    self._agree(key, explanation)
                else:
                    self._insert(
                        "explanations", codec.explanation_row(key, model, explanation, keys[id(explanation.x)])
                    )
                    there.add(key)
            for key, record in numbers:
                if key not in there or self._supersedes(key, record):
                    self._insert("records", codec.record_row(key, model, record))
                    there.add(key)

    def _put_input(self, x: Input) -> str:
        """Once for all methods that read it."""
        self._db.execute("INSERT OR IGNORE INTO examples VALUES (?, ?)", codec.example_row(x.example))
        row = codec.input_row(x)
        self._db.execute("INSERT OR IGNORE INTO inputs VALUES (?, ?, ?, ?, ?, ?)", row)
        return row[0]

    def _insert(self, table: str, values: tuple[Any, ...]) -> None:
        self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({_marks(len(values))})", values)

    def _agree(self, key: str, made: Explanation) -> None:
        there = self.explanation(key)
        if there is None or not codec.same_explanation(there, made):
            raise BadInput(f"{self.path}: {made.method} on example {made.example.id} is stored with other scores")

    def _supersedes(self, key: str, made: Record) -> bool:
        """Numbers take the place of a failure; other numbers under the same key are refused."""
        there = next(self.records(keys=[key]), None)
        if there is None or not codec.same_record(there, made):
            what = f"{made.test} of {made.method or 'the model'} on example {made.example}"
            raise BadInput(f"{self.path}: {what} is stored with other numbers")
        return there.values is None and made.values is not None

    def set_meta(self, key: str, value: object) -> None:
        """Note something about the run (plan, versions, names); replaces what was there."""
        with explained(self.path), transaction(self._write()):
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, codec.dump(value)))

    def _write(self) -> sqlite3.Connection:
        if self._lock is None:
            raise BadInput(f"{self.path} is open for reading; open it with write=True")
        return self._db

    # ------------------------------------------------------------------------------------------ reading

    def get_meta(self, key: str, default: Any = None) -> Any:
        """What was noted under this key."""
        rows = self._ask("SELECT value FROM meta WHERE key = ?", [key])
        return next((json.loads(v) for (v,) in rows), default)

    def has(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that are filed, as explanation or as record."""
        wanted, found = list(keys), set()
        for at in range(0, len(wanted), _CHUNK):
            part = wanted[at : at + _CHUNK]
            for table in ("explanations", "records"):
                found |= {k for (k,) in self._ask(f"SELECT key FROM {table} WHERE key IN ({_marks(len(part))})", part)}
        return found

    def explanation(self, key: str) -> Explanation | None:
        """The explanation under this key, or None."""
        return next(self.explanations(keys=[key]), None)

    def explanations(
        self, model: str | None = None, method: str | None = None, keys: Sequence[str] | None = None
    ) -> Iterator[Explanation]:
        """Explanations in the order they were filed; given ``keys``, only those."""
        return (f.explanation for f in self.filed_explanations(model, method, keys))

    def filed_explanations(
        self, model: str | None = None, method: str | None = None, keys: Sequence[str] | None = None
    ) -> Iterator[FiledExplanation]:
        """The same with key and model."""
        read = lru_cache(maxsize=64)(self._input)  # the methods of one example stand side by side: they share its input
        columns = "key, filed, input, model, method, target, scores, labels, probabilities, notes, cost"
        for row in self._select("explanations", columns, {"filed": model, "method": method}, keys):
            yield FiledExplanation(row[0], codec.untext(row[1]), codec.to_explanation(row[3:], read(row[2])))

    def _input(self, key: str) -> Input:
        query = "SELECT body, unit, places, free, cut FROM inputs JOIN examples ON example = content WHERE key = ?"
        for row in self._ask(query, [key]):
            return codec.to_input(*row)
        raise StoreDamaged(f"{self.path} lacks an input that an explanation names; restore a copy, or run again")

    def records(
        self,
        test: str | None = None,
        method: str | None = None,
        model: str | None = None,
        keys: Sequence[str] | None = None,
    ) -> Iterator[Record]:
        """Records in the order they were filed, failures included; given ``keys``, only those."""
        return (f.record for f in self.filed_records(test, method, model, keys))

    def filed_records(
        self,
        test: str | None = None,
        method: str | None = None,
        model: str | None = None,
        keys: Sequence[str] | None = None,
    ) -> Iterator[FiledRecord]:
        """The same with key and model."""
        columns = "key, filed, example, method, other, test, replicate, numbers, reason, detail, cost"
        for row in self._select("records", columns, {"test": test, "method": method, "filed": model}, keys):
            yield FiledRecord(row[0], codec.untext(row[1]), codec.to_record(row[2:]))

    def examples(self) -> Iterator[Example]:
        """Every example that something is filed for, or that was put by itself."""
        return (codec.to_example(body) for (body,) in self._ask("SELECT body FROM examples ORDER BY rowid"))

    def counts(self) -> dict[str, int]:
        """How many examples, explanations and records there are, and how many records are failures."""
        names = ("examples", "explanations", "records")
        out = {n: int(next(self._ask(f"SELECT count(*) FROM {n}"))[0]) for n in names}
        out["failures"] = int(next(self._ask("SELECT count(*) FROM records WHERE numbers IS NULL"))[0])
        return out

    def check(self) -> tuple[str, ...]:
        """What is wrong with the file; empty when it is sound."""
        try:
            found = [m for (m,) in self._ask("PRAGMA integrity_check") if m != "ok"]
            found += [f"a row of {r[0]} points at nothing in {r[2]}" for r in self._ask("PRAGMA foreign_key_check")]
            pairs = "explanations e JOIN inputs i ON e.input = i.key"
            odd = f"SELECT e.key FROM {pairs} WHERE length(scores) != 8 * length(free)"
            return tuple(found + [f"explanation {k} has not one score per feature" for (k,) in self._ask(odd)])
        except StoreDamaged as error:
            return (str(error),)

    def _select(
        self, table: str, columns: str, where: dict[str, str | None], keys: Sequence[str] | None
    ) -> Iterator[tuple[Any, ...]]:
        given = {k: codec.text(v) for k, v in where.items() if v is not None}
        parts: list[Sequence[str] | None] = [None]
        if keys is not None:
            parts = [keys[at : at + _CHUNK] for at in range(0, len(keys), _CHUNK)]
        for part in parts:
            tests = [f"{k} = ?" for k in given] + ([] if part is None else [f"key IN ({_marks(len(part))})"])
            condition = f"WHERE {' AND '.join(tests)}" if tests else ""
            yield from self._ask(
                f"SELECT {columns} FROM {table} {condition} ORDER BY rowid", [*given.values(), *(part or ())]
            )

    def _ask(self, query: str, values: Sequence[str] = ()) -> Iterator[tuple[Any, ...]]:
        with explained(self.path):
            yield from self._db.execute(query, values)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    db = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None)
    try:
        db.execute("PRAGMA busy_timeout = 5000")
        prepare(db, path, write=False, new=False)
    except BaseException:
        db.close()
        raise
    return db


def _marks(n: int) -> str:
    return ", ".join("?" * n)
