"""Sampled regret targets have the exact advantages as their means, in every mode; known wrong ones are found out.

Each seat of each role has a network of its own, which is an arbitrary function of the features. What a target should
be on average comes from ``naive_cfr``, which knows nothing of trajectories: it enumerates the game.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

import naive_features
from lostcfr import LostCities
from lostcfr.kernels import policy, rng, trajectory as codes
from lostcfr.kernels.jit import kernel
from lostcfr.kernels.rules import NO_ACTION
from lostcfr.traverse.lockstep import Lockstep
from naive_cfr import advantages, is_choice, unroll
from rule_sets import SOLVED_ONE_COLOUR, SOLVED_TWO_COLOURS
from traversals import SEED, hashed, hashed_baseline, one_of, table_of, task_for

SIGMAS = 4.0
FOUND_OUT = 10.0  # where a wrong estimator has to stand at least
TARGETS = 200_000
LEAST_VISITS = 200  # of an information state that is compared: its rarest action is then sampled some fifteen times
ROUNDING = 1e-5  # points; targets are f4
SUBJECT, OPPONENT = (0, 1), (2, 3)  # the network of each seat
CLIP = 6.0  # points; a return divided by its probability is often more

MINIS = {"one-colour": SOLVED_ONE_COLOUR, "two-colours": SOLVED_TWO_COLOURS}


class Mode(NamedTuple):
    """How the subject moves, and the lowest output of the networks: with negative ones, some actions are not played."""

    trajectories: int
    lowest: int
    meaning: int = codes.REGRETS
    exploration: float = 0.0
    explores_once: bool = False
    branching: bool = False

    @property
    def sampling(self):
        """The name that ``naive_cfr`` has for it."""
        return "external" if self.branching else "one" if self.explores_once else "every"


# Without exploration an action that is never played is never sampled either, so that nothing is known of its value:
# all outputs are positive there. With it, targets are right for the actions that are not played, too.
MODES = {
    "no-exploration": Mode(200_000, 1),
    "every": Mode(250_000, -3, exploration=0.3),
    "one": Mode(250_000, -3, codes.REGRETS_OR_UNIFORM, exploration=0.3, explores_once=True),
    "external": Mode(110_000, -3, codes.REGRETS_OR_UNIFORM, branching=True),
}
OUTCOME = [name for name in MODES if name != "external"]


class Expected(NamedTuple):
    """What the samples of a mode should be, by information state (seat and features) with a number for each."""

    number: dict  # (seat, features as bytes) -> index in the arrays
    actions: np.ndarray  # [I, K] u1
    advantages: np.ndarray  # [I, K] f8  0 where there is no action
    visits: np.ndarray  # [I] f8  a trajectory of that seat's subject


class Game:
    """A small game in full, and its decisions as the networks see them."""

    def __init__(self, rules):
        self.game, self.unrolled = LostCities(rules), unroll(rules)
        self.choices = [node for node in self.unrolled.nodes if is_choice(node)]
        columns = [list(naive_features.features(node.round, rules).values()) for node in self.choices]
        self.features = np.array(columns, np.uint8)
        self.key = {id(node.round): row.tobytes() for node, row in zip(self.choices, self.features, strict=True)}

    def strategy(self, mode, network):
        """The policy of a network, by the enumeration's rounds."""
        outputs = hashed(self.game, 1, mode.lowest, 4)(self.features, np.full(len(self.features), network))
        table = {
            id(node.round): matched(row[list(node.moves)], mode.meaning)
            for node, row in zip(self.choices, outputs, strict=True)
        }
        return lambda position: table[id(position)]

    def expected(self, mode):
        """Advantages and visits of both seats."""
        found, most = {}, max(len(node.moves) for node in self.choices)
        for seat in range(2):
            players = [self.strategy(mode, SUBJECT[each] if each == seat else OPPONENT[each]) for each in range(2)]
            rows = advantages(
                self.unrolled, seat, players, lambda position: self.key[id(position)], mode.sampling, mode.exploration
            )
            found |= {(seat, key): row for key, row in rows.items()}
        return Expected(
            number={key: number for number, key in enumerate(found)},
            actions=np.array([padded(row.actions, most, NO_ACTION) for row in found.values()], np.uint8),
            advantages=np.array([padded(row.advantages, most, 0.0) for row in found.values()]),
            visits=np.array([row.visits for row in found.values()]),
        )


