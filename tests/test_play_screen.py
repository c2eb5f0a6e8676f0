"""What a person sees: all it may know, nothing else, in 80 columns; and what it may type."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from lostcfr import InputError, LostCities, Rules
from lostcfr.narration import turn
from lostcfr.play import render
from lostcfr.play.estimate import sample_decks
from lostcfr.play.moves import Moves
from lostcfr.play.view import View
from rule_sets import RULE_SETS
from scripts import advance, begin

GOLDEN = Path(__file__).parent / "golden" / "screen.txt"
COLUMNS = 80


def shown(lanes, opponent="selective", **options):
    """The whole screen of a decision, and what the commands for it show."""
    out = io.StringIO()
    console = Console(file=out, width=COLUMNS, highlight=False, **options)
    view = View(lanes)
    for part in (*render.screen(view, int(lanes.turns[0]) + 1, opponent), render.draws(view), *render.piles(view)):
        console.print(part)
    return out.getvalue()


def positions(game, seed, count=12):
    """Rounds stopped at several decisions of the person."""
    session = begin(game, seed, seed % 2)
    advance(session, 0)
    for _ in range(count):
        if session.is_over:
            return
        yield session.played
        advance(session, 3)


def test_golden_screen():
    """The draw of a late turn, when cards are known on both sides and a pile is banned."""
    session = begin(LostCities(), 44, opponent="balanced")
    advance(session, 41)
    assert (
        "\n".join(line.rstrip() for line in shown(session.lanes, "balanced").splitlines()) + "\n" == GOLDEN.read_text()
    )


@pytest.mark.parametrize("name", RULE_SETS)
def test_hidden_cards_change_nothing_on_the_screen(name):
    """The opponent's unknown cards and the deck are dealt anew, and every word stays the same."""
    game, changed = LostCities(RULE_SETS[name]), 0
    for played in positions(game, 3):
        lanes = played.lanes()
        seat, told = int(lanes.to_move[0]), len(played.actions) // 2 - 1
        last = played.lanes(2 * told) if told >= 0 else None
        for deck in sample_decks(played, lanes, 4, 11).tolist():
            other = replace(played, deck=tuple(deck))
            changed += other.deck != played.deck
            assert shown(other.lanes()) == shown(lanes)
            if last is not None and told % 2 != seat:
                assert turn(other, other.lanes(2 * told), seat) == turn(played, last, seat)
    assert changed >= 3


@pytest.mark.parametrize("name", RULE_SETS)
def test_the_view_is_the_state_that_a_player_knows(name):
    game = LostCities(RULE_SETS[name])
    for played in positions(game, 4):
        lanes, size = played.lanes(), game.rules.cards_per_color
        view, seat, games = View(lanes), int(lanes.to_move[0]), lanes.games
        scores = lanes.scores()[0].tolist()
        assert [view.score("mine"), view.score("theirs")] == [scores[seat], scores[1 - seat]]
        for number, color in enumerate(game.colors):
            pile = games.pile[0, number, : games.pile_size[0, number]].tolist()[::-1]
            assert [color[0] + card for card in view.pile(color)] == [
                game.short_card_name(number * size + bit) for bit in pile
            ]
            held = [number * size + bit for bit in range(size) if games.hand[0, seat, number] >> bit & 1]
            assert [color[0] + card for card in view.cards("hand", color)] == list(map(game.short_card_name, held))


@pytest.mark.parametrize("name", RULE_SETS)
@pytest.mark.parametrize("opponent", ["selective", "runs/a-rather-long-name/checkpoints/best:mixture:threshold=0.05"])
def test_80_columns_are_enough_without_colour(name, opponent):
    for played in positions(LostCities(RULE_SETS[name]), 6):
        text = shown(played.lanes(), opponent)
        assert max(map(len, text.splitlines())) <= COLUMNS
        assert "\x1b" not in text
        assert text.isascii()


def test_colours_change_no_word():
    (played,) = positions(LostCities(Rules(n_colors=6)), 6, count=1)
    colored = shown(played.lanes(), force_terminal=True, color_system="256")
    assert "\x1b[31m" in colored
    assert Text.from_ansi(colored).plain.split() == shown(played.lanes()).split()


CARD, DRAW = False, True


@pytest.mark.parametrize(
    ("text", "is_drawing", "names"),
    [
        ("r7", CARD, ["play red 7"]),
        ("R10", CARD, ["play red 10"]),
        ("play red wager", CARD, ["play red wager"]),
        ("ww", CARD, ["play white wager"]),
        ("d r7", CARD, ["discard red 7"]),
        ("dr7", CARD, ["discard red 7"]),
        ("-g2", CARD, ["discard green 2"]),
        ("- g2", CARD, ["discard green 2"]),
        ("  Discard   Green 2 ", CARD, ["discard green 2"]),
        ("deck", DRAW, ["draw deck"]),
        ("x", DRAW, ["draw deck"]),
        ("w", DRAW, ["draw white"]),
        ("take yellow", DRAW, ["draw yellow"]),
        ("r7 deck", CARD, ["play red 7", "draw deck"]),
        ("play r7, draw deck", CARD, ["play red 7", "draw deck"]),
        ("d r7 g", CARD, ["discard red 7", "draw green"]),
        ("red 7 red", CARD, ["play red 7", "draw red"]),
    ],
)
def test_what_may_be_typed(text, is_drawing, names):
    game = LostCities()
    assert [game.action_name(action) for action in Moves(game).parse(text, is_drawing, [0])] == names


@pytest.mark.parametrize("name", ["classic", "six-colours", "full-mask"])
def test_every_action_has_its_own_short_and_long_names(name):
    game = LostCities(RULE_SETS[name])
    moves = Moves(game)
    for action in range(game.num_actions):
        is_drawing = game.action_name(action).startswith("draw")
        for text in moves.short(action), game.action_name(action), game.short_action_name(action):
            assert moves.parse(text, is_drawing, [action]) == (action,)


@pytest.mark.parametrize(
    ("text", "is_drawing", "message"),
    [
        ("d r77", CARD, r"'d r77' is no move \(did you mean 'd r7'\?\); a move is such as r7 to play"),
        ("unod", CARD, r"did you mean 'undo'"),
        ("deck", CARD, "is no move"),
        ("r7 r8", CARD, "is no move"),
        ("r7", DRAW, r"'r7' is no draw.*; draw by one of: g, deck"),
        ("dekc", DRAW, r"did you mean 'deck'"),
        ("deck deck", DRAW, "is no draw"),
    ],
)
def test_what_is_no_move_is_answered_in_a_sentence(text, is_drawing, message):
    game = LostCities()
    names = ("draw green", "draw deck") if is_drawing else ("play red 7", "discard red 7")
    with pytest.raises(InputError, match=message):
        Moves(game).parse(text, is_drawing, map(game.parse_action, names), ("undo", "help"))
