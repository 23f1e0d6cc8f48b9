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
        click.echo(f"{'ok  ' if r.ok else 'FAIL'}  {r.entry}  {r.contract}{'' if r.ok else ': ' + r.message}")
    failed = sum(not r.ok for r in results)
    click.echo(f"{len(results) - failed} passed, {failed} failed")
    if failed:
        sys.exit(1)
