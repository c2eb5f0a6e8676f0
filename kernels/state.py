"""The games of a batch: struct of arrays, one lane a game."""

from typing import NamedTuple

import numpy as np

from lostcfr.kernels.bits import count
from lostcfr.kernels.cards import cards_per_color, deck_size
from lostcfr.kernels.jit import leaf

# Columns of Games.status.
PLY = 0  # decisions made so far; a turn is two of them, so this says whose turn and which decision it is
DRAWN = 1  # cards that have left the deck, the deal included
BANNED = 2  # colour of the pile that may not be drawn from in this turn, or NO_BAN
STALL = 3  # turns in a row without a deck draw, at most NO_STALL_LIMIT
STATUS_COLUMNS = 4
NO_BAN = -1


class Games(NamedTuple):
    """B games; masks hold the cards of one colour, one bit each (see ``cards``)."""

    deck: np.ndarray  # [B, deck] u1  card ids in the order they are dealt and drawn
    hand: np.ndarray  # [B, 2, C] u2  cards held
    known: np.ndarray  # [B, 2, C] u2  cards held that came from a pile, so that the opponent knows them
    table: np.ndarray  # [B, 2, C] u2  cards of the expeditions
    pile: np.ndarray  # [B, C, cards a colour] u1  bits of the discarded cards, bottom first
    pile_size: np.ndarray  # [B, C] u1  cards on the discard pile
    status: np.ndarray  # [B, 4] i4  the columns named above


def alloc(rules, lanes):
    """Zeroed arrays for ``lanes`` games; they hold no valid game before a deal."""
    colors, cards = rules.n_colors, rules.n_wagers + rules.n_ranks
    return Games(
        deck=np.zeros((lanes, colors * cards), np.uint8),
        hand=np.zeros((lanes, 2, colors), np.uint16),
        known=np.zeros((lanes, 2, colors), np.uint16),
        table=np.zeros((lanes, 2, colors), np.uint16),
        pile=np.zeros((lanes, colors, cards), np.uint8),
        pile_size=np.zeros((lanes, colors), np.uint8),
        status=np.zeros((lanes, STATUS_COLUMNS), np.int32),
    )


@leaf
def copy_lane(source, i, target, j):
    """Make lane ``j`` of ``target`` the game of lane ``i`` of ``source``; both of the same rules."""
    for k in range(source.deck.shape[1]):
        target.deck[j, k] = source.deck[i, k]
    for color in range(source.pile.shape[1]):
        for player in range(2):
            target.hand[j, player, color] = source.hand[i, player, color]
            target.known[j, player, color] = source.known[i, player, color]
            target.table[j, player, color] = source.table[i, player, color]
        for k in range(source.pile.shape[2]):
            target.pile[j, color, k] = source.pile[i, color, k]
        target.pile_size[j, color] = source.pile_size[i, color]
    for column in range(STATUS_COLUMNS):
        target.status[j, column] = source.status[i, column]


@leaf
def ply(games, i):
    return np.int64(games.status[i, PLY])


@leaf
def turns(games, i):
    """Completed turns."""
    return ply(games, i) >> 1


@leaf
def to_move(games, i):
    """Whose decision it is: player 0 takes the even turns."""
    return turns(games, i) & 1


@leaf
def is_draw(games, i):
    """Whether the decision is the draw that ends a turn."""
    return (ply(games, i) & 1) == 1


@leaf
def deck_left(rules, games, i):
    return deck_size(rules) - np.int64(games.status[i, DRAWN])


@leaf
def finished(rules, games, i):
    return deck_left(rules, games, i) == 0


@leaf
def cards_conserved(rules, games, i):
    """Whether every card is in exactly one place and known cards are held ones."""
    cards = cards_per_color(rules)
    for color in range(rules.n_colors):
        union = total = 0
        for k in range(games.status[i, DRAWN], deck_size(rules)):
            if games.deck[i, k] // cards == color:
                union |= 1 << np.int64(games.deck[i, k] % cards)
                total += 1
        for k in range(games.pile_size[i, color]):
            union |= 1 << np.int64(games.pile[i, color, k])
            total += 1
        for player in range(2):
            hand, table = np.int64(games.hand[i, player, color]), np.int64(games.table[i, player, color])
            union |= hand | table
            total += count(hand) + count(table)
            if np.int64(games.known[i, player, color]) & ~hand:
                return False
        if total != cards or union != (1 << cards) - 1:
            return False
    return True
