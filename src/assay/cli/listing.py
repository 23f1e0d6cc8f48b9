"""assay list, assay show: what can be named, read from source without importing it."""

from __future__ import annotations

import json

import click

from assay.cli import options


@click.command("list")
@click.argument("kind", required=False)
@options.as_json
def list_entries(kind: str | None, as_json: bool) -> None:
    """List methods, tests, removals, datasets, models, attacks, repairs, suites (no argument: all)."""
    from assay.registry import entries  # assay.entries, without what the rest of the API imports

    found = entries(kind)
    if as_json:
        rows = [{"kind": e.kind, "name": e.name, "version": e.version, "summary": e.summary} for e in found]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    width = max((len(e.name) for e in found), default=0)
    last = None
    for entry in found:
        if entry.kind == "answers" and kind != "answers":
            continue  # how a model answers: of interest to authors only
        if entry.kind != last:
            click.echo(click.style(f"{'' if last is None else chr(10)}{entry.kind}", bold=True))
            last = entry.kind
        room = max(30, 100 - width - 4)
        summary = entry.summary if len(entry.summary) <= room else entry.summary[: room - 1] + "…"
        click.echo(f"  {entry.name:<{width}}  {summary}")
    if not found:
        click.echo(f"there are no {kind or 'entries'} yet")


@click.command()
@click.argument("name")
@options.as_json
def show(name: str, as_json: bool) -> None:
    """Show what NAME does: its formula, settings, needs and paper."""
    from assay import api, registry

    entry = api.show(name)
    settings = registry.parameters(entry.load())
    if as_json:
        facts = {k: sorted(v) if isinstance(v, set | frozenset) else v for k, v in entry.facts.items()}
        rows = {n: str(getattr(p.default, "name", p.default)) for n, p in settings.items()}
        click.echo(json.dumps({"kind": entry.kind, "name": entry.name, "version": entry.version, "doc": entry.doc,
                               "settings": rows, **facts}, ensure_ascii=False, indent=1))  # fmt: skip
        return
    click.echo(click.style(f"{entry.name}", bold=True) + f"  {entry.kind}, version {entry.version}\n")
    click.echo(entry.doc + "\n")
    for n, p in settings.items():
        choices = (
            f"  one of {', '.join(map(str, p.choices))}"
            if p.choices
            else f"  names one of: assay list {p.names}"
            if p.names
            else ""
        )
        click.echo(f"  {n} = {'(required)' if p.required else p.default}{choices}")
    for fact in ("needs", "of", "asks", "headline", "better", "claim", "paper", "purpose"):
        if entry.facts.get(fact):
            value = entry.facts[fact]
            click.echo(f"  {fact}: {', '.join(sorted(value)) if isinstance(value, set | frozenset) else value}")
