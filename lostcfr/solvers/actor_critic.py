"""What critic-bootstrapped Deep CFR and policy gradient share: rounds by the current policy, and a critic of them.

The critic sees both hands, not the order of the deck: given both hands, the rest is chance that nobody knows. So it can
tell apart what a player cannot, and what it says of an action is nearer to the truth than what one round came to. It
is used in training only; the player never sees it.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt

from lostcfr import nets
from lostcfr.config import Configuration
from lostcfr.fit import Fit
from lostcfr.forward import Forward, torch_threads
from lostcfr.memory import Batch
from lostcfr.solvers.learners import Arrays, Learner, RolloutLearner, Watch
from lostcfr.solvers.solver import STRATEGY, Solver
from lostcfr.traverse.rollout import Rollout, Window, at_actions, lambda_returns, leads
from lostcfr.traverse.samples import Played, Samples, plain_task

CRITIC = "critic"
UNIT = 10.0  # points that an output of 1 stands for; targets near 1 suit first weights and steps of Adam
PLAYER_NUMBER, CRITIC_NUMBER, STRATEGY_NUMBER = 0, 1, 2


class ActorCritic(Solver):
    """Collects rounds by the current policy and fits a critic to them; how the player learns is for others to say."""

    role = nets.ACTION_CRITIC

    def __init__(
        self, configuration: Configuration, folder: Path, *, threads: int | None = None, device: str = "cpu"
    ) -> None:
        super().__init__(configuration, folder, threads=threads, device=device)
        self.check_budget()
        self.window: Window = Window(configuration.critic.window)
        self.critic = self._critic()
        self.player = self.new_player()
        self.players = [self.player]
        if configuration.averaging.strategy_network:
            self.strategy = self.memory_learner(STRATEGY, STRATEGY_NUMBER)
        self.scheduler = self.new_scheduler(history=True)
        self.keep_snapshot()

    @property
    def learners(self) -> list[Learner]:
        """The critic comes first, so that what the player learns follows from a critic of these very rounds."""
        return [self.critic, *super().learners]

    def new_player(self) -> Learner:
        """The network that plays, and how it learns."""
        raise NotImplementedError

    def _critic(self) -> RolloutLearner:
        """The critic and how it learns: by the returns of the actions taken in all rounds of the window."""
        settings, network, seed = self.configuration.critic, self.configuration.network, self.configuration.seed
        shape = SimpleNamespace(
            kind=network.kind, activation=network.activation, hidden=settings.hidden, layers=settings.layers
        )
        module = nets.build(shape, self.game, seed, CRITIC_NUMBER, self.role)
        fit = Fit(module, "value", settings.learning_rate, settings.clip, self.device, self.workers)
        return RolloutLearner(
            CRITIC, fit, settings, seed, CRITIC_NUMBER, lambda iteration: {}, self._critic_rows, self.learning_rate
        )

    def _critic_rows(self, learned: Arrays) -> Batch:
        """The rows of the window, each with its return."""
        rollouts = [self.window.rollouts[iteration] for iteration in sorted(self.window.rollouts)]
        seen = np.concatenate([each.seen for each in rollouts])
        taken = np.concatenate([each.taken for each in rollouts])
        returns = (np.concatenate([each.returns for each in rollouts])[:, None] / UNIT).astype(np.float32)
        if self.role.one_value:
            taken = np.zeros_like(taken)
        return Batch(seen, taken, returns, np.ones(len(seen), np.float32))

    def learning_rate(self, iteration: int) -> float:
        """The share of the learning rates that an iteration works with."""
        return self.scheduled(1.0, self.configuration.schedule.learning_rate, iteration)

    def scheduled(self, first: float, last: float, iteration: int) -> float:
        """A number that goes from ``first`` in iteration 1 to ``last`` by the schedule, evenly."""
        iterations = self.configuration.schedule.iterations or self.configuration.limits.iterations
        return first + (last - first) * min(1.0, (iteration - 1) / iterations)

    def collect(self, watch: Watch) -> Played:
        """Play the rounds of the next iteration and put them into the window."""
        traversal, iteration = self.configuration.traversal, self.iteration + 1
        modules, table = self.seats()
        task = plain_task(self.game, self.configuration.seed, table)._replace(
            iteration=iteration,
            exploration=traversal.exploration,
            explores_once=True,
            keeps_opponent=traversal.opponent == "current",
            rollout=True,
        )
        with torch_threads(1):
            forward = Forward(modules, traversal.tile, self.device)
            played = self.scheduler.play(task, np.arange(2 * traversal.per_player), forward, watch=watch)
        self.window.add(iteration, self._rollout(played))
        self.check_budget(self.window.nbytes)
        if self.strategy is not None:
            rows = played.samples
            self.strategy.memory.insert(rows.features, rows.actions, rows.sigma, iteration)
        return played

    def _rollout(self, played: Played) -> Rollout:
        """The decisions played, with the critic's values and the returns that follow from them."""
        rows = played.samples
        seen = np.concatenate([rows.features, rows.history], axis=1)
        values = self._values(rows, seen)
        returns = lambda_returns(rows, leads(played), values, self.configuration.critic.trace)
        return Rollout(
            seen, rows.actions.copy(), rows.sigma.copy(), rows.sampled.copy(), rows.choice.copy(), values, returns
        )

    def _values(self, rows: Samples, seen: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """f4 [n]: what the critic expects of each situation if the policy goes on, in points."""
        if not len(seen):
            return np.zeros(0, np.float32)
        outputs = self.criticism(seen)
        if self.role.one_value:
            return outputs[:, 0]
        mean: npt.NDArray[np.float32] = (rows.sigma * at_actions(outputs, rows.actions)).sum(axis=1)
        return mean

    def criticism(self, seen: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """f4 [n, A], or [n, 1] for the value of the whole: what the critic says to rows u1 [n, F + H], in points."""
        forward = Forward([self.critic.fit.module], self.configuration.traversal.tile, self.device)
        return forward.of_all(seen, self.workers) * np.float32(UNIT)
