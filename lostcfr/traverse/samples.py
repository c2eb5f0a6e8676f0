"""What a traversal is for and what it yields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.game import LostCities
from lostcfr.kernels import trajectory as codes

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


def collected(game: LostCities, recorded: Sequence[codes.Rows]) -> Samples:
    """The rows of all groups as samples, in their one order."""
    facts = np.concatenate([rows.facts[: rows.used[0]] for rows in recorded])
    order = np.lexsort((facts[:, codes.BRANCH], facts[:, codes.PLY], facts[:, codes.TRAJECTORY]))
    facts = facts[order]

    def in_order(column: str) -> npt.NDArray[Any]:
        joined = np.concatenate([getattr(rows, column)[: rows.used[0]] for rows in recorded])
        taken: npt.NDArray[Any] = np.take(joined, order, axis=0)
        return taken

    return Samples(
        features=in_order("features"),
        actions=in_order("actions"),
        values=in_order("values"),
        sigma=in_order("sigma"),
        trajectory=facts[:, codes.TRAJECTORY].copy(),
        ply=facts[:, codes.PLY].copy(),
        learns_strategy=facts[:, codes.KIND] == codes.STRATEGY,
        fallback=facts[:, codes.FALLBACK] != 0,
    )
