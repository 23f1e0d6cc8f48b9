"""Puts entries, modules or files through the contracts of their kind."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.registry import Entry, Loader, Spec, bind_entry, read_source
from assay.testing import entries, method_truth, methods, removals, tests
from assay.testing.result import Contract, Result, judge
from assay.testing.toy_lm import ToyLM
from assay.types import AssayError, BadInput

KINDS: Mapping[str, Sequence[Contract]] = {
    "methods": (*entries.CONTRACTS, *methods.CONTRACTS, *method_truth.CONTRACTS),
    "tests": (*entries.CONTRACTS, *tests.CONTRACTS),
    "removals": (*entries.CONTRACTS, *removals.CONTRACTS),
}
"""The contracts of every kind of thing that can be tried without data or weights."""

TOYS: Mapping[str, Loader] = {"models": lambda name: ToyLM()}
"""What stands in for models that settings name."""

Checked = str | Path | ModuleType | Entry | Callable[..., Any]


def check(thing: Checked, loaders: Mapping[str, Loader] | None = None) -> list[Result]:
    """Put every method, test and removal operator of a module (its name, file or itself), or one entry, to the proof.

    ``loaders`` as for ``registry.bind``; where a setting names a language model, a toy that offers three words for
    every gap stands in for it.

    >>> from assay.registry import find
    >>> [r.contract for r in check(find("removals", "delete")) if not r.ok]
    []
    """
    found = _entries(thing)
    if not any(e.kind in KINDS for e in found):
        raise BadInput(f"{thing} declares no method, test or removal operator: put @method, @test or @removal on it")
    return [result for entry in found if entry.kind in KINDS for result in _results(entry, loaders)]


def _results(entry: Entry, loaders: Mapping[str, Loader] | None) -> list[Result]:
    try:
        bound = bind_entry(entry, Spec(entry.name), TOYS if loaders is None else loaders)
    except AssayError as error:
        return [Result("binding", entry.name, False, str(error))]
    return list(judge(KINDS[entry.kind], bound))


def _entries(thing: Checked) -> list[Entry]:
    if isinstance(thing, Entry):
        return [thing]
    declared = getattr(thing, "__assay__", None)
    if isinstance(declared, Entry):
        return [declared]
    module = thing if isinstance(thing, ModuleType) else _module(str(thing))
    return read_source(inspect.getsource(module), module.__name__)


def _module(name: str) -> ModuleType:
    """A module by its dotted name or by its file."""
    path = Path(name)
    if path.suffix == ".py":
        return _from_file(path)
    sys.path.insert(0, "")  # a module beside the user, as ``python -m`` finds it
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise BadInput(f"there is no module '{name}' ({error}): give a dotted name or a .py file") from error
    finally:
        sys.path.remove("")


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise BadInput(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise BadInput(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # entries are loaded by the name of their module
    spec.loader.exec_module(module)
    return module
