"""The rules: shuffle, deal, legal, apply, score. One lane each; RULES.md's words in docs/rules.md."""

import numpy as np

from lostcfr.kernels import rng
from lostcfr.kernels.bits import count, lowest, nth, sum_of_positions, without_lowest
from lostcfr.kernels.cards import (
    WAGER,
    cards_per_color,
    deck_size,
    discard_of,
    draw_from_deck,
    first_discard,
    first_draw,
    last_rank,
    numbers_in,
    play_of,
    type_of_bit,
    types_in,
    types_per_color,
    wager_mask,
    wagers_in,
)
from lostcfr.kernels.jit import leaf
from lostcfr.kernels.state import (
    BANNED,
    DRAWN,
    NO_BAN,
    PLY,
    STALL,
    STATUS_COLUMNS,
    finished,
    is_draw,
    to_move,
)

NO_ACTION = 255  # stands in a list of actions where there is none; ids stay below it

# Why an action is not legal.
LEGAL = 0
ROUND_OVER = 1
NO_SUCH_ACTION = 2
NOT_A_CARD_ACTION = 3
NOT_A_DRAW = 4
NOT_HELD = 5
NOT_ASCENDING = 6
PILE_EMPTY = 7
PILE_BANNED = 8
STALLED = 9


@leaf
def shuffle(rules, games, i, seed, iteration, trajectory):
    """Put the deck in the random order of (seed, iteration, trajectory): Fisher and Yates, from the back."""
    cards = deck_size(rules)
    for k in range(cards):
        games.deck[i, k] = k
    for k in range(cards - 1, 0, -1):
        j = rng.below(rng.draw(seed, iteration, trajectory, k, rng.SHUFFLE), k + 1)
        games.deck[i, k], games.deck[i, j] = games.deck[i, j], games.deck[i, k]


@leaf
def deal(rules, games, i):
    """Start a round from the deck as it lies: cards go to players 0 and 1 alternately."""
    for color in range(rules.n_colors):
        games.pile_size[i, color] = 0
        for player in range(2):
            games.hand[i, player, color] = 0
            games.known[i, player, color] = 0
            games.table[i, player, color] = 0
    for column in range(STATUS_COLUMNS):
        games.status[i, column] = 0
    games.status[i, BANNED] = NO_BAN
    for k in range(2 * rules.hand_size):
        take_from_deck(rules, games, i, k & 1)


@leaf
def take_from_deck(rules, games, i, player):
    card = np.int64(games.deck[i, games.status[i, DRAWN]])
    color = card // cards_per_color(rules)
    games.hand[i, player, color] |= np.uint16(1 << (card - color * cards_per_color(rules)))
    games.status[i, DRAWN] += 1


@leaf
def accepted_types(rules, table):
    """The card types that an expedition takes next: wagers before the first number, then higher numbers."""
    last = last_rank(rules, table)
    first_accepted = last + 2 if last >= 0 else WAGER  # the type above the last number's, which is last + 1
    return (1 << types_per_color(rules)) - (1 << first_accepted)


@leaf
def takes(rules, table, card_type):
    """Whether an expedition takes a card of that type next."""
    return (accepted_types(rules, table) >> card_type) & 1 == 1


@leaf
def held_types(rules, games, i, player, color):
    return types_in(rules, np.int64(games.hand[i, player, color]))


@leaf
def playable_types(rules, games, i, player, color):
    """The card types of a colour that ``player`` holds and may play."""
    accepted = accepted_types(rules, np.int64(games.table[i, player, color]))
    return held_types(rules, games, i, player, color) & accepted


@leaf
def pile_top(rules, games, i, color):
    """Card type on top of a pile that is not empty."""
    return type_of_bit(rules, np.int64(games.pile[i, color, games.pile_size[i, color] - 1]))


@leaf
def is_stalled(rules, games, i):
    """Whether the stall limit leaves only the deck to draw from."""
    return games.status[i, STALL] >= rules.stall_limit


@leaf
def drawable_piles(rules, games, i):
    """The colours whose pile may be drawn from, one bit each."""
    piles = 0
    if not is_stalled(rules, games, i):
        for color in range(rules.n_colors):
            if games.pile_size[i, color] > 0 and games.status[i, BANNED] != color:
                piles |= 1 << color
    return piles


