"""Ratings of several agents from who beat whom: Bradley-Terry by maximum likelihood, as Elo with intervals.

In the model of Bradley and Terry (1952) agent i beats agent j with probability 1 / (1 + exp(x_j - x_i)); the x are the
strengths, and 400 / ln 10 points of Elo are one unit of them. A draw counts as half a win for each.
A round here may as well be a match of several.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from lostcfr.arena.stats import CONFIDENCE

Floats = npt.NDArray[np.float64]

ELO = 400 / np.log(10)
RESAMPLES = 1000
# A weak prior: one drawn round of each agent against an imagined one of strength 0. It keeps the rating of an agent
# that won or lost every round finite, and weighs no more than that one round among all that were played.
IMAGINED_ROUNDS = 1.0
MOST_STEPS, SMALL_STEP = 200, 1e-8
BOOTSTRAP = 1  # second word of the key of the random numbers, after the seed


class Ratings(NamedTuple):
    """Elo of n agents with the ends of its interval."""

    elo: Floats  # [n]
    low: Floats  # [n]
    high: Floats  # [n]
    bounded: bool  # False where some agents lost no round to all others, so that only the prior keeps them near


def strengths(wins: Floats) -> Floats:
    """The most likely strengths f8 [..., n] for ``wins`` f8 [..., n, n]: rounds that the row won against the column.

    Newton's method, each step divided by 1 + d / 2 for the largest difference d that it makes between two agents. The
    likelihood is concave, and every step raises it that is no longer than ln(1 + d) / d of Newton's (Bach 2010,
    Self-concordant analysis for logistic regression; Sun and Tran-Dinh 2019, Generalized self-concordant functions),
    of which 1 / (1 + d / 2) falls a little short. The diagonal of ``wins`` must be 0.
    """
    played, won = wins + np.swapaxes(wins, -1, -2), wins.sum(axis=-1) + IMAGINED_ROUNDS / 2
    found = np.zeros(wins.shape[:-1])
    for _ in range(MOST_STEPS):
        expected, beaten = expit(found[..., :, None] - found[..., None, :]), expit(found)
        slope = won - (played * expected).sum(axis=-1) - IMAGINED_ROUNDS * beaten
        mixed = played * expected * (1 - expected)
        own = mixed.sum(axis=-1) + IMAGINED_ROUNDS * beaten * (1 - beaten)
        step = np.linalg.solve(own[..., None] * np.eye(wins.shape[-1]) - mixed, slope[..., None])[..., 0]
        # The imagined agent stands still.
        reach = np.maximum(step.max(axis=-1), 0) - np.minimum(step.min(axis=-1), 0)
        found += step / (1 + reach / 2)[..., None]
        if reach.max() < SMALL_STEP:
            break
    return found


def ratings(won: Floats, games: npt.NDArray[np.int64], n: int, seed: int, anchor: int | None = None) -> Ratings:
    """Elo of ``n`` agents with 95 % intervals, from M matches over the same P deals.

    ``won`` f8 [M, P]: rounds of the deal, out of two, that the first agent of the match won, draws as halves;
    ``games`` i8 [M, 2]: the numbers of its two agents. The mean of the ratings is 0, or the rating of the agent
    ``anchor`` is. The interval is the middle 95 % of the ratings over ``RESAMPLES`` drawings of P deals with
    replacement; a deal that is drawn brings its rounds of all matches with it, because one deal helps or harms in all
    of them alike. The same seed draws the same deals.
    """
    deals = won.shape[1]
    sums = np.empty((1 + RESAMPLES, len(won)))
    sums[0] = won.sum(axis=1)
    chance = np.random.Generator(np.random.Philox(key=np.array([seed, BOOTSTRAP], np.uint64)))
    for row in sums[1:]:
        row[:] = won @ np.bincount(chance.integers(deals, size=deals), minlength=deals)
    found = ELO * strengths(table(sums, games, n, 2 * deals))
    found -= found.mean(axis=-1, keepdims=True) if anchor is None else found[:, anchor, None]
    bounded = connected_components(table(sums[0], games, n, 2 * deals) > 0, connection="strong")[0] == 1
    low, high = np.quantile(found[1:], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return Ratings(found[0], low, high, bounded)


def table(sums: Floats, games: npt.NDArray[np.int64], n: int, rounds: int) -> Floats:
    """Wins f8 [..., n, n] of row against column from those of each match's first agent, f8 [..., M], of its rounds."""
    wins = np.zeros((*sums.shape[:-1], n, n))
    wins[..., games[:, 0], games[:, 1]] = sums
    wins[..., games[:, 1], games[:, 0]] = rounds - sums
    return wins
