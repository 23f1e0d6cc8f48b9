"""Finds everything that can be named. Lists by reading source (nothing is imported), imports on use.

One file in a room is one entry: a function or class under one of the decorators below. A plugin in another
package does the same and names its modules under the entry-point group ``assay``.
"""

from __future__ import annotations

import ast
import difflib
import functools
import importlib
import importlib.util
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from assay.types import AssayError, BadInput, Names, Seed, UnknownName

T = TypeVar("T")

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
GROUP = "assay"
"""Entry-point group of plugins; each value is a module to read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One named thing, as its source declares it."""

    kind: str
    name: str
    version: int
    module: str
    attribute: str
    doc: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    plugin: str = ""

    @property
    def summary(self) -> str:
        """First sentence of the docstring."""
        return self.doc.strip().split("\n\n")[0].replace("\n", " ").strip()

    @property
    def key(self) -> str:
        """Name and version: what results are filed under."""
        return f"{self.name}@{self.version}"

    def load(self) -> Callable[..., Any]:
        """Import the module and return the function or class."""
        return typing.cast("Callable[..., Any]", getattr(importlib.import_module(self.module), self.attribute))


def _declare(kind: str, name: str, version: int, facts: Mapping[str, Any]) -> Callable[[T], T]:
    def mark(thing: T) -> T:
        module, attribute = getattr(thing, "__module__", ""), getattr(thing, "__name__", "")
        entry = Entry(kind, name, version, module, attribute, inspect.getdoc(thing) or "", dict(facts))
        thing.__assay__ = entry  # type: ignore[attr-defined]  # functions take attributes
        return thing

    return mark


def method(
    name: str,
    *,
    version: int = 1,
    needs: set[str] | frozenset[str] = frozenset(),
    paper: str = "",
    family: str = "",
    slow: bool = False,
) -> Callable[[T], T]:
    """An attribution method: ``def f(x, target, *, ...)`` is a generator that returns one score per feature.

    ``needs``: capabilities of the model beyond a prediction. ``family``: gradient, removal, attention or control;
    a verdict asks that families agree. ``slow``: left out of "all" unless asked for by name.
    """
    return _declare("methods", name, version, {"needs": needs, "paper": paper, "family": family, "slow": slow})


def test(
    name: str,
    *,
    version: int = 1,
    needs: set[str] | frozenset[str] = frozenset(),
    paper: str = "",
    of: str = "explanation",
    asks: str = "",
    headline: str = "",
    better: str = "",
    claim: str = "",
    view: str = "",
    bounds: tuple[float | None, float | None] = (None, None),
    reruns: bool = False,
) -> Callable[[T], T]:
    """A test: a generator that returns named numbers, or (numbers, detail for a view).

    Called as ``test(x, target, scores)``; ``of="pair"``: with a second method's scores; ``reruns``: with a function
    that runs the method again under another seed (None for a method that draws nothing).

    ``of``: explanation | pair | input | model. ``asks``: faithfulness, plausibility, agreement or stability.
    ``headline``: the value that tables show. ``better``: higher, lower or '' (evidence, not a score).
    """
    facts = {"needs": needs, "paper": paper, "of": of, "asks": asks, "headline": headline}
    return _declare(
        "tests",
        name,
        version,
        facts | {"better": better, "claim": claim, "view": view, "bounds": bounds, "reruns": reruns},
    )


def removal(
    name: str, *, version: int = 1, needs: set[str] | frozenset[str] = frozenset(), paper: str = "", kin: str = ""
) -> Callable[[T], T]:
    """A removal operator: ``def f(x, keep, *, ...)`` is a generator that returns Variants.

    ``kin``: the operator it is a variant of; a test by one is home ground for a method by the other.
    """
    return _declare("removals", name, version, {"needs": needs, "paper": paper, "kin": kin})


def dataset(name: str, *, version: int = 1, paper: str = "", builtin: bool = False) -> Callable[[T], T]:
    """A data set or file format: a function that returns a Dataset."""
    return _declare("datasets", name, version, {"paper": paper, "builtin": builtin})


def family(name: str, *, version: int = 1, paper: str = "", builtin: bool = False) -> Callable[[T], T]:
    """A model family: a function or class that gives a Model."""
    return _declare("models", name, version, {"paper": paper, "builtin": builtin})


def change(name: str, *, version: int = 1, paper: str = "", purpose: str = "training") -> Callable[[T], T]:
    """A change: Model -> Model. ``purpose``: training, attack, repair or control."""
    return _declare("changes", name, version, {"paper": paper, "purpose": purpose})


