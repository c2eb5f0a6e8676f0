"""What a match counts of the agent's play, against rounds of the naive twin that make the same decisions."""

import math

import numpy as np
import pytest

from lostcfr import LostCities, Rules
from lostcfr.agents import bot
from lostcfr.arena.match import play_pairs
from lostcfr.kernels import policy, rng
from lostcfr.names import PLAY_LIKELIEST
from made_up import fresh
from naive import NaiveRound, score_expedition
from rule_sets import CLASSIC, MANY_WAGERS, MINI, TINY

SEED, PAIRS = 11, 12
HAND_OF_ONE = Rules(n_colors=1, n_ranks=9, n_wagers=2, hand_size=1, stall_limit=0)
COUNTS = ["plies", "forced_decisions", "pile_draws", "good_openings", "support"]
OF_EXPEDITIONS = ["cards", "positive", "negative", "bonuses", "opened"]
CASES = {
    "planner": (CLASSIC, bot("balanced")),
    "other-planner": (MINI, bot("aggressive")),
    "random": (MANY_WAGERS, bot("random")),
    "hand-of-one": (HAND_OF_ONE, bot("random")),
    "always-stalled": (TINY, bot("noisy")),
    "network": (CLASSIC, fresh(CLASSIC)),
    "regrets": (MINI, fresh(MINI, "current")),
    "threshold": (MINI, fresh(MINI, floor=0.3)),
    "greedy": (MINI, fresh(MINI, floor=PLAY_LIKELIEST)),
}


def visible_score(game, card):
    """Points of the expedition that the card opens, with all numbers of its colour in hand that are above it."""
    held = [other for other in game.hands[game.to_move] if game.colour(other) == game.colour(card)]
    return score_expedition(game.rules, [card] + [other for other in held if game.face(other) > game.face(card)])


def opened_by(game, action):
    """The card that an action plays to an empty expedition, or None."""
    colour, kind = divmod(action, game.rules.n_ranks + 1)
    if game.drawing or colour >= game.rules.n_colors or game.expeditions[game.to_move][colour]:
        return None
    return next(c for c in game.hands[game.to_move] if (game.colour(c), game.type_of(c)) == (colour, kind))


def count(game, action, probabilities, by_network, found):
    """Add the decision that is about to be made in a naive round to the counts ``found``."""
    legal = game.legal()
    found["plies"] += 1
    found["forced_decisions"] += len(legal) == 1
    found["pile_draws"] += game.drawing and action != game.deck_action()
    card = opened_by(game, action)
    found["good_openings"] += card is not None and visible_score(game, card) >= 0
    if by_network and len(legal) > 1:
        found["support"] += sum(each > 0.01 for each in probabilities)
        found["entropy"] -= sum(each * math.log(each) for each in probabilities if each > 0)


def played(rules, agent, opponent, seat):
    """Counts by deal of rounds with the agent in a seat, played by ``Agent.policy`` and the naive rules."""
    lanes = LostCities(rules).lanes(PAIRS)
    lanes.deal(seed=SEED)
    rounds = [NaiveRound(rules, deck) for deck in lanes.games.deck.tolist()]
    found = [dict.fromkeys([*COUNTS, *OF_EXPEDITIONS, "entropy"], 0) for _ in rounds]
    for ply in range(10_000):
        if lanes.finished.all():
            break
        policies = {seat: agent.policy(lanes, SEED), 1 - seat: opponent.policy(lanes, SEED)}
        actions = np.full(PAIRS, -1)
        for lane in np.flatnonzero(~lanes.finished):
            game = rounds[lane]
            bits = np.uint64(rng.draw(np.uint64(SEED), 0, int(lane), ply, rng.ACTION))
            legal, player = game.legal(), game.to_move
            sigma = policies[player][lane, legal][None]
            actions[lane] = legal[policy.sample(sigma, 0, len(legal), 0.0, bits)]
            if player == seat:
                count(game, int(actions[lane]), sigma[0].tolist(), bool(agent.modules), found[lane])
            game.act(int(actions[lane]))
        lanes.act(actions)
    for counts, game in zip(found, rounds, strict=True):
        for cards in filter(None, game.expeditions[seat]):
            points = score_expedition(rules, cards)
            counts["opened"] += 1
            counts["cards"] += len(cards)
            counts["positive"] += points > 0
            counts["negative"] += points < 0
            counts["bonuses"] += len(cards) >= rules.bonus_threshold
    return found


@pytest.mark.parametrize("name", list(CASES))
def test_a_match_counts_what_the_twin_counts(name):
    rules, agent = CASES[name]
    opponent = bot("cautious")
    pairs = play_pairs(LostCities(rules), agent, opponent, PAIRS, SEED, threads=1)
    for seat in range(2):
        found = played(rules, agent, opponent, seat)
        for column in [*COUNTS, *OF_EXPEDITIONS]:
            assert getattr(pairs, column)[:, seat].tolist() == [each[column] for each in found], column
        expected = [1e6 * each["entropy"] for each in found]
        assert pairs.entropy[:, seat].tolist() == pytest.approx(expected, rel=1e-6, abs=100)


def test_the_cases_count_something_of_everything():
    pairs = {name: play_pairs(LostCities(case[0]), case[1], "cautious", PAIRS, SEED) for name, case in CASES.items()}
    for column in [*COUNTS, *OF_EXPEDITIONS, "entropy"]:
        assert sum(getattr(each, column).sum() for each in pairs.values()) > 0, column
    forced = {name: each.forced_decisions.sum() for name, each in pairs.items()}
    assert forced["hand-of-one"] > pairs["hand-of-one"].plies.sum() / 2  # all draws, and some cards
    assert pairs["greedy"].entropy.sum() == 0
    assert pairs["threshold"].entropy.sum() > 0
    assert pairs["planner"].support.sum() == 0


@pytest.mark.parametrize("name", ["network", "threshold"])
def test_counts_depend_neither_on_width_nor_on_threads(name):
    rules, agent = CASES[name]
    one = play_pairs(LostCities(rules), agent, "balanced", 40, SEED, threads=1, width=3)
    other = play_pairs(LostCities(rules), agent, "balanced", 40, SEED, threads=2)
    assert all((mine == theirs).all() for mine, theirs in zip(one, other, strict=True))


def test_a_round_that_is_ended_early_counts_the_plies_it_had():
    for most in range(1, 9):
        pairs = play_pairs(LostCities(CLASSIC), "balanced", "random", 2, SEED, threads=1, max_decisions=most)
        seats = [sum(ply >> 1 & 1 == seat for ply in range(most)) for seat in range(2)]
        assert pairs.plies.tolist() == [seats] * 2
