"""``lostcfr arena``: a round robin with ratings, or a sequential test of two agents."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lostcfr.cli.options import (
    announce_compiling,
    check_folder,
    json_option,
    print_json,
    progress_bar,
    rounds_option,
    rules_option,
    seed_option,
    threads_option,
)
from lostcfr.rules import Rules

if TYPE_CHECKING:
    from lostcfr.agents import Agent
    from lostcfr.arena.sequential import Verdict
    from lostcfr.arena.tournament import Match, Standings
    from lostcfr.game import LostCities

UNBOUNDED = (
    "Some agents lost no {result} to any of the others. How far apart the two groups are rated is then a matter of\n"
    "the prior, not of measurement, and so are those intervals (docs/arena.md)."
)


@click.command()
@click.argument("agents", nargs=-1, required=True, metavar="AGENT...")
@click.option(
    "--pairs",
    type=click.IntRange(2, 10_000_000),
    default=1000,
    show_default=True,
    help="Matches of any two, each played twice; with --sprt: the most.",
)
@rounds_option
@seed_option
@click.option("--anchor", metavar="AGENT", help="The agent whose rating is 0; default: the mean of all ratings is 0.")
@click.option(
    "--sprt",
    "bounds",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    help="Of two agents: play until it is clear whether the first makes LOW or HIGH points a match.",
)
@click.option("--png", type=click.Path(dir_okay=False, path_type=Path), help="Draw the table and the ratings.")
@rules_option
@threads_option
@json_option
def command(
    agents: tuple[str, ...],
    pairs: int,
    rounds: int,
    seed: int,
    anchor: str | None,
    bounds: tuple[float, float] | None,
    png: Path | None,
    rules: Rules | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Play every AGENT against every other on the same deals, each match twice with the seats swapped.

    Prints mean points a match of row against column, with half of the 95 % interval over pairs; and ratings by
    matches won (Bradley-Terry, as Elo) with 95 % bootstrap intervals over deals. Agents and rules are those of
    lostcfr evaluate; docs/arena.md says how the figures are made.
    """
    from lostcfr.arena.tournament import check_names
    from lostcfr.game import LostCities
    from lostcfr.run.agent_names import load_agent, rules_of_match

    if bounds and (len(agents) != 2 or anchor is not None or png is not None):
        raise click.UsageError("--sprt tests two agents, and has neither --anchor nor --png: leave those out")
    # All that can be wrong first: no match is played for nothing.
    players = [load_agent(name) for name in agents]
    anchor = _known(anchor, agents, players)
    check_names([player.name for player in players], anchor)
    rules = rules_of_match(players, rules)
    _check_picture(png)
    settings = {"seed": seed, "rules": asdict(rules), "rounds": rounds}
    announce_compiling()
    game = LostCities(rules)
    if bounds:
        sequential_test(game, players, pairs, bounds, threads, settings, as_json)
    else:
        tournament(game, players, pairs, anchor, png, threads, settings, as_json)


def _known(anchor: str | None, agents: Sequence[str], players: Sequence["Agent"]) -> str | None:
    """The anchor as its agent spells it."""
    return next((player.name for name, player in zip(agents, players, strict=True) if name == anchor), anchor)


def _check_picture(png: Path | None) -> None:
    """An error now where the picture could not be drawn or written later."""
    if png is None:
        return
    from lostcfr.drawing import figure_type

    figure_type()
    check_folder(png, "--png")


def tournament(
    game: "LostCities",
    players: Sequence["Agent"],
    pairs: int,
    anchor: str | None,
    png: Path | None,
    threads: int | None,
    settings: dict[str, Any],
    as_json: bool,
) -> None:
    """Play all matches, and print and draw how the agents stand."""
    from lostcfr.arena.tournament import round_robin, standings

    seed, rounds, matches = settings["seed"], settings["rounds"], len(players) * (len(players) - 1) // 2
    with progress_bar(f"{matches} matches" if matches > 1 else "1 match", total=2 * pairs * rounds * matches) as watch:
        played = round_robin(game, players, pairs, seed, rounds=rounds, threads=threads, watch=watch)
    found = standings([player.name for player in players], played, seed, anchor)
    if as_json:
        print_json(settings | {"pairs": pairs, "anchor": anchor} | figures(found, played))
    else:
        show(found, pairs, rounds, seed, anchor)
    if png is not None:
        from lostcfr.arena.plot import picture

        png.write_bytes(picture(found, rounds))


