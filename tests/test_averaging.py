"""Averages over iterations against plain recurrences: kept snapshots, weights of a mixture, weights of rows."""

from fractions import Fraction

import numpy as np
import pytest

from lostcfr.solvers.averaging import kept_snapshots, regret_weights, snapshot_weights, strategy_weights


def test_kept_snapshots_by_hand():
    assert [kept_snapshots(n, 3) for n in range(8)] == [
        [],
        [1],
        [1, 2],
        [1, 2, 3],
        [2, 4],
        [2, 4, 5],
        [2, 4, 6],
        [4, 7],
    ]
    assert kept_snapshots(9, 0) == []
    assert kept_snapshots(9, 1) == [9]
    assert kept_snapshots(9, 9) == list(range(1, 10))


@pytest.mark.parametrize("most", [1, 2, 3, 5, 8, 64])
def test_what_is_kept_was_kept_before(most):
    """Snapshots that were dropped are gone; and there are never too many, nor fewer than half of what may be."""
    before = []
    for iterations in range(1, 300):
        kept = kept_snapshots(iterations, most)
        assert set(kept) <= {*before, iterations}
        assert kept[-1] == iterations
        assert kept == sorted(set(kept))
        assert min(iterations, most / 2) <= len(kept) <= most
        before = kept


@pytest.mark.parametrize("exponent", [0, 1, 2, 3])
@pytest.mark.parametrize("most", [2, 5, 100])
def test_a_snapshot_counts_for_itself_and_for_those_dropped_before_it(exponent, most):
    kept = kept_snapshots(37, most)
    expected, owner = dict.fromkeys(kept, 0), 0
    for iteration in range(1, 38):
        owner = next(each for each in kept if each >= iteration)
        expected[owner] += iteration**exponent
    assert snapshot_weights(kept, exponent).tolist() == list(expected.values())


def test_a_mixture_of_all_iterations_is_the_linear_average():
    weights = snapshot_weights(range(1, 11), 1.0)
    assert weights.tolist() == list(range(1, 11))


def discounted(iteration, factor):
    """The weight of each iteration's summand in a sum that is multiplied by ``factor(k)`` after iteration k."""
    weights = [Fraction(0)] * (iteration + 1)
    for k in range(1, iteration + 1):
        weights[k] = Fraction(1)
        if k < iteration:
            weights = [weight * factor(k) for weight in weights]
    return [float(weight) for weight in weights]


@pytest.mark.parametrize("iteration", [1, 2, 3, 40])
@pytest.mark.parametrize("alpha", [0, 1, 2])
def test_dcfr_weights_of_regrets_are_its_discounts(iteration, alpha):
    expected = discounted(iteration, lambda k: Fraction(k**alpha, k**alpha + 1))
    assert regret_weights("dcfr", alpha, iteration).tolist() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("iteration", [1, 2, 3, 40])
@pytest.mark.parametrize("gamma", [1, 2, 3])
def test_dcfr_weights_of_strategies_are_its_discounts(iteration, gamma):
    expected = discounted(iteration, lambda k: Fraction(k, k + 1) ** gamma)
    assert strategy_weights("dcfr", gamma, iteration).tolist() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("iteration", [1, 2, 3, 40])
def test_linear_weights_are_linear_discounts(iteration):
    expected = discounted(iteration, lambda k: Fraction(k, k + 1))
    assert regret_weights("linear", 1.5, iteration).tolist() == pytest.approx(expected, rel=1e-6)
    assert strategy_weights("linear", 2.0, iteration).tolist() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("weights", [regret_weights, strategy_weights])
def test_without_weighting_all_iterations_count_alike(weights):
    table = weights("none", 2.0, 3)
    assert (table.dtype, table.tolist()) == (np.float32, [0, 1, 1, 1])
