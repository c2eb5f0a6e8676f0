"""What tests of traversals share: their tasks, and networks whose outputs are whole numbers, exact in any batch."""

import numpy as np

from lostcfr.kernels import trajectory as codes
from lostcfr.traverse.samples import Player, seating

SEED = 2026
PRIME = 10_007


def task_for(game, table, **changes):
    """A task of outcome sampling without exploration, but for the changes."""
    task = codes.Task(
        seed=np.uint64(SEED),
        iteration=3,
        first=0,
        mirror=0,
        max_plies=game.rules.decision_cap,
        exploration=0.0,
        explores_once=False,
        branching=False,
        keeps_opponent=True,
        rollout=False,
        seating=table,
    )
    return task._replace(**changes)


def one_of(*networks, weights=None):
    """A player that draws one of some pairs of networks, a network for each seat."""
    return Player(np.array(networks, np.int32), np.ones(len(networks)) if weights is None else np.array(weights))


def table_of(subject, opponent, networks=1, meaning=codes.REGRETS):
    """The seating of two players, whose networks are all of one meaning."""
    return seating(subject, opponent, [meaning] * networks)


def hashed(game, salt, low, high):
    """A forward: outputs from ``low - 1`` to ``high`` and a bit, an arbitrary function of features and network.

    No two actions of a row have the same output, so that the best one is never drawn by lot; and none is a little above
    0, so that no action is played once in a thousand times.
    """

    def forward(features, network):
        whole = low + scattered(game, salt, features, 37 * network) % (high - low + 1)
        return (whole - (whole <= 0) + np.arange(game.num_actions) / 1024).astype(np.float32)

    return forward


def hashed_baseline(game, salt):
    """A baseline: from -5 to 5 points, an arbitrary function of features and the opponent's hand."""

    def baseline(features, history):
        return (scattered(game, salt, np.hstack([features, history]), 0) % 11 - 5).astype(np.float32)

    return baseline


def scattered(game, salt, rows, offset):
    """Whole numbers [N, A] below PRIME, without apparent order; sums of whole numbers are exact in any batch."""
    generator = np.random.default_rng(salt)
    of_columns, of_actions = (generator.integers(1, PRIME, n) for n in (rows.shape[1], game.num_actions))
    return (rows @ of_columns + offset)[:, None] * of_actions % PRIME
