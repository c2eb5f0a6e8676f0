"""From a network's outputs to a policy, and from a policy to an action: one row each.

A row's ``actions`` (u1 [.., K]) are its ``legal`` legal actions; a policy stands beside them.
"""

import numpy as np

from lostcfr.kernels import rng
from lostcfr.kernels.jit import leaf

UNIT = 2.0**-53  # of 53 random bits, the number of values that a f8 in [0, 1) takes evenly


@leaf
def match_regrets(outputs, actions, row, legal, uniform_fallback, bits, out_sigma):
    """Regret matching: write the positive parts of ``outputs[row]`` at the legal actions, scaled to sum to one.

    Where no output is positive, play is uniform or follows the best one, equals at random by 64 ``bits``.
    Returns whether that was so.
    """
    total = 0.0
    for slot in range(legal):
        total += max(np.float64(outputs[row, actions[row, slot]]), 0.0)
    if total > 0.0:
        for slot in range(legal):
            out_sigma[row, slot] = max(np.float64(outputs[row, actions[row, slot]]), 0.0) / total
        return False
    best = best_slot(outputs, actions, row, legal, bits)
    for slot in range(legal):
        out_sigma[row, slot] = 1.0 / legal if uniform_fallback else np.float64(slot == best)
    return True


@leaf
def best_slot(outputs, actions, row, legal, bits):
    """The slot of the highest output at the legal actions; of several equal ones, one at random."""
    best = outputs[row, actions[row, 0]]
    equals = 1
    for slot in range(1, legal):
        output = outputs[row, actions[row, slot]]
        if output > best:
            best = output
            equals = 0
        equals += output == best
    choice = rng.below(bits, equals)
    for slot in range(legal):
        if outputs[row, actions[row, slot]] == best:
            if choice == 0:
                return slot
            choice -= 1
    return 0


@leaf
def softmax(outputs, actions, row, legal, out_sigma):
    """Write the softmax of ``outputs[row]`` over the legal actions."""
    highest = np.float64(outputs[row, actions[row, 0]])
    for slot in range(1, legal):
        highest = max(highest, np.float64(outputs[row, actions[row, slot]]))
    total = 0.0
    for slot in range(legal):
        total += np.exp(np.float64(outputs[row, actions[row, slot]]) - highest)
    for slot in range(legal):
        out_sigma[row, slot] = np.exp(np.float64(outputs[row, actions[row, slot]]) - highest) / total


@leaf
def cut(sigma, row, legal, floor, bits):
    """Drop the actions below ``floor`` from ``sigma[row]`` (f4) and scale the others to sum to one.

    Where all are below it the likeliest one stays, of equals one at random by 64 ``bits``.
    """
    total = highest = 0.0
    for slot in range(legal):
        probability = np.float64(sigma[row, slot])
        highest = max(highest, probability)
        if probability >= floor:
            total += probability
    if total > 0.0:
        for slot in range(legal):
            sigma[row, slot] = sigma[row, slot] / total if sigma[row, slot] >= floor else 0.0
        return
    equals = 0
    for slot in range(legal):
        equals += sigma[row, slot] == highest
    choice = rng.below(bits, equals)
    for slot in range(legal):
        equal = sigma[row, slot] == highest
        sigma[row, slot] = np.float64(equal and choice == 0)
        choice -= equal


@leaf
def explored(probability, exploration, legal):
    """The probability ``xi`` of an action under a share of uniform play."""
    return (1.0 - exploration) * np.float64(probability) + exploration / legal


@leaf
def sample(sigma, row, legal, exploration, bits):
    """The slot drawn by 64 random bits from ``sigma[row]`` (f4) with a share of uniform play."""
    total = 0.0
    for slot in range(legal):
        total += explored(sigma[row, slot], exploration, legal)
    point = unit(bits) * total
    chosen = 0
    for slot in range(legal):
        probability = explored(sigma[row, slot], exploration, legal)
        if probability > 0.0:
            chosen = slot  # the last possible one, if rounding leaves the point behind all of them
            if point < probability:
                return chosen
        point -= probability
    return chosen


@leaf
def unit(bits):
    """A f8 in [0, 1) from 64 random bits."""
    return np.float64(np.int64(bits >> np.uint64(11))) * UNIT
