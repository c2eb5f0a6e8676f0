"""Mirrored pairs: symmetry, reproducibility, and whether the interval means what it says."""

import numpy as np
import pytest

from lostcfr import InputError, LostCities, Rules
from lostcfr.agents import bot
from lostcfr.arena import match
from lostcfr.arena.match import Pairs, play_pairs
from lostcfr.arena.stats import interval, summary
from lostcfr.forward import Forward
from lostcfr.kernels import tick, trajectory as codes
from lostcfr.threads import Workers, budget
from lostcfr.traverse import lockstep
from lostcfr.traverse.samples import Player, plain_task, seating
from made_up import fresh
from rule_sets import MINI

GAME = LostCities()


def points(pairs):
    return pairs.score - pairs.opponent_score


@pytest.mark.parametrize("bot", ["balanced", "selective", "discard-only", "random", "noisy"])
def test_a_bot_against_itself_is_exactly_level(bot):
    """Both rounds of a pair share deal and chance, so even a random bot mirrors itself."""
    pairs = play_pairs(GAME, bot, bot, 50, 3, threads=2)
    assert (points(pairs).sum(axis=1) == 0).all()
    assert summary(bot, bot, pairs)["mean"] == 0


def test_swapping_the_agents_negates_the_result():
    one = play_pairs(GAME, "balanced", "selective", 60, 3, threads=2)
    other = play_pairs(GAME, "selective", "balanced", 60, 3, threads=2)
    assert (points(one) == -points(other)[:, ::-1]).all()
    first, second = summary("a", "b", one), summary("b", "a", other)
    assert first["mean"] == -second["mean"]
    assert first["win"] == second["loss"]
    assert first["ci95"] == pytest.approx([-second["ci95"][1], -second["ci95"][0]])


def test_pairs_do_not_depend_on_threads_or_on_how_many_are_played():
    many = play_pairs(GAME, "noisy", "balanced", 300, 8, threads=2)
    few = play_pairs(GAME, "noisy", "balanced", 40, 8, threads=1)
    for one, other in zip(many, few, strict=True):
        assert (one[:40] == other).all()


def test_pairs_are_played_in_blocks_of_bounded_memory(monkeypatch):
    whole = play_pairs(GAME, "balanced", "random", 50, 8, threads=2)
    monkeypatch.setattr(match, "BLOCK", 16)
    for one, other in zip(whole, play_pairs(GAME, "balanced", "random", 50, 8, threads=2), strict=True):
        assert (one == other).all()


def test_figures_of_known_pairs():
    """Two pairs worked by hand: +10 and -4, then 0 and 2."""
    pairs = Pairs(
        rounds=np.ones((2, 2), np.int64),
        score=np.array([[30, 6], [5, 7]], np.int32),
        opponent_score=np.array([[20, 10], [5, 5]], np.int32),
        turns=np.array([[44, 50], [46, 60]]),
        forced=np.array([[0, 2], [0, 0]], np.int32),
        opened=np.array([[3, 4], [2, 5]], np.int32),
        unfinished=np.array([[0, 1], [0, 0]]),
        cards=np.array([[9, 12], [10, 18]]),
        positive=np.array([[1, 2], [0, 1]]),
        negative=np.array([[2, 1], [2, 2]]),
        bonuses=np.array([[0, 0], [1, 0]]),
        plies=np.array([[44, 50], [46, 60]]),
        forced_decisions=np.array([[4, 0], [0, 6]]),
        pile_draws=np.array([[0, 3], [1, 6]]),
        good_openings=np.array([[3, 0], [1, 3]]),
        entropy=np.array([[9_500_000, 0], [0, 0]]),
        support=np.array([[80, 100], [100, 100]]),
    )
    row = summary("a", "b", pairs)
    assert (row["pairs"], row["mean"], row["win"], row["draw"], row["loss"]) == (2, 2.0, 0.5, 0.25, 0.25)
    assert (row["score"], row["opponent_score"], row["turns"], row["opened"]) == (12.0, 10.0, 50.0, 3.5)
    assert row["stalled"] == 2 / 200
    assert row["unfinished"] == 0.25
    assert (row["decisions"], row["forced_decisions"], row["pile_draws"]) == (47.5, 2.5, 2.5)
    assert (row["cards"], row["positive"], row["negative"], row["bonus"]) == (3.5, 4 / 14, 7 / 14, 1 / 14)
    assert (row["good_openings"], row["bad_openings"]) == (0.5, 0.5)
    assert (row["entropy"], row["support"]) == (0.05, 2.0)
    # Pair means 3 and 1: mean 2, standard error 1, t of one degree of freedom 12.706.
    assert row["ci95"] == pytest.approx([2 - 12.7062, 2 + 12.7062], abs=1e-3)


def test_the_interval_covers_the_truth_about_19_times_in_20():
    generator = np.random.default_rng(1)
    covered = 0
    for _ in range(2000):
        low, high = interval(generator.normal(1.5, 4.0, 25))
        covered += low <= 1.5 <= high
    assert 0.935 < covered / 2000 < 0.965


