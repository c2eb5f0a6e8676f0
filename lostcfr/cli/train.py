"""``lostcfr train``: run a configuration, or go on with a run."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lostcfr.cli.options import announce_compiling, threads_option

if TYPE_CHECKING:
    from lostcfr.run.loop import Training


@click.command()
@click.argument("config", required=False, type=click.Path(path_type=Path))
@click.option("--run", "folder", required=True, type=click.Path(path_type=Path), help="Folder of the run.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting; may be repeated.")
@click.option("--resume", is_flag=True, help="Go on with the run in that folder; CONFIG may be left out.")
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="Where networks are trained and asked; auto takes a GPU if there is one.",
)
@threads_option
@click.option("--tensorboard", is_flag=True, help="Write the rows for TensorBoard too, to FOLDER/tensorboard.")
def command(
    config: Path | None,
    folder: Path,
    overrides: tuple[str, ...],
    resume: bool,
    device: str,
    threads: int | None,
    tensorboard: bool,
) -> None:
    """Train by the configuration file CONFIG (docs/configuration.md) and keep everything in the folder of the run.

    Ctrl-C finishes the step, writes a checkpoint, and prints the command to go on; a second one ends at once. A run
    that was killed goes on from its newest checkpoint, and comes to the same result as if nothing had happened.
    """
    from lostcfr.cli.training_reports import reports
    from lostcfr.forward import chosen_device
    from lostcfr.run.loop import Training
    from lostcfr.run.start import opened

    device = chosen_device(device)
    with opened(config, folder, list(overrides), resume=resume) as (configuration, directory):
        announce_compiling()
        with reports(folder if tensorboard else None) as report:
            training = Training(configuration, directory, threads=threads, device=device, report=report)
            if resume:
                training.resume()
            code = training.run()
        finish(training, folder, code)


def finish(training: Training, folder: Path, code: int) -> None:
    """Say how the run ended and how to use it."""
    run = shlex.quote(str(folder))
    if code:
        click.echo(f"stopped; go on with: lostcfr train --run {run} --resume", err=True)
        sys.exit(code)
    iterations, minutes = training.solver.iteration, training.seconds / 60
    click.echo(f"{iterations} iterations in {minutes:.1f} minutes; try: lostcfr evaluate {run} --against balanced")
