"""``Agent.policy``: what an agent does in many games at once, against plain sums over its networks."""

import numpy as np
import pytest
import torch

from lostcfr import InputError, LostCities, load_agent
from lostcfr.agents import BOTS, bot
from lostcfr.names import PLAY_LIKELIEST
from made_up import fresh
from rule_sets import CLASSIC, MINI, TINY


def lanes_of(rules, n=60, plies=0, seed=3):
    """Games after so many random decisions, of which some lanes make fewer."""
    lanes = LostCities(rules).lanes(n, threads=1)
    lanes.deal(seed=seed)
    for ply in range(plies):
        actions = lanes.bot_actions(np.full(n, BOTS["random"]), seed)
        lanes.act(np.where(ply % n < np.arange(n), actions, -1))
    return lanes


def outputs_of(module, lanes):
    with torch.inference_mode():
        return module(torch.from_numpy(lanes.observe())).double().numpy()


def softmax(outputs, legal):
    weights = np.where(legal, np.exp(outputs), 0)
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)


@pytest.mark.parametrize("rules", [CLASSIC, MINI, TINY])
def test_a_mixture_is_the_weighted_mean_of_its_snapshots_at_the_decision(rules):
    agent, lanes = fresh(rules, weights=(1.0, 3.0, 4.0)), lanes_of(rules, plies=30)
    policies = [softmax(outputs_of(module, lanes), lanes.legal()) for module in agent.modules]
    expected = sum(weight / 8 * policy for weight, policy in zip((1, 3, 4), policies, strict=True))
    found = agent.policy(lanes)
    assert (found.dtype, found.shape) == (np.float32, expected.shape)
    assert np.abs(found - expected).max() < 1e-5
    assert np.abs(policies[0] - policies[1]).max() > 0.1


@pytest.mark.parametrize("agent", [fresh(MINI), fresh(MINI, "current"), fresh(MINI, floor=0.4), bot("noisy")])
def test_policies_sum_to_one_over_legal_actions_and_are_zero_where_a_round_is_over(agent):
    lanes = lanes_of(MINI, plies=60)
    found, over = agent.policy(lanes), lanes.finished
    assert 0 < over.sum() < len(lanes)
    assert not found[~lanes.legal()].any()
    assert found.sum(axis=1) == pytest.approx(np.where(over, 0.0, 1.0), abs=1e-6)


def test_all_rounds_may_be_over():
    lanes = lanes_of(MINI, n=1)
    while not lanes.finished.all():
        lanes.act(lanes.bot_actions([BOTS["discard-only"]], 1))
    assert not fresh(MINI).policy(lanes).any()


def test_a_floor_is_a_matter_of_each_snapshot():
    agent, lanes = fresh(CLASSIC, weights=(1.0, 1.0), floor=PLAY_LIKELIEST), lanes_of(CLASSIC)
    legal = lanes.legal()
    best = [np.where(legal, outputs_of(module, lanes), -np.inf).argmax(axis=1) for module in agent.modules]
    expected = np.zeros(legal.shape)
    for each in best:
        expected[np.arange(len(lanes)), each] += 0.5
    assert (agent.policy(lanes) == expected).all()
    assert (best[0] != best[1]).any()


def test_the_seat_decides_which_network_of_a_pair_is_asked():
    """Networks of a player with one for each seat, where player 1 is to move in half of the lanes."""
    both, lanes = fresh(MINI, weights=(1.0, 1.0)), lanes_of(MINI, plies=7)
    player = type(both.player)(np.array([[0, 1]], np.int32), np.ones(1))
    agent = type(both)("pair", player, both.modules, both.outputs)
    policies = [softmax(outputs_of(module, lanes), lanes.legal()) for module in both.modules]
    expected = np.where(lanes.to_move[:, None] == 0, *policies)
    assert np.abs(agent.policy(lanes) - expected).max() < 1e-5
    assert set(lanes.to_move[~lanes.finished]) == {0, 1}


@pytest.mark.parametrize("name", ["random", "balanced"])
def test_a_rule_based_player_is_sure_of_its_action(name):
    lanes = lanes_of(CLASSIC)
    found = load_agent(name).policy(lanes, seed=5)
    assert (found.argmax(axis=1) == lanes.bot_actions(np.full(len(lanes), BOTS[name]), 5)).all()
    assert (found.max(axis=1) == 1).all()
    assert (found != load_agent(name).policy(lanes, seed=6)).any() == (name == "random")


def test_the_lanes_are_left_as_they_are_and_torch_keeps_its_threads():
    lanes = lanes_of(MINI)
    before, threads = [array.copy() for array in lanes.games], torch.get_num_threads()
    fresh(MINI).policy(lanes)
    assert all((now == then).all() for now, then in zip(lanes.games, before, strict=True))
    assert torch.get_num_threads() == threads


def test_wrong_arguments():
    agent = fresh(MINI)
    message = r"fresh average was trained with n_colors=2, but these lanes are of a game with n_colors=5: make them by"
    with pytest.raises(InputError, match=message):
        agent.policy(lanes_of(CLASSIC))
    with pytest.raises(InputError, match="hold no round yet"):
        agent.policy(LostCities(MINI).lanes(2))
    with pytest.raises(InputError, match="seed is -1"):
        agent.policy(lanes_of(MINI), seed=-1)