def asked_together(monkeypatch, agent, opponent):
    """A match, and the networks of a tick (their mean number over ticks) with two lanes of one thread."""
    asked, forward = [], Forward.__call__
    with monkeypatch.context() as patch:
        patch.setattr(Forward, "__call__", lambda self, rows, by: asked.append(len(set(by))) or forward(self, rows, by))
        pairs = play_pairs(LostCities(MINI), agent, opponent, 200, 1, threads=1, width=16)
    return pairs, np.mean(asked)


@pytest.mark.parametrize("opponent", [bot("noisy"), fresh(MINI, "current"), fresh(MINI, weights=(3.0, 1.0))])
def test_snapshots_are_asked_one_after_the_other_which_changes_no_result(monkeypatch, opponent):
    agent = fresh(MINI, weights=(1.0,) * 12)
    together, few = asked_together(monkeypatch, agent, opponent)
    monkeypatch.setattr(match, "by_networks", lambda task, trajectories: trajectories)
    scattered, many = asked_together(monkeypatch, agent, opponent)
    assert all((one == other).all() for one, other in zip(together, scattered, strict=True))
    assert few < 0.6 * many


def test_trajectories_are_put_in_order_by_their_networks():
    """The numbers of the opponent's networks follow those of the agent; the seating is as the kernel says."""
    player, other = Player(np.array([[0, 1], [2, 3]], np.int32), np.array([1.0, 3.0])), bot("random").player
    task = plain_task(GAME, 5, seating(player, other, [codes.LOGITS] * 4))._replace(mirror=1, first=100)
    order = match.by_networks(task, np.arange(100, 500))
    networks = np.empty((400, 2), np.int32)
    tick.list_networks(task, order, networks)
    assert sorted(order) == list(range(100, 500))
    assert (networks[np.arange(400), 1 - (order & 1)] == other.networks[0, 0]).all()
    mine = networks.max(axis=1)
    assert (np.diff(mine) >= 0).all()
    assert all((np.diff(order[mine == number]) > 0).all() for number in range(4))
    assert (mine % 2 == order & 1).all()
    assert 250 < (mine >= 2).sum() < 350


def test_a_round_can_be_ended_early():
    game = LostCities(Rules(stall_limit=None))
    pairs = play_pairs(game, "random", "random", 30, 1, threads=2, max_decisions=60)
    assert (pairs.turns == 30).all()
    assert (pairs.unfinished == 1).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_those_who_watch_are_told_of_every_round(threads):
    done = []
    play_pairs(GAME, "random", "random", 150, 1, threads=threads, watch=done.append)
    assert done == sorted(done)
    assert done[-1] == 300


@pytest.mark.parametrize("threads", [1, 2])
def test_those_who_watch_can_stop_a_match(threads, monkeypatch):
    monkeypatch.setattr(lockstep, "WATCH_SECONDS", 0.0)
    begun = []

    def watch(rounds):
        begun.append(rounds)
        return len(begun) == 3

    with pytest.raises(lockstep.Stopped):
        play_pairs(GAME, "balanced", "random", 5000, 1, threads=threads, watch=watch)
    assert begun[-1] < 10_000


@pytest.mark.parametrize("agent", ["balanced", bot("balanced")])
def test_a_rule_based_player_may_be_given_by_its_name(agent):
    pairs = play_pairs(GAME, agent, "random", 20, 1, threads=1)
    expected = play_pairs(GAME, bot("balanced"), bot("random"), 20, 1, threads=1)
    assert all((one == other).all() for one, other in zip(pairs, expected, strict=True))


def test_other_rules():
    pairs = play_pairs(LostCities(MINI), "balanced", "random", 200, 1, threads=2)
    assert points(pairs).mean() > 0


def test_bad_input():
    with pytest.raises(InputError, match="pairs is 1"):
        play_pairs(GAME, "random", "random", 1, 1, threads=2)
    with pytest.raises(InputError, match="did you mean 'random'"):
        play_pairs(GAME, "rando", "random", 10, 1, threads=2)


def test_the_thread_budget(monkeypatch):
    assert budget(3) == 3
    monkeypatch.setenv("LOSTCFR_THREADS", "5")
    assert budget() == 5
    for wrong in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv("LOSTCFR_THREADS", wrong)
        with pytest.raises(InputError, match="LOSTCFR_THREADS is"):
            budget()
    monkeypatch.delenv("LOSTCFR_THREADS")
    assert budget() >= 1
    with pytest.raises(InputError, match="threads is 0"):
        budget(0)


def test_an_error_in_a_thread_reaches_the_caller():
    def fails(begin, end):
        if end > begin:
            raise RuntimeError(f"lanes {begin} to {end}")

    with pytest.raises(RuntimeError, match="lanes 0 to 10"):
        list(Workers(2).stream(fails, lanes=40, grain=10))
