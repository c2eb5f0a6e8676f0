"""What an update of a network costs beside the network itself.

The limit is forward, backward and optimiser of torch on a batch that is already in place, its products of matrices
shared among the threads. A step of training also draws the batch from the memory, weighs it, adds up the gradients of
its shards, looks at loss and gradient, and shortens the gradient.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from lostcfr import nets
from lostcfr.config import NetworkConfig
from lostcfr.fit import LOSSES, Fit
from lostcfr.forward import torch_threads
from lostcfr.game import LostCities
from lostcfr.kernels.rules import NO_ACTION
from lostcfr.memory import Reservoir
from lostcfr.threads import Workers

NETWORK = NetworkConfig(hidden=512, layers=3)
BATCH = 1024
ROWS = 262_144  # in the memory: far more than fit into a cache
TURNS = 10
STEPS = 6  # of each in a turn; before them one that is not timed: threads of torch spin on for a while
SEED = 7


def run(threads: int | None = None, progress: Callable[[str], None] = lambda step: None) -> dict[str, Any]:
    """Steps of both by turns, at 512 x 3 and 1,024 rows under classic rules; plain numbers.

    ``step_ms`` and ``bare_ms``, medians; ``outside``, the median over turns of the share of a step that is neither
    forward nor backward nor optimiser; ``rows_per_second`` of whole steps; ``threads``.
    """
    game, workers = LostCities(), Workers(threads)
    progress("filling a memory")
    memory = filled_memory(game, workers)
    whole = Fit(nets.build(NETWORK, game, SEED, 0), "regret", 1e-3, 1.0, workers=workers)
    bare = Fit(nets.build(NETWORK, game, SEED, 0), "regret", 1e-3, 1.0)
    batch, table = memory.new_batch(BATCH), np.ones(2, np.float32)
    memory.sample(1, 0, table, batch)
    ready = [torch.from_numpy(array.copy()) for array in batch]

    def step(number: int) -> None:
        memory.sample(1, number, table, batch)
        whole.step(batch)

    def limit(number: int) -> None:
        bare.optimizer.zero_grad()
        LOSSES["regret"](bare.module(ready[0]), *ready[1:]).backward()
        bare.optimizer.step()

    steps, limits = [], []
    with torch_threads(workers.threads):
        for turn in range(TURNS):
            progress(f"turn {turn + 1} of {TURNS}")
            steps += timed(step, turn)
            limits += timed(limit, turn)
    return {
        "step_ms": 1e3 * statistics.median(steps),
        "bare_ms": 1e3 * statistics.median(limits),
        "outside": statistics.median(1 - low / high for low, high in zip(limits, steps, strict=True)),
        "rows_per_second": BATCH / statistics.median(steps),
        "threads": workers.threads,
    }


def timed(work: Callable[[int], None], turn: int) -> list[float]:
    """Seconds of each of STEPS calls."""
    times = []
    work(turn * STEPS)
    for number in range(turn * STEPS, (turn + 1) * STEPS):
        began = time.perf_counter()
        work(number)
        times.append(time.perf_counter() - began)
    return times


def filled_memory(game: LostCities, workers: Workers) -> Reservoir:
    """A memory of rows of many kinds."""
    slots = game.most_legal
    memory = Reservoir(ROWS, game.num_features, slots, SEED, 0, workers=workers)
    chance = np.random.default_rng(SEED)
    features = (chance.random((BATCH, game.num_features)) < 0.2).astype(np.uint8)
    every = np.tile(np.arange(game.num_actions, dtype=np.uint8), (BATCH, 1))
    actions = np.sort(chance.permuted(every, axis=1)[:, :slots])
    actions[:, slots // 2 :] = NO_ACTION
    values = np.where(actions == NO_ACTION, 0, chance.normal(0, 50, actions.shape)).astype(np.float32)
    for _ in range(ROWS // BATCH):
        memory.insert(features, actions, values, 1)
    return memory
