"""How a source file says what it is: one decorator per kind of thing, which leaves an Entry on it."""

from __future__ import annotations

import importlib
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


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

    ``of``: explanation | pair | input (called as ``test(x, target)``). ``asks``: faithfulness, plausibility,
    agreement, stability, size or fills.
    ``headline``: the value that tables show. ``better``: higher, lower or '' (evidence, not a score).
    """
    if of not in ("explanation", "pair", "input"):
        raise ValueError(f"{name}: a test is of an explanation, a pair or an input, not of '{of}'")
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
