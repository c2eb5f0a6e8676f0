"""``lostcfr check``: agents against what is known exactly."""

from dataclasses import asdict
from typing import Any

import click

from lostcfr.cli.options import (
    announce_compiling,
    json_option,
    print_json,
    progress_bar,
    rules_option,
    seed_option,
    threads_option,
)
from lostcfr.rules import Rules


@click.group(name="check")
def command() -> None:
    """Check agents against what is known exactly."""


@command.command()
@click.argument("agents", nargs=-1, required=True, metavar="AGENT...")
@click.option(
    "--positions", type=click.IntRange(2, 10_000_000), default=5000, show_default=True, help="Positions to check."
)
@seed_option
@rules_option
@threads_option
@json_option
def endgame(
    agents: tuple[str, ...], positions: int, seed: int, rules: Rules | None, threads: int | None, as_json: bool
) -> None:
    """What each AGENT gives away, in points, by its turn with one card left in the deck.

    There the best play is known exactly: the play that adds most to one's own score, or a discard, and then the deck.
    The positions are those that rounds between rule-based players come to, the same ones for every AGENT. A perfect
    player loses exactly 0. Agents are named as in lostcfr evaluate; docs/evaluation.md explains the columns.
    """
    from lostcfr.arena.endgame import check
    from lostcfr.game import LostCities
    from lostcfr.run.agent_names import load_agent, rules_of_match

    players = [load_agent(name) for name in agents]
    rules = rules_of_match(players, rules)
    announce_compiling()
    with progress_bar("positions", total=positions * len(players)) as watch:
        found = check(LostCities(rules), players, positions, seed, threads=threads, watch=watch)
    rows = [row | {"seed": seed, "rules": asdict(rules)} for row in found]
    print_json(rows) if as_json else show(rows)


def show(rows: list[dict[str, Any]]) -> None:
    """A table, an agent a row."""
    width = max(14, *(len(row["agent"]) + 2 for row in rows))
    click.echo(
        f"{rows[0]['positions']:,} positions with one card left in the deck, worth {rows[0]['value']:.2f} points to "
        f"the player to move;\npoints that a turn gives away, 95 % interval over positions"
    )
    click.echo(
        f"{'agent':{width}}{'loss':>8}{'interval':>18}{'by card':>9}{'by draw':>9}{'with a loss':>13}{'worst':>8}"
    )
    for row in rows:
        low, high = row["ci95"]
        click.echo(
            f"{row['agent']:{width}}{row['loss']:8.3f}{f'{low:.3f} .. {high:.3f}':>18}{row['card_loss']:9.3f}"
            f"{row['draw_loss']:9.3f}{row['lossy']:13.2%}{row['worst']:8.1f}"
        )
