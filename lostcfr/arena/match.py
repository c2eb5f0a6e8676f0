"""Mirrored pairs: every deal is played twice with the seats swapped, so that its luck cancels."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.agents import bot_code
from lostcfr.errors import InputError
from lostcfr.game import LostCities
from lostcfr.kernels import lanes as kernels
from lostcfr.threads import Workers

GRAIN = 64  # lanes of a slice: some 10 ms of play, so that progress shows and Ctrl-C is heard


class Pairs(NamedTuple):
    """Results of P mirrored pairs; column 0 has the agent in seat 0, column 1 in seat 1."""

    score: npt.NDArray[np.int32]  # [P, 2]  points of the agent
    opponent_score: npt.NDArray[np.int32]  # [P, 2]  points of the opponent
    turns: npt.NDArray[np.int64]  # [P, 2]  turns of the round
    forced: npt.NDArray[np.int32]  # [P, 2]  deck draws that the stall limit forced
    opened: npt.NDArray[np.int32]  # [P, 2]  expeditions the agent started


def play_pairs(
    game: LostCities,
    agent: str,
    opponent: str,
    pairs: int,
    seed: int,
    *,
    workers: Workers,
    max_decisions: int | None = None,
    progress: Callable[[int], None] = lambda rounds: None,
) -> Pairs:
    """Play ``pairs`` deals of the seed twice, the seats swapped; chance is the same in both rounds of a deal.

    A round ends after ``max_decisions`` (by default ``rules.decision_cap``), scored as it stands. ``progress`` is
    called with the rounds just done.
    """
    if pairs < 2:
        raise InputError(f"pairs is {pairs}, but an interval needs at least 2")
    codes = np.array([bot_code(agent), bot_code(opponent)], np.int64)
    lanes = game.lanes(pairs, threads=workers.threads)
    seats = []
    for seat in (0, 1):
        lanes.deal(seed=seed)
        forced = np.zeros(pairs, np.int32)
        opened = np.zeros((pairs, 2), np.int32)
        limit = max_decisions or game.rules.decision_cap
        order = codes if seat == 0 else codes[::-1].copy()
        play = (kernels.play_bots, game.parameters, lanes.games, order, np.uint64(seed), 0, limit, forced)
        for begin, end in workers.stream(*play, lanes=pairs, grain=GRAIN):
            progress(end - begin)
        kernels.count_opened(game.parameters, lanes.games, opened, 0, pairs)
        scores = lanes.scores()
        seats.append((scores[:, seat], scores[:, 1 - seat], lanes.turns, forced, opened[:, seat]))
    return Pairs(*(np.stack(columns, axis=1) for columns in zip(*seats, strict=True)))
