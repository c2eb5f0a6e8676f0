"""The rules against the words and the tables of docs/rules.md."""

import itertools
import random

import numpy as np
import pytest

import naive
from lostcfr import IllegalAction, LostCities, Rules, RulesError
from rule_sets import CLASSIC, MINI, RULE_SETS, SIX_COLOURS

GAME = LostCities(CLASSIC)
SMALL = LostCities(Rules(hand_size=3))
WAGERS, NUMBERS = 3, 9

# Expedition as in docs/rules.md (W a wager, else a face value) and its score under classic rules.
SCORES = [
    ("", 0),
    ("W W W", -80),
    ("10", -10),
    ("W 5", -30),
    ("3 4 5", -8),
    ("W 3 4 10", -6),
    ("8 9 10", 7),
    ("W W 8 9 10", 21),
    ("2 3 4 5 6 7 8", 15),
    ("W 2 3 4 5 6 7", 14),
    ("2 3 4 5 6 7 8 9", 44),
    ("W 2 3 4 5 6 7 8", 50),
    ("2 3 4 5 6 7 8 9 10", 54),
    ("W W W 2 3 4 5 6 7 8 9 10", 156),
]


def lanes_with_hands(game, *hands, n=1):
    """Dealt lanes in which player 0, then player 1, holds these cards first; the rest in order of ids."""
    wanted = [[game_card(game, name) for name in hand] for hand in hands]
    taken = {card for hand in wanted for card in hand}
    rest = [card for card in range(game.deck_size) if card not in taken]
    size = game.rules.hand_size
    full = [hand + [rest.pop(0) for _ in range(size - len(hand))] for hand in [*wanted, [], []][:2]]
    deck = [card for pair in zip(*full, strict=True) for card in pair] + rest
    lanes = game.lanes(n)
    lanes.deal(decks=[deck] * n)
    return lanes


def game_card(game, name):
    """Card id of ``red 7``, or of ``red wager 2`` for the second wager."""
    names = [game.card_name(card) for card in range(game.deck_size)]
    *card, last = name.split()
    if len(card) == 2:
        return names.index(" ".join(card)) + int(last) - 1
    return names.index(name)


def act(lanes, *actions):
    for action in actions:
        lanes.act([lanes.game.parse_action(action)])


def is_legal(lanes, action):
    return bool(lanes.legal()[0, lanes.game.parse_action(action)])


@pytest.mark.parametrize(("expedition", "points"), SCORES)
def test_score_table(expedition, points):
    """Every row, laid on the table of either player."""
    mask = 0
    for k, card in enumerate(expedition.split()):
        mask |= 1 << (k if card == "W" else WAGERS + int(card) - CLASSIC.min_rank)
    lanes = GAME.lanes(1)
    lanes.deal(seed=0)
    lanes.games.table[0] = 0
    lanes.games.table[0, 1, 2] = mask
    assert lanes.scores().tolist() == [[0, points]]
    lanes.games.table[0, 0, 4] = mask
    assert lanes.scores().tolist() == [[points, points]]


def test_random_expeditions_score_like_the_twin():
    """Any mask of any rules scores as the sentence of the rules says."""
    generator = random.Random(1)
    for rules in RULE_SETS.values():
        lanes = LostCities(rules).lanes(50)
        lanes.deal(seed=3)
        masks = [
            [[generator.getrandbits(rules.cards_per_color) for _ in range(rules.n_colors)] for _ in range(2)]
            for _ in range(50)
        ]
        lanes.games.table[:] = masks
        for lane, players in enumerate(masks):
            wanted = [
                sum(
                    naive.score_expedition(rules, [k for k in range(rules.cards_per_color) if mask >> k & 1])
                    for mask in colours
                )
                for colours in players
            ]
            assert lanes.scores()[lane].tolist() == wanted


