"""Ratings: closed forms, a general optimiser, records that have no finite rating, and what the intervals cover."""

from itertools import combinations

import numpy as np
import pytest
from scipy import optimize

from lostcfr.arena import rating
from lostcfr.arena.rating import ELO, IMAGINED_ROUNDS, ratings, strengths, table

DEALS = 50


def chance_to_win(one, other):
    return 1 / (1 + np.exp(other - one))


def expected_wins(true, rounds):
    """The table of wins whose most likely strengths are ``true``, each of which has its negative among them.

    There every agent has won what the model expects, the drawn round with the imagined agent included.
    """
    n = len(true)
    wins = np.array([[rounds * chance_to_win(true[i], true[j]) * (i != j) for j in range(n)] for i in range(n)])
    for i, j in combinations(range(n), 2):
        if true[i] == -true[j]:
            surplus = IMAGINED_ROUNDS * (chance_to_win(true[i], 0) - 0.5)
            wins[i, j] += surplus
            wins[j, i] -= surplus
    return wins


def loss(found, wins):
    """Minus the logarithm of the likelihood, term by term."""
    n, half = len(wins), IMAGINED_ROUNDS / 2
    total = sum(wins[i, j] * np.log(chance_to_win(found[i], found[j])) for i in range(n) for j in range(n) if i != j)
    total += sum(half * np.log(chance_to_win(x, 0)) + half * np.log(chance_to_win(0, x)) for x in found)
    return -total


def some_matches(n, deals=DEALS, seed=1, true=None):
    """Rounds won of each deal by the first agent of every match, and who plays whom."""
    generator = np.random.default_rng(seed)
    true = np.linspace(1, -1, n) if true is None else true
    games = np.array(list(combinations(range(n), 2)))
    odds = chance_to_win(true[games[:, 0]], true[games[:, 1]])
    return generator.binomial(2, odds[:, None], (len(games), deals)).astype(float), games


@pytest.mark.parametrize("true", [[0.8, -0.8], [1.5, 0.0, -1.5], [3.0, 0.4, -0.4, -3.0]])
def test_strengths_are_those_that_explain_the_wins(true):
    assert strengths(expected_wins(np.array(true), 200)) == pytest.approx(true, abs=1e-9)


def test_two_agents_have_the_closed_form():
    """Without the imagined round the difference is the logarithm of the odds: 400 points of Elo for 10 to 1."""
    wins = np.array([[0.0, 1e6], [1e5, 0.0]])
    one, other = ELO * strengths(wins)
    assert one - other == pytest.approx(400, abs=0.01)


def test_five_agents_agree_with_a_general_optimiser():
    won, games = some_matches(5)
    wins = table(won.sum(axis=1), games, 5, 2 * DEALS)
    found = optimize.minimize(loss, np.zeros(5), args=(wins,), tol=1e-9)
    assert strengths(wins) == pytest.approx(found.x, abs=1e-4)


def test_tables_are_solved_side_by_side():
    wins = np.array([expected_wins(np.array([x, 0.0, -x]), 40) for x in (0.1, 1.0, 4.0)])
    assert strengths(wins) == pytest.approx(np.array([strengths(each) for each in wins]), abs=1e-12)


def test_a_record_without_a_loss_has_a_finite_rating():
    """One agent beats all, another loses all: far apart in the right order, and further with more rounds."""
    spans = []
    for rounds in (20, 2000, 2_000_000):
        found = strengths(np.array([[0, rounds, rounds], [0, 0, rounds], [0, 0, 0]], float))
        assert found[0] > found[1] + 2
        assert found[1] > found[2] + 2
        spans.append(found[0] - found[2])
    assert np.isfinite(spans).all()
    assert spans == sorted(spans)


def test_agents_that_only_draw_are_level():
    assert strengths(np.array([[0, 5, 5], [5, 0, 5], [5, 5, 0]], float)) == pytest.approx(np.zeros(3), abs=1e-12)


def test_who_beats_a_better_one_as_often_is_better():
    """A and B never meet; C beats B two times in three, and A beats C two times in three."""
    a, b, c = strengths(np.array([[0, 0, 20], [0, 0, 10], [10, 20, 0]], float))
    assert a > c > b
    assert a - b == pytest.approx(2 * np.log(2), abs=0.1)


def test_the_table_of_wins_of_known_matches():
    wins = table(np.array([3.0, 0.5]), np.array([[0, 2], [1, 2]]), 3, 4)
    assert wins.tolist() == [[0, 0, 3], [0, 0, 0.5], [1, 3.5, 0]]


def test_the_mean_or_the_anchor_is_0():
    won, games = some_matches(4)
    centred, anchored = ratings(won, games, 4, 1), ratings(won, games, 4, 1, anchor=2)
    assert centred.elo.mean() == pytest.approx(0, abs=1e-9)
    assert anchored.elo == pytest.approx(centred.elo - centred.elo[2])
    assert (anchored.elo[2], anchored.low[2], anchored.high[2]) == (0, 0, 0)


def test_intervals_depend_on_the_seed_alone():
    won, games = some_matches(3)
    first, again, other = (ratings(won, games, 3, seed) for seed in (2**64 - 1, 2**64 - 1, 0))
    assert all((one == two).all() for one, two in zip(first[:3], again[:3], strict=True))
    assert first.elo == pytest.approx(other.elo, abs=1e-9)
    assert (first.low != other.low).all()


def test_a_deal_is_drawn_with_its_rounds_of_all_matches():
    """In each deal the first beats the second as often as the second the third: their differences stay equal."""
    won, _ = some_matches(2)
    games = np.array([[0, 1], [1, 2]])
    found = ratings(np.repeat(won, 2, axis=0), games, 3, 1, anchor=1)
    assert found.low[0] == pytest.approx(-found.high[2], abs=1e-6)
    assert found.high[0] == pytest.approx(-found.low[2], abs=1e-6)


@pytest.mark.parametrize(
    ("won", "bounded"),
    [
        ([[2, 1], [2, 1], [1, 1]], True),
        ([[2, 2], [2, 2], [1, 1]], False),  # the first wins all
        ([[2, 2], [1, 1], [1, 1]], True),  # the second loses to the first, but is level with one who is, too
        ([[1, 1], [2, 2], [2, 2]], False),  # two that are level beat the third
        ([[2, 2], [0, 0], [2, 2]], True),  # a circle
    ],
)
def test_groups_that_lost_no_round_to_the_rest_are_told(won, bounded):
    games = np.array([[0, 1], [0, 2], [1, 2]])
    assert ratings(np.array(won, float), games, 3, 1).bounded is bounded


def test_intervals_cover_the_truth_about_19_times_in_20(monkeypatch):
    """Deals of two independent rounds, rated 200 times; fewer drawings for the sake of time."""
    monkeypatch.setattr(rating, "RESAMPLES", 300)
    true, covered = np.array([0.6, 0.1, -0.7]), 0
    for seed in range(200):
        won, games = some_matches(3, deals=100, seed=seed, true=true)
        found = ratings(won, games, 3, seed)
        covered += ((found.low <= ELO * true) & (ELO * true <= found.high)).sum()
    assert 0.92 < covered / 600 < 0.97
