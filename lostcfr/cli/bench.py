"""``lostcfr bench``: one subcommand a benchmark."""

import click

from lostcfr.cli.options import announce_compiling, json_option, print_json, threads_option


@click.group(name="bench")
def command() -> None:
    """Measure how fast this machine runs the kernels."""


@command.command()
@threads_option
@json_option
def engine(threads: int | None, as_json: bool) -> None:
    """Random play, feature encoding and each bot, in decisions or rows a second, and the engine's signature.

    Warm-up (compiling or loading the kernels) is not part of any rate. The signature is one number that changes
    when any rule, feature, bot or random stream does.
    """
    from lostcfr.bench.engine import run

    announce_compiling()
    figures = run(threads, progress=lambda step: click.echo(f"... {step}", err=True))
    if as_json:
        print_json(figures)
        return
    rows = [("random play, decisions/s", figures["decisions_per_second"])]
    rows += [("features and legal mask, rows/s", figures["feature_rows_per_second"])]
    rows += [(f"{name}, decisions/s", rate) for name, rate in figures["bots"].items()]
    for name, rate in rows:
        click.echo(f"{name:34}{rate:14,.0f}")
    click.echo(f"{'threads':34}{figures['threads']:14}")
    click.echo(f"{'warm-up, s':34}{figures['warm_up_seconds']:14.1f}")
    click.echo(f"{'signature':34}{figures['signature']:>14}")
