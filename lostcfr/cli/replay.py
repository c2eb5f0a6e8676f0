"""``lostcfr replay``: rounds in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lostcfr.cli.options import announce_compiling, rules_option
from lostcfr.rules import Rules

if TYPE_CHECKING:
    from lostcfr.record import Round


@click.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Instead of FILE: play a deal of this seed.")
@click.option(
    "--deal",
    type=click.IntRange(0, 2**32 - 1),
    help="Which deal of the seed; with FILE, which round of it, from 0. Default: 0, and all of FILE.",
)
@click.option(
    "--agents",
    nargs=2,
    metavar="A B",
    help="In seat 0, which starts, and seat 1; default: balanced cautious.",
)
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Also write the rounds to this file.")
@rules_option
def command(
    file: Path | None,
    seed: int | None,
    deal: int | None,
    agents: tuple[str, str] | None,
    save: Path | None,
    rules: Rules | None,
) -> None:
    """Tell the rounds of FILE in words, or a deal that is played now.

    FILE is one that lostcfr play or --save has written. Agents, which play a deal as they do in lostcfr evaluate:
    random, discard-only, balanced, aggressive, cautious, noisy, selective, or the folder of a run (docs/evaluation.md).
    """
    from lostcfr.narration import words
    from lostcfr.record import read_rounds, write_rounds

    if (file is None) == (seed is None):
        raise click.UsageError("name either a file of rounds or --seed, one of the two")
    if file is not None and (agents or rules):
        raise click.UsageError("--agents and --rule are for --seed: a file says who played, and by which rules")
    announce_compiling()
    if file is not None:
        rounds = read_rounds(file)
        if deal is not None and deal >= len(rounds):
            raise click.UsageError(f"{file} holds {len(rounds)} rounds, numbered from 0, so none has the number {deal}")
        rounds = rounds if deal is None else [rounds[deal]]
    else:
        rounds = [played(seed or 0, deal or 0, agents or ("balanced", "cautious"), rules)]
    for place, each in enumerate(rounds):
        click.echo("\n" * bool(place) + "\n".join(words(each)))
    if save is not None:
        write_rounds(save, rounds)


def played(seed: int, deal: int, names: tuple[str, str], rules: Rules | None) -> Round:
    """The deal, played by the agents of these names."""
    from lostcfr.arena.rounds import play_rounds
    from lostcfr.game import LostCities
    from lostcfr.run.agent_names import load_agent, rules_of_match

    agents = load_agent(names[0]), load_agent(names[1])
    return play_rounds(LostCities(rules_of_match(agents, rules)), agents, seed, first=deal)[0]
