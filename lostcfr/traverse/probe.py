"""How large the trajectories of external sampling are, before any is played.

Random play down one path; the product of the numbers of the subject's actions so far estimates without bias how many
such paths there are (Knuth, "Estimating the efficiency of backtrack programs", 1975).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.game import LostCities
from lostcfr.kernels import trajectory as codes
from lostcfr.kernels.rules import NO_ACTION
from lostcfr.traverse.lockstep import Lockstep
from lostcfr.traverse.samples import Player, plain_task, seating

PROBES = 1024
WIDTH = 64


class Tree(NamedTuple):
    """Means over trajectories."""

    nodes: float  # decisions, of both players, that a network would answer
    leaves: float  # rounds


def estimate_tree(game: LostCities, seed: int) -> Tree:
    """Estimate the size of a trajectory by random paths; iteration 0, which is never trained on."""
    anyone = Player(np.zeros((1, 2), np.int32), np.ones(1))
    task = plain_task(game, seed, seating(anyone, anyone, [codes.LOGITS]))._replace(keeps_opponent=True)

    def uniform(features: npt.NDArray[np.uint8], network: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
        return np.zeros((len(features), game.num_actions), np.float32)

    samples = Lockstep(game, WIDTH, 1).play(task, np.arange(PROBES), uniform).samples
    actions = (samples.actions != NO_ACTION).sum(axis=1)
    growth = np.where(samples.learns_strategy, 0.0, np.log(actions))
    starts = np.flatnonzero(np.diff(samples.trajectory, prepend=-1))
    before = np.cumsum(growth) - growth
    before -= np.repeat(before[starts], np.diff(starts, append=len(growth)))
    ends = np.append(starts[1:], len(growth)) - 1
    paths = np.exp(before)
    return Tree(float(paths.sum() / PROBES), float((paths * np.exp(growth))[ends].sum() / PROBES))