@leaf
def legal(rules, games, i, out_legal, row):
    """Write the legal actions of lane ``i`` to ``out_legal[row]`` (b1 [.., actions]); none when finished."""
    for action in range(draw_from_deck(rules) + 1):
        out_legal[row, action] = False
    if finished(rules, games, i):
        return
    if is_draw(games, i):
        out_legal[row, draw_from_deck(rules)] = True
        piles = drawable_piles(rules, games, i)
        while piles:
            out_legal[row, first_draw(rules) + lowest(piles)] = True
            piles = without_lowest(piles)
        return
    player = to_move(games, i)
    for color in range(rules.n_colors):
        play = color * types_per_color(rules)
        discard = first_discard(rules) + play
        held = held_types(rules, games, i, player, color)
        accepted = accepted_types(rules, np.int64(games.table[i, player, color]))
        while held:
            card_type = lowest(held)
            out_legal[row, discard + card_type] = True
            out_legal[row, play + card_type] = (accepted >> card_type) & 1 == 1
            held = without_lowest(held)


@leaf
def most_legal(rules):
    """The most legal actions that any decision has."""
    cards = min(rules.hand_size, rules.n_colors * types_per_color(rules))
    return max(2 * cards, rules.n_colors + 1)


@leaf
def list_legal(rules, games, i, out_actions, row):
    """Write the legal actions of lane ``i`` in ascending order to ``out_actions[row]`` (u1 [.., most_legal]).

    The slots behind them hold NO_ACTION. Returns how many there are; none when finished.
    """
    n = 0
    if finished(rules, games, i):
        n = 0
    elif is_draw(games, i):
        n = list_members(drawable_piles(rules, games, i), first_draw(rules), out_actions, row, n)
        out_actions[row, n] = draw_from_deck(rules)
        n += 1
    else:
        player = to_move(games, i)
        for color in range(rules.n_colors):
            types = playable_types(rules, games, i, player, color)
            n = list_members(types, play_of(rules, color, WAGER), out_actions, row, n)
        for color in range(rules.n_colors):
            types = held_types(rules, games, i, player, color)
            n = list_members(types, discard_of(rules, color, WAGER), out_actions, row, n)
    for slot in range(n, most_legal(rules)):
        out_actions[row, slot] = NO_ACTION
    return n


@leaf
def is_forced(rules, games, i):
    """Whether lane ``i``, which must not be finished, has only one legal action."""
    if is_draw(games, i):
        return drawable_piles(rules, games, i) == 0
    if rules.hand_size > max(rules.n_wagers, 1):
        return False  # cards of two types at least, and any can be discarded
    player = to_move(games, i)
    n = 0
    for color in range(rules.n_colors):
        n += count(held_types(rules, games, i, player, color)) + count(playable_types(rules, games, i, player, color))
    return n == 1


@leaf
def list_members(members, base, out_actions, row, n):
    """Write ``base +`` each member of a set from slot ``n`` on; returns the next free slot."""
    while members:
        out_actions[row, n] = base + lowest(members)
        members = without_lowest(members)
        n += 1
    return n


@leaf
def uniform_action(rules, games, i, bits):
    """One legal action, each equally likely: the k-th in order of ids, k drawn from 64 random bits."""
    if is_draw(games, i):
        piles = drawable_piles(rules, games, i)
        k = rng.below(bits, count(piles) + 1)
        return first_draw(rules) + nth(piles, k) if k < count(piles) else draw_from_deck(rules)
    player = to_move(games, i)
    plays = discards = 0
    for color in range(rules.n_colors):
        plays += count(playable_types(rules, games, i, player, color))
        discards += count(held_types(rules, games, i, player, color))
    k = rng.below(bits, plays + discards)
    base = 0
    if k >= plays:
        k -= plays
        base = first_discard(rules)
    for color in range(rules.n_colors):
        if base:
            types = held_types(rules, games, i, player, color)
        else:
            types = playable_types(rules, games, i, player, color)
        if k < count(types):
            return base + color * types_per_color(rules) + nth(types, k)
        k -= count(types)
    return draw_from_deck(rules)  # not reached: a player to move holds cards


