"""Deep CFR with external sampling reaches the exact values of games that are small enough to be solved."""

from dataclasses import asdict
from functools import cache

import numpy as np
import pytest

import naive_features
from lostcfr.config_file import parse
from lostcfr.forward import Forward
from lostcfr.solvers.deep_cfr import DeepCFR
from naive_cfr import WatchedRound, by_recall, evaluate, nash_conv, payoff, recall, solve, unroll
from rule_sets import SOLVED_FOUR_TURNS, SOLVED_ONE_COLOUR

ITERATIONS = 6
NEAR = 0.02  # of the range of payoffs
GAMES = {
    "one colour": SOLVED_ONE_COLOUR,
    "two colours": SOLVED_FOUR_TURNS,
}
SETTINGS = """
rules: {rules}
network: {{hidden: 64, layers: 2}}
traversal: {{sampling: external, per_player: 100}}
memory: {{advantage_rows: 100_000, strategy_rows: 100_000}}
advantage: {{steps: 150, batch: 512}}
strategy: {{steps: 150, batch: 512}}
"""


@cache
def tree_of(name):
    return unroll(GAMES[name], WatchedRound)


@cache
def trained(name, folder):
    """A solver after some iterations."""
    solver = DeepCFR(parse(SETTINGS.format(rules=asdict(GAMES[name])), name), folder, threads=1)
    for iteration in range(1, ITERATIONS + 1):
        solver.collect(lambda started: False)
        for learner in solver.learners:
            assert all(np.isfinite(loss) for loss in learner.train(iteration, 0, lambda step: False))
        solver.finish_iteration()
    return solver


def choices_of(tree):
    """The positions where somebody has a choice."""
    return [node for node in tree.nodes if len(node.moves) > 1]


def policies(agent, tree, game, view):
    """By network of the agent and position: the probability of each legal action."""
    nodes, names = choices_of(tree), game.feature_names()
    seen = [naive_features.features(node.round, game.rules) for node in nodes]
    features = np.array([[min(255, columns[name]) for name in names] for columns in seen], np.uint8)
    found = []
    for module in agent.modules:
        outputs = Forward([module], 64)(features, np.zeros(len(features), np.int32)).astype(float)
        legal = [row[node.round.legal()] for row, node in zip(outputs, nodes, strict=True)]
        found.append({id(node): policy(row, view) for row, node in zip(legal, nodes, strict=True)})
    return found


def policy(outputs, view):
    """Softmax of a strategy network; of regrets the positive parts, or the best one."""
    if view == "average":
        weights = np.exp(outputs - outputs.max())
    else:
        weights = np.maximum(outputs, 0)
        weights = weights if weights.sum() else (outputs == outputs.max()).astype(float)
    return weights / weights.sum()


def strategy_of(solver, view, tree):
    """What a view plays, as one strategy: the policies of its networks, weighted by what each does to come along."""
    agent = solver.agent(view)
    sigmas = policies(agent, tree, solver.game, view)
    share = agent.player.weights / agent.player.weights.sum()
    reach = {id(node): [share, share] for _, node in tree.deals}
    table = {}
    for node in tree.nodes:
        player = node.round.to_move
        for slot, following in enumerate(node.moves.values()):
            chosen = np.ones(len(share))
            if len(node.moves) > 1:
                chosen = np.array([sigma[id(node)][slot] for sigma in sigmas])
            for _, after in following:
                reach[id(after)] = [own * chosen if seat == player else own for seat, own in enumerate(reach[id(node)])]
        if len(node.moves) > 1:
            mixed = sum(own * sigma[id(node)] for own, sigma in zip(reach[id(node)][player], sigmas, strict=True))
            table[recall(node.round)] = list(
                mixed / mixed.sum() if mixed.sum() else np.full(len(mixed), 1 / len(mixed))
            )
    return by_recall(table)


def spread(tree):
    points = [payoff(node) for node in tree.nodes if not node.moves]
    return max(points) - min(points)


@pytest.mark.parametrize("view", ["mixture", "average", "current"])
@pytest.mark.parametrize("name", list(GAMES))
def test_the_value_of_the_game_is_reached(name, view, tmp_path_factory):
    tree = tree_of(name)
    value, _ = solve(tree)
    strategy = strategy_of(trained(name, tmp_path_factory.getbasetemp()), view, tree)
    assert abs(evaluate(tree, [strategy, strategy]) - value) <= NEAR * spread(tree)


@pytest.mark.parametrize("name", list(GAMES))
def test_the_mixture_is_hard_to_exploit(name, tmp_path_factory):
    """Its value alone could be right by luck; what best responses gain could not be."""
    tree = tree_of(name)
    strategy = strategy_of(trained(name, tmp_path_factory.getbasetemp()), "mixture", tree)
    assert nash_conv(tree, [strategy, strategy]) <= NEAR * spread(tree)


def test_play_at_random_is_far_from_all_that():
    tree = tree_of("one colour")

    def uniform(position):
        return [1 / len(position.legal())] * len(position.legal())

    assert nash_conv(tree, [uniform, uniform]) > 5 * NEAR * spread(tree)
