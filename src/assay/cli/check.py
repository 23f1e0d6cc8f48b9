"""assay check: put a module's entries through the contracts."""

from __future__ import annotations

import sys

import click


@click.command()
@click.argument("module")
def check(module: str) -> None:
    """Put the methods, tests and operators of MODULE through the contracts."""
    from assay import api

    results = api.check(module)
    for r in results:
        word = "FAIL" if not r.ok else "–   " if r.message.startswith("not tried") else "ok  "
        click.echo(f"{word}  {r.entry}  {r.contract}{': ' + r.message if r.message else ''}")
    failed = sum(not r.ok for r in results)
    untried = sum(r.ok and r.message.startswith("not tried") for r in results)
    click.echo(f"{len(results) - failed - untried} passed, {failed} failed, {untried} not tried")
    if failed:
        sys.exit(1)