@leaf
def why_illegal(rules, games, i, action):
    """LEGAL, or the code of the first rule that forbids ``action`` in lane ``i``."""
    if finished(rules, games, i):
        return ROUND_OVER
    if action < 0 or action > draw_from_deck(rules):
        return NO_SUCH_ACTION
    if is_draw(games, i):
        return why_illegal_draw(rules, games, i, action - first_draw(rules))
    if action >= first_draw(rules):
        return NOT_A_CARD_ACTION
    slot = action % first_discard(rules)
    color = slot // types_per_color(rules)
    card = 1 << (slot % types_per_color(rules))
    player = to_move(games, i)
    if not held_types(rules, games, i, player, color) & card:
        return NOT_HELD
    accepted = accepted_types(rules, np.int64(games.table[i, player, color]))
    if action < first_discard(rules) and not accepted & card:
        return NOT_ASCENDING
    return LEGAL


@leaf
def why_illegal_draw(rules, games, i, color):
    """The same for a draw from the pile of ``color``, or from the deck where that is n_colors."""
    if color < 0:
        return NOT_A_DRAW
    if color == rules.n_colors:
        return LEGAL
    if games.pile_size[i, color] == 0:
        return PILE_EMPTY
    if games.status[i, BANNED] == color:
        return PILE_BANNED
    if is_stalled(rules, games, i):
        return STALLED
    return LEGAL


@leaf
def take_from_hand(rules, games, i, player, color, card_type):
    """Remove one card of a type from a hand and return its bit; a known wager leaves before an unknown one."""
    if card_type == WAGER:
        wagers = np.int64(games.hand[i, player, color]) & wager_mask(rules)
        known = np.int64(games.known[i, player, color]) & wager_mask(rules)
        bit = lowest(known) if known else lowest(wagers)
    else:
        bit = rules.n_wagers + card_type - 1
    keep = np.uint16(~(1 << bit) & 0xFFFF)
    games.hand[i, player, color] &= keep
    games.known[i, player, color] &= keep
    return bit


@leaf
def apply(rules, games, i, action):
    """Make a legal decision; the legality is the caller's to have checked."""
    player = to_move(games, i)
    if is_draw(games, i):
        apply_draw(rules, games, i, player, action - first_draw(rules))
    else:
        slot = action if action < first_discard(rules) else action - first_discard(rules)
        color = slot // types_per_color(rules)
        bit = take_from_hand(rules, games, i, player, color, slot - color * types_per_color(rules))
        if action < first_discard(rules):
            games.table[i, player, color] |= np.uint16(1 << bit)
        else:
            games.pile[i, color, games.pile_size[i, color]] = bit
            games.pile_size[i, color] += 1
            games.status[i, BANNED] = color
    games.status[i, PLY] += 1


@leaf
def apply_draw(rules, games, i, player, color):
    """Draw from the pile of ``color``, or from the deck where that is n_colors."""
    if color == rules.n_colors:
        take_from_deck(rules, games, i, player)
        games.status[i, STALL] = 0
    else:
        games.pile_size[i, color] -= 1
        card = np.uint16(1 << np.int64(games.pile[i, color, games.pile_size[i, color]]))
        games.hand[i, player, color] |= card
        games.known[i, player, color] |= card
        games.status[i, STALL] += 1
    games.status[i, BANNED] = NO_BAN


@leaf
def sum_of_faces(rules, numbers):
    """Sum of the face values of a set of numbers (bit r is the rank r above the lowest)."""
    return count(numbers) * rules.min_rank + sum_of_positions(numbers)


@leaf
def score_expedition(rules, cards):
    """Points of one expedition: ``(sum + cost) * (1 + wagers)``, plus the bonus of a long one; 0 when empty."""
    points = sum_of_faces(rules, numbers_in(rules, cards)) + rules.expedition_cost
    points *= 1 + wagers_in(rules, cards)
    points += rules.bonus if count(cards) >= rules.bonus_threshold else 0
    return points if cards else 0


@leaf
def score(rules, games, i, player):
    """Points of all expeditions of a player as they lie on the table."""
    total = 0
    for color in range(rules.n_colors):
        total += score_expedition(rules, np.int64(games.table[i, player, color]))
    return total


@leaf
def opened(rules, games, i, player):
    """Expeditions a player has started."""
    started = 0
    for color in range(rules.n_colors):
        started += games.table[i, player, color] != 0
    return started
