"""What colours and cards are worth to a planner (see ``planners``). The rules are in docs/bots.md.

Every worth is a whole number of ten-thousandths of a point: all weights and their products are exact in it,
so that ties are ties on every machine. "Numbers" are sets of ranks: bit r is the rank r above the lowest.
"""

from typing import NamedTuple

import numpy as np

from lostcfr.kernels.bits import count, lowest
from lostcfr.kernels.cards import WAGER, face_of, last_rank, numbers_in, scaled_deck, types_in, wagers_in
from lostcfr.kernels.jit import kernel
from lostcfr.kernels.rules import accepted_types, opened, pile_top, score, sum_of_faces, takes
from lostcfr.kernels.state import deck_left, to_move

POINT = 10_000
LATE_DECK = 12  # of the classic deck, as the next
MID_DECK = 21


class Style(NamedTuple):
    """What tells one planner from another."""

    open_percent: int  # of the hand size: numbers that a strong opening needs
    wager_percent: int  # of the opening target: sum that a wager needs behind it
    support_percent: int  # of the hand size: numbers that a wager needs behind it
    opening_deck: int  # of the classic deck: nothing is opened when so few cards are left
    sum_percent: int  # of a colour's sum: the most that the opening target can be


class Seat(NamedTuple):
    """What stays the same while one planner makes one decision."""

    player: int
    opened: int  # colours the player has started
    lead: int  # own points less the opponent's
    mid: bool  # the deck is at or under MID_DECK
    late: bool  # the deck is at or under LATE_DECK
    may_open: bool
    open_minimum: int  # numbers that a strong opening needs
    wager_minimum: int  # numbers that a wager needs behind it
    target: int  # sum of numbers that pays for an opening
    wager_target: int


