"""Names with settings: what was written becomes a thing that can be called, and a key that results are filed under."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.registry.declare import Entry
from assay.registry.listing import did_you_mean, find
from assay.types import BadInput, Names, Seed


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
    if wanted in (int, float, str, bool) and (
        not isinstance(value, wanted) or (wanted is not bool and isinstance(value, bool))
    ):
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
