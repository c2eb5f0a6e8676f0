"""Lanes in lockstep play what the recursion plays, byte for byte; pairs mirror; stops and failures leave no trace."""

import time
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
import torch
from scipy import stats

from lostcfr import LostCities
from lostcfr.agents import BOTS
from lostcfr.errors import ResourceError
from lostcfr.kernels import trajectory as codes
from lostcfr.kernels.rules import NO_ACTION
from lostcfr.traverse.lockstep import Lockstep, Stopped
from lostcfr.traverse.recursive import Recursive
from rule_sets import CLASSIC, MINI, SOLVED_TWO_COLOURS
from traversals import SEED, hashed, hashed_baseline, one_of, table_of, task_for

FIRST = 1000  # the number of the first one
HIDDEN = 64
NETWORK = one_of((0, 1))
SNAPSHOTS = one_of((0, 1), (2, 3), (4, 5), weights=[1.0, 2.0, 3.0])


def bot(name):
    network = -1 - BOTS[name]
    return one_of((network, network))


class Case(NamedTuple):
    """A way to play: who is asked, and how the subject moves."""

    rules: object
    opponent: object = NETWORK
    meaning: int = codes.REGRETS
    baseline: bool = False
    tile: int = 8
    trajectories: int = 200
    changes: dict = {}  # noqa: RUF012  nobody changes it

    @property
    def order(self):
        return np.arange(FIRST, FIRST + self.trajectories)

    def task(self, game):
        return task_for(game, table_of(NETWORK, self.opponent, 6, self.meaning), first=FIRST, **self.changes)


EVERY = {"exploration": 0.3}
ONE = {"exploration": 0.3, "explores_once": True}
EXTERNAL = {"branching": True}
CASES = {
    "classic": Case(CLASSIC, trajectories=50, changes=EVERY),
    "no-exploration": Case(MINI),
    "every-decision-uniform-fallback": Case(MINI, meaning=codes.REGRETS_OR_UNIFORM, tile=24, changes=EVERY),
    "one-decision": Case(MINI, tile=64, changes=ONE),
    "one-decision-uniform-fallback": Case(MINI, meaning=codes.REGRETS_OR_UNIFORM, changes=ONE),
    "logits": Case(MINI, meaning=codes.LOGITS),
    "baseline": Case(MINI, baseline=True, changes=EVERY),
    "baseline-one-decision": Case(MINI, baseline=True, changes=ONE),
    "bot": Case(MINI, bot("noisy"), changes=EVERY),
    "snapshots": Case(MINI, SNAPSHOTS, tile=24, changes=ONE),
    "ended-early": Case(MINI, changes={"max_plies": 9}),
    "external": Case(SOLVED_TWO_COLOURS, changes=EXTERNAL),
    "external-bot": Case(SOLVED_TWO_COLOURS, bot("noisy"), changes=EXTERNAL),
    "external-snapshots": Case(SOLVED_TWO_COLOURS, SNAPSHOTS, tile=64, changes=EXTERNAL),
}
BY_CASE = pytest.mark.parametrize("name", list(CASES))
game_of = cache(LostCities)


class Perceptron(torch.nn.Module):
    """Two hidden layers with weights of a seed; outputs of some points, more of them negative than positive."""

    def __init__(self, game, seed):
        super().__init__()
        sizes = [game.num_features, HIDDEN, HIDDEN, game.num_actions]
        chance = torch.Generator().manual_seed(seed)
        self.scales = torch.from_numpy(game.feature_scales())
        self.layers = [
            torch.randn(after, before, generator=chance) / before**0.5
            for before, after in zip(sizes, sizes[1:], strict=False)
        ]

    def forward(self, features):
        hidden = features * self.scales
        for layer in self.layers[:-1]:
            hidden = torch.relu(torch.nn.functional.linear(hidden, layer))
        return 9 * torch.nn.functional.linear(hidden, self.layers[-1]) - 1


@cache
def modules(game):
    return [Perceptron(game, seed) for seed in range(6)]


