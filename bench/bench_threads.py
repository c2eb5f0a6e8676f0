"""Threads without the GIL against ``parallel=True``: the same gather kernel over two cores, both ways.

Verdict in docs/performance.md. The parallel form lives here only.
"""

import numba
import pytest

from lostcfr import LostCities
from lostcfr.bench.engine import Gathering
from lostcfr.kernels import lanes as kernels


@numba.njit(parallel=True, nogil=True)
def gather_parallel(rules, games, features, legal, lanes, slices):
    for k in numba.prange(slices):
        kernels.gather(rules, games, features, legal, lanes * k // slices, lanes * (k + 1) // slices)


@pytest.mark.parametrize("lanes", [512, 2048, 8192])
@pytest.mark.parametrize("way", ["threads", "parallel", "one thread"])
def test_gather(measure, way, lanes):
    gathering = Gathering(LostCities(), 1 if way == "one thread" else 2, lanes)
    batch = gathering.lanes
    if way == "parallel":
        arguments = (batch.game.parameters, batch.games, gathering.features, gathering.legal, lanes, 2)
        measure(lambda: [gather_parallel(*arguments) for _ in range(20)], units=20 * lanes)
    else:
        measure(gathering, units=20 * lanes)
