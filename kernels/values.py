"""From returns to regret targets: the sweep back over the rows of a traversal.

Let ``b(a)`` be a baseline (0 without one), ``a*`` the action followed, ``xi`` the probability it was sampled with
and ``child`` the value that came back from it. Then

    value(a) = b(a) + 1[a = a*] (child - b(a*)) / xi(a*),    v = sum_a sigma(a) value(a),    target(a) = value(a) - v

for *every* legal action (VR-MCCFR: Schmid et al., "Variance reduction in Monte Carlo counterfactual regret
minimization", AAAI 2019, eq. 9; without baseline it is outcome sampling). ``child`` being unbiased, value(a) is:
the expectation over a* of the second term is child(a) - b(a). External sampling follows every action with xi = 1.
"""

import numpy as np

from lostcfr.kernels.jit import kernel, leaf
from lostcfr.kernels.rules import NO_ACTION
from lostcfr.kernels.trajectory import ADVANTAGE, KIND, NO_ROW, PARENT, SLOT


@leaf
def deliver(rows, row, slot, returns):
    """Bring the value that came back from an action to the row that followed it."""
    if row != NO_ROW:
        baseline = np.float64(rows.values[row, slot])
        rows.values[row, slot] = baseline + (returns - baseline) / np.float64(rows.sampled[row])


@leaf
def close(rows, row):
    """Turn the values of a row whose actions are all answered into targets; returns the row's own value."""
    value = 0.0
    for slot in range(rows.actions.shape[1]):
        if rows.actions[row, slot] != NO_ACTION:
            value += np.float64(rows.sigma[row, slot]) * np.float64(rows.values[row, slot])
    for slot in range(rows.actions.shape[1]):
        if rows.actions[row, slot] != NO_ACTION:
            rows.values[row, slot] = np.float64(rows.values[row, slot]) - value
    return value


@kernel
def sweep_back(rows):
    """Make targets of all rows. A row stands behind the one it follows from, so the last come first."""
    for k in range(rows.used[0]):
        row = rows.used[0] - 1 - k
        if rows.facts[row, KIND] == ADVANTAGE:
            deliver(rows, rows.facts[row, PARENT], rows.facts[row, SLOT], close(rows, row))


@kernel
def close_row(rows, row):
    """``close`` for one row."""
    return close(rows, row)


@kernel
def deliver_to_row(rows, row, slot, returns):
    """``deliver`` for one row."""
    deliver(rows, row, slot, returns)
