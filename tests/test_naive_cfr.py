"""The enumeration agrees with every order of the deck, with rounds solved by hand, and with its own equilibria."""

from collections import defaultdict
from dataclasses import replace
from functools import cache
from itertools import permutations
from zlib import crc32

import numpy as np
import pytest

import naive_features
from lostcfr import Rules
from naive import NaiveRound
from naive_cfr import (
    WatchedRound,
    advantages,
    best_response,
    both,
    evaluate,
    nash_conv,
    onward,
    payoff,
    reaches,
    recall,
    solve,
    unroll,
)
from rule_sets import SOLVED_FOUR_TURNS, SOLVED_ONE_COLOUR, SOLVED_TWO_COLOURS

SMALLEST = Rules(n_colors=1, n_ranks=3, n_wagers=0, hand_size=1, expedition_cost=-2, min_rank=1, stall_limit=1)
TWO_TURNS = Rules(n_colors=1, n_ranks=4, n_wagers=0, hand_size=1, expedition_cost=-2, min_rank=1, stall_limit=1)
MINIS = pytest.mark.parametrize("rules", [SOLVED_ONE_COLOUR, SOLVED_TWO_COLOURS], ids=["one-colour", "two-colours"])
SOLVED = pytest.mark.parametrize(
    "rules",
    [SOLVED_ONE_COLOUR, SOLVED_TWO_COLOURS, SOLVED_FOUR_TURNS],
    ids=["one-colour", "two-colours", "four-turns"],
)
SAMPLINGS = [("external", 0.0), ("every", 0.0), ("every", 0.3), ("one", 0.3)]

unrolled = cache(unroll)
solved = cache(lambda rules: solve(unrolled(rules, WatchedRound)))


def uniform(game):
    return [1 / len(game.legal())] * len(game.legal())


def arbitrary(salt, key_of):
    """A strategy without zeros that looks at the key alone."""

    def strategy(game):
        weights = [1 + crc32(repr((salt, key_of(game), action)).encode()) % 8 for action in game.legal()]
        return [weight / sum(weights) for weight in weights]

    return strategy


def hand(game):
    """A key that forgets nearly all: cards in hand, and what is legal."""
    return game.to_move, tuple(game.hands[game.to_move]), tuple(game.legal())


def features(game):
    return tuple(naive_features.features(game, game.rules).values())


PLAYERS = [arbitrary("first", hand), arbitrary("second", features)]


def all_decks(rules):
    decks = list(permutations(range(rules.deck_size)))
    return [(1 / len(decks), NaiveRound(rules, list(deck))) for deck in decks]


def after(game, action):
    twin = game.copy()
    twin.act(action)
    return twin


def value_from(game, seat):
    """The expected score difference for the seat, with the order of the deck as it is."""
    if game.finished:
        scores = game.scores()
        return scores[seat] - scores[1 - seat]
    moves = zip(PLAYERS[game.to_move](game), game.legal(), strict=True)
    return sum(p * value_from(after(game, action), seat) for p, action in moves)


def visit(game, weight, landed, seat, sampling, exploration, rows):
    """Add weight times advantage of every decision that a sampled trajectory would keep."""
    if game.finished or landed:
        return
    sigma, legal = PLAYERS[game.to_move](game), game.legal()
    if game.to_move != seat or len(legal) == 1:
        for p, action in zip(sigma, legal, strict=True):
            visit(after(game, action), weight * p, False, seat, sampling, exploration, rows)
        return
    values = [value_from(after(game, action), seat) for action in legal]
    rows[hand(game)] += weight * np.array([1, *(np.array(values) - np.dot(sigma, values))])
    for p, action in zip(sigma, legal, strict=True):
        coins = {
            "external": [(1.0, False)],
            "every": [((1 - exploration) * p, False), (exploration / len(legal), False)],
            "one": [((1 - exploration) * p, False), (exploration / len(legal), True)],
        }
        for q, landed_now in coins[sampling]:
            visit(after(game, action), weight * q, landed_now, seat, sampling, exploration, rows)


