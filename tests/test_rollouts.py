"""Rollouts: rounds as they were played, the returns of their actions, and the policies learned from them."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lostcfr import LostCities
from lostcfr.fit import Fit, policy_loss
from lostcfr.kernels.rules import NO_ACTION
from lostcfr.nets import ACTION_CRITIC, KINDS, VALUE_CRITIC, build
from lostcfr.solvers.critic_cfr import corrected
from lostcfr.solvers.policy_gradient import PolicyRows, softmax
from lostcfr.threads import Workers
from lostcfr.traverse.lockstep import Lockstep
from lostcfr.traverse.recursive import Recursive
from lostcfr.traverse.rollout import Rollout, lambda_returns, leads
from rule_sets import MINI
from traversals import hashed, one_of, table_of, task_for

GAME = LostCities(MINI)
SELF = one_of((0, 0))


def rolled_out(exploration=0.3, scheduler=None, subject=SELF, opponent=SELF, networks=1):
    """Forty rounds as they were played."""
    table = table_of(subject, opponent, networks)
    task = task_for(GAME, table, rollout=True, exploration=exploration, explores_once=True)
    return (scheduler or Lockstep(GAME, 8, 1, history=True)).play(task, np.arange(40), hashed(GAME, 1, -5, 5))


def test_a_rollout_holds_every_decision_of_both_players():
    rows = rolled_out().samples
    assert rows.learns_strategy.any()
    assert (~rows.learns_strategy).any()
    assert len(rows.ply) == rolled_out().nodes
    explored = np.bincount(rows.trajectory[rows.explored], minlength=40)
    assert set(explored) == {0, 1}
    assert (rows.actions[np.arange(len(rows.ply)), rows.choice] != NO_ACTION).all()


def test_schedulers_play_the_same_rollout():
    one, other = rolled_out().samples, rolled_out(scheduler=Recursive(GAME, history=True)).samples
    for name in one._fields:
        if name != "values":  # nothing reads these
            assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_only_decisions_of_the_network_that_learns_are_kept():
    mine = rolled_out(subject=one_of((0, 0)), opponent=one_of((1, 1)), networks=2).samples
    assert len(mine.ply) > 0
    assert not mine.learns_strategy.any()


@pytest.mark.parametrize("trace", [0.0, 0.7, 1.0])
def test_returns_equal_a_slow_twin(trace):
    """The twin looks forward from each decision: a weighted mean of all later values, cut at an exploratory one."""
    played = rolled_out()
    rows, lead = played.samples, leads(played)
    values = np.random.default_rng(3).normal(0, 20, len(rows.ply)).astype(np.float32)
    found = lambda_returns(rows, lead, values, trace)
    for row in range(len(values)):
        seat = rows.seat[row]
        later = [k for k in range(row + 1, len(values)) if rows.trajectory[k] == rows.trajectory[row]]
        expected, weight = 0.0, 1.0
        for k in later:
            value = float(values[k]) * (1 if rows.seat[k] == seat else -1)
            share = 1.0 if rows.explored[k] else 1 - trace
            expected += weight * share * value
            weight *= 1 - share
        expected += weight * lead[rows.trajectory[row]] * (-1 if seat else 1)
        assert found[row] == pytest.approx(expected, abs=1e-3)


def test_corrected_values_are_unbiased():
    """With beta 1 the mean over the actions that may be taken is the true return of each, whatever the critic says."""
    chance = np.random.default_rng(1)
    sampled = np.array([0.2, 0.5, 0.3], np.float32)
    critic, truth = chance.normal(0, 9, (1, 3)).astype(np.float32), np.array([3.0, -4.0, 8.0], np.float32)
    mean = np.zeros(3)
    for choice in range(3):
        taken = Rollout(
            seen=np.zeros((1, 2), np.uint8),
            actions=np.arange(3, dtype=np.uint8)[None],
            sigma=sampled[None],
            sampled=sampled[choice : choice + 1],
            choice=np.array([choice]),
            values=np.zeros(1, np.float32),
            returns=truth[choice : choice + 1],
        )
        mean += sampled[choice] * corrected(taken, critic, 1.0, None)[0]
        assert corrected(taken, critic, 0.0, None) is critic
        limited = corrected(taken, critic, 0.5, 1.0)[0, choice]
        assert limited == pytest.approx((critic[0, choice] + truth[choice]) / 2, rel=1e-5)
    np.testing.assert_allclose(mean, truth, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("role", "outputs"), [(ACTION_CRITIC, GAME.num_actions), (VALUE_CRITIC, 1)])
def test_a_critic_sees_the_hand_of_the_opponent(kind, role, outputs):
    module = build(SimpleNamespace(kind=kind, hidden=16, layers=2, activation="relu"), GAME, 7, 0, role)
    rows = torch.from_numpy(np.concatenate([rolled_out().samples.features, rolled_out().samples.history], axis=1))
    answers = module(rows)
    assert answers.shape == (len(rows), outputs)
    hidden = rows.clone()
    hidden[:, GAME.num_features :] = 0
    assert not torch.equal(module(hidden), answers)


def policy_rows(b=600):
    """Rows of random actions taken, of which some have a far greater probability than they were played with."""
    chance, rows = np.random.default_rng(5), rolled_out().samples
    at = chance.integers(0, len(rows.ply), b)
    legal = rows.actions[at] != NO_ACTION
    played = chance.uniform(0.05, 1, b).astype(np.float32)
    magnet = softmax(chance.normal(size=legal.shape).astype(np.float32), legal)
    advantages = chance.normal(size=b).astype(np.float32)
    return PolicyRows(rows.features[at], rows.actions[at], rows.choice[at], advantages, played, magnet)


@pytest.mark.parametrize("attraction", [0.0, 0.3])
def test_the_policy_loss_equals_a_slow_twin(attraction):
    rows = policy_rows(60)
    outputs = np.random.default_rng(2).normal(size=(60, GAME.num_actions)).astype(np.float32)
    found = policy_loss(*map(torch.from_numpy, [outputs, *rows[1:]]), 0.2, 0.1, attraction).item()
    expected = 0.0
    for k in range(60):
        n = (rows.actions[k] != NO_ACTION).sum()
        policy = np.exp(outputs[k, rows.actions[k, :n]].astype(float))
        policy /= policy.sum()
        ratio = policy[rows.choice[k]] / rows.played[k]
        gain = min(ratio * rows.advantages[k], np.clip(ratio, 0.8, 1.2) * rows.advantages[k])
        entropy = -(policy * np.log(policy)).sum()
        divergence = (policy * np.log(policy / rows.magnet[k, :n])).sum()
        expected -= (gain + 0.1 * entropy - attraction * divergence) / 60
    assert found == pytest.approx(expected, rel=1e-4)


def test_policy_steps_are_the_same_on_any_number_of_threads():
    results = []
    for threads in 1, 3:
        module = build(SimpleNamespace(kind="mlp", hidden=20, layers=2, activation="relu"), GAME, 7, 0)
        learner = Fit(module, "policy", 0.01, 1.0, workers=Workers(threads))
        losses = [learner.step(policy_rows(), 0.2, 0.1, 0.1) for _ in range(2)]
        results.append((losses, {name: array.tobytes() for name, array in learner.arrays().items()}))
    assert results[0] == results[1]
