"""A round robin: every agent against every other on the same deals, and what follows for their order."""

import os.path
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.agents import Agent
from lostcfr.arena.match import play_pairs
from lostcfr.arena.rating import Floats, ratings
from lostcfr.arena.stats import interval, summary
from lostcfr.errors import InputError, nearest
from lostcfr.game import LostCities


class Match(NamedTuple):
    """What two agents of a round robin played."""

    first: int  # number of the agent whose points these are
    second: int  # number of its opponent
    points: npt.NDArray[np.int64]  # [P, 2]  points of the first less those of the second, a mirrored pair a row
    figures: dict[str, Any]  # its summary


class Standings(NamedTuple):
    """Where n agents stand, the best rating first."""

    names: list[str]
    mean: Floats  # [n, n]  points a match of the row's agent against the column's; 0 against itself
    half: Floats  # [n, n]  half of the 95 % t-interval of that
    points: Floats  # [n]  points a match over all opponents
    elo: Floats  # [n]
    low: Floats  # [n]  ends of the 95 % interval of elo
    high: Floats  # [n]
    bounded: bool  # as in rating.Ratings


def check_names(names: Sequence[str], anchor: str | None = None) -> None:
    """InputError unless there are two agents or more, no two of them the same, and the anchor is one of them."""
    if len(names) < 2:
        raise InputError(f"an arena needs two agents or more, not {len(names)}: name another one")
    # A folder has many spellings.
    places = [os.path.normpath(name) for name in names]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise InputError(f"{names[number]} is named twice, but an agent meets only others: name it once")
    if anchor is not None and anchor not in names:
        raise InputError(f"the anchor {anchor!r} is none of the agents{nearest(anchor, names)}")


def round_robin(
    game: LostCities,
    agents: Sequence[Agent],
    pairs: int,
    seed: int,
    *,
    rounds: int = 1,
    threads: int | None = None,
    watch: Callable[[int], bool] = lambda rounds: False,
) -> list[Match]:
    """Play ``pairs`` mirrored pairs between any two of the agents, the deals of the seed for all of them.

    ``rounds`` is as in ``play_pairs``; so is ``watch``, which is told the rounds begun so far of all agents.
    """
    check_names([agent.name for agent in agents])
    matches: list[Match] = []
    for first, second in combinations(range(len(agents)), 2):

        def seen(begun: int, before: int = 2 * pairs * rounds * len(matches)) -> bool:
            return watch(before + begun)

        agent, opponent = agents[first], agents[second]
        played = play_pairs(game, agent, opponent, pairs, seed, rounds=rounds, threads=threads, watch=seen)
        figures = summary(agent.name, opponent.name, played)
        matches.append(Match(first, second, played.score - played.opponent_score, figures))
    return matches


def standings(names: Sequence[str], matches: Sequence[Match], seed: int, anchor: str | None = None) -> Standings:
    """Pairwise points and ratings of all agents from their matches, the best rating first.

    Ratings are of matches won, whatever the points; ``rating.ratings`` says how. Their mean is 0, or the anchor's is.
    """
    check_names(names, anchor)
    n, games = len(names), np.array([match[:2] for match in matches])
    mean, half = np.zeros((n, n)), np.zeros((n, n))
    for match in matches:
        here, there = (match.first, match.second), (match.second, match.first)
        low, high = interval(match.points.mean(axis=1))
        mean[here], half[here] = match.points.mean(), (high - low) / 2
        mean[there], half[there] = -mean[here], half[here]
    won = np.array([(np.sign(match.points) + 1).sum(axis=1) / 2 for match in matches])
    rated = ratings(won, games, n, seed, None if anchor is None else names.index(anchor))
    order = np.argsort(-rated.elo.round(6), kind="stable")  # those that are level stay as they were named
    table = np.ix_(order, order)
    points = mean.sum(axis=1) / (n - 1)
    return Standings(
        names=[names[number] for number in order],
        mean=mean[table],
        half=half[table],
        points=points[order],
        elo=rated.elo[order],
        low=rated.low[order],
        high=rated.high[order],
        bounded=rated.bounded,
    )
