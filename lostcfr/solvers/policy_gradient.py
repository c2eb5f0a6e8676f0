"""Regularised policy gradient: PPO in self-play, drawn towards a slowly following copy of itself, the magnet.

With pi the policy, pi_0 the one that the rounds of the iteration were played with, V the critic and G the
lambda-return of the action taken (``kernels.returns``), an iteration is

1. collect:  play rounds by pi_0, both seats by the same network; every decision of both players is kept. In a share
             ``traversal.league`` of the rounds a snapshot plays the other seat, and only the subject's are kept.
2. critic:   fit V(h) to G over the rounds of the last ``critic.window`` iterations.
3. policy:   with the advantage A = G - V(h) by the critic as it was in step 1, scaled to mean 0 and deviation 1 over
             the iteration, and r = pi(a*) / pi_0(a*), take steps of Adam that make

                 min(r A, clamp(r, 1 - clip, 1 + clip) A) + entropy H(pi) - magnet KL(pi || pi_M)

             large in the mean. Every ``policy.magnet_every`` iterations pi becomes the magnet pi_M anew.
4. strategy: where wanted, fit the strategy network to the policies of all iterations.
5. keep a snapshot.

The divergence from a magnet makes the updates those of magnetic mirror descent, which comes to a regularised
equilibrium of a two-player zero-sum game where plain policy gradient may turn in circles (Sokota et al., "A unified
approach to reinforcement learning, quantal response equilibria, and two-player zero-sum games", ICLR 2023); moving the
magnet brings it to the equilibrium itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr import nets
from lostcfr.fit import load_weights
from lostcfr.forward import Forward
from lostcfr.solvers.actor_critic import PLAYER_NUMBER, ActorCritic
from lostcfr.solvers.learners import Arrays, Learner, RolloutLearner

POLICY, MAGNET = "policy", "magnet"


class PolicyRows(NamedTuple):
    """Rows of an update of a policy; the arguments of ``fit.policy_loss``."""

    features: npt.NDArray[np.uint8]  # [n, F]
    actions: npt.NDArray[np.uint8]  # [n, K]
    choice: npt.NDArray[np.int64]  # [n]
    advantages: npt.NDArray[np.float32]  # [n]
    played: npt.NDArray[np.float32]  # [n]
    magnet: npt.NDArray[np.float32]  # [n, K]

    def rows(self, begin: int, end: int) -> PolicyRows:
        """A view of the rows from ``begin`` to before ``end``."""
        columns: list[Any] = [column[begin:end] for column in self]
        return PolicyRows(*columns)


class PolicyGradient(ActorCritic):
    """PPO with a magnet and a critic that sees both hands."""

    role = nets.VALUE_CRITIC

    def new_player(self) -> Learner:
        settings, seed = self.configuration.policy, self.configuration.seed
        self.magnet = nets.build(self.configuration.network, self.game, seed, PLAYER_NUMBER).to(self.device)
        fit = self.new_fit(PLAYER_NUMBER, POLICY, settings)
        return RolloutLearner(
            POLICY,
            fit,
            settings,
            seed,
            PLAYER_NUMBER,
            self._targets,
            self._rows,
            self.learning_rate,
            self._coefficients,
        )

    def more_arrays(self) -> dict[str, Arrays]:
        if not self.configuration.policy.magnet:
            return {}
        return {MAGNET: {name: tensor.detach().cpu().numpy() for name, tensor in self.magnet.named_parameters()}}

    def take_back(self, arrays: dict[str, Arrays]) -> None:
        if MAGNET in arrays:
            load_weights(self.magnet, arrays[MAGNET])

    def _coefficients(self, iteration: int) -> tuple[float, float, float]:
        settings = self.configuration.policy
        entropy = self.scheduled(settings.entropy, settings.last_entropy, iteration)
        return settings.ratio_clip, entropy, settings.magnet

    def _targets(self, iteration: int) -> Arrays:
        """Scaled advantages f4 [n], and the magnet's policy f4 [n, K] where there is one."""
        rollout, settings = self.window.newest, self.configuration.policy
        raw = (rollout.returns - rollout.values).astype(np.float64)
        spread = raw.std() if len(raw) else 0.0
        targets: Arrays = {"advantages": ((raw - raw.mean()) / spread if spread else raw).astype(np.float32)}
        if settings.magnet and len(raw):
            if (iteration - 1) % settings.magnet_every == 0:
                load_weights(self.magnet, self.player.fit.weights())
            forward = Forward([self.magnet], self.configuration.traversal.tile, self.device)
            logits = forward.of_all(rollout.seen[:, : self.game.num_features], self.workers)
            targets["magnet"] = softmax(rollout.at_actions(logits), rollout.legal)
        return targets

    def _rows(self, learned: Arrays) -> PolicyRows:
        rollout, n = self.window.newest, self.game.num_features
        played, magnet = rollout.at_choice(rollout.sigma), learned.get("magnet", rollout.sigma)
        return PolicyRows(rollout.seen[:, :n], rollout.actions, rollout.choice, learned["advantages"], played, magnet)


def softmax(logits: npt.NDArray[np.float32], legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """f4 [n, K]: the policy that logits f4 [n, K] stand for; 0 where there is no action."""
    highest = np.where(legal, logits, -np.inf).max(axis=1, keepdims=True)
    likely = np.where(legal, np.exp(np.minimum(logits - highest, 0)), np.float32(0))
    policy: npt.NDArray[np.float32] = likely / likely.sum(axis=1, keepdims=True)
    return policy
