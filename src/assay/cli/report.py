"""assay report: a stored run as HTML, Markdown or JSON."""

from __future__ import annotations

import json
from pathlib import Path

import click

from assay.cli import files


@click.command()
@click.argument("run", type=click.Path(file_okay=False))
@click.option("--format", "kind", type=click.Choice(["html", "json", "md"]), default="html", show_default=True,
              help="json and md go to standard output.")  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False), help="Where the HTML goes (default: RUN/report.html).")
@click.option("--cases", help="Which cases of a plan that has several.")
@click.option("--no-text", is_flag=True, help="Leave all texts out: for confidential data.")
def report(run: str, kind: str, out: str | None, cases: str | None, no_text: bool) -> None:
    """Show a stored RUN again."""
    from assay import api

    done = api.load(run, cases)
    if kind == "md":
        click.echo(done.to_markdown())
    elif kind == "json":
        click.echo(json.dumps(done.to_json(), ensure_ascii=False, indent=1))
    else:
        path = Path(out) if out else Path(run) / "report.html"
        files.write(path, done.to_html(text=not no_text))
        click.echo(f"report: {path}")
