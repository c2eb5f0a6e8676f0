"""Networks that are trained, and where their rows come from: a memory of all iterations, or the rounds just played."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from lostcfr.config import FitConfig, UpdatesConfig
from lostcfr.fit import Fit, Rows
from lostcfr.memory import Batch, Reservoir
from lostcfr.traverse.lockstep import Stopped

Arrays = dict[str, npt.NDArray[Any]]
Watch = Callable[[int], bool]  # told how much of the work is done; says whether to stop

MOST_NETWORKS = 16  # of a run; tells the numbers of their starts apart
NOT_WEIGHTS = 1 << 63  # in a key of chance that draws rows, as no number of ``nets.build`` is


class Learner(Protocol):
    """One network that is trained for some updates of each iteration, in a phase of that name."""

    name: str
    fit: Fit

    @property
    def settings(self) -> UpdatesConfig: ...

    def train(self, iteration: int, first: int, watch: Watch) -> Iterator[float]:
        """The updates ``first`` .. of an iteration; yields the loss of each. Stopped between two of them if asked."""


@dataclass
class MemoryLearner:
    """One network, its memory, and how a row's weight follows from its iteration."""

    name: str
    fit: Fit
    memory: Reservoir
    settings: FitConfig
    seed: int
    number: int
    weights: Callable[[int], npt.NDArray[np.float32]]
    batch: Batch
    rate: Callable[[int], float] = lambda iteration: 1.0  # share of the learning rate in an iteration
    prepare: Callable[[int], None] = lambda iteration: None  # called before the first update of an iteration

    def train(self, iteration: int, first: int, watch: Watch) -> Iterator[float]:
        """As ``Learner.train``; nothing while the memory is empty."""
        table: npt.NDArray[np.float32] | None = None
        self.fit.slow_down(self.rate(iteration))
        for step in range(first, self.settings.steps):
            if watch(step):
                raise Stopped
            if step == 0:  # not before it may be stopped, for rows must not enter the memory twice
                self.prepare(iteration)
                if self.settings.restart and len(self.memory):
                    self.fit.restart(self.seed, self.number + MOST_NETWORKS * iteration)
                    self.fit.slow_down(self.rate(iteration))
            if len(self.memory) == 0:
                return
            if table is None:
                table = self.weights(iteration)
                table = (table / self.memory.mean_weight(table)).astype(np.float32)
            self.memory.sample(iteration, step, table, self.batch)
            yield self.fit.step(self.batch)


@dataclass
class RolloutLearner:
    """One network that learns from rounds just played, all rows equally often.

    ``targets`` computes what it will learn in an iteration; they are kept in ``learned`` until the next, since they
    may follow from the network as it was before. ``rows`` puts them beside what was seen.
    """

    name: str
    fit: Fit
    settings: UpdatesConfig
    seed: int
    number: int
    targets: Callable[[int], Arrays]
    rows: Callable[[Arrays], Rows]
    rate: Callable[[int], float]
    coefficients: Callable[[int], tuple[float, ...]] = lambda iteration: ()
    learned: Arrays = field(default_factory=dict)

    def train(self, iteration: int, first: int, watch: Watch) -> Iterator[float]:
        """As ``Learner.train``."""
        if first == 0:
            self.learned = self.targets(iteration)
        rows = self.rows(self.learned)
        if not len(rows.features):
            return  # no decision had a choice
        drawn = Passes(len(rows.features), self.settings.batch, self.seed, self.number + MOST_NETWORKS * iteration)
        self.fit.slow_down(self.rate(iteration))
        for step in range(first, self.settings.steps):
            if watch(step):
                raise Stopped
            chosen = drawn.batch(step)
            yield self.fit.step(type(rows)(*(column[chosen] for column in rows)), *self.coefficients(iteration))
        self.learned = {}


class Passes:
    """Minibatches from n rows: every pass over them takes each row once, in an order of its own.

    What is drawn depends on (seed, number) and the step alone.
    """

    def __init__(self, n: int, batch: int, seed: int, number: int) -> None:
        self.n, self.size, self.seed, self.number = n, batch, seed, number
        self._orders: dict[int, npt.NDArray[np.int64]] = {}

    def batch(self, step: int) -> npt.NDArray[np.int64]:
        """i8 [batch]: the rows of a step; a batch that reaches beyond a pass goes on in the next."""
        begin, end = step * self.size, (step + 1) * self.size
        passes = range(begin // self.n, -(-end // self.n))
        self._orders = {each: self._orders[each] if each in self._orders else self._order(each) for each in passes}
        parts = [order[max(0, begin - each * self.n) : end - each * self.n] for each, order in self._orders.items()]
        return np.concatenate(parts)

    def _order(self, number: int) -> npt.NDArray[np.int64]:
        key = np.array([self.seed, NOT_WEIGHTS | number << 40 | self.number], np.uint64)
        return np.random.Generator(np.random.Philox(key=key)).permutation(self.n)
