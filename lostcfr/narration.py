"""A round told in words."""

from collections.abc import Iterator, Sequence

import numpy as np

from lostcfr.game import LostCities
from lostcfr.lanes import Lanes
from lostcfr.record import Round


def words(played: Round) -> Iterator[str]:
    """The round in words, a line at a time: the hands, each turn, each expedition's score, the result."""
    game = played.game
    names = [f"{agent} ({player})" for player, agent in enumerate(played.agents)]
    width = max(map(len, names))
    lanes = game.lanes(1)
    lanes.deal(decks=[list(played.deck)])
    for player, name in enumerate(names):
        yield f"{name:{width}} is dealt {_cards(game, lanes, lanes.games.hand[0, player])}"
    yield ""
    for ply in range(0, len(played.actions), 2):
        number, name = int(lanes.turns[0]) + 1, names[int(lanes.to_move[0])]
        told = turn(played, lanes)
        for action in played.actions[ply : ply + 2]:
            lanes.act([action])
        yield f"{number:3}. {name:{width}} {told}"
    yield ""
    yield from result(played, lanes, names)


def turn(played: Round, lanes: Lanes, viewer: int | None = None) -> str:
    """The turn that the round goes on with from ``lanes``, such as "plays blue 6, takes red 2 from its pile".

    ``viewer``: the player who is told; what the other one draws from the deck is not said then.
    """
    ply = 2 * int(lanes.turns[0])
    card, *draws = played.actions[ply : ply + 2]
    is_seen = viewer is None or viewer == int(lanes.to_move[0])
    return ", ".join([_verb(played.game.action_name(card)), *(_drawn(played, lanes, draw, is_seen) for draw in draws)])


def _verb(action: str) -> str:
    verb, _, card = action.partition(" ")
    return f"{verb}s {card}"


def _drawn(played: Round, lanes: Lanes, draw: int, is_seen: bool) -> str:
    """What a draw takes, said before the turn is made: a turn's discard never changes the pile drawn from.

    A card of the deck is named only where it is seen.
    """
    game, games = played.game, lanes.games
    source = game.action_name(draw).removeprefix("draw ")
    if source == "deck":
        left = int(lanes.deck_left[0]) - 1
        card = game.card_name(played.deck[game.deck_size - left - 1])
        return f"draws {f'{card} ' * is_seen}from the deck, {left} left"
    color = game.colors.index(source)
    bit = int(games.pile[0, color, games.pile_size[0, color] - 1])
    return f"takes {game.card_name(color * game.rules.cards_per_color + bit)} from its pile"


def _cards(game: LostCities, lanes: Lanes, masks: np.ndarray) -> str:
    """Names of the cards of one mask a colour."""
    size = game.rules.cards_per_color
    cards = [color * size + bit for color, mask in enumerate(masks.tolist()) for bit in range(size) if mask >> bit & 1]
    return ", ".join(game.card_name(card) for card in cards)


def result(played: Round, lanes: Lanes, names: Sequence[str]) -> Iterator[str]:
    """Both players' expeditions and points, and who wins; ``lanes`` is the round at its end, or where it stopped."""
    game, width = played.game, max(map(len, names))
    for player, name in enumerate(names):
        table, score = lanes.games.table[0, player], int(lanes.scores()[0, player])
        yield f"{name:{width}} has {_cards(game, lanes, table) or 'no expedition'}: {score} points"
    if not lanes.finished[0]:
        yield f"stopped after {2 * int(lanes.turns[0]) + int(lanes.drawing[0])} decisions"
    ahead, verb = int(lanes.scores()[0] @ [1, -1]), "wins" if lanes.finished[0] else "leads"
    level = "a draw" if lanes.finished[0] else "level"
    yield f"{names[0] if ahead > 0 else names[1]} {verb} by {abs(ahead)}" if ahead else level
