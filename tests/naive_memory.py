"""The slow twin of a memory: algorithm R on a Python list, with draws from the slow generator."""

import naive_philox

RESERVOIR = 7
MINIBATCH = 16
WORD = 2**32


def place(seed, number, r, capacity, off_by=0):
    """Where row r goes, or None; ``off_by`` is 0 but for a memory that is wrong on purpose."""
    if r < capacity:
        return r
    j = naive_philox.draw(seed, r // WORD, r % WORD, 0, RESERVOIR + number) * (r + 1 + off_by) // 2**64
    return j if j < capacity else None


def contents(seed, number, rows, capacity, off_by=0):
    """The rows that a memory holds after it was offered all of ``rows``, by place."""
    kept = list(rows[:capacity])
    for r, row in enumerate(rows):
        j = place(seed, number, r, capacity, off_by)
        if j is not None:
            kept[j] = row
    return kept


def minibatch(seed, number, iteration, step, rows, size):
    """The places that a minibatch takes its rows from."""
    draws = [naive_philox.draw(seed, iteration, step, k, MINIBATCH + number) for k in range(rows)]
    return [bits * size // 2**64 for bits in draws]
