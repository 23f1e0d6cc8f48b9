"""Flags that several commands share, so that they are spelt once and mean the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from assay.types import BadInput

F = TypeVar("F", bound=Callable[..., Any])


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator."""

    def mark(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return mark


device = click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda", "mps"]),
    default="auto",
    show_default=True,
    help="Where it runs.",
)
dtype = click.option(
    "--dtype",
    type=click.Choice(["auto", "float32", "float16", "bfloat16"]),
    default="auto",
    show_default=True,
    help="Precision of the weights.",
)
seed = click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same result.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output and nothing else.")
quiet = click.option("--quiet", is_flag=True, help="No progress bar.")
trust = click.option(
    "--trust-remote-code", is_flag=True, help="Run code that the model's folder brings. Off unless you trust it."
)


def limit(default: int | None) -> Callable[[F], F]:
    """--limit with a command's own default."""
    return click.option(
        "--limit", type=click.IntRange(min=1), default=default, show_default=True, help="At most this many examples."
    )


reading = together(
    click.option("--split", help="Which part of the data (default: test, else dev, else the only one)."),
    click.option(
        "--column", "columns", multiple=True, metavar="FIELD=COLUMN", help="Map a field (or label, id) to a column."
    ),
    click.option("--labels", help="Label names in the model's order, with commas between."),
)

running = together(
    click.option("--out", type=click.Path(file_okay=False), help="Folder of the run; an unfinished run in it resumes."),
    as_json,
    quiet,
    device,
    dtype,
    click.option("--dry-run", is_flag=True, help="Say what it would cost (probes, tokens, minutes) and stop."),
    trust,
)
"""Where and how a run goes; what a plan file does not say."""
long_running = together(seed, running)


def mapping(pairs: tuple[str, ...]) -> dict[str, str]:
    """{'text': 'review'} from ('text=review',)."""
    out = {}
    for pair in pairs:
        name, equals, column = pair.partition("=")
        if not equals or not name or not column:
            raise BadInput(f"--column {pair} is not FIELD=COLUMN")
        out[name] = column
    return out


def names(text: str | None, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Split 'a,b(c=1,d=2),e' at the commas outside brackets."""
    if text is None:
        return default
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += c
    return tuple(p for p in (*parts, current.strip()) if p)
