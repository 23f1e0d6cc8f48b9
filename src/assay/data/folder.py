"""Knows folders of text files, one subfolder per class: aclImdb, 20 Newsgroups and the like."""

from __future__ import annotations

from pathlib import Path

from assay.data.rows import present
from assay.data.splits import DEV, choose
from assay.registry import dataset
from assay.types import BadInput, Dataset, Example

UNLABELLED = ("unsup",)
"""Subfolders that are known to hold no class."""


@dataset("folder")
def folder(path: Path | str, *, split: str = "", encoding: str = "utf-8") -> Dataset:
    """CLASS/file or SPLIT/CLASS/file, one text per file; classes are the names of the subfolders, sorted.

    Files of aclImdb's 'unsup' are dropped and counted. Old newsgroup posts need ``encoding='latin-1'``.
    """
    home = present(path)
    splits = [p.name for p in _subfolders(home) if p.name in ("train", "test", *DEV)]
    if splits:
        split = choose(splits, split, str(path))
        home = home / split
    elif split:
        raise BadInput(f"{path}: no split '{split}'; its subfolders are classes, not splits")
    classes = [p for p in _subfolders(home) if p.name not in UNLABELLED]
    dropped = {f"in '{n}', no class": len(_files(home / n)) for n in UNLABELLED if (home / n).is_dir()}
    examples = tuple(_example(home, f, c, encoding) for c, sub in enumerate(classes) for f in _files(sub))
    if not examples:
        raise BadInput(f"{path}: no text files; expected one subfolder per class with a file per text")
    return Dataset(Path(path).name, examples, tuple(p.name for p in classes), split, {"dropped": dropped})


def _subfolders(home: Path) -> list[Path]:
    return sorted(p for p in home.iterdir() if p.is_dir() and not p.name.startswith("."))


def _files(home: Path) -> list[Path]:
    return sorted(p for p in home.iterdir() if p.is_file() and not p.name.startswith("."))


def _example(home: Path, file: Path, gold: int, encoding: str) -> Example:
    try:
        text = file.read_bytes().decode(encoding)
    except UnicodeDecodeError as error:
        found = f"byte 0x{error.object[error.start]:02x} at position {error.start + 1}"
        raise BadInput(f"{file}: not {encoding}, {found}; say encoding='latin-1' or convert it") from error
    name = file.relative_to(home).as_posix()
    if not text.strip():
        raise BadInput(f"{file}: id {name}: empty text; fill it or take the file out")
    return Example(name, {"text": text}, gold)
