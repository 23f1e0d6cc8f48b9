"""A plan is a graph of named nodes, in a TOML file or in memory; a node names only nodes above it.

[data.test]            read = "builtin:reviews", split = "test"
[model.main]           load = "builtin"
[cases.audit]          model = "main", data = "test", methods = [...], tests = [...]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeVar

from assay.registry import did_you_mean
from assay.types import BadInput, content_key

N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class DataNode:
    """Examples to read: ``read`` is a word of the DATA grammar."""

    name: str
    read: str
    split: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class ModelNode:
    """A model to load: ``load`` is a word of the MODEL grammar."""

    name: str
    load: str


@dataclass(frozen=True, slots=True)
class CasesNode:
    """Methods and tests on every example of a data node, with one model."""

    name: str
    model: str
    data: str
    methods: tuple[str, ...]
    tests: tuple[str, ...] = ()
    target: str = "own"
    unit: str = "word"
    hold: tuple[str, ...] = ()
    """Fields whose words are never taken away (the context, when a question is explained)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a run does, apart from where and how fast."""

    data: tuple[DataNode, ...]
    models: tuple[ModelNode, ...]
    cases: tuple[CasesNode, ...]
    seed: int = 0

    def __post_init__(self) -> None:
        for data in self.data:
            if data.limit is not None and data.limit < 1:
                raise BadInput(f"data '{data.name}': limit must be at least 1, got {data.limit}")
        for node in self.cases:
            _known("data", node.data, [d.name for d in self.data], node.name)
            _known("model", node.model, [m.name for m in self.models], node.name)
            if not node.methods:
                raise BadInput(f"cases '{node.name}' names no method")

    @property
    def key(self) -> str:
        """Identity for resuming; a limit is not part of it: more examples of the same plan are the same plan."""
        table = self.to_table()
        for node in table["data"].values():
            node.pop("limit", None)
        return content_key("plan", table)

    def to_table(self) -> dict[str, Any]:
        """Plain nested values, defaults left out."""

        def rows(nodes: tuple[Any, ...]) -> dict[str, Any]:
            return {n.name: {k: _plain(v) for k, v in asdict(n).items() if k != "name" and v not in (None, (), {})}
                    for n in nodes}  # fmt: skip

        return {"seed": self.seed, "data": rows(self.data), "model": rows(self.models), "cases": rows(self.cases)}

    def to_toml(self) -> str:
        """The plan as a file."""
        import tomli_w

        return tomli_w.dumps(self.to_table())

    @staticmethod
    def from_table(table: Mapping[str, Any], source: str = "plan") -> Plan:
        """Read nested values; every key that is not known is an error that names its place."""
        _only(table, ["seed", "data", "model", "cases"], source)
        for part in ("data", "model", "cases"):
            if not isinstance(table.get(part), Mapping) or not table[part]:
                raise BadInput(f"{source} has no [{part}.NAME] table")
        seed = table.get("seed", 0)
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise BadInput(f"{source}: seed must be a whole number, got {seed!r}")
        return Plan(
            tuple(_node(DataNode, n, t, f"{source}: [data.{n}]") for n, t in table["data"].items()),
            tuple(_node(ModelNode, n, t, f"{source}: [model.{n}]") for n, t in table["model"].items()),
            tuple(_node(CasesNode, n, t, f"{source}: [cases.{n}]") for n, t in table["cases"].items()),
            seed,
        )

    @staticmethod
    def from_toml(text: str, source: str = "plan") -> Plan:
        """Read a plan file's text."""
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"{source} is not valid TOML: {error}") from error
        return Plan.from_table(table, source)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _node(kind: type[N], name: str, table: Any, where: str) -> N:
    if not isinstance(table, Mapping):
        raise BadInput(f"{where} must be a table")
    known = [f.name for f in fields(kind) if f.name != "name"]  # type: ignore[arg-type]  # N is one of our dataclasses
    _only(table, known, where)
    for f in fields(kind):  # type: ignore[arg-type]  # N is one of our dataclasses
        if f.name in table:
            _typed(table[f.name], str(f.type), f"{where}: {f.name}")
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
    try:
        return kind(name=name, **values)  # type: ignore[call-arg]  # every node has a name
    except TypeError as error:
        missing = str(error).split("argument")[-1].lstrip("s: ")
        raise BadInput(f"{where} lacks {missing}") from error


_TYPES: tuple[tuple[str, type, str], ...] = (
    ("tuple", list, "a list of texts"),
    ("Mapping", dict, "a table"),
    ("int", int, "a whole number"),
    ("str", str, "a text"),
)


def _typed(value: Any, hint: str, where: str) -> None:
    """The value must be what the field's annotation begins with; a list holds texts."""
    kind, name = next((k, n) for start, k, n in _TYPES if hint.startswith(start))
    texts = not isinstance(value, list) or all(isinstance(v, str) for v in value)
    if not isinstance(value, kind) or isinstance(value, bool) or not texts:
        raise BadInput(f"{where} must be {name}, got {value!r}")


def _only(table: Mapping[str, Any], known: list[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise BadInput(f"{where} has no setting '{key}'{did_you_mean(key, known)}")


def _known(kind: str, name: str, there: list[str], node: str) -> None:
    if name not in there:
        raise BadInput(f"cases '{node}' names {kind} '{name}', which the plan does not have{did_you_mean(name, there)}")
