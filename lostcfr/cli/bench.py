"""``lostcfr bench``: one subcommand a benchmark."""

import click

from lostcfr.cli.options import announce_compiling, json_option, print_json, threads_option


@click.group(name="bench")
def command() -> None:
    """Measure how fast this machine plays, traverses and trains."""


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


@command.command()
@threads_option
@json_option
def traversal(threads: int | None, as_json: bool) -> None:
    """Outcome sampling with a network of 512 x 3 beside bare forwards of plain layers of the same shapes.

    ratio is that of decisions to rows a second, both taken by turns in this run.
    """
    from lostcfr.bench.traversal import run

    announce_compiling()
    figures = run(threads, progress=lambda step: click.echo(f"... {step}", err=True))
    if as_json:
        print_json(figures)
        return
    click.echo(f"{'decisions by the network, /s':34}{figures['nodes_per_second']:14,.0f}")
    click.echo(f"{'bare forward, rows/s':34}{figures['forward_rows_per_second']:14,.0f}")
    click.echo(f"{'ratio':34}{figures['ratio']:14.3f}")
    click.echo(f"{'occupancy of the lanes':34}{figures['occupancy']:14.1%}")
    click.echo(f"{'mean batch, rows':34}{figures['mean_batch']:14.1f}")
    click.echo(f"{'threads':34}{figures['threads']:14}")


@command.command()
@threads_option
@json_option
def train(threads: int | None, as_json: bool) -> None:
    """Updates of a network of 512 x 3 on 1,024 rows beside bare forward, backward and optimiser.

    outside is the share of an update that is none of these three, both taken by turns in this run.
    """
    from lostcfr.bench.train import run

    announce_compiling()
    figures = run(threads, progress=lambda step: click.echo(f"... {step}", err=True))
    if as_json:
        print_json(figures)
        return
    click.echo(f"{'update, ms':34}{figures['step_ms']:14.2f}")
    click.echo(f"{'forward, backward, optimiser, ms':34}{figures['bare_ms']:14.2f}")
    click.echo(f"{'outside of these':34}{figures['outside']:14.1%}")
    click.echo(f"{'rows/s':34}{figures['rows_per_second']:14,.0f}")
    click.echo(f"{'threads':34}{figures['threads']:14}")


@command.command()
@threads_option
@json_option
def evaluate(threads: int | None, as_json: bool) -> None:
    """Seconds of 1,000 mirrored pairs: a fresh network of 512 x 3 against balanced, and selective against balanced.

    Warm-up (compiling or loading the kernels) is not part of them.
    """
    from lostcfr.bench.evaluate import run

    announce_compiling()
    figures = run(threads, progress=lambda step: click.echo(f"... {step}", err=True))
    if as_json:
        print_json(figures)
        return
    click.echo(f"{'network against balanced, s':34}{figures['network_seconds']:14.2f}")
    click.echo(f"{'selective against balanced, s':34}{figures['bots_seconds']:14.3f}")
    click.echo(f"{'decisions by the network, /s':34}{figures['decisions_per_second']:14,.0f}")
    click.echo(f"{'mirrored pairs of each':34}{figures['pairs']:14,}")
    click.echo(f"{'threads':34}{figures['threads']:14}")
