"""``lostcfr evaluate``: mirrored pairs of one agent against others."""

from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

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

MOST_SAVED = 100_000  # rounds of a file, some 220 MB of text


@click.command()
@click.argument("agent")
@click.option("--against", required=True, metavar="A,B,..", help="Opponents, separated by commas.")
@click.option(
    "--pairs", type=click.IntRange(2, 10_000_000), default=1000, show_default=True, help="Matches, each played twice."
)
@rounds_option
@seed_option
@click.option(
    "--max-decisions",
    type=click.IntRange(1, 10**9),
    default=None,
    help="End a round early, scored as it stands; without a stall limit: 1,000.",
)
@click.option(
    "--save-rounds",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write all rounds as text, to be told by lostcfr replay FILE.",
)
@rules_option
@threads_option
@json_option
def command(
    agent: str,
    against: str,
    pairs: int,
    rounds: int,
    seed: int,
    max_decisions: int | None,
    save_rounds: Path | None,
    rules: Rules | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Play AGENT against each opponent: every match twice on the same deals, with the seats swapped.

    The rules are those that the agents were trained with, or else the classic ones, unless --rule sets others.

    Agents: random, discard-only, balanced, aggressive, cautious, noisy, selective (docs/bots.md), or the folder of a
    run of lostcfr train, such as runs/quick or runs/quick/checkpoints/best. Behind a folder may stand a view (:mixture,
    :average, :current) and a way to choose an action (:sample, :greedy, :threshold=0.1).

    The first table has mean points a match, by default of one round, with the 95 % interval over pairs; shares of
    matches; both mean scores; turns a round; the share of turns whose deck draw the stall limit forced; expeditions
    that AGENT opened in a round. The second one says how AGENT played; docs/evaluation.md explains it. An agent against
    itself plays every match twice, move for move, and is exactly level.
    """
    from lostcfr.arena.match import play_pairs
    from lostcfr.arena.rounds import play_matches
    from lostcfr.arena.stats import summary
    from lostcfr.game import LostCities
    from lostcfr.record import write_rounds
    from lostcfr.run.agent_names import load_agent, rules_of_match

    # All that can be wrong first: no match is played for nothing.
    check_file(save_rounds, 2 * pairs * rounds * len(against.split(",")))
    player, opponents = load_agent(agent), [load_agent(name.strip()) for name in against.split(",")]
    rules = rules_of_match([player, *opponents], rules)
    announce_compiling()
    game, rows = LostCities(rules), []
    for opponent in opponents:
        with progress_bar(f"{player.name} - {opponent.name}", total=2 * pairs * rounds) as watch:
            played = play_pairs(
                game,
                player,
                opponent,
                pairs,
                seed,
                rounds=rounds,
                threads=threads,
                max_decisions=max_decisions,
                watch=watch,
            )
        settings = {"seed": seed, "rules": asdict(rules), "max_decisions": max_decisions or rules.decision_cap}
        rows.append(summary(player.name, opponent.name, played) | settings)
    print_json(rows) if as_json else show(rows)
    if save_rounds is not None:
        matches = (
            play_matches(game, player, opponent, pairs, seed, rounds=rounds, max_decisions=max_decisions)
            for opponent in opponents
        )
        write_rounds(save_rounds, chain.from_iterable(matches))


def check_file(path: Path | None, rounds: int) -> None:
    """An error now where a file of so many rounds could not be written later, or would be too large."""
    check_folder(path, "--save-rounds")
    if path is not None and rounds > MOST_SAVED:
        raise click.UsageError(
            f"--save-rounds would write {rounds:,} rounds, but a file may hold {MOST_SAVED:,}: lower --pairs, and name "
            f"another --seed for another file"
        )


def show(rows: list[dict[str, Any]]) -> None:
    """Two tables of the summaries: the results and how the agent played."""
    from lostcfr.arena.stats import result_of

    width = max(14, *(len(row["opponent"]) + 1 for row in rows))
    first = rows[0]
    result = result_of(first["rounds"])
    click.echo(f"{first['pairs']:,} mirrored pairs; points a {result} for {first['agent']}, 95 % interval over pairs")
    click.echo(
        f"{'opponent':{width}}{'points':>8}{'interval':>20}{'win':>7}{'draw':>7}{'loss':>7}"
        f"{'own':>7}{'theirs':>8}{'turns':>7}{'stalled':>9}{'opened':>8}"
    )
    for row in rows:
        low, high = row["ci95"]
        click.echo(
            f"{row['opponent']:{width}}{row['mean']:+8.2f}{f'{low:+.2f} .. {high:+.2f}':>20}"
            f"{row['win']:7.1%}{row['draw']:7.1%}{row['loss']:7.1%}{row['score']:7.1f}{row['opponent_score']:8.1f}"
            f"{row['turns']:7.1f}{row['stalled']:9.2%}{row['opened']:8.2f}"
        )
        if row["unfinished"]:
            click.echo(f"{'':{width}}{row['unfinished']:.1%} of the rounds were ended early and scored as they stood")
    show_conduct(rows, width)


def show_conduct(rows: list[dict[str, Any]], width: int) -> None:
    """A table of how the agent played."""
    click.echo(f"\nplay of {rows[0]['agent']}: a round, of its expeditions, and of its policy")
    click.echo(
        f"{'opponent':{width}}{'decisions':>10}{'forced':>8}{'pile draws':>12}{'cards':>7}{'positive':>10}"
        f"{'negative':>10}{'bonus':>8}{'good':>8}{'bad':>8}{'entropy':>9}{'support':>9}"
    )
    for row in rows:
        entropy, support = (
            "-" if row[name] is None else f"{row[name]:.{digits}f}" for name, digits in (("entropy", 3), ("support", 2))
        )
        click.echo(
            f"{row['opponent']:{width}}{row['decisions']:10.1f}{row['forced_decisions']:8.1f}{row['pile_draws']:12.2f}"
            f"{row['cards']:7.2f}{row['positive']:10.1%}{row['negative']:10.1%}{row['bonus']:8.1%}"
            f"{row['good_openings']:8.1%}{row['bad_openings']:8.1%}{entropy:>9}{support:>9}"
        )
