"""A progress bar on standard error; silent when asked, plain when the output is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.api import OnEvent
    from assay.driver import Event


@contextmanager
def bar(quiet: bool) -> Iterator[OnEvent]:
    """Yields a function that takes run events."""
    if quiet:
        yield lambda event: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TextColumn("left"), TimeRemainingColumn(elapsed_when_finished=False))  # fmt: skip
    progress = Progress(*columns, console=console)
    tasks: dict[str, TaskID] = {}

    def tell(event: Event) -> None:
        if event.kind == "stopped":
            progress.console.print(event.message, style="yellow")
        if event.kind in ("start", "making") and event.message not in tasks:
            progress.start()  # not before: an error in a name is one line, without a bar above it
            tasks[event.message] = progress.add_task(event.message, total=event.total)
        latest = list(tasks.values())[-1]
        progress.update(latest, completed=event.done)

    try:
        yield tell
    finally:
        if tasks:
            progress.stop()


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


@contextmanager
def steps(quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """Yields a function that takes a step's name and the share of it that is done; each step has its bar."""
    if quiet:
        yield lambda step, share: None
        return
    from rich.console import Console
    from rich.progress import Progress, TaskID

    progress = Progress(console=Console(stderr=True))
    tasks: dict[str, TaskID] = {}

    def tell(step: str, share: float) -> None:
        if step not in tasks:
            progress.start()
            tasks[step] = progress.add_task(step, total=1.0)
        progress.update(tasks[step], completed=share)

    try:
        yield tell
    finally:
        if tasks:
            progress.stop()
