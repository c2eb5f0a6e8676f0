"""Speed of the interleaved scheduler beside that of the network it asks.

The limit is the forward: 512 x 3 over the features of classic rules is 0.82 million multiplications and additions a
decision, some ten microseconds of a core; rules, features and bookkeeping are about one. So the measure is the ratio of
decisions that the scheduler gets through to rows that bare forwards of the same shapes get through, in the same run:
pieces of both alternate, for this machine may be busy with other things at times.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from lostcfr import nets
from lostcfr.config import NetworkConfig
from lostcfr.forward import Forward, torch_threads
from lostcfr.game import LostCities
from lostcfr.kernels import trajectory as codes
from lostcfr.threads import budget
from lostcfr.traverse.lockstep import Lockstep
from lostcfr.traverse.samples import Played, Player, plain_task, seating

NETWORK = NetworkConfig(hidden=512, layers=3)
WIDTH = 384  # lanes of a thread
TILE = 384
ROWS = 1024  # of a bare forward
PASSES = 64  # of a bare forward and thread, a second or so before and after each piece
TRAJECTORIES = 21504  # of a piece, so many a lane that the last ones, with lanes idle beside them, count little
REPEATS = 3
SEED = 7


def run(threads: int | None = None, progress: Callable[[str], None] = lambda step: None) -> dict[str, Any]:
    """Measure both by turns under classic rules; plain numbers.

    ``nodes_per_second``: decisions that the network answered, targets formed and sorted; ``forward_rows_per_second``;
    ``ratio``, the median over repeats of one by the other; ``occupancy``; ``mean_batch``; ``threads``.
    """
    threads = budget(threads)
    game = LostCities()
    module = nets.build(NETWORK, game, SEED, 0)
    traversal = Traversal(game, module, threads)
    plain = plain_layers(game)

    def bare() -> float:
        return bare_forward(plain, game.num_features, threads, PASSES)

    progress("warm-up")
    played: list[Played] = []
    most: list[float] = []
    with torch_threads(1):
        traversal(TRAJECTORIES)
        for repeat in range(REPEATS):
            progress(f"piece {repeat + 1} of {REPEATS}")
            before = bare()
            played.append(traversal(TRAJECTORIES))
            most.append((before + bare()) / 2)  # a slow stretch of the machine hits both sides
    rates = [each.nodes / each.seconds for each in played]
    return {
        "nodes_per_second": statistics.median(rates),
        "forward_rows_per_second": statistics.median(most),
        "ratio": statistics.median(rate / limit for rate, limit in zip(rates, most, strict=True)),
        "occupancy": statistics.median(each.occupancy for each in played),
        "mean_batch": statistics.median(each.mean_batch for each in played),
        "threads": threads,
    }


def plain_layers(game: LostCities) -> torch.nn.Module:
    """Layers of the same shapes as torch has them, without anything of this project."""
    widths = [game.num_features] + [NETWORK.hidden] * NETWORK.layers
    layers: list[torch.nn.Module] = []
    for inputs, outputs in zip(widths[:-1], widths[1:], strict=True):
        layers += [torch.nn.utils.skip_init(torch.nn.Linear, inputs, outputs), torch.nn.ReLU()]
    layers.append(torch.nn.utils.skip_init(torch.nn.Linear, NETWORK.hidden, game.num_actions))
    for layer in layers:
        for parameter in layer.parameters():
            torch.nn.init.constant_(parameter, 1e-3)
    return torch.nn.Sequential(*layers)


class Traversal:
    """Outcome sampling by one network on both sides."""

    def __init__(self, game: LostCities, module: nets.Network, threads: int) -> None:
        self.scheduler = Lockstep(game, WIDTH, threads)
        self.forward = Forward([module], TILE)
        both = Player(np.zeros((1, 2), np.int32), np.ones(1))
        # Nothing of the opponent is kept, as for the mixture alone; it halves the memory that so many rounds take.
        self.task = plain_task(game, SEED, seating(both, both, [codes.REGRETS]))

    def __call__(self, trajectories: int) -> Played:
        return self.scheduler.play(self.task, np.arange(trajectories), self.forward)


@torch.inference_mode()
def bare_forward(module: torch.nn.Module, columns: int, threads: int, passes: int) -> float:
    """Rows a second of plain torch layers; each thread does all the passes."""
    features = torch.zeros((ROWS, columns))
    features[:, ::3] = 1.0

    def work() -> None:
        torch.set_num_threads(1)  # a setting of each thread
        with torch.inference_mode():
            for _ in range(passes):
                module(features)

    with ThreadPoolExecutor(threads) as pool:
        began = time.perf_counter()
        for done in [pool.submit(work) for _ in range(threads)]:
            done.result()
        return threads * passes * ROWS / (time.perf_counter() - began)
