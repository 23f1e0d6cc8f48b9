"""Writes a page where the user said, or tells in one line why not."""

from __future__ import annotations

from pathlib import Path

from assay.types import BadInput


def write(path: str | Path, page: str) -> None:
    """The page as UTF-8; a lone surrogate, which has no bytes, becomes a question mark."""
    try:
        Path(path).write_text(page, encoding="utf-8", errors="replace")
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}; name a file in a folder you may write to") from error
