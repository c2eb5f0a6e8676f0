"""Numbering of cards, card types and actions, and the rules as plain integers.

A colour has ``n_types = n_ranks + 1`` card types: type 0 is the wager, type ``r`` the r-th number.
It has ``n_cards = n_wagers + n_ranks`` cards: bits ``0 .. n_wagers-1`` of a colour's mask are its wagers,
the bits above them its numbers, ascending. The id of a card is ``colour * n_cards + bit``.
"""

from typing import NamedTuple

from lostcfr.kernels.bits import count, highest
from lostcfr.kernels.jit import leaf

WAGER = 0  # the card type that is no number
NO_STALL_LIMIT = 2**31 - 1  # stands for ``stall_limit: null``
CLASSIC_DECK = 44  # cards left in the deck after the deal of classic rules


class RuleParameters(NamedTuple):
    """The rules of one game as kernels read them; the meaning of each field is in ``lostcfr.Rules``."""

    n_colors: int
    n_ranks: int
    min_rank: int
    n_wagers: int
    hand_size: int
    expedition_cost: int
    bonus_threshold: int
    bonus: int
    stall_limit: int  # NO_STALL_LIMIT where there is none


@leaf
def types_per_color(rules):
    return rules.n_ranks + 1


@leaf
def cards_per_color(rules):
    return rules.n_wagers + rules.n_ranks


@leaf
def deck_size(rules):
    return rules.n_colors * cards_per_color(rules)


@leaf
def deck_after_deal(rules):
    return deck_size(rules) - 2 * rules.hand_size


@leaf
def wager_mask(rules):
    """Bits of a colour's wagers."""
    return (1 << rules.n_wagers) - 1


@leaf
def wagers_in(rules, cards):
    """How many wagers a colour's mask holds."""
    return count(cards & wager_mask(rules))


@leaf
def numbers_in(rules, cards):
    """The numbers of a colour's mask: bit ``r`` is the rank that is ``r`` above the lowest."""
    return cards >> rules.n_wagers


@leaf
def last_rank(rules, cards):
    """Highest rank of a colour's mask, counted from 0 at the lowest; -1 where it holds no number."""
    return highest(numbers_in(rules, cards))


@leaf
def types_in(rules, cards):
    """The card types a colour's mask holds, one bit each."""
    types = numbers_in(rules, cards) << 1
    if cards & wager_mask(rules):
        types |= 1
    return types


@leaf
def type_of_bit(rules, bit):
    """Card type of a colour's bit."""
    return max(bit - rules.n_wagers + 1, WAGER)


@leaf
def face_of(rules, card_type):
    """Face value of a card type; 0 for a wager."""
    return rules.min_rank + card_type - 1 if card_type != WAGER else 0


@leaf
def first_discard(rules):
    """Action ids from here on are discards; below, plays."""
    return rules.n_colors * types_per_color(rules)


@leaf
def first_draw(rules):
    """Action ids from here on are draws, one a pile and at last the deck."""
    return 2 * first_discard(rules)


@leaf
def draw_from_deck(rules):
    """Action id of drawing from the deck, the highest there is."""
    return first_draw(rules) + rules.n_colors


@leaf
def play_of(rules, color, card_type):
    return color * types_per_color(rules) + card_type


@leaf
def discard_of(rules, color, card_type):
    return first_discard(rules) + color * types_per_color(rules) + card_type


@leaf
def draw_from_pile(rules, color):
    return first_draw(rules) + color


@leaf
def scaled_deck(rules, classic):
    """A number of deck cards that is meant for the 44 of the classic deal, for these rules' deal; half up."""
    return (classic * deck_after_deal(rules) * 2 + CLASSIC_DECK) // (2 * CLASSIC_DECK)
