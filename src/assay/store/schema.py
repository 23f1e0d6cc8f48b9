"""The tables of a store, how an old store becomes a new one, and what SQLite's errors mean to a person."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.types import AssayError, BadInput

APPLICATION = 0x41535359  # "ASSY" in the file's header: this is a store and not somebody's address book
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
        "CREATE TABLE examples (content TEXT PRIMARY KEY, body TEXT NOT NULL)",
        "CREATE TABLE inputs (key TEXT PRIMARY KEY, example TEXT NOT NULL REFERENCES examples(content),"
        " unit TEXT NOT NULL, places TEXT NOT NULL, free BLOB NOT NULL, cut TEXT NOT NULL)",
        "CREATE TABLE explanations (key TEXT PRIMARY KEY, filed TEXT NOT NULL, model TEXT NOT NULL,"
        " example TEXT NOT NULL, method TEXT NOT NULL, input TEXT NOT NULL REFERENCES inputs(key),"
        " target TEXT NOT NULL, scores BLOB NOT NULL, labels TEXT NOT NULL, probabilities BLOB NOT NULL,"
        " notes TEXT NOT NULL, cost TEXT NOT NULL)",
        "CREATE TABLE records (key TEXT PRIMARY KEY, filed TEXT NOT NULL, example TEXT NOT NULL,"
        " method TEXT NOT NULL, other TEXT NOT NULL, test TEXT NOT NULL, replicate TEXT NOT NULL,"
        " numbers TEXT, reason TEXT NOT NULL, detail TEXT, cost TEXT NOT NULL)",
        "CREATE INDEX records_by_test ON records (test, method)",
    ),
)
"""Step i brings version i to version i + 1; a new store takes all of them. Steps are never edited, only added."""


class StoreDamaged(AssayError):
    """The file cannot be read as a store."""


class StoreFull(AssayError):
    """The disk took no more."""


def prepare(db: sqlite3.Connection, path: Path, *, write: bool, new: bool) -> None:
    """Bring the tables to this version (in one transaction), or say why the file cannot be used."""
    found = int(db.execute("PRAGMA user_version").fetchone()[0])
    owner = int(db.execute("PRAGMA application_id").fetchone()[0])
    if new and (found or db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]):
        raise BadInput(f"{path.parent} already holds a run; open it to resume, or choose another folder")
    if not new and (owner != APPLICATION or found == 0):
        raise StoreDamaged(f"{path} is not a store of Assay; nothing was changed: point at the folder of a run")
    if found > len(MIGRATIONS):
        raise BadInput(
            f"{path} was written by a newer Assay (store version {found}, this one knows {len(MIGRATIONS)}); "
            "update Assay to read it"
        )
    if found == len(MIGRATIONS):
        return
    if not write:
        raise BadInput(f"{path} has the older store version {found}; open it once for writing to bring it up to date")
    with transaction(db):
        for step in MIGRATIONS[found:]:
            for statement in step:
                db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite has already rolled back when the disk is full
            db.execute("ROLLBACK")
        raise


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """SQLite's errors as one line that says what is safe."""
    try:
        yield
    except sqlite3.Error as error:
        raise _meaning(error, path) from error


def _meaning(error: sqlite3.Error, path: Path) -> AssayError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name == "SQLITE_NOTADB":
        return StoreDamaged(f"{path} is not a store of Assay; nothing was changed: point at the folder of a run")
    if name.startswith("SQLITE_CORRUPT"):
        return StoreDamaged(f"{path} is damaged ({error}); nothing was changed: restore a copy, or run again elsewhere")
    if name == "SQLITE_FULL" or name.startswith("SQLITE_IOERR"):
        return StoreFull(f"{path} took no more ({error}); all earlier results are safe: free space and resume the run")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return BadInput(f"cannot open or write {path} ({error}); what it holds is safe: check its permissions")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return BadInput(f"{path} is held by another program; what it holds is safe: close that program and try again")
    return StoreDamaged(f"{path} could not be used ({type(error).__name__}: {error}); what it holds was not changed")
