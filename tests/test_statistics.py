"""Diagnostics of a traversal against plain loops over its samples and results."""

import math
import statistics

import numpy as np
import pytest

from lostcfr.game import LostCities
from lostcfr.kernels import trajectory as codes
from lostcfr.kernels.rules import NO_ACTION
from lostcfr.traverse.lockstep import Lockstep
from lostcfr.traverse.samples import Player, seating
from lostcfr.traverse.statistics import by_depth, describe, entropy
from rule_sets import CLASSIC, MINI

ANYONE = Player(np.zeros((1, 2), np.int32), np.ones(1))


def traversed(rules, trajectories, meaning=codes.REGRETS, **changes):
    """What trajectories yield that a made-up network plays: outputs that follow from the features."""
    game = LostCities(rules)
    task = codes.Task(
        seed=np.uint64(1),
        iteration=1,
        first=0,
        mirror=0,
        max_plies=game.rules.decision_cap,
        exploration=0.0,
        explores_once=False,
        branching=False,
        keeps_opponent=True,
        rollout=False,
        seating=seating(ANYONE, ANYONE, [meaning]),
    )

    def forward(features, network):
        slopes = np.sin(np.arange(game.num_features * game.num_actions, dtype=np.float32) ** 2)
        return features @ slopes.reshape(game.num_features, -1) / 20 - 1

    return Lockstep(game, 32, 1).play(task._replace(**changes), np.arange(trajectories), forward)


@pytest.fixture(scope="module", params=["classic", "external"])
def played(request):
    if request.param == "classic":
        return traversed(CLASSIC, 40)
    return traversed(MINI, 6, branching=True)


def test_sums_and_means_over_rounds(played):
    found, results = describe(played), played.results.tolist()
    rounds = sum(each[codes.ROUNDS] for each in results)
    assert found["rounds"] == rounds >= len(results)
    for name, column in ("score", codes.SCORE), ("opponent_score", codes.OPPONENT_SCORE), ("turns", codes.TURNS):
        assert found[name] == pytest.approx(sum(each[column] for each in results) / rounds)
    assert found["opened"] == pytest.approx(sum(each[codes.OPENED] for each in results) / rounds)
    assert found["forced"] == sum(each[codes.FORCED] for each in results)
    assert found["nodes"] == played.nodes


def test_rows_and_fallbacks_are_counted(played):
    found, samples = describe(played), played.samples
    learns = samples.learns_strategy.tolist()
    assert (found["regret_rows"], found["strategy_rows"]) == (learns.count(False), learns.count(True))
    assert found["fallback"] == pytest.approx(statistics.fmean(samples.fallback.tolist()))
    assert 0 < found["fallback"] < 1


def test_entropy_is_that_of_each_policy(played):
    samples = played.samples
    expected = [-math.fsum(p * math.log(p) for p in policy if p > 0) for policy in samples.sigma.tolist()]
    assert entropy(samples.sigma) == pytest.approx(expected)
    assert describe(played)["entropy"] == pytest.approx(statistics.fmean(expected))
    assert max(expected) > 0


def test_entropy_of_known_policies():
    policies = np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.25, 0.25, 0.25]], np.float32)
    assert entropy(policies).tolist() == pytest.approx([0, math.log(2), math.log(4)])


def test_targets_by_depth_are_those_of_legal_actions(played):
    """A turn is two decisions of each player in turn; ten turns make one depth."""
    samples, expected = played.samples, {}
    for row in range(len(samples.ply)):
        if samples.learns_strategy[row]:
            continue
        turn = int(samples.ply[row]) // 2
        actions, values = samples.actions[row].tolist(), samples.values[row].tolist()
        targets = [value for action, value in zip(actions, values, strict=True) if action != NO_ACTION]
        expected.setdefault(turn // 10 * 10, []).append(targets)
    found = by_depth(samples)
    assert [each["turn"] for each in found] == sorted(expected)
    for each in found:
        rows = expected[each["turn"]]
        targets = [target for row in rows for target in row]
        assert each["rows"] == len(rows)
        assert each["mean"] == pytest.approx(statistics.fmean(targets), abs=1e-9)
        assert each["sd"] == pytest.approx(statistics.pstdev(targets))
        assert each["zero"] == pytest.approx(targets.count(0.0) / len(targets))


def test_classic_rounds_have_several_depths():
    assert [each["turn"] for each in by_depth(traversed(CLASSIC, 40).samples)][:4] == [0, 10, 20, 30]


def test_nothing_recorded_is_described_too():
    found = describe(traversed(MINI, 4)._replace(samples=traversed(MINI, 4).samples.only(np.zeros(0, np.int64))))
    assert (found["regret_rows"], found["fallback"], found["entropy"], found["targets"]) == (0, 0.0, 0.0, [])
