"""A progress bar on standard error; silent when asked, plain when the output is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.api import OnEvent
    from assay.driver import Event


@contextmanager
def bar(title: str, quiet: bool) -> Iterator[OnEvent]:
    """Yields a function that takes run events."""
    if quiet:
        yield lambda event: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TextColumn("left"), TimeRemainingColumn(elapsed_when_finished=False))  # fmt: skip
    with Progress(*columns, console=console, transient=False) as progress:
        task = progress.add_task(title, total=None)

        def tell(event: Event) -> None:
            if event.kind == "stopped":
                progress.console.print(event.message, style="yellow")
            progress.update(task, total=event.total, completed=event.done)
            if event.kind == "start":
                progress.update(task, description=event.message)

        yield tell


@contextmanager
def share_bar(title: str, quiet: bool) -> Iterator[Callable[[float], None]]:
    """Yields a function that takes the share done, in [0, 1]."""
    if quiet:
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=1.0)
        yield lambda share: progress.update(task, completed=share)
