"""assay reproduce: a paper's experiments, our numbers beside the published ones."""

from __future__ import annotations

import json
import shlex
import sys
from typing import Any

import click

from assay.cli import options, progress
from assay.types import BadInput


@click.command()
@click.argument("name")
@click.option("--data", default="builtin", show_default=True, help="Data, with commas between for several.")
@click.option("--encoder", help="bilstm, cnn, average; with commas between for several.")
@click.option("--attention", help="additive, dot; with commas between for several.")
@click.option(
    "--set", "given", multiple=True, metavar="NAME=VALUE", help="Any other setting of the suite (assay show NAME)."
)
@click.option("--limit", type=click.IntRange(min=1), help="At most this many examples.")
@click.option("--out", type=click.Path(file_okay=False), help="Folder; what is unfinished in it goes on.")
@click.option("--workers", type=click.IntRange(min=1), default=2, show_default=True, help="Processes for trainings.")
@options.seed
@options.as_json
@options.quiet
@options.device
@options.dtype
def reproduce(name: str, data: str, encoder: str | None, attention: str | None, given: tuple[str, ...],
              limit: int | None, out: str | None, workers: int, seed: int, as_json: bool, quiet: bool, device: str,
              dtype: str) -> None:  # fmt: skip
    """Run the experiments of the paper NAME (assay list suites) and show which findings hold here."""
    from assay import api

    settings = {"encoder": encoder, "attention": attention, "limit": limit} | dict(map(_setting, given))
    with progress.steps(quiet or as_json) as tell:
        done = api.reproduce(
            name,
            data=data,
            out=out or f"runs/{name}-{data.replace(':', '-').replace(',', '+')}",
            seed=seed,
            workers=workers,
            device=device,
            dtype=dtype,
            settings={k: v for k, v in settings.items() if v is not None},
            command=shlex.join(["assay", *sys.argv[1:]]),
            tell=tell,
        )
    if as_json:
        click.echo(json.dumps(done.to_json(), ensure_ascii=False, indent=1))
        return
    for exhibit in done.exhibits:
        click.echo(click.style(f"{exhibit.title} on {exhibit.data}", bold=True))
        for f in exhibit.findings:
            mark = {"yes": "holds", "no": "does not hold", "undecided": "undecided"}[f.holds]
            published = f"; paper: {f.published}" if f.published else ""
            click.echo(
                f"  {mark:>13}  {f.claim}  (ours: {f.ours if f.ours is not None else 'not computed'}{published})"
            )
    click.echo(f"report: {done.folder / 'report.html'}")


def _setting(text: str) -> tuple[str, Any]:
    from assay.registry import value_of

    name, equals, value = text.partition("=")
    if not equals:
        raise BadInput(f"--set {text} is not NAME=VALUE")
    return name, value_of(value)
