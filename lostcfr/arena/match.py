"""Mirrored pairs of matches: all deals are played twice with the seats swapped, so that their luck cancels.

A match has R rounds. Match m of a pair is the one in which the agent (m = 0) or its opponent (m = 1) starts the first
round; who starts another one follows from the totals. Round r of pair p is deal p R + r in both matches.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.agents import TILE, Agent, bot
from lostcfr.errors import whole
from lostcfr.game import LostCities
from lostcfr.kernels import tick, trajectory as codes
from lostcfr.rules import next_starter
from lostcfr.traverse.lockstep import Lockstep
from lostcfr.traverse.samples import Forward, plain_task, seating

BLOCK = 8192  # deals of a block of pairs, which bounds the memory
WIDTH = 256  # lanes of a thread: enough for good matrix products, few enough to end together


class Pairs(NamedTuple):
    """Results of P mirrored pairs of matches; the agent starts those of column 0, its opponent those of column 1.

    In matches of one round that is the agent's seat. Every field is a sum over the rounds of the match: the column of
    ``kernels.trajectory`` of its name.
    """

    rounds: npt.NDArray[np.int64]  # [P, 2]  rounds played

    score: npt.NDArray[np.int64]  # [P, 2]  points of the agent
    opponent_score: npt.NDArray[np.int64]  # [P, 2]  points of the opponent
    turns: npt.NDArray[np.int64]  # [P, 2]  turns of both players
    forced: npt.NDArray[np.int64]  # [P, 2]  deck draws that the stall limit forced
    opened: npt.NDArray[np.int64]  # [P, 2]  expeditions the agent started
    unfinished: npt.NDArray[np.int64]  # [P, 2]  rounds that were ended early
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
    rounds: int = 1,
    first: int = 0,
    threads: int | None = None,
    max_decisions: int | None = None,
    width: int = WIDTH,
    device: str = "cpu",
    watch: Callable[[int], bool] = lambda rounds: False,
) -> Pairs:
    """Play ``pairs`` mirrored pairs of matches of ``rounds`` rounds on the deals of the seed.

    Chance is the same in both matches of a pair. So an agent against itself plays every match twice, move for move, and
    is exactly level, and swapping the agents only changes the sign. A round ends after ``max_decisions`` (by default
    ``rules.decision_cap``), scored as it stands. ``watch`` is told the rounds begun so far and says whether to stop,
    which raises ``lockstep.Stopped``. A rule-based player may be given by its name. The pairs are those from number
    ``first`` on, so that they can be played in parts.
    """
    whole(pairs, 2, None, "pairs")
    whole(rounds, 1, None, "rounds")
    whole(first, 0, None, "first")
    agent, opponent = (bot(each) if isinstance(each, str) else each for each in (agent, opponent))
    meanings, floors = [*agent.outputs, *opponent.outputs], agent.floors + opponent.floors
    seats = seating(agent.player, opponent.shifted(len(agent.modules)), meanings, floors)
    task = plain_task(game, seed, seats)._replace(mirror=1, max_plies=max_decisions or game.rules.decision_cap)
    scheduler = Lockstep(game, min(width, 2 * pairs), threads)
    step, end = max(1, BLOCK // rounds), first + pairs
    blocks = [np.arange(begin, min(begin + step, end)) for begin in range(first, end, step)]
    with answering(game, agent, opponent, device) as forward:
        player = RoundPlayer(scheduler, task, forward, watch)
        results = np.concatenate([play_block(player, block, rounds) for block in blocks])
    return Pairs(**{name: results[:, :, getattr(codes, name.upper())] for name in Pairs._fields})


def play_block(player: "RoundPlayer", pairs: npt.NDArray[np.int64], rounds: int) -> npt.NDArray[np.int64]:
    """Sums i8 [P, 2, RESULTS] over the rounds of the matches of these pairs, round after round of all of them."""
    totals = np.zeros((len(pairs), 2, codes.RESULTS), np.int64)
    starter = np.broadcast_to(np.arange(2), (len(pairs), 2))  # 0 is the agent: who starts has seat 0
    for number in range(rounds):
        deals = pairs[:, None] * rounds + number
        totals += player.play(2 * deals + starter)
        starter = next_starter(totals[:, :, codes.SCORE] - totals[:, :, codes.OPPONENT_SCORE], starter)
    return totals


class RoundPlayer:
    """Plays rounds of many matches in lockstep, and tells ``watch`` how many have begun.

    Where the agent has the same seat in both matches of a pair, they go on with the same round: it is played once.
    """

    def __init__(self, scheduler: Lockstep, task: codes.Task, forward: Forward, watch: Callable[[int], bool]) -> None:
        self.scheduler, self.task, self.forward, self.watch = scheduler, task, forward, watch
        self.begun = 0

    def play(self, wanted: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Results [..., RESULTS] of the trajectories ``wanted`` (i8 [...], any of them several times)."""
        needed = np.unique(wanted)
        task = self.task._replace(first=int(needed[0]))

        def seen(started: int) -> bool:
            return self.watch(self.begun + started * wanted.size // len(needed))

        order = by_networks(task, needed)
        played = self.scheduler.play(task, order, self.forward, record=False, watch=seen)
        self.begun += wanted.size
        return played.results[wanted - task.first]


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
