"""``lostcfr replay``: a round in words."""

import click

from lostcfr.cli.options import announce_compiling, rules_option
from lostcfr.rules import Rules


@click.command()
@click.argument("seed", type=click.IntRange(0, 2**64 - 1))
@click.option(
    "--agents",
    nargs=2,
    default=("balanced", "cautious"),
    show_default=True,
    metavar="A B",
    help="Who sits in seat 0 (and starts) and in seat 1.",
)
@rules_option
def command(seed: int, agents: tuple[str, str], rules: Rules | None) -> None:
    """Play the first deal of SEED between two agents and tell it in words.

    Agents: random, discard-only, balanced, aggressive, cautious, noisy, selective (docs/bots.md).
    """
    from lostcfr.game import LostCities
    from lostcfr.names import bot_name
    from lostcfr.record import play_round, words

    first, second = (bot_name(name) for name in agents)
    announce_compiling()
    for line in words(play_round(LostCities(rules or Rules()), (first, second), seed)):
        click.echo(line)
