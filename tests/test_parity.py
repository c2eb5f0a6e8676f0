"""The compiled engine against the slow twin, every field after every action, over random rounds."""

import random

import numpy as np
import pytest

import naive
from lostcfr import LostCities
from lostcfr.kernels import state
from rule_sets import RULE_SETS

ROUNDS = {
    "classic": 400,
    "six-colours": 200,
    "official": 200,
    "mini": 4000,
    "tiny": 3000,
    "one-colour": 1600,
    "full-mask": 300,
    "many-wagers": 300,
}
BATCH = 100


def test_enough_rounds_are_compared():
    assert sum(ROUNDS.values()) >= 10_000
    assert len(ROUNDS) >= 6


@pytest.mark.parametrize("name", RULE_SETS)
def test_every_field_after_every_action(name):
    rules = RULE_SETS[name]
    game = LostCities(rules)
    for batch in range(-(-ROUNDS[name] // BATCH)):
        generator = random.Random(batch)
        lanes = game.lanes(BATCH)
        lanes.deal(seed=batch)
        rounds = [naive.NaiveRound(rules, deck) for deck in lanes.games.deck.tolist()]
        compare(lanes, rounds, range(BATCH))
        while not lanes.finished.all():
            legal = lanes.legal()
            actions = np.full(BATCH, -1)
            for lane, twin in enumerate(rounds):
                allowed = twin.legal()
                assert np.flatnonzero(legal[lane]).tolist() == allowed
                if allowed:
                    actions[lane] = generator.choice(allowed)
                    twin.act(int(actions[lane]))
            lanes.act(actions)
            compare(lanes, rounds, np.flatnonzero(actions >= 0))


def compare(lanes, rounds, moved):
    """All of the state of the lanes that moved, and what the properties say of every lane."""
    cards = lanes.game.rules.cards_per_color
    games = lanes.games
    fields = (games.hand.tolist(), games.known.tolist(), games.table.tolist())
    piles, sizes, scores = games.pile.tolist(), games.pile_size.tolist(), lanes.scores().tolist()
    status = list(
        zip(
            lanes.to_move.tolist(),
            lanes.drawing.tolist(),
            lanes.turns.tolist(),
            lanes.deck_left.tolist(),
            lanes.stall.tolist(),
            lanes.banned.tolist(),
            lanes.finished.tolist(),
            strict=True,
        )
    )
    for lane in moved:
        twin = rounds[lane]
        for player in range(2):
            hand, known, table = (field[lane][player] for field in fields)
            assert hand == masks(twin.hands[player], cards, len(hand))
            assert known == masks(twin.known[player], cards, len(hand))
            assert table == masks([c for cs in twin.expeditions[player] for c in cs], cards, len(hand))
        for colour, pile in enumerate(twin.piles):
            assert piles[lane][colour][: sizes[lane][colour]] == [card % cards for card in pile]
        banned = -1 if twin.banned is None else twin.banned
        wanted = (twin.to_move, twin.drawing, twin.turns, len(twin.deck), twin.stall, banned, twin.finished)
        assert status[lane] == wanted
        assert scores[lane] == twin.scores()
        if twin.turns % 8 == 0:
            assert state.cards_conserved(lanes.game.parameters, games, lane)


def masks(cards, cards_per_color, n_colors):
    found = [0] * n_colors
    for card in cards:
        found[card // cards_per_color] |= 1 << card % cards_per_color
    return found


def test_conservation_check_finds_a_lost_and_a_doubled_card():
    lanes = LostCities().lanes(1)
    lanes.deal(seed=0)
    assert state.cards_conserved(lanes.game.parameters, lanes.games, 0)
    held = int(lanes.games.hand[0, 0].nonzero()[0][0])
    lanes.games.table[0, 1, held] |= lanes.games.hand[0, 0, held]
    assert not state.cards_conserved(lanes.game.parameters, lanes.games, 0)
    lanes.games.table[0, 1, held] = 0
    lanes.games.hand[0, 0, held] = 0
    assert not state.cards_conserved(lanes.game.parameters, lanes.games, 0)
