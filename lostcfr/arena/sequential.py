"""A sequential test: is one agent better than another by so many points a round? It stops as soon as it can tell.

Wald's sequential probability ratio test (1945) in its generalised form: H0 says that the mean of a pair is LOW, H1
that it is HIGH, each with the variance that makes it most likely, and pairs are taken as normal.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.agents import Agent
from lostcfr.arena.match import play_pairs
from lostcfr.errors import InputError
from lostcfr.game import LostCities

ERROR = 0.05  # alpha and beta: how often each hypothesis may be rejected though it is true
BOUND = float(np.log((1 - ERROR) / ERROR))
BLOCK = 256  # pairs between two looks: as many rounds as two threads have lanes
# A variance below that of any real match, for the first pairs that may all end alike.
SMALLEST_VARIANCE = 1e-6


class Verdict(NamedTuple):
    """What a test came to."""

    decision: str  # "low", "high", or "undecided" after the most pairs that were allowed
    pairs: int  # that were played
    ratio: float  # logarithm of the likelihood of HIGH over that of LOW
    bound: float  # "high" from ratio >= bound on, "low" from ratio <= -bound on
    mean: float  # points over these pairs; too extreme where the test stopped early, for that is why it stopped


def log_ratio(pairs: int, mean: float, variance: float, low: float, high: float) -> float:
    """Logarithm of the likelihood of the mean ``high`` over that of ``low``, each with its most likely variance.

    ``variance`` is the mean square around ``mean``. The most likely variance around m is variance + (mean - m)^2, and
    the logarithm of the likelihood is then -pairs / 2 times its logarithm, up to a constant.
    """
    variance = max(variance, SMALLEST_VARIANCE)
    return pairs / 2 * float(np.log((variance + (mean - low) ** 2) / (variance + (mean - high) ** 2)))


def decide(values: Callable[[int, int], npt.NDArray[np.float64]], low: float, high: float, most: int) -> Verdict:
    """The test on ``values(first, count)``, f8 [count], asked block after block; at most ``most`` values.

    InputError unless low < high, both finite.
    """
    if not -np.inf < low < high < np.inf:
        raise InputError(f"a sequential test needs finite bounds LOW < HIGH in points, not {low:g} and {high:g}")
    played, total, squares, ratio = 0, 0.0, 0.0, 0.0
    while played < most and abs(ratio) < BOUND:
        # The last block takes what is left, so that none is a single pair.
        count = BLOCK if most - played >= 2 * BLOCK else most - played
        block = values(played, count)
        played, total, squares = played + count, total + float(block.sum()), squares + float((block**2).sum())
        mean = total / played
        ratio = log_ratio(played, mean, squares / played - mean**2, low, high)
    decision = "high" if ratio >= BOUND else "low" if ratio <= -BOUND else "undecided"
    return Verdict(decision, played, ratio, BOUND, total / played)


def duel(
    game: LostCities,
    agent: Agent | str,
    opponent: Agent | str,
    pairs: int,
    seed: int,
    low: float,
    high: float,
    *,
    rounds: int = 1,
    threads: int | None = None,
    watch: Callable[[int], bool] = lambda rounds: False,
) -> Verdict:
    """Test the agent's mean points a match against ``low`` and ``high`` on mirrored pairs of the seed, in their order.

    At most ``pairs`` (at least 2); ``rounds`` and ``watch`` are as in ``play_pairs``.
    """

    def values(first: int, count: int) -> npt.NDArray[np.float64]:
        def seen(begun: int) -> bool:
            return watch(2 * first * rounds + begun)

        played = play_pairs(game, agent, opponent, count, seed, rounds=rounds, first=first, threads=threads, watch=seen)
        means: npt.NDArray[np.float64] = (played.score - played.opponent_score).mean(axis=1)
        return means

    return decide(values, low, high, pairs)
