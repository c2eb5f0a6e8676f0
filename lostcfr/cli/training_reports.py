"""What ``lostcfr train`` shows: a bar with the time left on a terminal, else a line every ten seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress as Bar, TaskProgressColumn, TextColumn, TimeRemainingColumn

from lostcfr.errors import ResourceError
from lostcfr.run.directory import TENSORBOARD
from lostcfr.run.schedules import EXTENDED

if TYPE_CHECKING:
    from lostcfr.run.loop import Progress

LINE_SECONDS = 10.0
BAR_SECONDS = 0.1


@contextmanager
def reports(tensorboard: Path | None) -> Iterator[Callable[[Progress], None]]:
    """A function that is told the progress of a run, for as long as it lasts."""
    console = Console(stderr=True)
    with ExitStack() as stack:
        shown = stack.enter_context(_bar(console)) if console.is_terminal else _lines()
        write = stack.enter_context(_tensorboard(tensorboard)) if tensorboard else None

        def report(progress: Progress) -> None:
            shown(progress)
            if write is not None and progress.row is not None:
                write(progress)

        yield report


@contextmanager
def _bar(console: Console) -> Iterator[Callable[[Progress], None]]:
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Bar(*columns, console=console, transient=True) as bar:
        task, drawn = bar.add_task("starting", total=1.0), 0.0

        def report(progress: Progress) -> None:
            nonlocal drawn
            for line in evaluation_lines(progress):
                console.print(line, highlight=False)
            if time.monotonic() - drawn > BAR_SECONDS:
                bar.update(task, completed=progress.share, description=state(progress))
                drawn = time.monotonic()

        yield report


def _lines() -> Callable[[Progress], None]:
    last = time.monotonic()

    def report(progress: Progress) -> None:
        nonlocal last
        for line in evaluation_lines(progress):
            click.echo(line, err=True)
        if time.monotonic() - last > LINE_SECONDS:
            left = f", {clock(progress.seconds * (1 / progress.share - 1))} left" if progress.share > 0.01 else ""
            click.echo(f"{clock(progress.seconds)} {state(progress)}{left}", err=True)
            last = time.monotonic()

    return report


def state(progress: Progress) -> str:
    """Where a run is, in a few words."""
    return f"iteration {progress.iteration}/{progress.iterations} {progress.phase} {progress.done:.0%}"


def evaluation_lines(progress: Progress) -> list[str]:
    """One line for each opponent of an evaluation that has just ended."""
    return [
        f"{clock(progress.seconds)} iteration {row['iteration']}{at_length(row)}: "
        f"{row['mean']:+.1f} points against {row['opponent']} "
        f"({row['ci95'][0]:+.1f} .. {row['ci95'][1]:+.1f}), {row['win']:.0%} won, {row['opened']:.1f} colours opened"
        for row in progress.evaluations
    ]


def at_length(row: Any) -> str:
    """What to say of an evaluation of the extended schedule."""
    return f", {row['pairs']} pairs" if row["schedule"] == EXTENDED else ""


def clock(seconds: float) -> str:
    """Seconds as h:mm:ss."""
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


@contextmanager
def _tensorboard(folder: Path) -> Iterator[Callable[[Progress], None]]:
    """Writes every number of a row, and of evaluations, under its name."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ResourceError("--tensorboard needs the package tensorboard: pip install 'lostcfr[tensorboard]'") from None
    with SummaryWriter(str(folder / TENSORBOARD)) as writer:

        def write(progress: Progress) -> None:
            assert progress.row is not None
            for name, value in numbers(progress.row):
                writer.add_scalar(name, value, progress.iteration)
            for row in progress.evaluations:
                for name, value in numbers(row):
                    place = f"against {row['opponent']}{at_length(row)}/{name}"
                    writer.add_scalar(place, value, row["iteration"])

        yield write


def numbers(row: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Name and value of each number in a row, however deep."""
    if isinstance(row, dict):
        for key, value in row.items():
            yield from numbers(value, f"{name}/{key}" if name else key)
    elif isinstance(row, list):
        for number, value in enumerate(row):
            yield from numbers(value, f"{name}/{number}")
    elif isinstance(row, (int, float)) and not isinstance(row, bool):
        yield name, float(row)
