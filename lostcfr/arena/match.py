"""Mirrored pairs: every deal is played twice with the seats swapped, so that its luck cancels."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.agents import bot_code
from lostcfr.errors import whole
from lostcfr.game import LostCities
from lostcfr.kernels import lanes as kernels, rng
from lostcfr.lanes import Lanes

BLOCK = 8192  # pairs that are dealt at a time, which bounds the memory
GRAIN = 64  # lanes of a slice: some 10 ms of play, so that progress shows and Ctrl-C is heard


class Pairs(NamedTuple):
    """Results of P mirrored pairs; column 0 has the agent in seat 0, column 1 in seat 1."""

    score: npt.NDArray[np.int32]  # [P, 2]  points of the agent
    opponent_score: npt.NDArray[np.int32]  # [P, 2]  points of the opponent
    turns: npt.NDArray[np.int64]  # [P, 2]  turns of the round
    forced: npt.NDArray[np.int32]  # [P, 2]  deck draws that the stall limit forced
    opened: npt.NDArray[np.int32]  # [P, 2]  expeditions the agent started
    unfinished: npt.NDArray[np.bool_]  # [P, 2]  rounds that were ended early


def play_pairs(
    game: LostCities,
    agent: str,
    opponent: str,
    pairs: int,
    seed: int,
    *,
    threads: int | None = None,
    max_decisions: int | None = None,
    progress: Callable[[int], None] = lambda rounds: None,
) -> Pairs:
    """Play ``pairs`` deals of the seed twice, the seats swapped; chance is the same in both rounds of a deal.

    So an agent against itself plays every round twice, move for move, and is exactly level.

    A round ends after ``max_decisions`` (by default ``rules.decision_cap``), scored as it stands. ``progress`` is
    called with the rounds just done.
    """
    whole(pairs, 2, None, "pairs")
    codes = np.array([bot_code(agent), bot_code(opponent)], np.int64)
    lanes, blocks = game.lanes(min(pairs, BLOCK), threads=threads), []
    for first in range(0, pairs, BLOCK):
        if pairs - first < len(lanes):
            lanes = game.lanes(pairs - first, threads=threads)
        block = []
        for seat in (0, 1):
            lanes.deal(seed=seed, first=first)
            order = codes if seat == 0 else codes[::-1].copy()
            forced = play_on(lanes, order, seed, max_decisions or game.rules.decision_cap, progress)
            block.append(results(lanes, seat, forced))
        blocks.append([np.stack(columns, axis=1) for columns in zip(*block, strict=True)])
    return Pairs(*(np.concatenate(columns) for columns in zip(*blocks, strict=True)))


def play_on(
    lanes: Lanes,
    codes: npt.NDArray[np.int64],
    seed: int,
    max_decisions: int,
    progress: Callable[[int], None],
) -> npt.NDArray[np.int32]:
    """Play every lane on between two bots, one code a seat; i4 [n], the deck draws that the stall limit forced."""
    forced = np.zeros(len(lanes), np.int32)
    stream = rng.Stream(np.uint64(seed), 0, lanes.first)
    play = (kernels.play_bots, lanes.game.parameters, lanes.games, codes, stream, max_decisions, forced)
    for begin, end in lanes.workers.stream(*play, lanes=len(lanes), grain=GRAIN):
        progress(end - begin)
    return forced


def results(lanes: Lanes, seat: int, forced: npt.NDArray[np.int32]) -> tuple[npt.NDArray[Any], ...]:
    """The columns of ``Pairs`` for an agent in that seat."""
    opened = np.zeros((len(lanes), 2), np.int32)
    kernels.count_opened(lanes.game.parameters, lanes.games, opened, 0, len(lanes))
    scores = lanes.scores()
    return scores[:, seat], scores[:, 1 - seat], lanes.turns, forced, opened[:, seat], ~lanes.finished
