"""What a traversal is for and what it yields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.game import LostCities
from lostcfr.kernels import samples as kernels, trajectory as codes

# features u1 [N, F], network i4 [N] -> outputs f4 [N, A]; called from several threads.
Forward = Callable[[npt.NDArray[np.uint8], npt.NDArray[np.int32]], npt.NDArray[np.float32]]
# features u1 [N, F], the opponent's hand u1 [N, H] -> expected returns f4 [N, A] of the player to move, in points
Baseline = Callable[[npt.NDArray[np.uint8], npt.NDArray[np.uint8]], npt.NDArray[np.float32]]


Places = npt.NDArray[np.int64]


class Samples(NamedTuple):
    """Decisions to learn from, sorted by trajectory, decision and branch, so that width and threads leave no trace."""

    features: npt.NDArray[np.uint8]  # [n, F]
    history: npt.NDArray[np.uint8]  # [n, H]  the opponent's hand; H is 0 where the traversal keeps no history
    actions: npt.NDArray[np.uint8]  # [n, K]  legal actions, then NO_ACTION
    values: npt.NDArray[np.float32]  # [n, K]  regret targets in points; 0 where strategy is what is learned
    sigma: npt.NDArray[np.float32]  # [n, K]  the policy
    sampled: npt.NDArray[np.float32]  # [n]  the probability of the action followed, exploration included
    choice: npt.NDArray[np.int64]  # [n]  which of the actions that was; -1 where all were followed
    trajectory: npt.NDArray[np.int64]  # [n]
    ply: npt.NDArray[np.int64]  # [n]
    learns_strategy: npt.NDArray[np.bool_]  # [n]  a decision of the opponent, for the strategy memory
    fallback: npt.NDArray[np.bool_]  # [n]  no regret was positive
    explored: npt.NDArray[np.bool_]  # [n]  the one exploratory decision of the trajectory

    @property
    def seat(self) -> npt.NDArray[np.int64]:
        """i8 [n]: who decided."""
        seat: npt.NDArray[np.int64] = (self.ply >> 1) & 1
        return seat

    def only(self, chosen: npt.NDArray[np.bool_]) -> Samples:
        """Some of them, in their order."""
        return Samples._make(column[chosen] for column in self)


class Played(NamedTuple):
    """A traversal's yield. Counts depend on neither width nor threads, but ticks, lanes and seconds do."""

    results: npt.NDArray[np.int64]  # [T, 17]  by trajectory; columns of kernels.trajectory
    samples: Samples  # empty where nothing was recorded
    nodes: int  # decisions that a network answered
    ticks: int  # forwards with their kernels, of all groups
    lane_ticks: int  # sum over these of the lanes there were
    seconds: float

    @property
    def occupancy(self) -> float:
        """Share of the lanes that a tick found busy with a decision."""
        return self.nodes / max(1, self.lane_ticks)

    @property
    def mean_batch(self) -> float:
        """Decisions a tick."""
        return self.nodes / max(1, self.ticks)


class Player(NamedTuple):
    """Who sits in a role: networks by seat and their weights, or a rule-based player."""

    networks: npt.NDArray[np.int32]  # [M, 2]  the network for each seat; -1 - code for a rule-based player
    weights: npt.NDArray[np.float64]  # [M]  relative probability of each choice, drawn for every trajectory


def plain_task(game: LostCities, seed: int, table: codes.Seating) -> codes.Task:
    """Rounds of iteration 0, played to their ends on policy, nothing of the opponent kept; ``_replace`` the rest."""
    return codes.Task(
        seed=np.uint64(seed),
        iteration=0,
        first=0,
        mirror=0,
        max_plies=game.rules.decision_cap,
        exploration=0.0,
        explores_once=False,
        branching=False,
        keeps_opponent=False,
        rollout=False,
        seating=table,
    )


def seating(
    subject: Player, opponent: Player, outputs: Sequence[int], floors: Sequence[float] | None = None
) -> codes.Seating:
    """The table that kernels seat trajectories by. ``outputs``: what those of each network mean, by kernel codes.

    ``floors``: for each network, the probability below which it plays no action; None where it plays all.
    """
    most = max(len(subject.weights), len(opponent.weights))
    cumulative = np.full((2, most), np.inf)
    network = np.zeros((2, most, 2), np.int32)
    for role, player in enumerate((subject, opponent)):
        choices = len(player.weights)
        cumulative[role, : choices - 1] = (np.cumsum(player.weights) / player.weights.sum())[:-1]
        network[role, :choices] = player.networks
    meanings = np.array(outputs or [codes.REGRETS], np.uint8)
    floor = np.array(floors or np.zeros(len(meanings)), np.float32)
    return codes.Seating(cumulative, network, meanings, floor)


# Of the columns of a table that hold one entry a row.
COLUMN_TYPES = (np.float32, np.int64, np.int64, np.int64, np.bool_, np.bool_, np.bool_)


class Collector:
    """Puts the rows of all groups in their one order; keeps the memory for it from one traversal to the next."""

    def __init__(self, game: LostCities) -> None:
        self.game = game
        self._table: kernels.Table | None = None

    def collect(self, task: codes.Task, trajectories: int, groups: Sequence[codes.Rows], run: Any = map) -> Samples:
        """The rows as samples: views that are good until this is called again. ``run`` maps over the groups."""
        places = self._sorted(groups) if task.branching else self._in_turn(task, trajectories, groups)
        rows = sum(map(len, places))
        table = self._room(rows, groups[0])
        for _ in run(kernels.place_rows, groups, places, [table] * len(groups)):
            pass
        return Samples._make(column[:rows] for column in table)

    def _in_turn(self, task: codes.Task, trajectories: int, groups: Sequence[codes.Rows]) -> list[Places]:
        """Places of rows that every trajectory made one after the other."""
        counts = np.zeros(trajectories, np.int64)
        for rows in groups:
            kernels.count_rows(rows, task.first, counts)
        following = np.cumsum(counts) - counts
        places = [np.empty(rows.used[0], np.int64) for rows in groups]
        for rows, each in zip(groups, places, strict=True):
            kernels.find_places(rows, task.first, following, each)
        return places

    def _sorted(self, groups: Sequence[codes.Rows]) -> list[Places]:
        """Places of rows by trajectory, decision and branch, of which no two rows have all alike."""
        facts = np.concatenate([rows.facts[: rows.used[0]] for rows in groups])
        order = np.lexsort((facts[:, codes.BRANCH], facts[:, codes.PLY], facts[:, codes.TRAJECTORY]))
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return np.split(places, np.cumsum([int(rows.used[0]) for rows in groups])[:-1])

    def _room(self, rows: int, like: codes.Rows) -> kernels.Table:
        """A table of at least so many rows."""
        if self._table is None or len(self._table.ply) < rows:
            wide = [np.empty((rows, each.shape[1]), each.dtype) for each in like[:5]]
            plain = [np.empty(rows, dtype) for dtype in COLUMN_TYPES]
            self._table = kernels.Table(*wide, *plain)
        return self._table
