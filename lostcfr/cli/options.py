"""Options and ways of showing things that several commands share."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from lostcfr.rules import parse_rules

rules_option = click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="NAME=VALUE",
    callback=lambda context, parameter, values: parse_rules(values) if values else None,
    help="Change one of the classic rules, such as n_colors=6 or stall_limit=null (docs/rules.md); may be repeated.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**64 - 1),
    default=7,
    show_default=True,
    help="Seed of deals and chance.",
)
rounds_option = click.option(
    "--rounds",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    help="Rounds of a match; the player ahead starts the next one.",
)
threads_option = click.option(
    "--threads",
    type=click.IntRange(1),
    default=None,
    help="Threads to use; default: LOSTCFR_THREADS, or all cores.",
)


def check_folder(path: Path | None, option: str) -> None:
    """An error now where the file that ``option`` names could not be written later."""
    if path is not None and not path.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {path.parent} for {path.name}: make it first", param_hint=option)


def print_json(value: Any) -> None:
    click.echo(json.dumps(value))


def announce_compiling() -> None:
    """Say why the first command of an installation takes its time."""
    from lostcfr.kernels.jit import is_cold

    if is_cold():
        click.echo("compiling the kernels, once for this version; under a minute ...", err=True)


@contextmanager
def progress_bar(description: str, total: int) -> Iterator[Callable[[int], bool]]:
    """Progress with the time left on standard error, nothing where that is no terminal.

    Yields a function that is told what is done so far, and never asks to stop.
    """
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f}/{task.total:,.0f}")
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(description, total=total)

        def watch(done: int) -> bool:
            progress.update(task, completed=done)
            return False

        yield watch
