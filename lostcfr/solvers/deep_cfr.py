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

from pathlib import Path

import numpy as np

from lostcfr.config import Configuration
from lostcfr.errors import ResourceError
from lostcfr.forward import Forward, torch_threads
from lostcfr.memory import GIB
from lostcfr.solvers.learners import Watch
from lostcfr.solvers.solver import STRATEGY, Solver
from lostcfr.traverse.probe import Tree, estimate_tree
from lostcfr.traverse.samples import Played, Samples, plain_task
from lostcfr.traverse.storage import row_bytes


class DeepCFR(Solver):
    """Deep CFR by outcome or external sampling."""

    def __init__(
        self, configuration: Configuration, folder: Path, *, threads: int | None = None, device: str = "cpu"
    ) -> None:
        super().__init__(configuration, folder, threads=threads, device=device)
        self.check_budget()
        self.tree = self._tree()
        seats = 2 if configuration.network.one_per_seat else 1
        self.players = self.advantages = [self.memory_learner(f"advantage-{k}", k) for k in range(seats)]
        if configuration.averaging.strategy_network:
            self.strategy = self.memory_learner(STRATEGY, seats)
        self.scheduler = self.new_scheduler(history=False)
        self.keep_snapshot()

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

    def collect(self, watch: Watch) -> Played:
        """Traverse the rounds of the next iteration and put what they show into the memories."""
        traversal, iteration = self.configuration.traversal, self.iteration + 1
        modules, table = self.seats()
        task = plain_task(self.game, self.configuration.seed, table)._replace(
            iteration=iteration,
            exploration=traversal.exploration,
            explores_once=traversal.exploring_decisions == "one",
            branching=traversal.sampling == "external",
            keeps_opponent=self.strategy is not None,
        )
        order = np.arange(2 * traversal.per_player)
        with torch_threads(1):
            forward = Forward(modules, traversal.tile, self.device)
            roots = None if self.tree is None else max(1, int(traversal.width / self.tree.leaves))
            played = self.scheduler.play(task, order, forward, roots=roots, watch=watch)
        self._remember(played.samples, iteration)
        return played

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
