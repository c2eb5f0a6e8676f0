"""``lostcfr play``: a person against an agent, or another person, at this terminal."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lostcfr.cli.options import announce_compiling, rules_option
from lostcfr.names import HUMAN
from lostcfr.rules import Rules

if TYPE_CHECKING:
    from rich.console import Console

    from lostcfr.agents import Agent
    from lostcfr.play.match import Player

DEFAULT_OPPONENT = "selective"
SEEDS = 10**9  # a fresh seed is below it, so that it can be typed
A_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option(
    "--against",
    metavar="AGENT",
    help=f"Your opponent, or 'human' for a second person here; default: {DEFAULT_OPPONENT}.",
)
@click.option("--hints", is_flag=True, help="Show at each decision what the advisor thinks of it.")
@click.option("--advisor", metavar="AGENT", help="Who hints and reviews; default: the opponent.")
@click.option("--no-review", is_flag=True, help="Leave out the review at the end of a round.")
@click.option(
    "--seed", type=click.IntRange(0, 2**64 - 1), help="Seed of the deals; default: a new one, which is shown."
)
@click.option("--seat", type=click.IntRange(0, 1), help="0 to start the first round, 1 not to; default: by the seed.")
@click.option("--rounds", type=click.IntRange(1, 1000), help="Rounds; whoever is ahead starts the next.  [default: 1]")
@click.option("--load", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Go on with a saved round.")
@click.option("--save", type=A_FILE, help="Write the rounds to this file, for lostcfr replay FILE.")
@click.option("--no-color", is_flag=True, help="Plain text; also by the variable NO_COLOR.")
@rules_option
def command(
    against: str | None,
    hints: bool,
    advisor: str | None,
    no_review: bool,
    seed: int | None,
    seat: int | None,
    rounds: int | None,
    load: Path | None,
    save: Path | None,
    no_color: bool,
    rules: Rules | None,
) -> None:
    """Play Lost Cities in this terminal.

    A turn is typed as "r7 deck" (play red 7, draw from the deck) or "d r7 g" (discard it, take the top of the green
    pile), or one half at a time; help lists all there is to type, and docs/play.md explains the screen. A round that
    you stop is kept in a file, and --load FILE goes on with it.

    Agents are named as in lostcfr evaluate: random, discard-only, balanced, aggressive, cautious, noisy, selective, or
    the folder of a run.
    """
    if save is not None and not save.parent.is_dir():
        raise click.UsageError(f"--save: there is no folder {save.parent}")
    fresh = {"--against": against, "--seed": seed, "--rounds": rounds, "--rule": rules}
    given = [option for option, value in fresh.items() if value is not None]
    if load is not None and given:
        raise click.UsageError(f"{given[0]} is for a new round, but --load goes on with an old one as it is")
    announce_compiling()
    from lostcfr.game import LostCities
    from lostcfr.play.keep import unfinished
    from lostcfr.play.match import Match
    from lostcfr.play.terminal import Setting

    before, begun = unfinished(load, seat, HUMAN) if load is not None else ([], None)
    names = begun.agents if begun is not None else (HUMAN, against or DEFAULT_OPPONENT)
    players, adviser, agreed = at_table(names, advisor, begun.rules if begun is not None else rules)
    match = Match(Setting(plain_or_colored(no_color), adviser, hints, not no_review), players, save, before)
    if begun is not None:
        match.play_round(begun, (0, 1))
        return
    seed = secrets.randbelow(SEEDS) if seed is None else seed
    click.echo(f"{players[0].name} against {players[1].name}; --seed {seed} deals the same cards again; help helps")
    match.play(LostCities(agreed), seed, rounds or 1, seed % 2 if seat is None else seat)


def at_table(
    names: tuple[str, str], advisor: str | None, wanted: Rules | None
) -> tuple[tuple[Player, Player], Agent, Rules]:
    """The players of these names, who advises, and the rules that all of them play by."""
    from lostcfr.play.match import Player
    from lostcfr.run.agent_names import load_agent, rules_of_match

    persons = [name.strip().lower() == HUMAN for name in names]
    agents = [None if person else load_agent(name) for name, person in zip(names, persons, strict=True)]
    opponent = next((agent for agent in agents if agent is not None), None)
    adviser = load_agent(advisor) if advisor is not None else opponent or load_agent(DEFAULT_OPPONENT)
    rules = rules_of_match([*filter(None, agents), adviser], wanted)
    person = "player {}" if all(persons) else HUMAN
    first, second = (
        Player(person.format(place) if agent is None else agent.name, agent) for place, agent in enumerate(agents)
    )
    return (first, second), adviser, rules


def plain_or_colored(no_color: bool) -> Console:
    """Where all of it is shown: without colour where that is not wanted or not possible, 80 columns wide in a pipe."""
    from rich.console import Console

    plain = no_color or bool(os.environ.get("NO_COLOR"))
    return Console(color_system=None if plain else "auto", highlight=False, markup=False, emoji=False)
