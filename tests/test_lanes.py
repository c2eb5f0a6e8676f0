"""The public surface: what bad input says, that it changes nothing, and that results depend on the seed alone."""

import numpy as np
import pytest

from lostcfr import IllegalAction, InputError, LostCities, Rules
from lostcfr.agents import BOTS
from rule_sets import MINI, RULE_SETS

GAME = LostCities()


def dealt(n=4, threads=None, seed=7, first=0):
    lanes = GAME.lanes(n, threads=threads)
    lanes.deal(seed=seed, first=first)
    return lanes


def snapshot(lanes):
    return [array.copy() for array in lanes.games]


def unchanged(lanes, before):
    return all((now == then).all() for now, then in zip(lanes.games, before, strict=True))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 0, 0], r"shape \(4,\)"),
        ([[0, 0, 0, 0]], r"shape \(4,\)"),
        ([0.0, 1.0, 2.0, 3.0], "whole numbers"),
        ([True, False, True, False], "whole numbers"),
        (["draw deck"] * 4, "whole numbers"),
        ([[1], [1, 2]], "rows differ"),
        ([None] * 4, "whole numbers"),
    ],
)
def test_wrong_shapes_and_types_of_actions(actions, message):
    lanes = dealt()
    before = snapshot(lanes)
    with pytest.raises(InputError, match=message) as error:
        lanes.act(actions)
    assert "\n" not in str(error.value)
    assert unchanged(lanes, before)


@pytest.mark.parametrize("wrong", [GAME.num_actions, -2, 10**6, -(2**62), GAME.num_actions - 1])
def test_an_illegal_action_names_the_lane_and_changes_no_lane(wrong):
    lanes = dealt()
    before = snapshot(lanes)
    actions = lanes.bot_actions(np.full(4, BOTS["random"]))
    actions[2] = wrong
    with pytest.raises(IllegalAction) as error:
        lanes.act(actions)
    assert (error.value.lane, unchanged(lanes, before)) == (2, True)
    assert error.value.why in str(error.value)


def test_a_huge_unsigned_action_is_not_taken_for_waiting():
    lanes = dealt()
    with pytest.raises(IllegalAction):
        lanes.act(np.full(4, 2**64 - 1, np.uint64))


@pytest.mark.parametrize(
    ("play", "why"),
    [
        ("play red 10", "does not hold"),
        ("draw deck", "before drawing"),
        ("draw red", "before drawing"),
    ],
)
def test_reasons_at_a_card_decision(play, why):
    lanes = dealt(1)
    lanes.games.hand[0, 0, 0] = 0
    with pytest.raises(IllegalAction, match=why) as error:
        lanes.act([GAME.parse_action(play)])
    assert error.value.action == play


def test_reasons_at_a_draw():
    lanes = dealt(1)
    card = int(np.flatnonzero(lanes.legal()[0])[-1])
    lanes.act([card])
    color = GAME.action_name(card).split()[1]
    with pytest.raises(IllegalAction, match="just discarded"):
        lanes.act([GAME.parse_action(f"draw {color}")])
    with pytest.raises(IllegalAction, match="empty"):
        lanes.act([GAME.parse_action("draw red" if color != "red" else "draw blue")])
    with pytest.raises(IllegalAction, match="now one has to be drawn"):
        lanes.act([card])


def test_minus_one_leaves_a_lane_alone():
    lanes = dealt()
    before = snapshot(lanes)
    lanes.act([-1] * 4)
    assert unchanged(lanes, before)


@pytest.mark.parametrize(
    ("decks", "message"),
    [
        (np.zeros((2, 60), int), "row 0 .* card 1 .red wager. is missing"),
        (np.stack([np.arange(60), np.r_[0, 0:59]]), "row 1 .* card 59 .yellow 10. is missing"),
        (np.arange(60), "shape"),
        (np.tile(np.arange(59), (2, 1)), "shape"),
        (np.tile(np.arange(60.0), (2, 1)), "whole numbers"),
        (np.tile(np.arange(1, 61), (2, 1)), "row 0"),
        (np.tile(np.arange(60), (2, 1)) - 256, "row 0"),
    ],
)
def test_decks_that_are_no_permutation(decks, message):
    lanes = dealt(2)
    before = snapshot(lanes)
    with pytest.raises(InputError, match=message):
        lanes.deal(decks=decks)
    assert unchanged(lanes, before)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"seed": 1, "decks": [[0]]}, {"seed": -1}, {"seed": 2**64}, {"seed": 1.5}, {"seed": 1, "first": -1}],
)
def test_bad_deals(arguments):
    lanes = dealt(2)
    before = snapshot(lanes)
    with pytest.raises(InputError):
        lanes.deal(**arguments)
    assert unchanged(lanes, before)


