"""What all methods have in common: networks that are trained in phases, snapshots, and the views of the player."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lostcfr import nets
from lostcfr.agents import Agent, bot
from lostcfr.config import Configuration, FitConfig, UpdatesConfig
from lostcfr.fit import Fit
from lostcfr.game import LostCities
from lostcfr.kernels import trajectory as codes
from lostcfr.memory import GIB, Reservoir, bytes_needed, check_budget
from lostcfr.solvers.averaging import kept_snapshots, regret_weights, snapshot_weights, strategy_weights
from lostcfr.solvers.learners import Arrays, Learner, MemoryLearner, Watch
from lostcfr.solvers.views import agent_of, loaded
from lostcfr.threads import Workers
from lostcfr.traverse.lockstep import Lockstep
from lostcfr.traverse.recursive import Recursive
from lostcfr.traverse.rollout import Window
from lostcfr.traverse.samples import Played, Player, seating

STRATEGY = "strategy"


class Solver:
    """The networks, memories and snapshots of a run. ``iteration`` counts the finished ones.

    ``folder``: where mapped memories may lie. ResourceError where the memories do not fit.

    An iteration is ``collect``, the training of all ``learners`` in turn, and ``finish_iteration``. Whatever it depends
    on is in ``learners``, ``memories``, ``window``, ``snapshots`` and ``more_arrays``, which a checkpoint holds.
    """

    players: Sequence[Learner]  # those whose networks play: one for both seats, or one for each
    strategy: MemoryLearner | None = None  # the one that learns the average strategy

    def __init__(self, configuration: Configuration, folder: Path, *, threads: int | None, device: str) -> None:
        self.configuration, self.folder, self.device = configuration, folder, device
        self.game = LostCities(configuration.rules)
        self.workers = Workers(threads)
        self.iteration = 0
        self.window: Window | None = None
        self.snapshots: dict[int, list[Arrays]] = {}

    @property
    def learners(self) -> list[Learner]:
        """All networks that are trained, in the order of their training."""
        return [*self.players, *([self.strategy] if self.strategy else [])]

    @property
    def memories(self) -> dict[str, Reservoir]:
        """The memories by the names of their learners."""
        return {each.name: each.memory for each in self.learners if isinstance(each, MemoryLearner)}

    def more_arrays(self) -> dict[str, Arrays]:
        """What a checkpoint must hold beside fits, memories, window and snapshots, by name."""
        return {}

    def take_back(self, arrays: dict[str, Arrays]) -> None:
        """Go on from ``more_arrays`` of a solver of the same configuration."""

    def collect(self, watch: Watch) -> Played:
        """Play the rounds of the next iteration and keep what is to be learned from them."""
        raise NotImplementedError

    def finish_iteration(self) -> None:
        """Count the iteration and keep a snapshot of what plays the next one."""
        self.iteration += 1
        self.keep_snapshot()

    def keep_snapshot(self) -> None:
        """Keep the playing networks as they are now, under the number of the iteration that they will play."""
        most, plays = self.configuration.averaging.snapshots, self.iteration + 1
        if most:
            self.snapshots[plays] = [learner.fit.weights() for learner in self.players]
            kept = set(kept_snapshots(plays, most))
            self.snapshots = {t: weights for t, weights in self.snapshots.items() if t in kept}

    def agent(self, view: str) -> Agent:
        """The player so far: ``current``, ``mixture`` or ``average``."""
        networks: list[list[Any]]
        weights = np.ones(1)
        if view == "current":
            networks = [[learner.fit.module for learner in self.players]]
        elif view == "mixture":
            networks = [
                [loaded(self.configuration, self.game, arrays, self.device) for arrays in self.snapshots[t]]
                for t in self.snapshots
            ]
            weights = snapshot_weights(list(self.snapshots), self.configuration.averaging.exponent)
        else:
            assert self.strategy is not None
            networks = [[self.strategy.fit.module]]
        return agent_of(view, view, networks, weights, self.configuration)

    def seats(self) -> tuple[list[nets.Network], codes.Seating]:
        """The networks that play the rounds of an iteration, and who of them sits where."""
        agent, traversal = self.agent("current"), self.configuration.traversal
        if traversal.opponent == "current":
            opponent = self.agent("mixture") if traversal.league else agent
        else:
            opponent = self.agent("mixture") if traversal.opponent == "average" else bot(traversal.opponent)
        modules, outputs, player = [*agent.modules], [*agent.outputs], opponent.player
        if opponent.modules and opponent is not agent:
            player = opponent.shifted(len(modules))
            modules, outputs = modules + [*opponent.modules], outputs + [*opponent.outputs]
        if traversal.league:
            player = league(agent.player, player, traversal.league)
        return modules, seating(agent.player, player, outputs)

    def new_scheduler(self, *, history: bool) -> Lockstep | Recursive:
        """The configured scheduler; with ``history``, rows hold the opponent's hand."""
        traversal = self.configuration.traversal
        if traversal.scheduler == "recursive":
            return Recursive(self.game, history=history)
        most = self.configuration.memory.budget_gib * GIB
        return Lockstep(self.game, traversal.width, self.workers.threads, history=history, most_bytes=most)

    def new_fit(self, number: int, loss: str, settings: UpdatesConfig) -> Fit:
        """A fresh network that plays or learns how it was played, and its optimiser."""
        configuration = self.configuration
        module = nets.build(configuration.network, self.game, configuration.seed, number)
        return Fit(module, loss, settings.learning_rate, settings.clip, self.device, self.workers)

    def new_memory(self, number: int, rows: int) -> Reservoir:
        """An empty memory of that number."""
        mapped, seed = self.configuration.memory.mapped, self.configuration.seed
        sizes = rows, self.game.num_features, self.game.most_legal
        return Reservoir(*sizes, seed, number, self.folder if mapped else None, self.workers)

    def memory_learner(self, name: str, number: int) -> MemoryLearner:
        """A learner of regrets, or of the average strategy if that is its name."""
        configuration, average = self.configuration, name == STRATEGY
        settings: FitConfig = configuration.strategy if average else configuration.advantage
        rows = configuration.memory.strategy_rows if average else configuration.memory.advantage_rows

        def weights(iteration: int) -> npt.NDArray[np.float32]:
            if average:
                return strategy_weights(settings.weighting, configuration.strategy.gamma, iteration)
            return regret_weights(settings.weighting, configuration.advantage.alpha, iteration)

        memory = self.new_memory(number, rows)
        fit = self.new_fit(number, "strategy" if average else "regret", settings)
        batch = memory.new_batch(settings.batch)
        return MemoryLearner(name, fit, memory, settings, configuration.seed, number, weights, batch)

    def check_budget(self, more_bytes: float = 0.0) -> None:
        """ResourceError unless memories, snapshots and so many bytes fit the configured budget and the machine."""
        configuration, game, memory = self.configuration, self.game, self.configuration.memory
        networks = 2 if configuration.network.one_per_seat else 1
        rows = networks * memory.advantage_rows if configuration.remembers_regrets else 0
        rows += memory.strategy_rows if configuration.averaging.strategy_network else 0
        network = nets.build(configuration.network, game, configuration.seed, 0)
        snapshot = networks * sum(parameter.nbytes for parameter in network.parameters())
        snapshots = min(configuration.averaging.snapshots, configuration.limits.iterations + 1)
        needed = bytes_needed(rows, game.num_features, game.most_legal) + snapshots * snapshot + int(more_bytes)
        check_budget(needed, memory.budget_gib, directory=self.folder if memory.mapped else None)


def league(current: Player, snapshots: Player, share: float) -> Player:
    """An opponent that is one of the snapshots in that share of rounds, else the current player."""
    weights = snapshots.weights / snapshots.weights.sum() * share
    networks = np.concatenate([current.networks, snapshots.networks])
    return Player(networks, np.concatenate([[1.0 - share], weights]))