def figures(found: "Standings", played: Sequence["Match"]) -> dict[str, Any]:
    """The ratings, the best first, and the summaries of all matches, as plain numbers."""
    columns = zip(found.names, found.elo, found.low, found.high, found.points, strict=True)
    return {
        "bounded": found.bounded,
        "ratings": [
            {"agent": name, "elo": float(elo), "ci95": [float(low), float(high)], "points": float(points)}
            for name, elo, low, high, points in columns
        ],
        "matches": [match.figures for match in played],
    }


def show(found: "Standings", pairs: int, rounds: int, seed: int, anchor: str | None) -> None:
    """Both tables; a column of the first has the number of its agent."""
    from lostcfr.arena.stats import result_of

    result = result_of(rounds)
    n, width = len(found.names), max(5, *map(len, found.names))
    click.echo(f"{pairs:,} mirrored pairs for any two agents, all on the deals of seed {seed}")
    click.echo(f"Points a {result}, row against column, ± half of the 95 % interval over pairs:\n")
    click.echo(f"{'':{width + 4}}" + "".join(f"{number:>15}" for number in range(1, n + 1)))
    for row in range(n):
        cells = [
            f"{found.mean[row, column]:+.2f} ±{found.half[row, column]:5.2f}" if column != row else ""
            for column in range(n)
        ]
        line = f"{row + 1:>2}  {found.names[row]:{width}}" + "".join(f"{cell:>15}" for cell in cells)
        click.echo(line.rstrip())
    centre = f"{anchor} has 0" if anchor else "their mean is 0"
    won = "rounds" if rounds == 1 else "matches"
    click.echo(f"\nRatings by {won} won; {centre}; 95 % interval over deals; points against all others:\n")
    click.echo(f"{'':4}{'agent':{width}}{'Elo':>8}{'interval':>18}{'points':>10}")
    for row in range(n):
        ends = f"{found.low[row]:+.0f} .. {found.high[row]:+.0f}"
        click.echo(
            f"{row + 1:>2}  {found.names[row]:{width}}{found.elo[row]:+8.0f}{ends:>18}{found.points[row]:+10.2f}"
        )
    if not found.bounded:
        click.echo(f"\n{UNBOUNDED.format(result=result)}")


def sequential_test(
    game: "LostCities",
    players: Sequence["Agent"],
    pairs: int,
    bounds: tuple[float, float],
    threads: int | None,
    settings: dict[str, Any],
    as_json: bool,
) -> None:
    """Play until one of the bounds can be ruled out, and say which."""
    from lostcfr.arena.sequential import duel

    (agent, opponent), rounds = players, settings["rounds"]
    with progress_bar(f"{agent.name} - {opponent.name}, at most", total=2 * pairs * rounds) as watch:
        seed = settings["seed"]
        found = duel(game, agent, opponent, pairs, seed, *bounds, rounds=rounds, threads=threads, watch=watch)
    if as_json:
        named = {"agent": agent.name, "opponent": opponent.name, "low": bounds[0], "high": bounds[1]}
        print_json(settings | named | found._asdict())
    else:
        show_verdict(found, agent.name, opponent.name, bounds, rounds)


def show_verdict(found: "Verdict", agent: str, opponent: str, bounds: tuple[float, float], rounds: int) -> None:
    """The decision and what it rests on."""
    from lostcfr.arena.stats import result_of

    low, high = bounds
    decisions = {
        "low": f"{low:+g} or less, not {high:+g} or more",
        "high": f"{high:+g} or more, not {low:+g} or less",
        "undecided": f"undecided between {low:+g} and {high:+g}: allow more --pairs",
    }
    click.echo(f"{agent} against {opponent}, points a {result_of(rounds)}: {decisions[found.decision]}")
    click.echo(f"pairs                 {found.pairs:,}")
    click.echo(f"log-likelihood ratio  {found.ratio:+.2f}, decided from ±{found.bound:.2f} on")
    click.echo(f"mean so far           {found.mean:+.2f} (extreme where a test stops early: that is why it stopped)")