def test_lanes_must_be_dealt_first():
    lanes = GAME.lanes(2)
    for use in (lanes.legal, lanes.observe, lanes.scores, lambda: lanes.act([0, 0]), lambda: lanes.finished):
        with pytest.raises(InputError, match="deal"):
            use()


@pytest.mark.parametrize("n", [0, -1, 2.0, True, "3"])
def test_bad_numbers_of_lanes(n):
    with pytest.raises(InputError, match="n is"):
        GAME.lanes(n)


def test_given_outputs_must_fit():
    lanes = dealt()
    for out in (
        np.zeros((4, 3), np.uint8),
        np.zeros((4, GAME.num_features), np.int8),
        [[0]],
        np.zeros((4, 2 * GAME.num_features), np.uint8)[:, ::2],
    ):
        with pytest.raises(InputError, match="out must be"):
            lanes.observe(out)


def test_names_and_actions_translate_both_ways():
    for rules in RULE_SETS.values():
        game = LostCities(rules)
        names = [game.action_name(action) for action in range(game.num_actions)]
        assert len(set(names)) == game.num_actions
        assert [game.parse_action(name) for name in names] == list(range(game.num_actions))
    assert GAME.num_actions == 106
    assert GAME.action_name(0) == "play red wager"
    assert GAME.parse_action("  DISCARD   red 7 ") == 50 + 6
    assert [GAME.card_name(card) for card in (0, 2, 3, 11, 59)] == [
        "red wager",
        "red wager",
        "red 2",
        "red 10",
        "yellow 10",
    ]


@pytest.mark.parametrize("text", ["discard red 11", "play", "", "drop red 7", "draw the deck"])
def test_unknown_action_names_show_how_to_write_one(text):
    with pytest.raises(InputError, match=r"is no action of this game.*such as"):
        GAME.parse_action(text)


def test_indices_out_of_range():
    for use in (GAME.action_name, GAME.card_name):
        for value in (-1, 1000, 1.0, "0", True):
            with pytest.raises(InputError):
                use(value)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n", [1, 37, 6000])
def test_rounds_depend_on_the_seed_alone(n, threads):
    """Any number of lanes and threads, and any place in the batch, gives trajectory 36 the same round."""
    lanes = dealt(n, threads, seed=3, first=36 if n == 1 else 0)
    lane = 0 if n == 1 else 36
    bots = np.full(n, BOTS["random"])
    history = []
    for _ in range(60):
        actions = lanes.bot_actions(bots, seed=9)
        history.append((int(actions[lane]), lanes.observe()[lane].tobytes(), lanes.legal()[lane].tobytes()))
        lanes.act(actions)
    reference = dealt(1, 1, seed=3, first=36)
    for action, features, legal in history:
        assert reference.observe()[0].tobytes() == features
        assert reference.legal()[0].tobytes() == legal
        assert reference.bot_actions([BOTS["random"]], seed=9)[0] == action
        reference.act([action])


def test_a_copied_lane_is_independent():
    lanes = dealt(3)
    lanes.act(lanes.bot_actions(np.full(3, BOTS["balanced"])))
    lanes.copy_lane(0, 2)
    assert all((array[0] == array[2]).all() for array in lanes.games)
    lanes.act([-1, -1, int(np.flatnonzero(lanes.legal()[2])[-1])])
    assert lanes.turns.tolist() == [0, 0, 1]
    with pytest.raises(InputError, match="target"):
        lanes.copy_lane(0, 3)


def test_selected_lanes_are_independent_copies_in_the_order_asked_for():
    lanes = dealt(3)
    chosen = lanes.select([2, 0, 2])
    assert all((lanes.games[k][[2, 0, 2]] == chosen.games[k]).all() for k in range(len(lanes.games)))
    chosen.act(chosen.bot_actions(np.full(3, BOTS["balanced"])))
    assert chosen.drawing.all()
    assert not lanes.drawing.any()
    assert len(lanes.select(np.empty(0, np.int64))) == 0
    for wrong in ([3], [-1], [0.5], [[0]]):
        with pytest.raises(InputError, match="lanes must"):
            lanes.select(wrong)
    with pytest.raises(InputError, match="no round yet"):
        LostCities(Rules()).lanes(2).select([0])


def test_a_bound_of_the_rules_at_work():
    """A batch of a small game from the first deal to the scores, by public names only."""
    lanes = LostCities(MINI).lanes(64)
    lanes.deal(seed=1)
    while not lanes.finished.all():
        legal = lanes.legal()
        lanes.act(np.where(legal.any(axis=1), legal.argmax(axis=1), -1))
    assert lanes.scores().shape == (64, 2)
    assert (lanes.deck_left == 0).all()
    assert LostCities(Rules()).num_actions == 106
