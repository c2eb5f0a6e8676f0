"""Mirrored pairs: every deal is played twice with the seats swapped, so that its luck cancels."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.agents import TILE, Agent, bot
from lostcfr.errors import whole
from lostcfr.game import LostCities
from lostcfr.kernels import tick, trajectory as codes
from lostcfr.traverse.lockstep import Lockstep
from lostcfr.traverse.samples import Forward, plain_task, seating

BLOCK = 8192  # pairs that are dealt at a time, which bounds the memory
WIDTH = 256  # lanes of a thread: enough for good matrix products, few enough to end together


class Pairs(NamedTuple):
    """Results of P mirrored pairs; column 0 has the agent in seat 0, column 1 in seat 1.

    Every field is the column of ``kernels.trajectory`` of its name.
    """

    score: npt.NDArray[np.int64]  # [P, 2]  points of the agent
    opponent_score: npt.NDArray[np.int64]  # [P, 2]  points of the opponent
    turns: npt.NDArray[np.int64]  # [P, 2]  turns of the round
    forced: npt.NDArray[np.int64]  # [P, 2]  deck draws that the stall limit forced
    opened: npt.NDArray[np.int64]  # [P, 2]  expeditions the agent started
    unfinished: npt.NDArray[np.bool_]  # [P, 2]  rounds that were ended early
    # How the agent played.
    cards: npt.NDArray[np.int64]  # [P, 2]  in its expeditions
    positive: npt.NDArray[np.int64]  # [P, 2]  its expeditions above 0 points
    negative: npt.NDArray[np.int64]  # [P, 2]  its expeditions below 0 points
    bonuses: npt.NDArray[np.int64]  # [P, 2]  its expeditions with a bonus
    plies: npt.NDArray[np.int64]  # [P, 2]  its decisions
    forced_decisions: npt.NDArray[np.int64]  # [P, 2]  those of them with one legal action
    pile_draws: npt.NDArray[np.int64]  # [P, 2]  cards it drew from discard piles
    good_openings: npt.NDArray[np.int64]  # [P, 2]  expeditions it opened with a visible score of at least 0
    entropy: npt.NDArray[np.int64]  # [P, 2]  of its networks' policies, in millionths of a nat
    support: npt.NDArray[np.int64]  # [P, 2]  actions with a probability above 0.01 in these


def play_pairs(
    game: LostCities,
    agent: Agent | str,
    opponent: Agent | str,
    pairs: int,
    seed: int,
    *,
    first: int = 0,
    threads: int | None = None,
    max_decisions: int | None = None,
    width: int = WIDTH,
    device: str = "cpu",
    watch: Callable[[int], bool] = lambda rounds: False,
) -> Pairs:
    """Play ``pairs`` deals of the seed twice, the seats swapped; chance is the same in both rounds of a deal.

    So an agent against itself plays every round twice, move for move, and is exactly level, and swapping the agents
    only changes the sign. A round ends after ``max_decisions`` (by default ``rules.decision_cap``), scored as it
    stands. ``watch`` is told the rounds begun so far and says whether to stop, which raises ``lockstep.Stopped``. A
    rule-based player may be given by its name. The deals are those from number ``first`` on, so that a match can be
    played in parts.
    """
    whole(pairs, 2, None, "pairs")
    whole(first, 0, None, "first")
    agent, opponent = (bot(each) if isinstance(each, str) else each for each in (agent, opponent))
    meanings, floors = [*agent.outputs, *opponent.outputs], agent.floors + opponent.floors
    table = seating(agent.player, opponent.shifted(len(agent.modules)), meanings, floors)
    task = plain_task(game, seed, table)._replace(mirror=1, max_plies=max_decisions or game.rules.decision_cap)
    scheduler = Lockstep(game, min(width, 2 * pairs), threads)
    blocks = []
    with answering(game, agent, opponent, device) as forward:
        for begin in range(0, 2 * pairs, 2 * BLOCK):
            numbers = np.arange(begin, min(begin + 2 * BLOCK, 2 * pairs)) + 2 * first
            order = by_networks(task, numbers)

            def seen(started: int, begin: int = begin) -> bool:
                return watch(begin + started)

            played = scheduler.play(task._replace(first=begin + 2 * first), order, forward, record=False, watch=seen)
            blocks.append(played.results)
    return in_pairs(np.concatenate(blocks))


def by_networks(task: codes.Task, trajectories: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The trajectories, those together that ask the same networks, so that a tick asks few of them for many rows."""
    networks = np.empty((len(trajectories), 2), np.int32)
    tick.list_networks(task, trajectories, networks)
    networks.sort(axis=1)  # a rule-based player comes before a network
    return trajectories[np.lexsort(networks.T)]


@contextmanager
def answering(game: LostCities, agent: Agent, opponent: Agent, device: str) -> Iterator[Forward]:
    """The networks of both; torch is loaded for networks only, and works on one thread for each group of lanes."""
    modules = [*agent.modules, *opponent.modules]
    if not modules:
        yield lambda features, network: np.zeros((len(features), game.num_actions), np.float32)  # never asked
        return
    from lostcfr import forward

    with forward.torch_threads(1):
        yield forward.Forward(modules, TILE, device)


def in_pairs(results: npt.NDArray[np.int64]) -> Pairs:
    """The results of the trajectories 0 .. 2 P - 1 by pair; the subject of trajectory 2 p + s is in seat s."""
    table = results.reshape(-1, 2, codes.RESULTS)
    columns: dict[str, Any] = {name: table[:, :, getattr(codes, name.upper())] for name in Pairs._fields}
    return Pairs(**columns | {"unfinished": columns["unfinished"] != 0})