def padded(values, length, filler):
    return [*values, *[filler] * (length - len(values))]


def matched(outputs, meaning):
    """Regret matching, written again: f8, by legal action."""
    positive = np.maximum(outputs.astype(np.float64), 0.0)
    if positive.any():
        return positive / positive.sum()
    if meaning == codes.REGRETS_OR_UNIFORM:
        return np.full(len(outputs), 1 / len(outputs))
    return np.eye(len(outputs))[np.argmax(outputs)]


small = cache(Game)


@cache
def played(rules, name, with_baseline):
    """A mode's task and its samples of the subject."""
    mini, mode = small(rules), MODES[name]
    table = table_of(one_of(SUBJECT), one_of(OPPONENT), 4, mode.meaning)
    task = task_for(
        mini.game,
        table,
        exploration=mode.exploration,
        explores_once=mode.explores_once,
        branching=mode.branching,
        keeps_opponent=False,
    )
    scheduler = Lockstep(mini.game, 256, 1, history=with_baseline)
    baseline = hashed_baseline(mini.game, 2) if with_baseline else None
    forward = hashed(mini.game, 1, mode.lowest, 4)
    return scheduler.play(task, np.arange(mode.trajectories), forward, baseline=baseline, roots=64).samples


class Tally:
    """Samples by information state; several of one trajectory, which are not independent, count as one sum."""

    def __init__(self, expected, samples):
        keyed = np.hstack([samples.seat[:, None].astype(np.uint8), samples.features])
        alike, inverse = np.unique(keyed.view(np.dtype((np.void, keyed.shape[1]))).ravel(), return_inverse=True)
        rows = [row.tobytes() for row in alike]
        self.state = np.array([expected.number[row[0], row[1:]] for row in rows])[inverse]
        self.order = np.lexsort((samples.trajectory, self.state))
        state, trajectory = self.state[self.order], samples.trajectory[self.order]
        self.begins = np.flatnonzero(np.r_[True, (np.diff(state) != 0) | (np.diff(trajectory) != 0)])
        self.of_cluster = state[self.begins]
        self.count = len(expected.visits)
        self.visits = np.bincount(self.state, minlength=self.count)

    def moments(self, values):
        """The sum of the values [n] of each information state, and that of the squares of trajectories' sums."""
        sums = np.add.reduceat(values[self.order], self.begins)
        return [np.bincount(self.of_cluster, sums**power, self.count) for power in (1, 2)]


def worst_mean(expected, tally, targets):
    """The most standard errors by which the mean target of an action is off; the spread is that about the truth."""
    enough = tally.visits >= LEAST_VISITS
    worst = 0.0
    for slot in range(targets.shape[1]):
        errors = targets[:, slot].astype(np.float64) - expected.advantages[tally.state, slot]
        total, squares = tally.moments(errors)
        off = np.abs(total[enough]) / (np.sqrt(squares[enough]) + ROUNDING * tally.visits[enough])
        worst = max(worst, off.max())
    return worst


def worst_visits(expected, tally, trajectories):
    """The same for the number of visits of each information state."""
    once, squares = tally.moments(np.ones(len(tally.state)))
    mean = trajectories * expected.visits
    spread = np.sqrt(squares - 2 * expected.visits * once + mean * expected.visits)
    enough = mean >= LEAST_VISITS
    return (np.abs(once - mean)[enough] / spread[enough]).max()


@cache
def checked(rules, name, with_baseline=False):
    expected, samples = small(rules).expected(MODES[name]), played(rules, name, with_baseline)
    return expected, samples, Tally(expected, samples)


CASES = pytest.mark.parametrize(
    ("mini", "name", "with_baseline"),
    [(mini, name, False) for mini in MINIS for name in MODES]
    + [(mini, name, True) for mini in MINIS for name in OUTCOME],
)
BY_MODE = pytest.mark.parametrize(("mini", "name"), [(mini, name) for mini in MINIS for name in MODES])
SAMPLED = pytest.mark.parametrize(("mini", "name"), [(mini, name) for mini in MINIS for name in OUTCOME[:2]])


