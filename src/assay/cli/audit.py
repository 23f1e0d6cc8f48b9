"""assay audit, assay run: the whole job, with a progress bar, a table and a report."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options, progress
from assay.types import Interrupted

if TYPE_CHECKING:
    from assay.driver import Event, Where
    from assay.plan import Plan
    from assay.results import Audit


@click.command()
@click.argument("model", default="builtin")
@click.argument("data", default="builtin")
@click.option("--methods", help="Methods, with commas between, or all.")
@click.option("--tests", help="Tests, with commas between, or all.")
@click.option("--target", default="own", show_default=True, help="Class: name, index, or 'A rather than B'.")
@click.option("--unit", type=click.Choice(["word", "piece", "spacy"]), default="word", show_default=True)
@click.option("--hold", multiple=True, metavar="FIELD", help="Never take words of this field away.")
@options.reading
@options.limit(100)
@options.long_running
def audit(model: str, data: str, methods: str | None, tests: str | None, target: str, unit: str,
          hold: tuple[str, ...], split: str | None, columns: tuple[str, ...], labels: str | None, limit: int,
          seed: int, out: str | None, as_json: bool, quiet: bool, device: str, dtype: str, dry_run: bool,
          trust_remote_code: bool) -> None:  # fmt: skip
    """Test whether MODEL's explanations can be trusted on DATA; writes a report."""
    from assay import api
    from assay.driver import Where

    plan = api.audit_plan(
        model, data, methods=options.names(methods, api.METHODS), tests=options.names(tests, api.TESTS), split=split,
        columns=options.mapping(columns), labels=options.names(labels), target=target, unit=unit, hold=hold,
        limit=limit, seed=seed,
    )  # fmt: skip
    folder = out or str(api.free_folder())
    _execute(plan, folder, Where(device, dtype, trust_remote_code=trust_remote_code), as_json, quiet, dry_run)


@click.command()
@click.argument("plan", type=click.Path(dir_okay=False))
@click.option("--limit", type=click.IntRange(min=1), help="At most this many examples, instead of what the plan says.")
@click.option("--seed", type=int, help="Instead of the plan's.")
@options.running
def run(plan: str, limit: int | None, seed: int | None, out: str | None, as_json: bool, quiet: bool, device: str,
        dtype: str, dry_run: bool, trust_remote_code: bool) -> None:  # fmt: skip
    """Run a PLAN file (TOML); --limit and --seed replace the plan's own."""
    from assay import api
    from assay.driver import Where

    read = api.read_plan(plan)
    read = replace(
        read,
        seed=read.seed if seed is None else seed,
        data=read.data if limit is None else tuple(replace(node, limit=limit) for node in read.data),
    )
    folder = out or f"runs/{Path(plan).stem}"
    _execute(read, folder, Where(device, dtype, trust_remote_code=trust_remote_code), as_json, quiet, dry_run)


def _execute(plan: Plan, folder: str, where: Where, as_json: bool, quiet: bool, dry_run: bool) -> None:
    from assay import api

    if dry_run:
        _show_estimate(api.estimate(plan, where), as_json)
        return
    with _told_where(folder) as stop_if_asked, progress.bar(quiet or as_json) as tell:

        def told(event: Event) -> None:
            tell(event)
            stop_if_asked()

        done = api.run(plan, out=folder, where=replace(where, on_making=told), on_event=told)
    show_audit(done, as_json)


@contextmanager
def _told_where(folder: str) -> Iterator[Callable[[], None]]:
    """Ctrl-C: stop, say what is safe and how to go on.

    Python drops an interrupt that arrives inside a callback it cannot raise from; so it is remembered, and the
    function that this yields raises it again after the next example.
    """
    asked: list[int] = []

    def interrupted(number: int, frame: object) -> None:
        asked.append(number)
        raise KeyboardInterrupt

    def stop_if_asked() -> None:
        if asked:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield stop_if_asked
    except KeyboardInterrupt:
        from assay.store import Store

        if not Store.exists(folder):
            raise
        raise Interrupted(
            f"interrupted; everything finished is stored in {folder}; the same command with --out {folder} goes on"
        ) from None
    finally:
        signal.signal(signal.SIGINT, before)


def show_audit(done: Audit, as_json: bool) -> None:
    """The table and where the report is, or JSON alone."""
    if as_json:
        click.echo(json.dumps(done.to_json(), ensure_ascii=False, indent=1))
        return
    from rich.console import Console

    from assay.report.terminal import audit_table, verdict_lines

    console = Console()
    console.print(verdict_lines(done.verdicts))
    console.print(audit_table(done.summary, done.verdicts))
    click.echo(f"report: {done.folder / 'report.html'}")


def _show_estimate(cost: dict[str, object], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(cost))
        return
    click.echo(f"{cost['examples']} examples: about {cost['probes']:,} probes, {cost['tokens']:,} tokens, "
               f"{cost['minutes']} minutes (measured on {cost['sample']} of them)")  # fmt: skip
