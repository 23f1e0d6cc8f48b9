"""One writer per run folder: a lock file that names its holder and that the system frees when the holder dies."""

from __future__ import annotations

import json
import os
import socket
import sys
import weakref
from contextlib import suppress
from pathlib import Path

from assay.types import AssayError, BadInput

NAME = "store.lock"


class StoreBusy(AssayError):
    """Another process is writing this store."""


class Lock:
    """Held from construction to ``release``; a lock left by a dead process is simply taken over."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        try:
            self._fd: int | None = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise BadInput(
                f"cannot write in {folder}: {error.strerror}; choose a folder you may write to (nothing was changed)"
            ) from error
        if not _try_lock(self._fd, self.path):
            holder = _holder(self._fd)
            os.close(self._fd)
            raise StoreBusy(f"{folder} is being written by {holder}; wait for it or stop it, or choose another folder")
        _write_holder(self._fd)
        _HELD.add(self)

    def release(self) -> None:
        """Let the next writer in."""
        fd, self._fd = self._fd, None
        if fd is not None:
            with suppress(OSError):  # the note is for people; the lock itself goes with the descriptor
                os.ftruncate(fd, 0)
            os.close(fd)

    def forget(self) -> None:
        """In a forked child: drop the inherited descriptor, so that a dead parent's lock does not live on."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)


def _write_holder(fd: int) -> None:
    os.ftruncate(fd, 0)
    os.lseek(fd, 0, os.SEEK_SET)
    os.write(fd, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode())


def _holder(fd: int) -> str:
    try:
        os.lseek(fd, 0, os.SEEK_SET)
        found = json.loads(os.read(fd, 1000))
        return f"process {found['pid']} on {found['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"  # it has locked the file and not yet written its name


if sys.platform == "win32":
    import msvcrt

    def _try_lock(fd: int, path: Path) -> bool:
        os.lseek(fd, 1 << 30, os.SEEK_SET)  # far behind the text, which stays readable
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(fd: int, path: Path) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            os.close(fd)
            raise BadInput(f"cannot lock {path}: {error.strerror}; choose a folder on a local disk") from error
        return True


_HELD: weakref.WeakSet[Lock] = weakref.WeakSet()


def _forget_all() -> None:
    for lock in list(_HELD):
        lock.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
