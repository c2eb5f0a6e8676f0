"""The loops over a memory: rows go in at places that chance gives them, and minibatches come out."""

from typing import NamedTuple

import numpy as np

from lostcfr.kernels.jit import kernel, leaf
from lostcfr.kernels.rng import HALF, MINIBATCH, RESERVOIR, WORD, below, draw

NOWHERE = -1  # the place of a row that the memory does not keep


class Memory(NamedTuple):
    """Decisions side by side; only the places below the memory's size hold one."""

    features: np.ndarray  # [capacity, F] u1  what the player knew
    actions: np.ndarray  # [capacity, K] u1  legal action ids, ascending; 255 where there is none
    values: np.ndarray  # [capacity, K] f4  a number for each of them: a regret target in points, or a probability
    iteration: np.ndarray  # [capacity] i4  when the row was made
    changed: np.ndarray  # [capacity] b1  whether the place was written since the marks were last cleared


class Rows(NamedTuple):
    """Decisions to insert; the columns are those of ``Memory``."""

    features: np.ndarray  # [n, F] u1
    actions: np.ndarray  # [n, K] u1
    values: np.ndarray  # [n, K] f4


class Minibatch(NamedTuple):
    """Which chance a minibatch takes: that of one training step of one iteration."""

    seed: np.uint64
    number: int  # of the memory
    iteration: int
    step: int


@kernel
def insert(memory, seed, number, seen, rows, iteration):
    """Insert rows whose first is number ``seen`` of all rows ever inserted; a later row may replace an earlier."""
    capacity = memory.iteration.shape[0]
    for k in range(rows.features.shape[0]):
        j = place(seed, number, seen + k, capacity)
        if j != NOWHERE:
            copy_row(rows.features, k, memory.features, j)
            copy_row(rows.actions, k, memory.actions, j)
            copy_row(rows.values, k, memory.values, j)
            memory.iteration[j] = iteration
            memory.changed[j] = True


@leaf
def place(seed, number, r, capacity):
    """Where row r of all rows goes, or NOWHERE (J. S. Vitter, "Random sampling with a reservoir", 1985, algorithm R).

    A full memory takes row r with chance capacity / (r + 1), at any place alike; r below 2^62.
    """
    if r < capacity:
        return r
    bits = draw(seed, np.uint64(r) >> HALF, np.uint64(r) & WORD, 0, RESERVOIR + number)
    j = below(bits, r + 1)
    return j if j < capacity else NOWHERE


@leaf
def copy_row(source, i, target, j):
    """Copy row i of ``source`` to row j of ``target``."""
    for k in range(source.shape[1]):
        target[j, k] = source[i, k]


@kernel
def sample(memory, size, table, minibatch, out_batch, begin, end):
    """Rows ``begin .. end-1`` of a minibatch, drawn with replacement; ``table`` (f4) has a weight an iteration."""
    purpose = MINIBATCH + minibatch.number
    for k in range(begin, end):
        j = below(draw(minibatch.seed, minibatch.iteration, minibatch.step, k, purpose), size)
        copy_row(memory.features, j, out_batch.features, k)
        copy_row(memory.actions, j, out_batch.actions, k)
        copy_row(memory.values, j, out_batch.values, k)
        out_batch.weights[k] = table[memory.iteration[j]]


@kernel
def sum_weights(iteration, size, table):
    """Sum of ``table[iteration[j]]`` over the places below ``size``, in their order."""
    total = 0.0
    for j in range(size):
        total += np.float64(table[iteration[j]])
    return total
