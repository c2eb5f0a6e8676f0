"""Counter-based random numbers: published vectors, the slow twin, uniformity, independence of everything else."""

import random

import numpy as np
from scipy import stats

import naive_philox
from lostcfr import LostCities
from lostcfr.kernels import rng, rules as kernels
from lostcfr.kernels.jit import kernel

# Counter, key and output published with the generator (Salmon et al., Random123, philox4x32 with 10 rounds).
VECTORS = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


def test_published_vectors():
    for counter, key, output in VECTORS:
        words = rng.philox(*(np.uint64(word) for word in counter + key))
        assert [int(word) for word in words] == output
        assert list(naive_philox.philox(counter, key)) == output


def test_draws_equal_the_twin():
    generator = random.Random(3)
    for _ in range(300):
        key = [generator.getrandbits(bits) for bits in (64, 32, 32, 32, 4)]
        assert int(rng.draw(np.uint64(key[0]), *key[1:])) == naive_philox.draw(*key)


def test_below_is_exact_and_covers_its_range():
    generator = random.Random(4)
    for _ in range(300):
        bits, n = generator.getrandbits(64), generator.randrange(1, 2 ** generator.choice([3, 31, 33, 63]))
        assert rng.below(np.uint64(bits), n) == bits * n // 2**64
    assert rng.below(np.uint64(2**64 - 1), 7) == 6
    assert rng.below(np.uint64(0), 7) == 0
    assert rng.below(np.uint64(2**64 - 1), 2**63 - 1) == 2**63 - 2


def test_every_part_of_the_key_matters():
    key = (5, 1, 2, 3, 1)
    draws = {int(rng.draw(np.uint64(key[0]), *key[1:]))}
    for part in range(5):
        changed = [value + (k == part) for k, value in enumerate(key)]
        draws.add(int(rng.draw(np.uint64(changed[0]), *changed[1:])))
    assert len(draws) == 6


def test_every_card_is_equally_likely_at_every_place_of_the_deck():
    """Chi-square over card and place; with a fixed seed this is a fact, not a chance."""
    lanes = LostCities().lanes(12_000)
    lanes.deal(seed=11)
    counts = np.stack([np.bincount(lanes.games.deck[:, place], minlength=60) for place in range(60)])
    statistic = ((counts - 200.0) ** 2 / 200.0).sum()
    assert 0.001 < stats.chi2.sf(statistic, 59 * 59) < 0.999


def test_a_uniform_action_is_uniform():
    """One position, many streams: each legal action as often as the others, and nothing else."""
    game = LostCities()
    lanes = game.lanes(1)
    lanes.deal(seed=3)
    counts = np.zeros(game.num_actions, np.int64)
    for trajectory in range(20_000):
        bits = np.uint64(rng.draw(np.uint64(1), 0, trajectory, 0, rng.BOT))
        counts[kernels.uniform_action(game.parameters, lanes.games, 0, bits)] += 1
    legal = lanes.legal()[0]
    assert counts[~legal].sum() == 0
    assert stats.chisquare(counts[legal]).pvalue > 0.001


def test_consecutive_draws_are_not_correlated():
    draws = np.empty((4, 4000))
    _fill(np.uint64(9), draws)
    correlation = np.corrcoef(draws)
    assert np.abs(correlation[~np.eye(4, dtype=bool)]).max() < 4 / np.sqrt(4000)
    assert stats.kstest(draws.ravel(), "uniform").pvalue > 0.001


@kernel
def _fill(seed, out):
    """Draws of four neighbouring trajectories, as numbers in [0, 1)."""
    for trajectory in range(out.shape[0]):
        for decision in range(out.shape[1]):
            out[trajectory, decision] = np.float64(rng.draw(seed, 0, trajectory, decision, 1)) * 2.0**-64
