"""Whether the interval of a match holds the truth as often as it says; minutes without compiled kernels."""

import pytest

from lostcfr import LostCities
from lostcfr.arena.match import play_pairs
from lostcfr.arena.stats import summary

GAME = LostCities()
MATCHES, PAIRS, TRUTH = 200, 200, 100_000


def figures(pairs, seed):
    return summary("balanced", "selective", play_pairs(GAME, "balanced", "selective", pairs, seed))


@pytest.mark.slow
def test_intervals_of_matches_hold_the_true_mean():
    truth = figures(TRUTH, MATCHES)["mean"]
    intervals = [figures(PAIRS, seed)["ci95"] for seed in range(MATCHES)]
    covered = sum(low <= truth <= high for low, high in intervals)
    assert 0.90 * MATCHES <= covered <= 0.99 * MATCHES
