"""The sequential test: its statistic against a general optimiser, its error rates, and its use of deals."""

import numpy as np
import pytest
from scipy import optimize, stats

from lostcfr import InputError, LostCities
from lostcfr.arena import sequential
from lostcfr.arena.match import play_pairs
from lostcfr.arena.sequential import BLOCK, BOUND, decide, duel, log_ratio
from rule_sets import MINI

TESTS = 300
GAME = LostCities(MINI)


def normal(mean, seed, spread=15.0):
    generator = np.random.default_rng(seed)
    return lambda first, count: generator.normal(mean, spread, count)


def log_likelihood(values, mean):
    """The largest over all variances, searched for."""

    def minus(log_spread):
        return -stats.norm.logpdf(values, mean, np.exp(log_spread)).sum()

    return -optimize.minimize_scalar(minus, bounds=(-5, 8), method="bounded", options={"xatol": 1e-9}).fun


def test_the_ratio_is_that_of_the_likelihoods():
    values = np.random.default_rng(1).normal(2, 7, 40)
    expected = log_likelihood(values, 3.0) - log_likelihood(values, -1.0)
    assert log_ratio(40, values.mean(), values.var(), -1.0, 3.0) == pytest.approx(expected, abs=1e-6)


def test_the_ratio_of_known_figures():
    """Variance 1, mean 2: squares around 0 and 1 are 5 and 2."""
    assert log_ratio(10, 2.0, 1.0, 0.0, 1.0) == pytest.approx(5 * np.log(2.5))


@pytest.mark.parametrize(("mean", "wrong"), [(0.0, "high"), (2.0, "low"), (-3.0, "high"), (5.0, "low")])
def test_a_true_hypothesis_is_rejected_in_5_percent_of_tests_at_most(mean, wrong):
    found = [decide(normal(mean, seed), 0.0, 2.0, 10**6) for seed in range(TESTS)]
    assert sum(verdict.decision == wrong for verdict in found) <= 0.05 * TESTS
    assert not any(verdict.decision == "undecided" for verdict in found)


def test_half_way_either_hypothesis_is_as_likely():
    found = [decide(normal(1.0, seed), 0.0, 2.0, 10**6).decision for seed in range(TESTS)]
    assert 0.4 < found.count("high") / TESTS < 0.6


def test_fewer_pairs_are_played_where_the_truth_is_far_from_both():
    near, far = (np.mean([decide(normal(mean, seed), 0.0, 1.0, 10**6).pairs for seed in range(50)]) for mean in (0, -5))
    assert far == BLOCK
    assert near > 3 * BLOCK


@pytest.mark.parametrize("most", [2, 100, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 1])
def test_no_more_than_the_most_pairs_are_played_and_never_a_single_one(most):
    asked = []

    def level(first, count):
        asked.append((first, count))
        return np.resize([20.0, -20.0], count)

    verdict = decide(level, -0.1, 0.1, most)
    assert (verdict.decision, verdict.pairs, verdict.bound) == ("undecided", most, BOUND)
    assert abs(verdict.ratio) < BOUND
    assert [first for first, _ in asked] == [sum(count for _, count in asked[:k]) for k in range(len(asked))]
    assert sum(count for _, count in asked) == most
    assert all(2 <= count < 2 * BLOCK for _, count in asked)


def test_pairs_that_all_end_alike_decide_with_a_finite_ratio():
    verdict = decide(lambda first, count: np.zeros(count), 0.0, 1.0, 1000)
    assert (verdict.decision, verdict.pairs, verdict.mean) == ("low", BLOCK, 0.0)
    assert np.isfinite(verdict.ratio)


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (float("nan"), 1.0), (0.0, float("inf"))])
def test_bounds_that_make_no_test(low, high):
    with pytest.raises(InputError, match="LOW < HIGH"):
        decide(normal(0, 1), low, high, 1000)


def test_a_duel_plays_the_first_deals_of_the_seed(monkeypatch):
    monkeypatch.setattr(sequential, "BLOCK", 30)
    seen = []
    verdict = duel(GAME, "noisy", "balanced", 100, 3, -0.1, 0.1, threads=1, watch=seen.append)
    pairs = play_pairs(GAME, "noisy", "balanced", verdict.pairs, 3, threads=2)
    points = (pairs.score - pairs.opponent_score).mean(axis=1)
    assert verdict.pairs >= 30
    assert verdict.mean == pytest.approx(points.mean())
    assert verdict.ratio == pytest.approx(log_ratio(len(points), points.mean(), points.var(), -0.1, 0.1))
    assert seen == sorted(seen)
    assert seen[-1] == 2 * verdict.pairs


def test_a_duel_sees_that_one_is_better():
    assert duel(GAME, "balanced", "random", 2000, 1, -1.0, 1.0, threads=2).decision == "high"
    assert duel(GAME, "random", "balanced", 2000, 1, -1.0, 1.0, threads=2).decision == "low"
