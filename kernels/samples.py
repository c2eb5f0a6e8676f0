"""From the rows of several groups of lanes to one table in the order of trajectories."""

from typing import NamedTuple

import numpy as np

from lostcfr.kernels import trajectory as codes
from lostcfr.kernels.jit import kernel


class Table(NamedTuple):
    """What is learned from, row by row; columns as in ``trajectory.Rows``."""

    features: np.ndarray  # [n, F] u1
    history: np.ndarray  # [n, H] u1
    actions: np.ndarray  # [n, K] u1
    values: np.ndarray  # [n, K] f4
    sigma: np.ndarray  # [n, K] f4
    sampled: np.ndarray  # [n] f4
    choice: np.ndarray  # [n] i8
    trajectory: np.ndarray  # [n] i8
    ply: np.ndarray  # [n] i8
    learns_strategy: np.ndarray  # [n] b1
    fallback: np.ndarray  # [n] b1
    explored: np.ndarray  # [n] b1


@kernel
def count_rows(rows, first, out_counts):
    """Add the rows of each trajectory to ``out_counts`` (i8, from the trajectory ``first`` on)."""
    for k in range(rows.used[0]):
        out_counts[rows.facts[k, codes.TRAJECTORY] - first] += 1


@kernel
def find_places(rows, first, next_place, out_places):
    """Row k's place (i8) in the table: the next one of its trajectory in ``next_place`` (i8), which moves on.

    A trajectory that does not branch is recorded by one lane in the order of its decisions.
    """
    for k in range(rows.used[0]):
        trajectory = rows.facts[k, codes.TRAJECTORY] - first
        out_places[k] = next_place[trajectory]
        next_place[trajectory] += 1


@kernel
def place_rows(rows, places, out):
    """Copy row k of a group to row ``places[k]`` (i8) of the table ``out``."""
    for k in range(rows.used[0]):
        row = places[k]
        for column in range(rows.features.shape[1]):
            out.features[row, column] = rows.features[k, column]
        for column in range(rows.history.shape[1]):
            out.history[row, column] = rows.history[k, column]
        for slot in range(rows.actions.shape[1]):
            out.actions[row, slot] = rows.actions[k, slot]
            out.values[row, slot] = rows.values[k, slot]
            out.sigma[row, slot] = rows.sigma[k, slot]
        out.sampled[row] = rows.sampled[k]
        out.choice[row] = rows.facts[k, codes.CHOICE]
        out.trajectory[row] = rows.facts[k, codes.TRAJECTORY]
        out.ply[row] = rows.facts[k, codes.PLY]
        out.learns_strategy[row] = rows.facts[k, codes.KIND] == codes.STRATEGY
        out.fallback[row] = rows.facts[k, codes.FALLBACK] != 0
        out.explored[row] = rows.facts[k, codes.EXPLORED] != 0