def answers(game, tile):
    """A forward: each network answers in tiles of one size, which are filled up with zeros."""

    @torch.inference_mode()
    def forward(features, network):
        torch.set_num_threads(1)  # of this thread; a product that cores share is rounded differently
        outputs = np.empty((len(features), game.num_actions), np.float32)
        for number in np.unique(network):
            rows = np.flatnonzero(network == number)
            for some in np.split(rows, range(tile, len(rows), tile)):
                full = np.zeros((tile, game.num_features), np.uint8)
                full[: len(some)] = features[some]
                outputs[some] = modules(game)[number](torch.from_numpy(full))[: len(some)].numpy()
        return outputs

    return forward


@pytest.fixture(autouse=True)
def _torch_threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def play(scheduler, case, order=None, **options):
    game = scheduler.game
    baseline = hashed_baseline(game, 3) if case.baseline else None
    order = case.order if order is None else order
    return scheduler.play(case.task(game), order, answers(game, case.tile), baseline=baseline, **options)


@cache
def recursive(name):
    """What the recursion plays; its tiles hold one row each."""
    return play(Recursive(game_of(CASES[name].rules), history=CASES[name].baseline), CASES[name])


def assert_same(one, other):
    assert (one.results == other.results).all()
    for name, ours, theirs in zip(one.samples._fields, one.samples, other.samples, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes(), name


@BY_CASE
@pytest.mark.parametrize(("width", "threads"), [(1, 1), (7, 2), (70, 1), (24, 2)])
def test_lanes_play_what_the_recursion_plays(name, width, threads):
    case, expected = CASES[name], recursive(name)
    scheduler = Lockstep(game_of(case.rules), width, threads, history=case.baseline)
    found = play(scheduler, case, roots=2 if case.changes.get("branching") else None)
    assert_same(found, expected)
    assert found.nodes == expected.nodes


@BY_CASE
def test_the_cases_are_what_they_seem(name):
    """Each has what it is there for: rows of both kinds, fallbacks, actions that are not played, early ends."""
    case, played = CASES[name], recursive(name)
    samples, changes = played.samples, case.changes
    against_bot = case.opponent.networks.min() < 0
    assert samples.learns_strategy.any() == (not against_bot)
    assert (samples.values[samples.learns_strategy] == 0).all()
    assert samples.values.any()
    assert samples.fallback.any() == (case.meaning != codes.LOGITS)
    assert (played.results[:, codes.UNFINISHED] > 0).any() == ("max_plies" in changes)
    assert (played.results[:, codes.ROUNDS] > 1).any() == ("branching" in changes)
    is_mine = samples.seat == samples.trajectory & 1
    assert (is_mine == ~samples.learns_strategy).all()
    assert samples.trajectory.min() == FIRST
    assert samples.trajectory.max() == case.order[-1]


def test_the_order_of_trajectories_does_not_matter():
    case = CASES["snapshots"]
    shuffled = np.random.default_rng(1).permutation(case.order)
    assert_same(play(Lockstep(game_of(MINI), 16, 2), case, shuffled), recursive("snapshots"))


def test_one_scheduler_plays_one_case_after_another():
    """Lanes that branching has added go, and rows of before are not seen again."""
    scheduler = Lockstep(game_of(SOLVED_TWO_COLOURS), 4, 1)
    for name in ("external", "external-bot", "external"):
        assert_same(play(scheduler, CASES[name], roots=3), recursive(name))
        assert scheduler.groups[0].lanes > 4
    plain = Case(SOLVED_TWO_COLOURS)
    alone = play(Recursive(game_of(SOLVED_TWO_COLOURS)), plain)
    assert_same(play(scheduler, plain), alone)
    assert scheduler.groups[0].lanes == 4


def test_without_recording_the_rounds_are_the_same():
    played = play(Lockstep(game_of(MINI), 16, 2), CASES["bot"], record=False)
    assert len(played.samples.values) == 0
    alone = play(Recursive(game_of(MINI)), CASES["bot"], record=False)
    assert (played.results == alone.results).all()
    assert (played.results[:, : codes.FORCED_DECISIONS] == recursive("bot").results[:, : codes.FORCED_DECISIONS]).all()


def test_a_decision_explored_is_the_last_one_kept():
    every, one = (
        recursive(name).samples for name in ("every-decision-uniform-fallback", "one-decision-uniform-fallback")
    )
    kept = [np.bincount(each.trajectory[~each.learns_strategy] - FIRST, minlength=200) for each in (every, one)]
    assert kept[1].min() >= 1
    assert kept[1].mean() < 0.7 * kept[0].mean()


def cheap(rules, low=-3):
    game = game_of(rules)
    return game, hashed(game, 4, low, 4)


@pytest.mark.parametrize("threads", [1, 2])
def test_lanes_are_kept_busy(threads):
    game = game_of(CLASSIC)
    task = task_for(game, table_of(NETWORK, NETWORK, 2))
    uniform = np.ones((32, game.num_actions), np.float32)
    played = Lockstep(game, 32, threads).play(
        task, np.arange(1500), lambda features, network: uniform[: len(features)], record=False
    )
    assert played.occupancy >= 0.95
    assert played.mean_batch >= 0.95 * 32


def test_rows_grow_and_stay():
    game, forward = cheap(MINI)
    task = task_for(game, table_of(NETWORK, NETWORK, 2))
    scheduler = Lockstep(game, 32, 1)
    many = scheduler.play(task, np.arange(3000), forward)
    capacity = len(scheduler.groups[0].rows.sampled)
    assert 4096 < len(many.samples.values) <= capacity
    few = scheduler.play(task, np.arange(50), forward)
    assert len(scheduler.groups[0].rows.sampled) == capacity
    assert_same(few, Recursive(game).play(task, np.arange(50), forward))


def test_opponents_are_drawn_by_weight_once_a_trajectory():
    game = game_of(MINI)

    def forward(features, network):
        """Outputs of 1 and more that tell which of three networks was asked."""
        return (1 + (network // 2)[:, None] * np.arange(game.num_actions)).astype(np.float32)

    task = task_for(game, table_of(NETWORK, SNAPSHOTS, 6))
    samples = Lockstep(game, 64, 1).play(task, np.arange(3000), forward).samples
    theirs = samples.only(samples.learns_strategy)
    outputs = 1 + np.arange(3)[:, None, None] * np.where(theirs.actions == NO_ACTION, 0, theirs.actions)
    outputs = outputs * (theirs.actions != NO_ACTION)
    asked = np.abs(outputs / outputs.sum(axis=2, keepdims=True) - theirs.sigma).max(axis=2).argmin(axis=0)
    trajectories, begin = np.unique(theirs.trajectory, return_index=True)
    drawn = asked[begin]
    assert (asked == np.repeat(drawn, np.diff([*begin, len(asked)]))).all()
    times = np.bincount(drawn, minlength=3)
    assert stats.chisquare(times, len(trajectories) * np.array([1, 2, 3]) / 6).pvalue > 1e-3


def pairs_of(subject, opponent, networks=6, pairs=150, rules=MINI):
    """Points of the subject, [P, 2] by its seat, in mirrored pairs."""
    game, forward = cheap(rules)
    task = task_for(game, table_of(subject, opponent, networks), mirror=1)
    results = Lockstep(game, 32, 2).play(task, np.arange(2 * pairs), forward, record=False).results
    return (results[:, codes.SCORE] - results[:, codes.OPPONENT_SCORE]).reshape(-1, 2)


PLAYERS = {"network": NETWORK, "snapshots": SNAPSHOTS, "noisy": bot("noisy"), "random": bot("random")}


@pytest.mark.parametrize("name", list(PLAYERS))
def test_a_player_against_itself_is_exactly_level(name):
    points = pairs_of(PLAYERS[name], PLAYERS[name])
    assert points.any()
    assert (points[:, 0] == -points[:, 1]).all()


@pytest.mark.parametrize(("one", "other"), [("network", "snapshots"), ("network", "noisy"), ("snapshots", "random")])
def test_swapping_the_players_changes_the_sign_only(one, other):
    points = pairs_of(PLAYERS[one], PLAYERS[other])
    assert points.sum() != 0
    assert (points == -pairs_of(PLAYERS[other], PLAYERS[one])[:, ::-1]).all()


def bot_rounds(game, names, pairs, max_plies):
    """Rounds of two bots by the public lanes alone: results [P, 7] of the first, its play apart, who sits in seat 0."""
    lanes, codes_by_seat = game.lanes(pairs), np.array([BOTS[name] for name in names])
    lanes.deal(seed=SEED)
    limit = game.rules.stall_limit
    forced = np.zeros(pairs, np.int64)
    for _ in range(max_plies):
        forced += ~lanes.finished & lanes.drawing & (lanes.stall >= limit)
        lanes.act(lanes.bot_actions(codes_by_seat[lanes.to_move], seed=SEED))
    opened = (lanes.games.table[:, 0] != 0).sum(axis=1)
    return np.column_stack([np.ones(pairs), lanes.scores(), lanes.turns, forced, opened, ~lanes.finished])


@pytest.mark.parametrize(
    ("rules", "max_plies"), [(MINI, 60), (CLASSIC, 70), (CLASSIC, 400)], ids=["mini", "cut", "classic"]
)
def test_bots_play_as_they_do_in_plain_lanes(rules, max_plies):
    game, forward = cheap(rules)
    table = table_of(bot("cautious"), bot("random"))
    task = task_for(game, table, mirror=1, max_plies=max_plies, iteration=0)
    results = Lockstep(game, 16, 2).play(task, np.arange(60), forward).results
    assert (results[0::2, : codes.CARDS] == bot_rounds(game, ["cautious", "random"], 30, max_plies)).all()
    assert results[:, codes.UNFINISHED].any() == (max_plies == 70)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_stopped_scheduler_plays_on(threads):
    case, game = CASES["snapshots"], game_of(MINI)
    scheduler, seen = Lockstep(game, 16, threads), []

    def slow(features, network):
        time.sleep(0.02)
        return np.ones((len(features), game.num_actions), np.float32)

    with pytest.raises(Stopped):
        scheduler.play(case.task(game), np.arange(FIRST, FIRST + 2000), slow, watch=lambda n: seen.append(n) or n > 0)
    assert 0 < seen[-1] < 2000
    assert_same(play(scheduler, case), recursive("snapshots"))


def test_the_recursion_stops_too():
    with pytest.raises(Stopped):
        play(Recursive(game_of(MINI)), CASES["snapshots"], watch=lambda started: started > 2)


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_ends_with_all_trajectories(threads):
    seen = []
    play(Lockstep(game_of(MINI), 16, threads), CASES["bot"], watch=lambda started: bool(seen.append(started)))
    assert seen == sorted(seen)
    assert seen[-1] == 200


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("error", [ZeroDivisionError, TimeoutError])
def test_a_failing_forward_reaches_the_caller(threads, error):
    case, game = CASES["snapshots"], game_of(MINI)
    scheduler, forward = Lockstep(game, 16, threads), answers(game, case.tile)
    calls = iter(range(10**6))

    def failing(features, network):
        if next(calls) >= 5:
            raise error("no answer")
        return forward(features, network)

    with pytest.raises(error, match="no answer"):
        scheduler.play(case.task(game), case.order, failing)
    assert_same(play(scheduler, case), recursive("snapshots"))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["external", "snapshots"])
def test_a_traversal_beyond_the_memory_is_refused(name, threads):
    case = CASES[name]
    scheduler = Lockstep(game_of(case.rules), 8, threads, most_bytes=300_000)
    with pytest.raises(ResourceError, match="the traversal needs more than") as error:
        play(scheduler, case)
    assert "lower traversal.per_player" in str(error.value)
    assert ("traversal.sampling" in str(error.value)) == (name == "external")
    scheduler.most_bytes = float("inf")
    assert_same(play(scheduler, case, roots=1), recursive(name))


@pytest.mark.parametrize("scheduler", ["lockstep", "recursive"])
def test_answers_in_any_layout_are_read_alike(scheduler):
    """Read-only, strided, transposed or of another type: a kernel gets them in the layout it was compiled for."""
    game, forward = cheap(MINI)
    task, order = task_for(game, table_of(NETWORK, NETWORK, 2)), np.arange(40)
    plays = Lockstep(game, 8, 1) if scheduler == "lockstep" else Recursive(game)
    expected = Recursive(game).play(task, order, forward)

    def frozen(features, network):
        outputs = forward(features, network)
        outputs.flags.writeable = False
        return outputs

    def strided(features, network):
        return np.repeat(forward(features, network), 2, axis=1)[:, ::2]

    def transposed(features, network):
        return np.asfortranarray(forward(features, network), np.float64)

    for layout in (frozen, strided, transposed):
        assert_same(plays.play(task, np.arange(80)[::2] // 2, layout), expected)
