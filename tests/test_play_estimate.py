"""Hidden worlds fit what a player knows and nothing else decides; means of playing on are those of all worlds."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from lostcfr import InputError, LostCities, Rules
from lostcfr.agents import bot
from lostcfr.arena.rounds import play_rounds
from lostcfr.play.estimate import after, compare, finish, hidden_cards, sample_decks
from made_up import fresh
from rule_sets import CLASSIC, MINI, RULE_SETS

SMALL = Rules(2, 5, 2, 1, 2, -4, 4, 3)
BALANCED, SELECTIVE, RANDOM = bot("balanced"), bot("selective"), bot("random")


def stopped(rules, decisions, agents=(RANDOM, RANDOM), seed=2, deal=0):
    return play_rounds(LostCities(rules), agents, seed, first=deal, max_decisions=decisions)[0]


def types(game, cards):
    return sorted(map(game.short_card_name, cards))


@pytest.mark.parametrize("name", RULE_SETS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_worlds_look_the_same_to_the_player_and_hide_the_same_cards(name, share):
    """Taking cards back from piles is common in random play, so known cards stay where they are."""
    played = stopped(RULE_SETS[name], 400)
    played = replace(played, actions=played.actions[: int(share * len(played.actions))])
    lanes = played.lanes()
    for deck in sample_decks(played, lanes, 20, seed=1):
        world = replace(played, deck=tuple(deck.tolist()))
        assert (world.lanes().observe() == lanes.observe()).all()
        found, expected = hidden_cards(world, world.lanes()), hidden_cards(played, lanes)
        assert (len(found[0]), found[1]) == (len(expected[0]), expected[1])


def test_every_hidden_card_is_as_likely_in_the_opponents_hand():
    played, worlds = stopped(CLASSIC, 41), 20_000
    lanes = played.lanes()
    held, drawn = hidden_cards(played, lanes)
    decks = sample_decks(played, lanes, worlds, seed=5)
    unseen = sorted({*held, *played.deck[drawn:]})
    in_deck = np.array([(decks[:, drawn:] == card).sum() for card in unseen])
    expected = worlds * (len(unseen) - len(held)) / len(unseen)
    assert len(held) < 8  # some are known
    # Drawing without replacement makes the counts of a world depend a little on each other, which lowers the sum.
    assert stats.chi2.sf(((in_deck - expected) ** 2 / expected).sum(), len(unseen) - 1) > 1e-3
    first = np.bincount(np.searchsorted(unseen, decks[:, drawn]), minlength=len(unseen))
    assert stats.chisquare(first).pvalue > 1e-3


@pytest.mark.parametrize("decisions", [10, 25])
def test_what_the_player_does_not_know_changes_nothing(decisions):
    played = stopped(CLASSIC, decisions)
    lanes = played.lanes()
    legal = np.flatnonzero(lanes.legal()[0])[:4].tolist()
    told = compare(played, SELECTIVE, legal, worlds=16)
    for deck in sample_decks(played, lanes, 5, seed=8):
        other = compare(replace(played, deck=tuple(deck.tolist())), SELECTIVE, legal, worlds=16)
        assert all(np.array_equal(one, two) for one, two in zip(told, other, strict=True))


@pytest.mark.parametrize("decisions", [8, 9, 10, 11])
def test_means_are_those_of_all_worlds(decisions):
    """In either seat, at either decision, with a player whose play is no matter of chance."""
    played = stopped(SMALL, decisions, (SELECTIVE, RANDOM), seed=1)
    lanes = played.lanes()
    held, drawn = hidden_cards(played, lanes)
    unseen = [*held, *played.deck[drawn:]]
    places = [played.deck.index(card) for card in unseen]
    orders = list(itertools.permutations(unseen))
    decks = np.tile(played.deck, (len(orders), 1))
    decks[:, places] = orders
    legal = np.flatnonzero(lanes.legal()[0]).tolist()
    sign = 1 - 2 * int(lanes.to_move[0])
    exact = np.array([finish(after(played, decks, action), BALANCED, 0) @ [1, -1] for action in legal]) * sign
    told = compare(played, BALANCED, legal, worlds=2000)
    deviations = exact.std(axis=1) / np.sqrt(2000)
    assert told.actions == tuple(legal)
    assert (np.abs(told.points - exact.mean(axis=1)) <= 4 * deviations).all()
    assert exact.std() > 0
    best = told.points.argmax()
    errors = (exact - exact[best]).std(axis=1) / np.sqrt(2000)
    assert told.errors[best] == 0
    assert told.errors == pytest.approx(errors, rel=0.2, abs=1e-9)


def test_networks_give_the_same_answer_every_time():
    played = stopped(MINI, 2)
    legal = np.flatnonzero(played.lanes().legal()[0]).tolist()
    agent = fresh(MINI, weights=(1.0, 2.0))
    one, two = compare(played, agent, legal, 8), compare(played, agent, legal, 8)
    assert (one.points == two.points).all()
    assert (one.points != compare(played, fresh(MINI), legal, 8).points).any()


def test_wrong_uses():
    with pytest.raises(InputError, match="the round is over, so there is no action to compare"):
        compare(stopped(MINI, None), RANDOM, [0])
    with pytest.raises(InputError, match="worlds is 1, but must be"):
        compare(stopped(MINI, 4), RANDOM, [0], worlds=1)
