"""Critic-bootstrapped Deep CFR: regrets of all actions follow from a critic, not from what one round came to.

With sigma the policy of iteration t, ``Q(h, a)`` the critic, G the lambda-return of the action a* taken
(``kernels.returns``), xi(a*) its probability and ``R`` the advantage network, an iteration is

1. collect:    play rounds by sigma, both seats by the same network; in each round the subject leaves it for a uniform
               action at one decision at most. Every decision of both players is kept.
2. critic:     fit Q(h, a*) to G over the rounds of the last ``critic.window`` iterations.
3. advantage:  for every decision h of this iteration and every legal action a

                   q(a)  = Q(h, a) + beta 1[a = a*] min(1 / xi(a*), c) (G - Q(h, a*))
                   A(a)  = q(a) - sum_b sigma(b) q(b)
                   R'(a) = d_t max(R(a), 0) + A(a)      regret matching    (bootstrapped accumulation)
                   R'(a) = d_t R(a) + A(a)              softmax

               and fit R to R', starting from R as it was. With ``accumulation: reservoir`` A goes to a reservoir
               instead, and R is fitted to that with weights, as in plain Deep CFR.
4. strategy:   where wanted, fit the strategy network to the sigma of all iterations.
5. keep a snapshot of R, which plays the next iteration: sigma = R+ / sum R+, or softmax(R).

``beta = 0`` trusts the critic alone (ESCHER: McAleer, Farina, Lanctot and Sandholm, "ESCHER: Eschewing importance
sampling in games by computing a history value function to estimate regret", ICLR 2023). ``beta = 1`` without a limit c
uses it as a control variate, which leaves the values unbiased as far as G is (VR-MCCFR: Schmid et al., AAAI 2019;
DREAM: Steinberger, Lerer and Brown, 2020). Bootstrapped accumulation of clipped regrets is that of VR-DeepDCFR+ (Xu et
al., 2025). As in these, A is the regret at h, not weighted by how likely the opponent lets h come about: the rounds
come about by sigma, and the regret of an information state is the mean over them of the regrets of its histories.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lostcfr.forward import Forward
from lostcfr.memory import Batch
from lostcfr.solvers.actor_critic import PLAYER_NUMBER, UNIT, ActorCritic
from lostcfr.solvers.averaging import left_of_regrets
from lostcfr.solvers.learners import Arrays, Learner, RolloutLearner
from lostcfr.traverse.rollout import Rollout

ADVANTAGE = "advantage-0"


class CriticCFR(ActorCritic):
    """Deep CFR with a critic that sees both hands."""

    def new_player(self) -> Learner:
        settings, seed = self.configuration.advantage, self.configuration.seed
        if self.configuration.remembers_regrets:
            learner = self.memory_learner(ADVANTAGE, PLAYER_NUMBER)
            learner.rate, learner.prepare = self.learning_rate, self._remember
            return learner
        fit = self.new_fit(PLAYER_NUMBER, "regret", settings)
        return RolloutLearner(
            ADVANTAGE, fit, settings, seed, PLAYER_NUMBER, self._accumulated, self._rows, self.learning_rate
        )

    @property
    def unit(self) -> float:
        """Points that an output of 1 of the advantage network stands for."""
        if self.configuration.remembers_regrets:
            return 1.0
        softmax = self.configuration.advantage.policy == "softmax"
        return self.configuration.advantage.temperature if softmax else UNIT

    def _remember(self, iteration: int) -> None:
        """Offer the advantages of this iteration to the reservoir."""
        rollout, memory = self.window.newest, self.memories[ADVANTAGE]
        features = rollout.seen[:, : self.game.num_features]
        memory.insert(np.ascontiguousarray(features), rollout.actions, self.advantages_of(rollout), iteration)

    def _accumulated(self, iteration: int) -> Arrays:
        """Cumulative regrets, f4 [n, K] in units: what is left of those before, and this iteration's advantages."""
        rollout, settings = self.window.newest, self.configuration.advantage
        advantages = self.advantages_of(rollout) / np.float32(self.unit)
        if not len(advantages):
            return {"regrets": advantages}
        forward = Forward([self.player.fit.module], self.configuration.traversal.tile, self.device)
        before = rollout.at_actions(forward.of_all(rollout.seen[:, : self.game.num_features], self.workers))
        if settings.policy == "regret_matching":
            before = np.maximum(before, np.float32(0))
        left = settings.decay * left_of_regrets(settings.weighting, settings.alpha, iteration)
        return {"regrets": np.float32(left) * before + advantages}

    def _rows(self, learned: Arrays) -> Batch:
        rollout, n = self.window.newest, self.game.num_features
        return Batch(rollout.seen[:, :n], rollout.actions, learned["regrets"], np.ones(len(rollout.seen), np.float32))

    def advantages_of(self, rollout: Rollout) -> npt.NDArray[np.float32]:
        """A, f4 [n, K] in points; 0 where there is no action."""
        if not len(rollout.seen):
            return np.zeros(rollout.sigma.shape, np.float32)
        settings = self.configuration.critic
        outputs = self.criticism(rollout.seen)
        values = corrected(rollout, rollout.at_actions(outputs), settings.correction, settings.most_ratio)
        mean = (rollout.sigma * values).sum(axis=1, keepdims=True)
        return np.where(rollout.legal, values - mean, np.float32(0))


def corrected(
    rollout: Rollout, values: npt.NDArray[np.float32], correction: float, most_ratio: float | None
) -> npt.NDArray[np.float32]:
    """q, f4 [n, K], from a critic's values f4 [n, K]: those of the actions taken go towards their returns."""
    if correction == 0:
        return values
    ratio = 1 / rollout.sampled
    if most_ratio is not None:
        ratio = np.minimum(ratio, np.float32(most_ratio))
    out, row = values.copy(), np.arange(len(values))
    out[row, rollout.choice] += np.float32(correction) * ratio * (rollout.returns - rollout.at_choice(values))
    return out