def answer(name: str, *, version: int = 1, paper: str = "") -> Callable[[T], T]:
    """A kind of answer that every differentiable model can give."""
    return _declare("answers", name, version, {"paper": paper})


def suite(name: str, *, version: int = 1, paper: str = "") -> Callable[[T], T]:
    """A paper's experiments with its published numbers and checkable claims."""
    return _declare("suites", name, version, {"paper": paper})


# ------------------------------------------------------------------------------------------- listing


def entries(kind: str | None = None) -> list[Entry]:
    """Everything that can be named, or all of one kind, by name; a name given twice is an error."""
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
    home = Path(__file__).parent
    out: list[Entry] = []
    for room in ROOMS.values():
        for path in sorted((home / room).glob("*.py")):
            out += read_source(path.read_text(encoding="utf-8"), f"assay.{room}.{path.stem}")
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
    for node in ast.parse(source).body:
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
    signature = inspect.signature(globals()[decorator])
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
    pool = entries(kind)
    for entry in pool:
        if entry.name == name:
            return entry
    what = kind.rstrip("s") if kind else "thing"
    raise UnknownName(f"unknown {what} '{name}'{did_you_mean(name, [e.name for e in pool])}")


def did_you_mean(name: str, known: list[str]) -> str:
    """'; did you mean ...?' or the list of what there is."""
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.55)
    if near:
        return "; did you mean " + " or ".join(f"'{n}'" for n in near) + "?"
    return f"; there are: {', '.join(known)}" if known else "; there are none"


# ------------------------------------------------------------------------------------ parameters, binding


@dataclass(frozen=True, slots=True)
class Parameter:
    """One keyword parameter of an entry: its signature is its schema."""

    name: str
    default: Any
    names: str = ""
    """The kind of thing it names, when it names one."""
    choices: tuple[Any, ...] = ()
    type: Any = None

    @property
    def required(self) -> bool:
        """True when there is no default."""
        return self.default is inspect.Parameter.empty


def parameters(thing: Callable[..., Any]) -> dict[str, Parameter]:
    """The keyword-only parameters of a function."""
    hints = typing.get_type_hints(thing, include_extras=True)
    out = {}
    for name, p in inspect.signature(thing).parameters.items():
        if p.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        hint = hints.get(name, Any)
        marks = [m for m in getattr(hint, "__metadata__", ()) if isinstance(m, Names)]
        choices = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
        out[name] = Parameter(name, p.default, marks[0].kind if marks else "", choices, hint)
    return out


@dataclass(frozen=True, slots=True)
class Spec:
    """A name with settings, as written: ``leave-one-out(removal=mask, output=prob)``."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def parse(text: str | Spec | Mapping[str, Any]) -> Spec:
        """From ``name``, ``name(key=value, ...)`` or a table with a ``name``."""
        if isinstance(text, Spec):
            return text
        if isinstance(text, Mapping):
            if "name" not in text:
                raise BadInput(f"{dict(text)} has no 'name'; write {{name = ..., key = value}}")
            rest = {k: v for k, v in text.items() if k != "name"}
            return Spec(str(text["name"]), rest)
        name, bracket, inner = text.strip().partition("(")
        if not bracket:
            return Spec(name.strip())
        if not inner.endswith(")"):
            raise BadInput(f"'{text}' has no closing bracket; write name(key=value, ...)")
        return Spec(name.strip(), {k: value_of(v) for k, v in _pairs(inner[:-1], text)})


def _pairs(text: str, whole: str) -> list[tuple[str, str]]:
    """Split 'a=1, b=f(c=2)' at the commas outside brackets and quotes."""
    parts, depth, current, quote = [], 0, "", ""
    for c in text:
        if quote or c in "'\"":
            quote = "" if c == quote else quote or c
        depth += 0 if quote else (c in "([") - (c in ")]")
        if c == "," and depth == 0 and not quote:
            parts.append(current)
            current = ""
        else:
            current += c
    out = []
    for part in filter(str.strip, [*parts, current]):
        key, equals, value = part.partition("=")
        if not equals:
            raise BadInput(f"'{part.strip()}' in '{whole}' is not key=value")
        out.append((key.strip(), value.strip()))
    return out


def value_of(text: str) -> Any:
    """A setting as written: a number, true or false, a quoted text, or the bare word itself."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        return text  # a bare word is a string: removal=mask