@pytest.mark.parametrize(("rules", "turns"), [(CLASSIC, 44), (SIX_COLOURS, 56)])
def test_deck_only_play_lasts_as_long_as_the_deck(rules, turns):
    game = LostCities(rules)
    lanes = game.lanes(20)
    lanes.deal(seed=5)
    while not lanes.finished.all():
        lanes.act(np.argmax(lanes.legal(), axis=1))
        lanes.act(np.full(20, game.num_actions - 1))
    assert (lanes.turns == turns).all()
    assert (lanes.deck_left == 0).all()
    assert not lanes.legal().any()


def test_a_turn_is_a_card_and_a_draw_by_the_same_player():
    lanes = lanes_with_hands(GAME, ["red 7"])
    assert (lanes.to_move[0], lanes.drawing[0], lanes.turns[0]) == (0, False, 0)
    act(lanes, "play red 7")
    assert (lanes.to_move[0], lanes.drawing[0], lanes.turns[0]) == (0, True, 0)
    act(lanes, "draw deck")
    assert (lanes.to_move[0], lanes.drawing[0], lanes.turns[0]) == (1, False, 1)


def test_wagers_only_before_the_first_number():
    lanes = lanes_with_hands(GAME, ["red wager 1", "red wager 2", "red wager 3", "red 2"])
    act(lanes, "play red wager", "draw deck", "discard green wager", "draw deck")
    assert is_legal(lanes, "play red wager")
    act(lanes, "play red 2", "draw deck", "discard green wager", "draw deck")
    assert not is_legal(lanes, "play red wager")
    assert is_legal(lanes, "discard red wager")


def test_numbers_strictly_ascend():
    lanes = lanes_with_hands(GAME, ["red 7", "red 6", "red 8"])
    act(lanes, "play red 7", "draw deck", "discard green wager", "draw deck")
    assert not is_legal(lanes, "play red 6")
    assert is_legal(lanes, "play red 8")


def test_the_pile_just_discarded_to_is_banned_until_the_turn_ends():
    lanes = lanes_with_hands(GAME, ["red 7", "red 8"], ["blue 2", "red 9"])
    act(lanes, "discard red 7")
    assert not is_legal(lanes, "draw red")
    assert lanes.banned[0] == GAME.colors.index("red")
    act(lanes, "draw deck", "discard blue 2")
    assert is_legal(lanes, "draw red")
    assert not is_legal(lanes, "draw blue")


def test_playing_a_card_bans_no_pile():
    lanes = lanes_with_hands(GAME, ["red 7"], ["red 9"])
    act(lanes, "discard red 7", "draw deck", "play red 9")
    assert lanes.banned[0] == -1
    assert is_legal(lanes, "draw red")


def test_piles_are_last_in_first_out_and_their_cards_are_known():
    lanes = lanes_with_hands(SMALL, ["red 7", "white 2", "white 3"], ["red 9", "blue 2", "blue 3"])
    act(lanes, "discard red 7", "draw deck", "discard red 9", "draw deck", "discard white 2", "draw red")
    games = lanes.games
    assert games.pile_size[0].tolist() == [1, 0, 1, 0, 0]
    assert games.known[0, 0, 0] == 1 << (WAGERS + 9 - 2)
    act(lanes, "discard blue 2", "draw red")
    assert games.known[0, 1, 0] == 1 << (WAGERS + 7 - 2)
    act(lanes, "play red 9", "draw deck")
    assert games.known[0, 0, 0] == 0


def test_a_known_wager_leaves_first():
    lanes = lanes_with_hands(SMALL, ["red wager 3", "white 2", "white 3"], ["red wager 1", "blue 2", "blue 3"])
    games = lanes.games
    act(lanes, "discard red wager", "draw deck", "discard blue 2", "draw red", "discard white 2", "draw deck")
    assert (games.hand[0, 1, 0] & 0b111, games.known[0, 1, 0]) == (0b101, 0b100)
    act(lanes, "play red wager", "draw deck")
    assert (games.hand[0, 1, 0] & 0b111, games.known[0, 1, 0]) == (0b001, 0)


