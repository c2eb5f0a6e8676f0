"""The rule-based player ``selective``: few expeditions, small steps. Its rules are in docs/bots.md."""

import numpy as np

from lostcfr.kernels.bits import count, lowest, without_lowest
from lostcfr.kernels.cards import (
    WAGER,
    discard_of,
    draw_from_deck,
    draw_from_pile,
    face_of,
    last_rank,
    numbers_in,
    play_of,
    scaled_deck,
    wager_mask,
)
from lostcfr.kernels.jit import kernel
from lostcfr.kernels.rules import (
    drawable_piles,
    held_types,
    pile_top,
    playable_types,
    sum_of_faces,
    takes,
)
from lostcfr.kernels.state import deck_left, is_draw, to_move

SMALL_GAP = 2  # numbers that a play may skip
PILE_GAP = 1  # numbers that a card taken from a pile may skip
OPENING_SUM = 18
LATE_OPENING_SUM = 24
LATE_DECK = 20  # of the classic deck
WAGER_SURPLUS = 6  # points above the opening sum that let a wager open
POINT = 12  # cards are valued in twelfths of a point: a third and a quarter of a face are whole
NONE = -1  # no action was found


@kernel
def selective_action(rules, games, i):
    """The decision of ``selective`` in lane ``i``, which must not be finished."""
    if is_draw(games, i):
        return draw(rules, games, i)
    action = step(rules, games, i)
    if action == NONE:
        action = open_expedition(rules, games, i)
    return discard(rules, games, i) if action == NONE else action


@kernel
def turns_left(rules, games, i):
    return (deck_left(rules, games, i) + 1) // 2


@kernel
def gap(rules, table, card_type):
    """Numbers that an expedition skips when it takes a card next; 0 for a wager."""
    return card_type - 2 - last_rank(rules, table) if card_type != WAGER else 0


@kernel
def step(rules, games, i):
    """Play the smallest allowed step in a started colour, or NONE."""
    player = to_move(games, i)
    best, smallest = NONE, 1 << 30
    for color in range(rules.n_colors):
        table = np.int64(games.table[i, player, color])
        playable = playable_types(rules, games, i, player, color)
        if table and playable:
            skipped = gap(rules, table, lowest(playable))
            hurry = count(np.int64(games.hand[i, player, color])) >= turns_left(rules, games, i)
            if (skipped <= SMALL_GAP or hurry) and skipped < smallest:
                best, smallest = play_of(rules, color, lowest(playable)), skipped
    return best


@kernel
def open_expedition(rules, games, i):
    """Start the colour with the largest sum of numbers in hand, if that is large enough, or NONE."""
    player = to_move(games, i)
    late = scaled_deck(rules, LATE_DECK)
    threshold = LATE_OPENING_SUM if deck_left(rules, games, i) < late else OPENING_SUM
    best, largest = NONE, threshold - 1
    for color in range(rules.n_colors):
        hand = np.int64(games.hand[i, player, color])
        total = sum_of_faces(rules, numbers_in(rules, hand))
        unstarted = games.table[i, player, color] == 0
        if unstarted and count(hand) <= turns_left(rules, games, i) and total > largest:
            wager_first = total >= threshold + WAGER_SURPLUS and deck_left(rules, games, i) > late
            if hand & wager_mask(rules) and wager_first:
                card_type = WAGER
            else:
                card_type = 1 + lowest(numbers_in(rules, hand))
            best, largest = play_of(rules, color, card_type), total
    return best


@kernel
def discard(rules, games, i):
    """Discard the card that is worth least to both players together."""
    player = to_move(games, i)
    best, least = NONE, 1 << 30
    for color in range(rules.n_colors):
        held = held_types(rules, games, i, player, color)
        while held:
            card_type = lowest(held)
            value = worth_to_me(rules, games, i, player, color, card_type)
            value += worth_to_them(rules, games, i, 1 - player, color, card_type)
            if value < least:
                best, least = discard_of(rules, color, card_type), value
            held = without_lowest(held)
    return best


@kernel
def worth_to_me(rules, games, i, player, color, card_type):
    """Twelfths of a point that a held card is worth to its holder."""
    table = np.int64(games.table[i, player, color])
    if table:
        return POINT * (6 + face_of(rules, card_type)) if takes(rules, table, card_type) else 0
    numbers = numbers_in(rules, np.int64(games.hand[i, player, color]))
    return POINT // 4 * sum_of_faces(rules, numbers) + (3 * POINT if card_type == WAGER else 0)


@kernel
def worth_to_them(rules, games, i, opponent, color, card_type):
    """Twelfths of a point that a card is worth to the opponent once it lies on a pile."""
    table = np.int64(games.table[i, opponent, color])
    if table:
        return POINT * (5 + face_of(rules, card_type)) if takes(rules, table, card_type) else 0
    return POINT // 3 * face_of(rules, card_type)


@kernel
def draw(rules, games, i):
    """Take the pile's top that continues an own expedition with the smallest gap, or a card of the deck."""
    player = to_move(games, i)
    best, smallest = draw_from_deck(rules), PILE_GAP + 1
    piles = drawable_piles(rules, games, i)
    while piles:
        color = lowest(piles)
        table = np.int64(games.table[i, player, color])
        top = pile_top(rules, games, i, color)
        if table and takes(rules, table, top) and gap(rules, table, top) < smallest:
            best, smallest = draw_from_pile(rules, color), gap(rules, table, top)
        piles = without_lowest(piles)
    return best
