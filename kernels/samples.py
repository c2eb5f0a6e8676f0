"""From the rows of several groups of lanes to one table in the order of trajectories."""

from typing import NamedTuple

import numpy as np

from lostcfr.kernels.jit import kernel


class Table(NamedTuple):
    """What is learned from, row by row; columns as in ``trajectory.Rows``."""

    features: np.ndarray  # [n, F] u1
    actions: np.ndarray  # [n, K] u1
    values: np.ndarray  # [n, K] f4
    sigma: np.ndarray  # [n, K] f4


@kernel
def place_rows(rows, places, out):
    """Copy row k of a group to row ``places[k]`` (i8) of the table ``out``."""
    for k in range(rows.used[0]):
        row = places[k]
        for column in range(rows.features.shape[1]):
            out.features[row, column] = rows.features[k, column]
        for slot in range(rows.actions.shape[1]):
            out.actions[row, slot] = rows.actions[k, slot]
            out.values[row, slot] = rows.values[k, slot]
            out.sigma[row, slot] = rows.sigma[k, slot]