@MINIS
@pytest.mark.parametrize("kind", [NaiveRound, WatchedRound])
def test_probabilities_of_chance_sum_to_one(rules, kind):
    tree = unrolled(rules, kind)
    assert sum(p for p, _ in tree.deals) == pytest.approx(1)
    assert {round(sum(p for p, _ in after), 9) for node in tree.nodes for after in node.moves.values()} == {1}


@pytest.mark.parametrize("kind", [NaiveRound, WatchedRound])
def test_values_agree_with_all_orders_of_the_deck(kind):
    exact = sum(p * value_from(game, 0) for p, game in all_decks(TWO_TURNS))
    assert evaluate(unrolled(TWO_TURNS, kind), PLAYERS) == pytest.approx(exact)
    assert abs(exact) > 0.01


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(("sampling", "exploration"), SAMPLINGS)
def test_advantages_agree_with_all_orders_of_the_deck(seat, sampling, exploration):
    rows = defaultdict(float)
    for p, game in all_decks(TWO_TURNS):
        visit(game, p, False, seat, sampling, exploration, rows)
    exact = advantages(unrolled(TWO_TURNS), seat, PLAYERS, hand, sampling, exploration)
    assert exact.keys() == rows.keys()
    for key, (visits, *sums) in rows.items():
        assert exact[key].visits == pytest.approx(visits)
        assert exact[key].advantages == pytest.approx(np.array(sums) / visits)
        assert exact[key].actions == list(key[2])


@MINIS
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(("sampling", "exploration"), SAMPLINGS)
def test_the_policy_has_no_advantage_over_itself(rules, seat, sampling, exploration):
    sigma = {}

    def keyed(game):
        return sigma.setdefault(features(game), uniform_but_last(game))

    rows = advantages(unrolled(rules), seat, [keyed, keyed], features, sampling, exploration)
    assert max(abs(np.dot(sigma[key], row.advantages)) for key, row in rows.items()) < 1e-9
    assert max(max(row.advantages) for row in rows.values()) > 0.5


def uniform_but_last(game):
    """The last action, which draws from the deck or discards, twice as likely as each other."""
    n = len(game.legal())
    return [1 / (n + 1)] * (n - 1) + [2 / (n + 1)]


@MINIS
@pytest.mark.parametrize("seat", [0, 1])
def test_with_perfect_recall_no_sampling_changes_the_advantages(rules, seat):
    """The traverser's own reach is the same for all histories of an information state."""
    rows = [advantages(unrolled(rules, WatchedRound), seat, PLAYERS, recall, *each) for each in SAMPLINGS]
    for key, row in rows[0].items():
        assert [other[key].advantages for other in rows[1:]] == [pytest.approx(row.advantages)] * 3


def test_without_recall_the_sampling_changes_the_advantages():
    rows = [advantages(unrolled(SOLVED_ONE_COLOUR), 0, PLAYERS, hand, *each) for each in SAMPLINGS]
    spread = [np.ptp([other[key].advantages for other in rows], axis=0).max() for key in rows[0]]
    assert max(spread) > 0.1


@pytest.mark.parametrize(("sampling", "exploration"), SAMPLINGS)
def test_keys_only_sort_the_visits(sampling, exploration):
    tree = unrolled(SOLVED_ONE_COLOUR, WatchedRound)
    few, many = (advantages(tree, 0, PLAYERS, each, sampling, exploration).values() for each in (hand, recall))
    assert sum(row.visits for row in few) == pytest.approx(sum(row.visits for row in many))
    assert len(few) < len(many)


def test_weights_of_the_ways_on():
    assert onward("external", [0.25, 0.75], 0.0) == [1, 1]
    assert onward("every", [0.25, 0.75], 0.2) == pytest.approx([0.3, 0.7])
    assert onward("one", [0.25, 0.75], 0.2) == pytest.approx([0.2, 0.6])


def test_a_key_must_tell_the_legal_actions():
    with pytest.raises(ValueError, match="different legal actions"):
        advantages(unrolled(TWO_TURNS), 0, PLAYERS, lambda game: game.to_move, "external")


