"""Random numbers by counter: a draw is a pure function of what it is for.

The generator is Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
SC 2011). The seed is its 64-bit key; (decision, purpose, trajectory, iteration) are the four 32-bit words of
its counter, so no two draws of a run share a block, whatever the width, the thread or the order.
"""

from typing import NamedTuple

import numpy as np

from lostcfr.kernels.jit import leaf

# What a draw is for; every use of chance has its own.
SHUFFLE = 0  # deck order; the decision counts the swaps
BOT = 1  # a rule-based player's choice
BOT_NOISE = 2  # whether the noisy player plays at random this time
OPPONENT = 3  # which of several networks sits opposite in a trajectory
EXPLORE = 4  # whether a traverser's decision is exploratory
ACTION = 5  # the action sampled from a policy
TIE = 6  # which of equally good actions
RESERVOIR = 7  # where a row goes in a full memory; every memory adds its own number to this and the next
BRANCH = 15  # the name of a branch of a trajectory
MINIBATCH = 16  # which rows of a memory make a minibatch; every memory adds its own number

ROUNDS = 10
WORD = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
MULTIPLIER_0 = np.uint64(0xD2511F53)
MULTIPLIER_1 = np.uint64(0xCD9E8D57)
KEY_STEP_0 = np.uint64(0x9E3779B9)
KEY_STEP_1 = np.uint64(0xBB67AE85)


class Stream(NamedTuple):
    """The chance of a batch of lanes: lane i is trajectory ``first + i`` of (seed, iteration)."""

    seed: np.uint64
    iteration: int
    first: int


@leaf
def philox(counter_0, counter_1, counter_2, counter_3, key_0, key_1):
    """One block: four 32-bit words (as u8) from a 128-bit counter and a 64-bit key, all words u8 below 2^32."""
    for _ in range(ROUNDS):
        product_0 = MULTIPLIER_0 * counter_0
        product_1 = MULTIPLIER_1 * counter_2
        counter_0 = (product_1 >> HALF) ^ counter_1 ^ key_0
        counter_2 = (product_0 >> HALF) ^ counter_3 ^ key_1
        counter_1 = product_1 & WORD
        counter_3 = product_0 & WORD
        key_0 = (key_0 + KEY_STEP_0) & WORD
        key_1 = (key_1 + KEY_STEP_1) & WORD
    return counter_0, counter_1, counter_2, counter_3


@leaf
def draw(seed, iteration, trajectory, decision, purpose):
    """64 random bits (u8) for one use of chance. ``seed`` is u8, the others below 2^32."""
    words = philox(
        np.uint64(decision) & WORD,
        np.uint64(purpose),
        np.uint64(trajectory) & WORD,
        np.uint64(iteration) & WORD,
        seed & WORD,
        seed >> HALF,
    )
    return (words[0] << HALF) | words[1]


@leaf
def below(bits, n):
    """``floor(bits * n / 2^64)``: one of 0 .. n-1, each within 2^-64 of equally likely; n below 2^63."""
    n = np.uint64(n)
    low = (bits & WORD) * (n & WORD)
    middle = (bits >> HALF) * (n & WORD) + (low >> HALF)
    other = (bits & WORD) * (n >> HALF) + (middle & WORD)
    return np.int64((bits >> HALF) * (n >> HALF) + (middle >> HALF) + (other >> HALF))
