"""What the player to move knows, as u1 columns: the feature table and its encoder.

Columns come in one group a colour, all groups alike, and a last group of global columns. "mine" is the
player to move, "theirs" the opponent. Cards that are hidden from the player to move have no influence on
any column here; the opponent's hand stands in an array of its own, for critics only.
"""

from typing import NamedTuple

import numpy as np

from lostcfr.kernels.bits import bytes_of, store8
from lostcfr.kernels.cards import (
    cards_per_color,
    deck_after_deal,
    last_rank,
    numbers_in,
    types_in,
    types_per_color,
    wagers_in,
)
from lostcfr.kernels.jit import leaf
from lostcfr.kernels.rules import (
    accepted_types,
    is_stalled,
    opened,
    playable_types,
    score_expedition,
    sum_of_faces,
)
from lostcfr.kernels.state import BANNED, STALL, deck_left, finished, is_draw, to_move

OWN_PLACES = ("hand", "known_mine", "known_theirs", "mine", "theirs")
BYTE = 255  # the largest value of a column; larger ones stop there
SIDE_SCALARS = 4
OWN_SCALARS = 2
COLOR_SCALARS = 2 * SIDE_SCALARS + OWN_SCALARS
GLOBAL_COLUMNS = 8


class Column(NamedTuple):
    """One feature column: its name within its group, and its usual size, by which it is divided."""

    name: str
    size: int


def color_columns(rules):
    """The columns of one colour's group, in order; names of ranks are face values."""
    faces = [rules.min_rank + rank for rank in range(rules.n_ranks)]
    most_points = max(
        (1 + wagers) * (sum(faces) + rules.expedition_cost)
        + (rules.bonus if wagers + rules.n_ranks >= rules.bonus_threshold else 0)
        for wagers in range(rules.n_wagers + 1)
    )
    least_points = -(1 + rules.n_wagers) * rules.expedition_cost

    def cards(place):
        return [Column(f"{place}_wagers", rules.n_wagers), *(Column(f"{place}_{face}", 1) for face in faces)]

    def side(player):
        return [
            Column(f"{player}_last", faces[-1]),
            Column(f"{player}_gain", most_points),
            Column(f"{player}_loss", least_points),
            Column(f"{player}_takes_top", 1),
        ]

    depths = [*(f"wager{k + 1}" for k in range(rules.n_wagers)), *faces]
    return [
        *(column for place in OWN_PLACES for column in cards(place)),
        *(Column(f"depth_{card}", len(depths)) for card in depths),
        *cards("pile"),
        *cards("top"),
        *side("mine"),
        *side("theirs"),
        Column("hand_playable_sum", sum(faces)),
        Column("banned", 1),
    ]


def global_columns(rules):
    """The columns of the global group, in order."""
    return [
        Column("drawing", 1),
        Column("deck_left", deck_after_deal(rules)),
        Column("stall", rules.stall_limit),
        Column("stalled", 1),
        Column("mine_ahead", 100),
        Column("mine_behind", 100),
        Column("mine_opened", rules.n_colors),
        Column("theirs_opened", rules.n_colors),
    ]


@leaf
def color_group_size(rules):
    """Columns of one colour's group."""
    return 7 * types_per_color(rules) + cards_per_color(rules) + COLOR_SCALARS


@leaf
def features_size(rules):
    """Columns of ``encode``."""
    return rules.n_colors * color_group_size(rules) + GLOBAL_COLUMNS


@leaf
def byte(value):
    """A count or a sum as a column holds it: from 0 to 255."""
    return np.uint8(min(max(value, 0), BYTE))


@leaf
def encode(rules, games, i, out_features, row):
    """Write what the player to move in lane ``i`` knows to ``out_features[row]`` (u1 [.., features])."""
    if finished(rules, games, i):
        for column in range(features_size(rules)):
            out_features[row, column] = 0
        return
    mine = to_move(games, i)
    column = lead = 0
    for color in range(rules.n_colors):
        encode_cards_of_color(rules, games, i, mine, color, out_features, row, column)
        top = encode_pile(rules, games, i, color, out_features, row, column + 5 * types_per_color(rules))
        column += color_group_size(rules)
        encode_own(rules, games, i, mine, color, out_features, row, column - OWN_SCALARS)
        for side in range(2):
            table = np.int64(games.table[i, mine ^ side, color])
            points = encode_side(rules, table, top, out_features, row, column - COLOR_SCALARS + side * SIDE_SCALARS)
            lead += points if side == 0 else -points
    encode_globals(rules, games, i, mine, lead, out_features, row, column)


