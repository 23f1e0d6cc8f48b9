"""Finds everything that can be named by reading source: nothing is imported until it is used."""

from __future__ import annotations

import ast
import difflib
import functools
import importlib.util
import inspect
import re
from importlib import metadata
from pathlib import Path
from typing import Any

from assay.registry import declare
from assay.registry.declare import Entry
from assay.types import AssayError, UnknownName

ROOMS = {
    "methods": "methods",
    "tests": "measures",
    "removals": "removal",
    "datasets": "data",
    "models": "models",
    "changes": "changes",
    "answers": "answers",
    "suites": "suites",
}
"""Kind of thing -> the folder whose files are such things."""
_DECORATORS = {
    "method": "methods",
    "test": "tests",
    "removal": "removals",
    "dataset": "datasets",
    "family": "models",
    "change": "changes",
    "answer": "answers",
    "suite": "suites",
}
_MARKED = re.compile(rf"^@(\w+\.)*({'|'.join(_DECORATORS)})\(", re.MULTILINE)
GROUP = "assay"
"""Entry-point group of plugins; each value is a module to read."""
PURPOSES = ("attacks", "repairs", "controls")
"""Changes by what they are for."""


def entries(kind: str | None = None) -> list[Entry]:
    """Everything that can be named, or all of one kind, by name; a name given twice is an error.

    Kinds: methods, tests, removals, datasets, models, changes, answers, suites; attacks, repairs and controls are
    changes by their purpose.
    """
    if kind in PURPOSES:
        return [e for e in entries("changes") if e.facts.get("purpose") == kind.rstrip("s")]
    if kind is not None and kind not in ROOMS:
        raise UnknownName(f"unknown kind '{kind}'{did_you_mean(kind, [*ROOMS, *PURPOSES])}")
    found: dict[tuple[str, str], Entry] = {}
    for entry in _all_entries():
        if kind is not None and entry.kind != kind:
            continue
        twin = found.setdefault((entry.kind, entry.name), entry)
        if twin is not entry:
            raise AssayError(f"two {entry.kind} are called '{entry.name}': {twin.module} and {entry.module}")
    return sorted(found.values(), key=lambda e: (e.kind, e.name))


def refresh() -> None:
    """Forget what was read: for tests and notebooks in which files or plugins appear while running."""
    _all_entries.cache_clear()


@functools.cache
def _all_entries() -> tuple[Entry, ...]:
    home = Path(__file__).parents[1]
    out: list[Entry] = []
    for room in ROOMS.values():
        for path in sorted((home / room).glob("*.py")):
            source = path.read_text(encoding="utf-8")
            if _MARKED.search(source):  # most files of a room declare nothing: not worth a syntax tree
                out += read_source(source, f"assay.{room}.{path.stem}")
    for point in metadata.entry_points(group=GROUP):
        out += _plugin_entries(point)
    return tuple(out)


def _plugin_entries(point: metadata.EntryPoint) -> list[Entry]:
    source = _module_source(point.module)
    if source is None:
        raise AssayError(f"plugin '{point.name}' names the module {point.module}, which is not installed")
    return read_source(source, point.module, plugin=point.name)


def _module_source(module: str) -> str | None:
    """Source of a module without running it or its package."""
    top, *rest = module.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin)
    if rest:
        path = path.parent.joinpath(*rest)
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.read_text(encoding="utf-8") if path.is_file() else None


def read_source(source: str, module: str, plugin: str = "") -> list[Entry]:
    """The entries that a module declares, by its syntax tree."""
    out = []
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        who = f"plugin '{plugin}' ({module})" if plugin else module
        raise AssayError(f"{who} cannot be read: {error.msg}, line {error.lineno}") from error
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        for call in node.decorator_list:
            if isinstance(call, ast.Call) and (kind := _DECORATORS.get(_called(call))):
                name, version, facts = _arguments(call, module)
                facts = _defaults(_called(call)) | facts
                doc = inspect.cleandoc(ast.get_docstring(node) or "")
                out.append(Entry(kind, name, version, module, node.name, doc, facts, plugin))
    return out


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


@functools.cache
def _defaults(decorator: str) -> dict[str, Any]:
    """What a decorator declares for those that do not say: its own keyword defaults."""
    signature = inspect.signature(getattr(declare, decorator))
    return {n: p.default for n, p in signature.parameters.items() if n not in ("name", "version")}


def _arguments(call: ast.Call, module: str) -> tuple[str, int, dict[str, Any]]:
    try:
        facts = {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg}
        name = ast.literal_eval(call.args[0])
    except (ValueError, IndexError) as error:
        raise AssayError(f"{module}:{call.lineno}: a decorator's arguments must be literals") from error
    return name, facts.pop("version", 1), facts


def find(kind: str | None, name: str) -> Entry:
    """The entry of that name, or an error with the nearest names."""
    order = list(ROOMS)  # answers have methods' names: what users mean comes first
    pool = sorted(entries(kind), key=lambda e: (e.kind == "answers", order.index(e.kind)))
    for entry in pool:
        if entry.name == name:
            return entry
    what = kind.rstrip("s") if kind else "thing"
    raise UnknownName(f"unknown {what} '{name}'{did_you_mean(name, list(dict.fromkeys(e.name for e in pool)))}")


def did_you_mean(name: str, known: list[str]) -> str:
    """'; did you mean ...?' or the list of what there is."""
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.55)
    if near:
        return "; did you mean " + " or ".join(f"'{n}'" for n in near) + "?"
    return f"; there are: {', '.join(known)}" if known else "; there are none"
