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
def command(seed: int, agents: tuple[str, str], rules: Rules) -> None:
    """Play the first deal of SEED between two agents and tell it in words."""
    from lostcfr.agents import bot_code
    from lostcfr.game import LostCities
    from lostcfr.record import play_round, words

    for name in agents:
        bot_code(name)
    announce_compiling()
    for line in words(play_round(LostCities(rules), agents, seed)):
        click.echo(line)
