"""Regression suite of training: the kernels of a tick, a whole traversal, memories, one forward, one update.

Networks answer 1 for every action where only the kernels count: play is then uniform, as in a first iteration.
"""

import numpy as np
import pytest

from lostcfr import LostCities, nets
from lostcfr.bench import train
from lostcfr.config import NetworkConfig
from lostcfr.fit import Fit
from lostcfr.forward import Forward, torch_threads
from lostcfr.kernels import tick, trajectory as codes
from lostcfr.threads import Workers
from lostcfr.traverse.lockstep import Lockstep
from lostcfr.traverse.samples import Player, seating
from lostcfr.traverse.storage import NO_BASELINE, Group, queue_of

LANES = 256
PLIES = 40  # before the tick that is measured: all rounds are under way and none is over
REPEATS = 20  # of a kernel in one measurement
TRAJECTORIES = 1024
BATCH = 1024
SEED = 7
NETWORKS = {
    "mlp": NetworkConfig(hidden=512, layers=3),
    "colour_equivariant": NetworkConfig(kind="colour_equivariant", hidden=128, layers=3),
}


def task_of(game):
    """Outcome sampling by one network on both sides, as training does it."""
    anyone = Player(np.zeros((1, 2), np.int32), np.ones(1))
    return codes.Task(
        seed=np.uint64(SEED),
        iteration=1,
        first=0,
        mirror=0,
        max_plies=game.rules.decision_cap,
        exploration=0.0,
        explores_once=False,
        branching=False,
        keeps_opponent=True,
        rollout=False,
        seating=seating(anyone, anyone, [codes.REGRETS]),
    )


def alike(game):
    """A network that answers 1."""
    return lambda features, network: np.ones((len(features), game.num_actions), np.float32)


class Tick:
    """Lanes in the middle of their rounds, and the kernels of a tick that may be repeated there."""

    def __init__(self):
        game = LostCities()
        self.rules, self.task, self.group = game.parameters, task_of(game), Group(game, LANES, history=False)
        self.queue, self.results = queue_of(np.arange(LANES)), np.zeros((LANES, codes.RESULTS), np.int64)
        self.queue.state[codes.END] = self.queue.state[codes.ROOM] = LANES
        self.answers = codes.Answers(np.ones((LANES, game.num_actions), np.float32), NO_BASELINE)
        for _ in range(PLIES):
            self.advance()
            self.choose()
            tick.apply(self.rules, self.group.games, self.group.requests, self.group.choices)
        self.advance()
        self.choose()
        self.group.make_room_for_rows()

    def advance(self):
        group = self.group
        tick.advance(
            self.rules, self.task, group.games, group.paths, self.queue, group.requests, group.rows, self.results
        )

    def choose(self):
        group = self.group
        tick.choose(self.task, group.games, group.paths, group.requests, self.answers, group.choices)

    def record(self):
        group = self.group
        group.rows.used[0] = 0
        tick.record(self.task, group.games, group.paths, group.requests, self.answers, group.choices, group.rows)


@pytest.mark.parametrize("kernel", ["advance", "choose", "record"])
def test_kernel_of_a_tick(measure, kernel):
    each = Tick()
    work = getattr(each, kernel)
    measure(lambda: [work() for _ in range(REPEATS)], units=REPEATS * int(each.group.requests.size[0]))


def test_traversal_without_a_network(measure):
    """All that a decision costs beside the forward: the tick, its rows, their targets and their order."""
    game = LostCities()
    scheduler, order = Lockstep(game, LANES, 1), np.arange(TRAJECTORIES)

    def traverse():
        return scheduler.play(task_of(game), order, alike(game))

    measure(traverse, units=traverse().nodes)


def test_insertion_in_a_full_memory(measure):
    """Rows of one traversal; few of them replace another."""
    game = LostCities()
    memory = train.filled_memory(game, Workers(1))
    samples = Lockstep(game, LANES, 1).play(task_of(game), np.arange(TRAJECTORIES), alike(game)).samples
    measure(lambda: memory.insert(samples.features, samples.actions, samples.values, 1), units=len(samples.trajectory))


def test_minibatch(measure):
    memory = train.filled_memory(LostCities(), Workers(1))
    batch, table = memory.new_batch(BATCH), np.ones(2, np.float32)
    measure(lambda: [memory.sample(1, step, table, batch) for step in range(REPEATS)], units=REPEATS * BATCH)


@pytest.mark.parametrize("kind", NETWORKS)
def test_forward_of_one_tile(measure, kind):
    game = LostCities()
    forward = Forward([nets.build(NETWORKS[kind], game, SEED, 0)], LANES)
    features, network = np.ones((LANES, game.num_features), np.uint8), np.zeros(LANES, np.int32)
    with torch_threads(1):
        measure(lambda: [forward(features, network) for _ in range(REPEATS)], units=REPEATS * LANES)


@pytest.mark.parametrize("kind", NETWORKS)
def test_update(measure, kind):
    game = LostCities()
    fit = Fit(nets.build(NETWORKS[kind], game, SEED, 0), "regret", 1e-3, 1.0)
    memory = train.filled_memory(game, Workers(1))
    batch = memory.new_batch(BATCH)
    memory.sample(1, 0, np.ones(2, np.float32), batch)
    with torch_threads(1):
        measure(lambda: fit.step(batch), units=BATCH)