def test_a_round_of_one_turn_by_hand():
    """Player 0 holds 1, 2 or 3 at a cost of 2 and is the only one to move: playing a 3 alone gains."""
    tree = unrolled(SMALLEST, WatchedRound)
    assert solve(tree)[0] == pytest.approx(1 / 3)
    assert best_response(tree, 1, uniform)[0] == pytest.approx(0)
    assert {key: row.advantages for key, row in advantages(tree, 0, [uniform, uniform], hand, "every").items()} == {
        (0, (0,), (1, 5)): [-0.5, 0.5],
        (0, (1,), (2, 6)): [0, 0],
        (0, (2,), (3, 7)): [0.5, -0.5],
    }


@pytest.mark.parametrize("seat", [0, 1])
def test_a_round_of_two_turns_by_hand(seat):
    """Without pile draws each plays one of 1 to 4 at a cost of 2, or none: 3/4 at best, 1/4 at random."""
    tree = unrolled(replace(TWO_TURNS, stall_limit=0), WatchedRound)
    assert evaluate(tree, [uniform, uniform]) == pytest.approx(0)
    assert best_response(tree, seat, uniform)[0] == pytest.approx(1 / 2)
    assert solve(tree)[0] == pytest.approx(0)


@pytest.mark.parametrize(
    ("rules", "value", "most", "sizes"),
    [
        (SMALLEST, 1 / 3, 1, (30, 30)),
        (TWO_TURNS, 0, 3, (396, 396)),
        (SOLVED_ONE_COLOUR, 23 / 10, 23, (5040, 5400)),
        (SOLVED_TWO_COLOURS, 0, 2, (6948, 17298)),
        (SOLVED_FOUR_TURNS, -7 / 60, 10, (14490, 31266)),
    ],
    ids=["smallest", "two-turns", "one-colour", "two-colours", "four-turns"],
)
def test_values_and_sizes(rules, value, most, sizes):
    """The value for player 0, the largest score difference, and the number of positions and of histories."""
    tree = unrolled(rules, WatchedRound)
    payoffs = [payoff(node) for node in tree.nodes if not node.moves]
    assert solved(rules)[0] == pytest.approx(value, abs=1e-7)
    assert (max(payoffs), min(payoffs)) == (most, -most)
    assert (len(unrolled(rules).nodes), len(tree.nodes)) == sizes


@SOLVED
def test_a_solution_is_an_equilibrium_with_the_value(rules):
    value, players = solved(rules)
    tree = unrolled(rules, WatchedRound)
    assert evaluate(tree, players) == pytest.approx(value, abs=1e-7)
    assert abs(nash_conv(tree, players)) < 1e-7
    assert nash_conv(tree, PLAYERS) > 0.5


@MINIS
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("opponent", [uniform, PLAYERS[1]], ids=["uniform", "arbitrary"])
def test_a_best_response_reaches_its_value(rules, seat, opponent):
    tree, (game_value, _) = unrolled(rules, WatchedRound), solved(rules)
    sign = 1 - 2 * seat
    value, response = best_response(tree, seat, opponent)
    others = [PLAYERS[0], uniform, solved(rules)[1][seat]]
    played = [sign * evaluate(tree, [each, opponent][::sign]) for each in [response, *others]]
    assert played[0] == pytest.approx(value)
    assert value >= max(played[1:]) - 1e-9
    assert value >= sign * game_value - 1e-9


@MINIS
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("opponent", PLAYERS, ids=["arbitrary", "another"])
def test_no_change_of_one_decision_betters_a_best_response(rules, seat, opponent):
    tree = unrolled(rules, WatchedRound)
    response = best_response(tree, seat, opponent)[1]
    rows = advantages(tree, seat, [response, opponent][:: 1 - 2 * seat], recall, "external")
    assert max(max(row.advantages) for row in rows.values()) < 1e-9
    assert min(min(row.advantages) for row in rows.values()) < -0.5


@MINIS
def test_the_reaches_of_finished_rounds_sum_to_one(rules):
    tree = unrolled(rules)
    reach = reaches(tree, both(tree, PLAYERS))
    assert sum(reach[node] for node in tree.nodes if not node.moves) == pytest.approx(1)