@leaf
def encode_cards(rules, cards, out_features, row, column):
    """One column a card type: the number of wagers, then each number.

    Writes sixteen columns whatever the rules, eight at once; those beyond the card types are written
    again by what stands behind them in the row, of which there must be enough.
    """
    numbers = numbers_in(rules, cards)
    wagers = np.uint64(wagers_in(rules, cards))
    store8(out_features, row, column, bytes_of((numbers << 1) & 0xFE) | wagers)
    store8(out_features, row, column + 8, bytes_of(numbers >> 7))


@leaf
def encode_cards_of_color(rules, games, i, mine, color, out_features, row, column):
    """Own hand, the parts of both hands that the other player knows, and both expeditions."""
    theirs = 1 - mine
    types = types_per_color(rules)
    encode_cards(rules, np.int64(games.hand[i, mine, color]), out_features, row, column)
    encode_cards(rules, np.int64(games.known[i, mine, color]), out_features, row, column + types)
    encode_cards(rules, np.int64(games.known[i, theirs, color]), out_features, row, column + 2 * types)
    encode_cards(rules, np.int64(games.table[i, mine, color]), out_features, row, column + 3 * types)
    encode_cards(rules, np.int64(games.table[i, theirs, color]), out_features, row, column + 4 * types)


@leaf
def encode_pile(rules, games, i, color, out_features, row, column):
    """The discard pile: the depth of each card, 1 at the top, wagers first; its cards; its top.

    Returns the top card as the one bit of its colour's mask, or 0 for an empty pile.
    """
    for k in range(0, cards_per_color(rules), 8):
        store8(out_features, row, column + k, np.uint64(0))
    cards = top = wagers = 0
    size = np.int64(games.pile_size[i, color])
    for depth in range(1, size + 1):
        bit = np.int64(games.pile[i, color, size - depth])
        is_wager = bit < rules.n_wagers
        out_features[row, column + (wagers if is_wager else bit)] = depth
        wagers += is_wager
        cards |= 1 << bit
        if depth == 1:
            top = cards
    column += cards_per_color(rules)
    encode_cards(rules, cards, out_features, row, column)
    encode_cards(rules, top, out_features, row, column + types_per_color(rules))
    return top


@leaf
def encode_side(rules, table, top, out_features, row, column):
    """One expedition: last number, points won and lost, whether it takes the top of the pile. Returns the points."""
    points = score_expedition(rules, table)
    rank = last_rank(rules, table)
    out_features[row, column] = byte(rules.min_rank + rank) if rank >= 0 else 0
    out_features[row, column + 1] = byte(points)
    out_features[row, column + 2] = byte(-points)
    out_features[row, column + 3] = (accepted_types(rules, table) & types_in(rules, top)) != 0
    return points


@leaf
def encode_own(rules, games, i, mine, color, out_features, row, column):
    """The sum of the numbers that could be played now, and whether the pile is banned in this turn."""
    playable = playable_types(rules, games, i, mine, color) >> 1
    out_features[row, column] = byte(sum_of_faces(rules, playable))
    out_features[row, column + 1] = games.status[i, BANNED] == color


@leaf
def encode_globals(rules, games, i, mine, lead, out_features, row, column):
    """Which kind of decision it is, the deck, the stall counter, and the state of the scores."""
    mine = to_move(games, i)
    out_features[row, column] = is_draw(games, i)
    out_features[row, column + 1] = byte(deck_left(rules, games, i))
    out_features[row, column + 2] = byte(np.int64(games.status[i, STALL]))
    out_features[row, column + 3] = is_stalled(rules, games, i)
    out_features[row, column + 4] = byte(lead)
    out_features[row, column + 5] = byte(-lead)
    out_features[row, column + 6] = opened(rules, games, i, mine)
    out_features[row, column + 7] = opened(rules, games, i, 1 - mine)


@leaf
def encode_history(rules, games, i, out_features, row):
    """Write the opponent's hand to ``out_features[row]``, one column a card type; for critics only."""
    over = finished(rules, games, i)
    for color in range(rules.n_colors):
        column = color * types_per_color(rules)
        hand = 0 if over else np.int64(games.hand[i, 1 - to_move(games, i), color])
        # Nothing stands behind the last colour in this row, so the wide stores of encode_cards do not fit here.
        out_features[row, column] = wagers_in(rules, hand)
        for rank in range(rules.n_ranks):
            out_features[row, column + 1 + rank] = (numbers_in(rules, hand) >> rank) & 1
