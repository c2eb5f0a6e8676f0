"""From rounds as they were played to returns: the sweep back over the decisions of both players.

With ``v_t`` a critic's value of the history before decision t, to the player who decides there, and lambda from 0 to 1,

    G_t = v'_{t+1}                                     where an exploratory decision comes next,
    G_t = (1 - lambda) v'_{t+1} + lambda G'_{t+1}      else, and
    G_t = the lead at the end of the round             for the last decision of a round,

a prime meaning: seen by the player who decides at t, for the game is zero-sum and what is good for one is bad for the
other. So G_t estimates what the action of decision t is worth if both players go on by their policies: an exploratory
decision does not enter what comes before it, but its own return is as good as any. Sums of one-step errors weighted by
powers of lambda are the same numbers written otherwise (Schulman, Moritz, Levine, Jordan and Abbeel, "High-dimensional
continuous control using generalized advantage estimation", ICLR 2016, equations 16 and 17).
"""

import numpy as np

from lostcfr.kernels.jit import kernel


@kernel
def lambda_returns(table, leads, values, trace, out_returns):
    """Write G of each row of ``table`` (``samples.Table``) to ``out_returns`` (f4 [n]).

    ``leads`` f8 [T]: by trajectory from 0 on, the points by which player 0 led at the end; ``values`` f4 [n]: v;
    ``trace``: lambda. Rows lie in the order of trajectories and decisions.
    """
    n = table.trajectory.shape[0]
    for k in range(n):
        row = n - 1 - k
        seat = (table.ply[row] >> 1) & 1
        if row + 1 == n or table.trajectory[row + 1] != table.trajectory[row]:
            lead = leads[table.trajectory[row]]
            out_returns[row] = -lead if seat else lead
            continue
        value = np.float64(values[row + 1])
        if not table.explored[row + 1]:
            value += trace * (np.float64(out_returns[row + 1]) - value)
        out_returns[row] = value if ((table.ply[row + 1] >> 1) & 1) == seat else -value