@dataclass(frozen=True, eq=False, slots=True)
class Bound:
    """An entry with all its settings resolved: call it with the positional arguments of its kind."""

    entry: Entry
    function: Callable[..., Any]
    settings: Mapping[str, Any]
    key: str
    """Canonical recipe: name@version with every setting, each named thing replaced by its own key."""
    label: str
    """Short name for tables: the name with the settings that were given."""

    def __call__(self, *args: Any) -> Any:
        """The function with its settings: a generator, for methods, tests and operators."""
        return self.function(*args, **self.settings)

    @property
    def needs(self) -> frozenset[str]:
        """Capabilities needed by this thing and by what it names."""
        own = frozenset(self.entry.facts.get("needs", ()))
        return own.union(*(s.needs for s in self.settings.values() if isinstance(s, Bound)))

    @property
    def seeded(self) -> str:
        """Name of the parameter that seeds its draws, '' when it draws nothing."""
        hints = parameters(self.function)
        return next((n for n, p in hints.items() if p.type is Seed), "")

    def with_settings(self, **changed: Any) -> Bound:
        """The same with plain settings changed (a seed, say)."""
        settings = {**self.settings, **changed}
        return Bound(self.entry, self.function, settings, _key(self.entry, settings), self.label)


Loader = Callable[[str], Any]


def bind(kind: str, spec: str | Spec | Mapping[str, Any], loaders: Mapping[str, Loader] | None = None) -> Bound:
    """Resolve a name and its settings; names among the settings are resolved too.

    ``loaders`` resolve kinds that are not functions with settings: {"models": load} for language models.
    """
    spec = Spec.parse(spec)
    return bind_entry(find(kind, spec.name), spec, loaders)


def bind_entry(entry: Entry, spec: Spec, loaders: Mapping[str, Loader] | None = None) -> Bound:
    """The same for an entry at hand, listed or not (a module under development)."""
    function = entry.load()
    schema = parameters(function)
    settings: dict[str, Any] = {}
    for name, given in spec.settings.items():
        if name not in schema:
            raise BadInput(f"{entry.name} has no setting '{name}'{did_you_mean(name, list(schema))}")
        settings[name] = given
    for name, p in schema.items():
        if name not in settings and p.required:
            raise BadInput(f"{entry.name} needs a value for '{name}'")
        settings[name] = _resolve(entry, p, settings.get(name, p.default), loaders or {})
    # a setting that says what holds anyway is not shown: one recipe has one label
    told = [k for k in spec.settings if _setting_key(settings[k]) != _default_key(entry, schema[k], loaders or {})]
    shown = ", ".join(f"{k}={_shown(settings[k])}" for k in told)
    label = f"{entry.name}({shown})" if shown else entry.name
    return Bound(entry, function, settings, _key(entry, settings), label)


def _resolve(entry: Entry, p: Parameter, value: Any, loaders: Mapping[str, Loader]) -> Any:
    if p.names:
        if p.names in loaders:
            return loaders[p.names](value) if isinstance(value, str) else value
        if p.names == "models":
            raise BadInput(f"{entry.name}: '{p.name}' names a model, and none can be loaded here")
        return value if isinstance(value, Bound) else bind(p.names, value, loaders)
    if p.choices and value not in p.choices:
        hint = did_you_mean(str(value), [str(c) for c in p.choices])
        raise BadInput(f"{entry.name}: {p.name} cannot be {value!r}{hint}")
    return _typed(entry, p, value)


def _typed(entry: Entry, p: Parameter, value: Any) -> Any:
    if p.type is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    wanted = int if p.type is Seed else p.type
    if wanted in (int, float, str, bool) and (not isinstance(value, wanted) or (wanted is int and value is True)):
        raise BadInput(f"{entry.name}: {p.name} must be {wanted.__name__}, got {value!r}")
    return value


def _default_key(entry: Entry, p: Parameter, loaders: Mapping[str, Loader]) -> str | None:
    if p.required or p.names in loaders:
        return None
    return _setting_key(_resolve(entry, p, p.default, loaders))


def _shown(value: Any) -> str:
    return value.label if isinstance(value, Bound) else str(getattr(value, "name", value))


def _key(entry: Entry, settings: Mapping[str, Any]) -> str:
    parts = ", ".join(f"{k}={_setting_key(v)}" for k, v in sorted(settings.items()))
    return f"{entry.key}({parts})"


def _setting_key(value: Any) -> str:
    if isinstance(value, Bound):
        return value.key
    return getattr(value, "fingerprint", None) or repr(value)
