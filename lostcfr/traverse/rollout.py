"""Rounds as they were played, to learn from: the decisions of one iteration, and a window of the last iterations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from lostcfr.errors import CheckpointError
from lostcfr.kernels import returns as kernels, samples, trajectory as codes
from lostcfr.kernels.rules import NO_ACTION
from lostcfr.traverse.samples import Played, Samples

Arrays = Mapping[str, npt.NDArray[Any]]


class Rollout(NamedTuple):
    """The decisions of T rounds, in the order of rounds and decisions, and what a critic made of them."""

    seen: npt.NDArray[np.uint8]  # [n, F + H]  the features, and the opponent's hand behind them
    actions: npt.NDArray[np.uint8]  # [n, K]  legal actions, then NO_ACTION
    sigma: npt.NDArray[np.float32]  # [n, K]  the policy
    sampled: npt.NDArray[np.float32]  # [n]  probability of the action taken, exploration included
    choice: npt.NDArray[np.int64]  # [n]  which of the actions that was
    values: npt.NDArray[np.float32]  # [n]  the critic's value of the situation to the player who decides, in points
    returns: npt.NDArray[np.float32]  # [n]  lambda-return of the action taken, in points

    @classmethod
    def of_arrays(cls, arrays: Arrays) -> Self:
        """A rollout that was stored; CheckpointError where an array is missing."""
        if set(arrays) != set(cls._fields):
            names, needed = ", ".join(sorted(arrays)), ", ".join(cls._fields)
            raise CheckpointError(f"a stored rollout has {names}, but needs {needed}")
        return cls(**arrays)

    @property
    def legal(self) -> npt.NDArray[np.bool_]:
        """b1 [n, K]."""
        return np.asarray(self.actions != NO_ACTION)

    @property
    def taken(self) -> npt.NDArray[np.uint8]:
        """u1 [n, 1]: the action taken."""
        return np.take_along_axis(self.actions, self.choice[:, None], 1)

    def at_actions(self, outputs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """f4 [n, K]: outputs f4 [n, A] at the legal actions, 0 where there is none."""
        return at_actions(outputs, self.actions)

    def at_choice(self, numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """f4 [n]: of numbers [n, K] those of the actions taken."""
        return np.take_along_axis(numbers, self.choice[:, None], 1)[:, 0]


def at_actions(outputs: npt.NDArray[np.float32], actions: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """f4 [n, K]: outputs f4 [n, A] at actions u1 [n, K], 0 where there is none."""
    legal = actions != NO_ACTION
    found = np.take_along_axis(outputs, np.where(legal, actions, 0).astype(np.int64), 1)
    return np.where(legal, found, np.float32(0))


def leads(played: Played) -> npt.NDArray[np.float64]:
    """f8 [T]: by how many points player 0 led at the end of each trajectory, the first of which has number 0."""
    results = played.results
    subject = np.arange(len(results)) & 1
    lead = results[:, codes.SCORE] - results[:, codes.OPPONENT_SCORE]
    return (lead * (1 - 2 * subject)).astype(np.float64)


def lambda_returns(
    rows: Samples, lead: npt.NDArray[np.float64], values: npt.NDArray[np.float32], trace: float
) -> npt.NDArray[np.float32]:
    """f4 [n]: what the action of each row came to, in points; ``kernels.returns`` has the formula.

    ``lead`` f8 [T] as from ``leads``; ``values`` f4 [n]: a critic's, to the player who decides.
    """
    out = np.empty(len(rows.ply), np.float32)
    # A copy of the values, whose type does not depend on whether they may be written to.
    kernels.lambda_returns(samples.Table(*rows), lead, np.array(values, np.float32), float(trace), out)
    return out


class Window:
    """The rollouts of the last iterations, by iteration; ``most`` of them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.rollouts: dict[int, Rollout] = {}

    def add(self, iteration: int, rollout: Rollout) -> None:
        """Take in the newest one; the oldest goes if there are too many."""
        self.rollouts[iteration] = rollout
        for old in sorted(self.rollouts)[: -self.most]:
            del self.rollouts[old]

    @property
    def newest(self) -> Rollout:
        return self.rollouts[max(self.rollouts)]

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for rollout in self.rollouts.values() for column in rollout)
