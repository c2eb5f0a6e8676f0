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


class Samples(NamedTuple):
    """Decisions to learn from, sorted by trajectory, decision and branch, so that width and threads leave no trace."""

    features: npt.NDArray[np.uint8]  # [n, F]
    actions: npt.NDArray[np.uint8]  # [n, K]  legal actions, then NO_ACTION
    values: npt.NDArray[np.float32]  # [n, K]  regret targets in points; 0 where strategy is what is learned
    sigma: npt.NDArray[np.float32]  # [n, K]  the policy
    trajectory: npt.NDArray[np.int64]  # [n]
    ply: npt.NDArray[np.int64]  # [n]
    learns_strategy: npt.NDArray[np.bool_]  # [n]  a decision of the opponent, for the strategy memory
    fallback: npt.NDArray[np.bool_]  # [n]  no regret was positive

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

    results: npt.NDArray[np.int64]  # [T, 7]  by trajectory; columns of kernels.trajectory
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


def seating(subject: Player, opponent: Player, outputs: Sequence[int]) -> codes.Seating:
    """The table that kernels seat trajectories by. ``outputs``: what those of each network mean, by kernel codes."""
    most = max(len(subject.weights), len(opponent.weights))
    cumulative = np.full((2, most), np.inf)
    network = np.zeros((2, most, 2), np.int32)
    for role, player in enumerate((subject, opponent)):
        choices = len(player.weights)
        cumulative[role, : choices - 1] = (np.cumsum(player.weights) / player.weights.sum())[:-1]
        network[role, :choices] = player.networks
    return codes.Seating(cumulative, network, np.array(outputs or [codes.REGRETS], np.uint8))


class Collector:
    """Puts the rows of all groups in their one order; keeps the memory for it from one traversal to the next."""

    def __init__(self, game: LostCities) -> None:
        self.game = game
        self._table = kernels.Table(*([np.empty((0, 0))] * 4))

    def collect(self, recorded: Sequence[codes.Rows], run: Callable[..., Any] = map) -> Samples:
        """The rows as samples: views that are good until this is called again. ``run`` maps over the groups."""
        facts = np.concatenate([rows.facts[: rows.used[0]] for rows in recorded])
        order = sorted_by_path(facts)
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        table = self._room(len(order), recorded[0])
        ends = np.cumsum([int(rows.used[0]) for rows in recorded])
        parts = np.split(places, ends[:-1])
        for _ in run(lambda rows, part: kernels.place_rows(rows, part, table), recorded, parts):
            pass
        facts, rows = facts[order], len(order)
        return Samples(
            features=table.features[:rows],
            actions=table.actions[:rows],
            values=table.values[:rows],
            sigma=table.sigma[:rows],
            trajectory=facts[:, codes.TRAJECTORY].copy(),
            ply=facts[:, codes.PLY].copy(),
            learns_strategy=facts[:, codes.KIND] == codes.STRATEGY,
            fallback=facts[:, codes.FALLBACK] != 0,
        )

    def _room(self, rows: int, like: codes.Rows) -> kernels.Table:
        """A table of at least so many rows."""
        if len(self._table.features) < rows or not self._table.features.size:
            columns = (getattr(like, name) for name in kernels.Table._fields)
            self._table = kernels.Table._make(np.empty((rows, each.shape[1]), each.dtype) for each in columns)
        return self._table


def sorted_by_path(facts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The order of rows by trajectory, decision and branch, of which no two rows have all alike."""
    trajectory, ply, branch = (facts[:, column] for column in (codes.TRAJECTORY, codes.PLY, codes.BRANCH))
    if branch.any():
        return np.lexsort((branch, ply, trajectory))
    most_plies = ply.max(initial=0) + 1
    return np.argsort(trajectory * most_plies + ply)
