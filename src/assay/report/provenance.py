"""Knows how a run is named, dated and repeated, from what the run wrote of itself."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from assay.summary import Summary

_TOLD_ELSEWHERE = {"methods", "tests", "versions", "command", "model", "data", "n", "started", "inapplicable"}


def title(summary: Summary) -> str:
    """'Explanations of MODEL on DATA'."""
    return f"Explanations of {summary.meta.get('model', 'a model')} on {summary.meta.get('data', 'some data')}"


def question(summary: Summary) -> str:
    """What the report answers."""
    return f"Can the {title(summary)[0].lower()}{title(summary)[1:]} be trusted?"


def size(summary: Summary) -> int:
    """How many examples the run covers."""
    return int(summary.meta.get("n") or len(summary.examples))


def cut(summary: Summary) -> str:
    """How many examples the model could not read to their end, '' when it read all."""
    count = sum(bool(e.cut) for e in summary.examples)
    return f"{count:,} of {len(summary.examples):,} examples were cut: the model takes no more" if count else ""


def date(summary: Summary) -> str:
    """The day and time the run started, '' when it did not say."""
    return (
        str(summary.meta.get("started") or summary.meta.get("date") or "").replace("T", " ").replace("+00:00", " UTC")
    )


def command(summary: Summary, between: str = " ") -> str:
    """The command that repeats the run; ``between`` stands before each option (a backslash and a new line, say)."""
    meta = summary.meta
    if meta.get("command"):
        return str(meta["command"])
    start = shlex.join(["assay", "audit", str(meta.get("model_ref", "MODEL")), str(meta.get("data_ref", "DATA"))])
    options = {
        "--methods": ",".join(summary.methods),
        "--tests": ",".join(meta.get("tests") or ()),
        "--limit": str(size(summary)),
        "--seed": str(meta.get("seed", 0)),
    }
    return between.join([start, *(shlex.join(pair) for pair in options.items() if pair[1])])


def settings(summary: Summary) -> list[tuple[str, str]]:
    """Everything else that the run wrote of itself, in plain lines."""
    return [
        (k, plain(v)) for k, v in summary.meta.items() if k not in _TOLD_ELSEWHERE and v not in (None, "", {}, [], ())
    ]


def versions(summary: Summary) -> list[tuple[str, str]]:
    """Name and version of what the numbers depend on."""
    return [(str(k), str(v)) for k, v in (summary.meta.get("versions") or {}).items()]


def plain(value: Any) -> str:
    """A nested value on one line.

    >>> plain({"a": [1, 2], "b": "c"})
    'a = 1, 2; b = c'
    """
    if isinstance(value, Mapping):
        return "; ".join(f"{k} = {plain(v)}" for k, v in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return ", ".join(plain(v) for v in value)
    return str(value)
