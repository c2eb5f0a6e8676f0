"""Each benchmark is timed together with a calibration loop, so that a ratio can be compared between runs.

This kind of machine is shared: its speed drifts by half within minutes. The loop does what kernels do -
independent integer arithmetic and stores - for a fixed number of steps, right before and after a benchmark.
"""

import statistics
import time

import numba
import numpy as np
import pytest

ROUNDS = 15
CALIBRATION_STEPS = 200


@numba.njit(nogil=True)
def calibration_loop(steps, out):
    """Four independent multiply-and-shift chains that fill a 64 KiB array again and again."""
    a, b, c, d = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    factor, shift = np.uint64(0xD1342543DE82EF95), np.uint64(29)
    for _ in range(steps):
        for k in range(0, out.size, 4):
            a, b, c, d = (
                a * factor ^ a >> shift,
                b * factor ^ b >> shift,
                c * factor ^ c >> shift,
                d * factor ^ d >> shift,
            )
            out[k], out[k + 1], out[k + 2], out[k + 3] = a, b, c, d


def calibration_seconds():
    out = np.empty(8192, np.uint64)
    calibration_loop(1, out)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        calibration_loop(CALIBRATION_STEPS, out)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


@pytest.fixture
def measure(benchmark):
    """``measure(work, units=n)``: time a call that does n units of work, and note the calibration beside it."""

    def run(work, *, units):
        work()
        before = calibration_seconds()
        benchmark.pedantic(work, rounds=ROUNDS, warmup_rounds=1)
        benchmark.extra_info["calibration_seconds"] = (before + calibration_seconds()) / 2
        benchmark.extra_info["units"] = units

    return run
