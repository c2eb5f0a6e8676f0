"""Deep CFR: regrets are sampled, remembered, and learned by a network that plays the next iteration.

An iteration (Brown, Lerer, Gross and Sandholm, "Deep counterfactual regret minimization", ICML 2019, algorithm 1, with
both players' traversals before both fits):

1. collect: traverse rounds with the current networks; regret targets go to the advantage memories, the policy at the
   opponent's decisions to the strategy memory. Outcome sampling keeps the targets unbiased (``kernels.values``).
2. advantage: fit each advantage network to its memory, rows weighted by their iterations.
3. strategy: fit the strategy network to its memory.
4. keep a snapshot of the advantage networks, which play the next iteration.

The average strategy of all iterations, the next one included, is exact as a mixture of snapshots. The strategy network
approximates it, and under outcome sampling its rows are also weighted by how likely the traverser came along, which
changes with the iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lostcfr import nets
from lostcfr.agents import Agent, bot
from lostcfr.config import Configuration, FitConfig
from lostcfr.errors import ResourceError
from lostcfr.fit import Fit
from lostcfr.forward import Forward, torch_threads
from lostcfr.game import LostCities
from lostcfr.memory import GIB, Batch, Reservoir, bytes_needed, check_budget
from lostcfr.solvers.averaging import kept_snapshots, regret_weights, snapshot_weights, strategy_weights
from lostcfr.solvers.views import agent_of, loaded
from lostcfr.threads import Workers
from lostcfr.traverse.lockstep import Lockstep, Stopped
from lostcfr.traverse.probe import Tree, estimate_tree
from lostcfr.traverse.recursive import Recursive
from lostcfr.traverse.samples import Played, Samples, plain_task, seating
from lostcfr.traverse.storage import row_bytes

Arrays = dict[str, npt.NDArray[Any]]
Watch = Callable[[int], bool]  # told how much of the work is done; says whether to stop

STRATEGY = "strategy"
MOST_NETWORKS = 16  # of a run; tells the numbers of their starts apart


@dataclass
class Learner:
    """One network, its memory, and how a row's weight follows from its iteration."""

    name: str
    fit: Fit
    memory: Reservoir
    settings: FitConfig
    seed: int
    number: int
    weights: Callable[[int], npt.NDArray[np.float32]]
    batch: Batch

    def train(self, iteration: int, first: int, watch: Watch) -> Iterator[float]:
        """The updates ``first`` .. of an iteration; yields the loss of each. Stopped between two of them if asked."""
        if len(self.memory) == 0:
            return
        table = self.weights(iteration)
        table = (table / self.memory.mean_weight(table)).astype(np.float32)
        if first == 0 and self.settings.restart:
            self.fit.restart(self.seed, self.number + MOST_NETWORKS * iteration)
        for step in range(first, self.settings.steps):
            if watch(step):
                raise Stopped
            self.memory.sample(iteration, step, table, self.batch)
            yield self.fit.step(self.batch)