def test_the_round_ends_with_the_last_deck_card_and_a_pile_draw_never_ends_it():
    lanes = lanes_with_hands(SMALL, ["red 7", "white 2", "white 3"])
    deck = lanes.game.num_actions - 1
    while lanes.deck_left[0] > 1:
        lanes.act([int(np.flatnonzero(lanes.legal()[0])[-1])])
        lanes.act([deck])
    lanes.act([int(np.flatnonzero(lanes.legal()[0])[-1])])
    piles = np.flatnonzero(lanes.legal()[0])[:-1]
    lanes.act([piles[0]])
    assert not lanes.finished[0]
    lanes.act([int(np.flatnonzero(lanes.legal()[0])[-1])])
    act(lanes, "draw deck")
    assert lanes.finished[0]
    with pytest.raises(IllegalAction, match="round is over"):
        act(lanes, "draw deck")


@pytest.mark.parametrize("limit", [0, 1, 10])
def test_the_scripted_stall_ends(limit):
    """Discard A, take B, discard B, take A: only the stall limit stops it."""
    game = LostCities(Rules(hand_size=3, stall_limit=limit))
    lanes = lanes_with_hands(game, ["red 7", "white 2", "white 3"], ["blue 7", "blue 8", "green 3"])
    turns = ["discard blue 7", "draw red", "discard white 2", "draw blue", "discard red 7", "draw white"]
    script = itertools.cycle(turns)  # the players change places after three turns
    act(lanes, "discard red 7", "draw deck")
    pile_draws = 0
    for action in script:
        if action.startswith("draw") and not is_legal(lanes, action):
            break
        act(lanes, action)
        pile_draws += action.startswith("draw")
    assert pile_draws == limit == lanes.stall[0]
    assert np.flatnonzero(lanes.legal()[0]).tolist() == [game.num_actions - 1]
    with pytest.raises(IllegalAction, match="stall limit"):
        act(lanes, action)
    act(lanes, "draw deck")
    assert lanes.stall[0] == 0


def test_with_one_deck_card_left_the_rest_is_worth_the_best_play():
    """The exact fact about the end of a round, by exhaustive search on more than 1,000 random positions."""
    generator, checked = random.Random(2), 0
    for rules, positions in [(CLASSIC, 250), (MINI, 600), (SIX_COLOURS, 100), (RULE_SETS["one-colour"], 150)]:
        while positions:
            game = random_position_before_the_last_card(rules, generator)
            if game is None:
                continue
            assert naive.remainder_value(game) == naive.best_single_play_gain(game)
            positions, checked = positions - 1, checked + 1
    assert checked >= 1000


def random_position_before_the_last_card(rules, generator):
    deck = list(range(rules.deck_size))
    generator.shuffle(deck)
    game = naive.NaiveRound(rules, deck)
    while len(game.deck) > 1 or game.drawing:
        game.act(generator.choice(game.legal()))
        if game.finished:
            return None
    return game


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"n_colors": 0}, "n_colors"),
        ({"n_colors": 7}, "n_colors"),
        ({"n_ranks": -1}, "n_ranks"),
        ({"n_wagers": -1}, "n_wagers"),
        ({"hand_size": 0}, "hand_size"),
        ({"hand_size": 30}, "hand_size"),
        ({"n_ranks": 14}, "n_ranks"),
        ({"min_rank": 0}, "min_rank"),
        ({"bonus_threshold": 0}, "bonus_threshold"),
        ({"stall_limit": -1}, "stall_limit"),
        ({"expedition_cost": 5}, "expedition_cost"),
        ({"n_colors": 2.0}, "n_colors"),
        ({"bonus": True}, "bonus"),
        ({"hand_size": None}, "hand_size"),
        ({"stall_limit": "ten"}, "stall_limit"),
    ],
)
def test_impossible_rules_are_refused_by_name(change, field):
    with pytest.raises(RulesError, match=field) as error:
        Rules(**change)
    assert "\n" not in str(error.value)


def test_rules_are_frozen_and_compare_by_value():
    assert Rules() == Rules(n_colors=np.int64(5))
    with pytest.raises(AttributeError):
        Rules().n_colors = 6