@CASES
def test_the_mean_of_targets_is_the_advantage(mini, name, with_baseline):
    expected, samples, tally = checked(MINIS[mini], name, with_baseline)
    assert len(samples.values) >= TARGETS
    assert (tally.visits >= LEAST_VISITS).sum() > 140
    assert worst_mean(expected, tally, samples.values) < SIGMAS


@BY_MODE
def test_information_states_are_visited_as_often_as_they_should(mini, name):
    expected, _, tally = checked(MINIS[mini], name)
    assert worst_visits(expected, tally, MODES[name].trajectories / 2) < SIGMAS


@BY_MODE
def test_rows_hold_the_legal_actions_and_the_policy(mini, name):
    expected, samples, tally = checked(MINIS[mini], name)
    assert (samples.actions == expected.actions[tally.state]).all()
    mode, some = MODES[name], slice(0, None, 97)
    networks = np.array(SUBJECT)[samples.seat[some]]
    outputs = hashed(LostCities(MINIS[mini]), 1, mode.lowest, 4)(samples.features[some], networks)
    for row, actions, sigma, fell in zip(
        outputs, samples.actions[some], samples.sigma[some], samples.fallback[some], strict=True
    ):
        legal = actions[actions != NO_ACTION]
        twin = padded(matched(row[legal], mode.meaning), len(sigma), 0.0)
        assert (sigma == np.array(twin, np.float32)).all()
        assert fell == (row[legal].max() <= 0)


@BY_MODE
def test_targets_are_level_under_the_policy(mini, name):
    """The policy's mean of a row's targets is 0: they are differences from what the policy is worth."""
    samples = checked(MINIS[mini], name)[1]
    means = (samples.sigma * samples.values).sum(axis=1)
    assert np.abs(means).max() < 1e-4
    assert (samples.values[samples.actions == NO_ACTION] == 0).all()


@pytest.mark.parametrize("mini", list(MINIS))
def test_a_baseline_changes_the_targets_themselves(mini):
    plain, shifted = (checked(MINIS[mini], "every", with_baseline)[1] for with_baseline in (False, True))
    assert (plain.features == shifted.features).all()
    assert np.abs(plain.values - shifted.values).max() > 1


@kernel
def draw_again(samples, legal, seed, iteration, exploration, out_slot):
    for k in range(legal.shape[0]):
        bits = rng.draw(seed, iteration, samples.trajectory[k], samples.ply[k], rng.ACTION)
        out_slot[k] = policy.sample(samples.sigma, k, legal[k], exploration, bits)


def followed(mini, name, samples):
    """The slot of the action that was followed, and the value it got, in rows without baseline."""
    legal = (samples.actions != NO_ACTION).sum(axis=1)
    slots = np.zeros(len(legal), np.int64)
    draw_again(samples, legal, np.uint64(SEED), 3, MODES[name].exploration, slots)
    rows = np.arange(len(slots))
    others = np.where(slots == 0, 1, 0)  # one that was not followed has minus the row's value as its target
    return slots, samples.values[rows, slots] - samples.values[rows, others]


@SAMPLED
def test_targets_of_zero_for_what_was_not_followed_are_found_out(mini, name):
    expected, samples, tally = checked(MINIS[mini], name)
    slots, _ = followed(mini, name, samples)
    only = np.where(np.arange(samples.values.shape[1]) == slots[:, None], samples.values, 0)
    assert worst_mean(expected, tally, only) > FOUND_OUT


@SAMPLED
def test_clipped_values_are_found_out(mini, name):
    expected, samples, tally = checked(MINIS[mini], name)
    slots, values = followed(mini, name, samples)
    is_followed = np.arange(samples.values.shape[1]) == slots[:, None]
    is_action = samples.actions != NO_ACTION

    def targets(values):
        mine = np.take_along_axis(samples.sigma, slots[:, None], axis=1) * values[:, None]
        return np.where(is_action, is_followed * values[:, None] - mine, 0)

    assert np.abs(targets(values) - samples.values).max() < 1e-3
    clipped = np.clip(values, -CLIP, CLIP)
    assert 0.02 < (clipped != values).mean() < 0.9
    assert worst_mean(expected, tally, targets(clipped)) > FOUND_OUT
