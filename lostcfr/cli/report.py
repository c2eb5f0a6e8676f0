"""``lostcfr report``: a page of HTML about a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from lostcfr.report.history import History


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write to; default: RUN/report.")
def command(run: Path, out: Path | None) -> None:
    """Draw what the run in the folder RUN has come to so far: index.html, which needs nothing else, and its pictures.

    The run is only read, and may be under way. docs/report.md says how to read the page. Needs matplotlib, which is
    in the extra plots.
    """
    from lostcfr.drawing import figure_type
    from lostcfr.report.history import read_history
    from lostcfr.report.page import write_report

    figure_type()  # an error now where nothing could be drawn
    history = read_history(run)
    click.echo(write_report(history, out or run / "report"))
    for line in key_figures(history):
        click.echo(line)


def key_figures(history: History) -> list[str]:
    """How far the run is, and its newest evaluation."""
    from lostcfr.report.tables import interval
    from lostcfr.run.schedules import REGULAR

    regular = history.evaluated(REGULAR)
    begun = f"{history.iterations[-1]:.0f} iterations in {history.minutes[-1]:.1f} minutes"
    if not regular:
        return [f"{begun}, not evaluated yet"]
    newest = max(regular)
    return [
        f"{begun}; the {regular[newest][0]['agent']} after iteration {newest}:",
        *(f"{row['mean']:+.1f} points a round against {row['opponent']} ({interval(row)})" for row in regular[newest]),
    ]