class DeepCFR:
    """The networks, memories and snapshots of a run. ``iteration`` counts the finished ones.

    ``folder``: where mapped memories may lie. ResourceError where the memories do not fit.
    """

    def __init__(
        self, configuration: Configuration, folder: Path, *, threads: int | None = None, device: str = "cpu"
    ) -> None:
        self.configuration, self.device = configuration, device
        self.game = LostCities(configuration.rules)
        self.workers = Workers(threads)
        self.check_budget(folder)
        self.tree = self._tree()
        self.iteration = 0
        self.snapshots: dict[int, list[Arrays]] = {}
        self.advantages = [self._learner(k, folder) for k in range(2 if configuration.network.one_per_seat else 1)]
        average = configuration.averaging.strategy_network
        self.strategy = self._learner(len(self.advantages), folder, strategy=True) if average else None
        self.scheduler = self._scheduler()
        self._keep_snapshot()

    @property
    def learners(self) -> list[Learner]:
        """All networks that are trained, in the order of their training."""
        return [*self.advantages, *([self.strategy] if self.strategy else [])]

    def check_budget(self, folder: Path) -> None:
        """ResourceError unless memories and snapshots fit the configured budget and the machine."""
        configuration, game = self.configuration, self.game
        memory, seats = configuration.memory, 2 if configuration.network.one_per_seat else 1
        rows = seats * memory.advantage_rows
        rows += memory.strategy_rows if configuration.averaging.strategy_network else 0
        network = nets.build(configuration.network, game, configuration.seed, 0)
        snapshot = seats * sum(parameter.nbytes for parameter in network.parameters())
        snapshots = min(configuration.averaging.snapshots, configuration.limits.iterations + 1)
        needed = bytes_needed(rows, game.num_features, game.most_legal) + snapshots * snapshot
        check_budget(needed, memory.budget_gib, directory=folder if memory.mapped else None)

    def _learner(self, number: int, folder: Path, strategy: bool = False) -> Learner:
        """The network and memory of that number."""
        configuration, memory, game = self.configuration, self.configuration.memory, self.game
        settings = configuration.strategy if strategy else configuration.advantage
        module = nets.build(configuration.network, game, configuration.seed, number)
        reservoir = Reservoir(
            memory.strategy_rows if strategy else memory.advantage_rows,
            game.num_features,
            game.most_legal,
            configuration.seed,
            number,
            folder if memory.mapped else None,
            self.workers,
        )

        def weights(iteration: int) -> npt.NDArray[np.float32]:
            if strategy:
                return strategy_weights(settings.weighting, configuration.strategy.gamma, iteration)
            return regret_weights(settings.weighting, configuration.advantage.alpha, iteration)

        fit = Fit(
            module,
            "strategy" if strategy else "regret",
            learning_rate=settings.learning_rate,
            clip=settings.clip,
            device=self.device,
            workers=self.workers,
        )
        name = STRATEGY if strategy else f"advantage-{number}"
        batch = reservoir.new_batch(settings.batch)
        return Learner(name, fit, reservoir, settings, configuration.seed, number, weights, batch)

    def _tree(self) -> Tree | None:
        """How large the trajectories of external sampling are; ResourceError where they would not fit."""
        traversal = self.configuration.traversal
        if traversal.sampling != "external":
            return None
        tree = estimate_tree(self.game, self.configuration.seed)
        needed = 2 * traversal.per_player * tree.nodes * row_bytes(self.game)
        if needed > self.configuration.memory.budget_gib * GIB:
            raise ResourceError(
                f"external sampling would visit about {tree.nodes:.3g} decisions a trajectory, {needed / GIB:.3g} GiB "
                f"an iteration, but memory.budget_gib allows {self.configuration.memory.budget_gib:g}: set "
                f"traversal.sampling to outcome, choose smaller rules, or lower traversal.per_player"
            )
        return tree

    def _scheduler(self) -> Lockstep | Recursive:
        traversal = self.configuration.traversal
        if traversal.scheduler == "recursive":
            return Recursive(self.game)
        most = self.configuration.memory.budget_gib * GIB
        return Lockstep(self.game, traversal.width, self.workers.threads, most_bytes=most)

    def collect(self, watch: Watch) -> Played:
        """Traverse the rounds of the next iteration and put what they show into the memories."""
        traversal, iteration = self.configuration.traversal, self.iteration + 1
        agent = self.agent("current")
        opponent = self._opponent(agent)
        modules, outputs = [*agent.modules], [*agent.outputs]
        if opponent.modules and opponent is not agent:
            opponent_player = opponent.shifted(len(modules))
            modules, outputs = modules + [*opponent.modules], outputs + [*opponent.outputs]
        else:
            opponent_player = opponent.player
        task = plain_task(self.game, self.configuration.seed, seating(agent.player, opponent_player, outputs))._replace(
            iteration=iteration,
            exploration=traversal.exploration,
            explores_once=traversal.exploring_decisions == "one",
            branching=traversal.sampling == "external",
            keeps_strategy=self.strategy is not None,
        )
        order = np.arange(2 * traversal.per_player)
        with torch_threads(1):
            forward = Forward(modules, traversal.tile, self.device)
            roots = None if self.tree is None else max(1, int(traversal.width / self.tree.leaves))
            played = self.scheduler.play(task, order, forward, roots=roots, watch=watch)
        self._remember(played.samples, iteration)
        return played

    def _opponent(self, current: Agent) -> Agent:
        """Who sits opposite the traverser."""
        name = self.configuration.traversal.opponent
        if name == "current":
            return current
        return self.agent("mixture") if name == "average" else bot(name)

    def _remember(self, samples: Samples, iteration: int) -> None:
        """Offer each sample to its memory, in the order of trajectories."""
        for number, learner in enumerate(self.advantages):
            mine = ~samples.learns_strategy
            if len(self.advantages) == 2:
                mine &= samples.seat == number
            rows = samples.only(mine)
            learner.memory.insert(rows.features, rows.actions, rows.values, iteration)
        if self.strategy is not None:
            rows = samples.only(samples.learns_strategy)
            self.strategy.memory.insert(rows.features, rows.actions, rows.sigma, iteration)

    def finish_iteration(self) -> None:
        """Count the iteration and keep a snapshot of what plays the next one."""
        self.iteration += 1
        self._keep_snapshot()

    def _keep_snapshot(self) -> None:
        """Keep the advantage networks as they are now, under the number of the iteration that they will play."""
        most, plays = self.configuration.averaging.snapshots, self.iteration + 1
        if most:
            self.snapshots[plays] = [learner.fit.weights() for learner in self.advantages]
            kept = set(kept_snapshots(plays, most))
            self.snapshots = {t: weights for t, weights in self.snapshots.items() if t in kept}

    def agent(self, view: str) -> Agent:
        """The player so far: ``current``, ``mixture`` or ``average``."""
        networks: list[list[Any]]
        weights = np.ones(1)
        if view == "current":
            networks = [[learner.fit.module for learner in self.advantages]]
        elif view == "mixture":
            networks = [[self._loaded(arrays) for arrays in self.snapshots[t]] for t in self.snapshots]
            weights = snapshot_weights(list(self.snapshots), self.configuration.averaging.exponent)
        else:
            assert self.strategy is not None
            networks = [[self.strategy.fit.module]]
        return agent_of(view, view, networks, weights, self.configuration)

    def _loaded(self, arrays: Arrays) -> nets.Network:
        return loaded(self.configuration, self.game, arrays, self.device)
