"""Seconds of a match of 1,000 mirrored pairs: a network against a planner, and planners alone.

A round of classic rules has some 80 decisions of the network, so the limit is the time of 160,000 rows in bare
forwards; see ``traversal`` for these. A fresh network takes as long as a trained one.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from lostcfr import nets
from lostcfr.agents import Agent
from lostcfr.arena.match import play_pairs
from lostcfr.config import Configuration, NetworkConfig
from lostcfr.game import LostCities
from lostcfr.solvers.views import agent_of
from lostcfr.threads import budget

NETWORK = NetworkConfig(hidden=512, layers=3)
PAIRS = 1000
REPEATS = 3
SEED = 7


def run(threads: int | None = None, progress: Callable[[str], None] = lambda step: None) -> dict[str, Any]:
    """Medians of some matches, after a warm-up, under classic rules; plain numbers.

    ``network_seconds``: a fresh network of 512 x 3 against balanced; ``bots_seconds``: selective against balanced;
    ``pairs`` of each; ``decisions_per_second`` of the network; ``threads``.
    """
    game = LostCities()
    network = agent_of("fresh", "current", [[nets.build(NETWORK, game, SEED, 0)]], np.ones(1), Configuration())

    def seconds(agent: Agent | str) -> tuple[float, int]:
        """Median time of a match, and the agent's decisions in it."""
        times = []
        for _ in range(REPEATS):
            began = time.perf_counter()
            played = play_pairs(game, agent, "balanced", PAIRS, SEED, threads=threads)
            times.append(time.perf_counter() - began)
        return statistics.median(times), int((played.plies - played.forced_decisions).sum())

    progress("warm-up")
    for agent in (network, "selective"):
        play_pairs(game, agent, "balanced", 2, SEED, threads=threads)
    progress("bots")
    bots, _ = seconds("selective")
    progress("a network")
    with_network, decisions = seconds(network)
    return {
        "network_seconds": with_network,
        "bots_seconds": bots,
        "decisions_per_second": decisions / with_network,
        "pairs": PAIRS,
        "threads": budget(threads),
    }