@kernel
def take_seat(rules, games, i, style):
    """The seat of the player to move in lane ``i``."""
    player = to_move(games, i)
    deck = deck_left(rules, games, i)
    break_even = -rules.expedition_cost * POINT
    target = min(break_even * 8 // 10, style.sum_percent * sum_of_color(rules) * POINT // 100)
    return Seat(
        player=player,
        opened=opened(rules, games, i, player),
        lead=score(rules, games, i, player) - score(rules, games, i, 1 - player),
        mid=deck <= scaled_deck(rules, MID_DECK),
        late=deck <= scaled_deck(rules, LATE_DECK),
        may_open=deck > scaled_deck(rules, style.opening_deck),
        open_minimum=share_of_hand(rules, style.open_percent),
        wager_minimum=share_of_hand(rules, style.support_percent),
        target=target,
        wager_target=target * style.wager_percent // 100,
    )


@kernel
def share_of_hand(rules, percent):
    """That share of the hand size, rounded half up, at least 1."""
    return max(1, (rules.hand_size * percent + 50) // 100)


@kernel
def sum_of_color(rules):
    """Sum of all faces of a colour."""
    return sum_of_faces(rules, (1 << rules.n_ranks) - 1)


@kernel
def high_ranks(rules):
    """The upper half of the ranks as a set: 6 and above in classic rules."""
    middle = rules.n_ranks // 2
    return (1 << rules.n_ranks) - (1 << middle)


@kernel
def is_low(rules, rank):
    return rank < rules.n_ranks // 2


@kernel
def table_of(games, i, player, color):
    return np.int64(games.table[i, player, color])


@kernel
def wagers_held(rules, games, i, player, color):
    return wagers_in(rules, np.int64(games.hand[i, player, color]))


@kernel
def playable_numbers(rules, games, i, player, color):
    """The numbers in hand that the own expedition takes."""
    accepted = accepted_types(rules, table_of(games, i, player, color))
    return (types_in(rules, np.int64(games.hand[i, player, color])) & accepted) >> 1


@kernel
def playable_wagers(rules, games, i, player, color):
    """How many wagers in hand the own expedition takes."""
    accepted = takes_type(rules, games, i, player, color, WAGER)
    return wagers_held(rules, games, i, player, color) if accepted else 0


@kernel
def takes_type(rules, games, i, player, color, card_type):
    """Whether a player's expedition takes a card of that type now."""
    return takes(rules, table_of(games, i, player, color), card_type)


@kernel
def bonus(rules, games, i, player, color, committed, extra):
    """The bonus when ``committed`` cards more are on the table; two fifths while hand and ``extra`` can reach it."""
    need = rules.bonus_threshold - count(table_of(games, i, player, color)) - committed
    if need <= 0:
        return rules.bonus * POINT
    numbers = playable_numbers(rules, games, i, player, color)
    cards = count(numbers) + playable_wagers(rules, games, i, player, color)
    return rules.bonus * POINT * 2 // 5 if cards - committed + extra >= need else 0


@kernel
def investment(rules, table):
    """What any player has at stake in an expedition: 5 if started, 2 a wager, a quarter of the sum."""
    if not table:
        return 0
    numbers = sum_of_faces(rules, numbers_in(rules, table))
    return POINT * (5 + 2 * wagers_in(rules, table)) + POINT // 4 * numbers


@kernel
def commitment(rules, games, i, player, color):
    """How far a player is bound to a colour by its table and hand."""
    numbers = playable_numbers(rules, games, i, player, color)
    value = investment(rules, table_of(games, i, player, color))
    value += POINT * 12 // 10 * count(numbers) + POINT * 15 // 100 * sum_of_faces(rules, numbers)
    value += POINT * 15 // 10 * playable_wagers(rules, games, i, player, color)
    return value + bonus(rules, games, i, player, color, 0, 0) // 20


@kernel
def interest(rules, games, i, opponent, color):
    """How much the opponent wants a colour, by what lies on the table."""
    table = table_of(games, i, opponent, color)
    value = investment(rules, table)
    if numbers_in(rules, table):
        value += POINT * 4 // 10 * (rules.min_rank + last_rank(rules, table))
    if games.pile_size[i, color]:
        top = pile_top(rules, games, i, color)
        if takes_type(rules, games, i, opponent, color, top):
            value += POINT * 15 // 10 if top == WAGER else POINT + POINT // 10 * face_of(rules, top)
    if count(table) + 1 >= rules.bonus_threshold:
        value += 4 * POINT
    return value


@kernel
def plan(rules, seat, numbers, wagers):
    """Worth of opening a colour with these numbers, lowest first, and so many wagers held; 0 without a plan."""
    n, total = count(numbers), sum_of_faces(rules, numbers)
    high = count(numbers & high_ranks(rules))
    penalty = new_color_penalty(seat.opened)
    few = seat.opened < 4
    rich = high >= 1 or 100 * total >= 85 * sum_of_color(rules)
    if few and n >= seat.open_minimum and POINT * total >= seat.target and rich:
        return 6 * POINT + 2500 * total + 8000 * n + 5000 * wagers - penalty
    if seat.opened <= 2 and n >= 2 and POINT * total >= seat.target * 65 // 100 and high >= 1:
        return 3 * POINT + 1800 * total + 7000 * n + 4000 * wagers - penalty
    enough = n >= seat.open_minimum + 1 and POINT * total >= seat.target * 14 // 10
    if enough and high >= 2 and not seat.mid:
        return 10 * POINT + 3000 * total + POINT * n + 7000 * high - penalty
    if few and seat.mid and n >= 1 and lowest(numbers) >= rules.n_ranks - 3:
        return 15_000 + 2000 * (rules.min_rank + lowest(numbers)) - penalty
    return 0


@kernel
def new_color_penalty(opened_colors):
    """What one more colour costs a planner that has opened so many."""
    if opened_colors <= 1:
        return 0
    if opened_colors == 2:
        return 6 * POINT
    return 14 * POINT if opened_colors == 3 else 28 * POINT


@kernel
def late_penalty(seat):
    """What a new expedition costs when few turns are left."""
    if seat.late:
        return 15 * POINT
    return 8 * POINT if seat.mid else 0


@kernel
def worth_to_me(rules, games, i, player, color, card_type):
    """What a held card is worth to its holder; 0 when it cannot be played."""
    if not takes_type(rules, games, i, player, color, card_type):
        return 0
    bound = commitment(rules, games, i, player, color)
    if card_type == WAGER:
        return 7 * POINT + bound * 12 // 10
    value = POINT * 8 // 10 * face_of(rules, card_type) + bound
    if table_of(games, i, player, color):
        value += 7 * POINT
    if bound >= 6 * POINT and is_low(rules, card_type - 1):
        value += 5 * POINT
    return value


@kernel
def worth_to_them(rules, games, i, opponent, color, card_type):
    """What a card is worth to the opponent; 0 when they cannot play it."""
    if not takes_type(rules, games, i, opponent, color, card_type):
        return 0
    wanted = interest(rules, games, i, opponent, color)
    if card_type == WAGER:
        return 8 * POINT + wanted * 15 // 10
    return face_of(rules, card_type) * (POINT * 4 // 10 + wanted // 4)
