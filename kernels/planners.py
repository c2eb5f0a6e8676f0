"""The rule-based players ``balanced``, ``aggressive`` and ``cautious``: one plan, three sets of parameters."""

from lostcfr.kernels.appraisal import (
    POINT,
    Style,
    bonus,
    commitment,
    high_ranks,
    is_low,
    late_penalty,
    plan,
    playable_numbers,
    playable_wagers,
    table_of,
    take_seat,
    takes_type,
    wagers_held,
    worth_to_me,
    worth_to_them,
)
from lostcfr.kernels.bits import count, lowest, without_lowest
from lostcfr.kernels.cards import (
    WAGER,
    discard_of,
    draw_from_deck,
    draw_from_pile,
    face_of,
    numbers_in,
    play_of,
    wagers_in,
)
from lostcfr.kernels.jit import kernel
from lostcfr.kernels.rules import drawable_piles, held_types, pile_top, sum_of_faces
from lostcfr.kernels.state import is_draw

BALANCED = 0
AGGRESSIVE = 1
CAUTIOUS = 2
PLANNERS = 3

NONE = -1  # no action was found
NOTHING = -(1 << 60)  # less than any card's value


@kernel
def style_of(planner):
    if planner == BALANCED:
        return Style(40, 115, 34, 12, 50)
    if planner == AGGRESSIVE:
        return Style(30, 100, 25, 7, 42)
    return Style(50, 135, 45, 18, 62)


@kernel
def planner_action(rules, games, i, planner):
    """The decision of a planner in lane ``i``, which must not be finished."""
    seat = take_seat(rules, games, i, style_of(planner))
    if is_draw(games, i):
        return draw(rules, games, i, seat)
    action = play_wager(rules, games, i, seat)
    if action == NONE:
        action = play_number(rules, games, i, seat)
    if action == NONE and seat.opened == 0:
        action = forced_opening(rules, games, i, seat)
    return discard(rules, games, i, seat) if action == NONE else action


@kernel
def play_wager(rules, games, i, seat):
    """Play the wager with the most behind it, or NONE."""
    best, most = NONE, NOTHING
    for color in range(rules.n_colors):
        numbers = playable_numbers(rules, games, i, seat.player, color)
        total = sum_of_faces(rules, numbers)
        enough = count(numbers) >= seat.wager_minimum and POINT * total >= seat.wager_target
        if enough and seat.may_open and playable_wagers(rules, games, i, seat.player, color):
            value = POINT * (total + 2 * count(numbers)) - late_penalty(seat)
            value += bonus(rules, games, i, seat.player, color, 1, 0)
            if value >= most:
                best, most = play_of(rules, color, WAGER), value
    return best


@kernel
def play_number(rules, games, i, seat):
    """Play the best number, in a started colour or to open one that has a plan, or NONE."""
    best, most = NONE, NOTHING
    for color in range(rules.n_colors):
        started = table_of(games, i, seat.player, color) != 0
        numbers = playable_numbers(rules, games, i, seat.player, color)
        while numbers:
            if started:
                value = value_of_continuing(rules, games, i, seat, color, numbers)
            else:
                value = value_of_opening(rules, games, i, seat, color, numbers)
            if value != NOTHING and value >= most:
                best, most = play_of(rules, color, 1 + lowest(numbers)), value
            numbers = without_lowest(numbers)
    return best


@kernel
def value_of_continuing(rules, games, i, seat, color, numbers):
    """Value of playing the lowest of ``numbers`` on a started expedition; the others can follow it."""
    table = table_of(games, i, seat.player, color)
    face = rules.min_rank + lowest(numbers)
    value = POINT * (7 + face_bound(rules) - face + 3 * wagers_in(rules, table))
    if seat.late:
        value += 2 * POINT * face
    elif seat.mid:
        value += POINT * 8 // 10 * face
    total = sum_of_faces(rules, numbers_in(rules, table)) + sum_of_faces(rules, numbers)
    if POINT * total < seat.target:
        value -= 6 * POINT
    return value + bonus(rules, games, i, seat.player, color, 1, 0)


@kernel
def face_bound(rules):
    """One above the highest face."""
    return rules.min_rank + rules.n_ranks


@kernel
def value_of_opening(rules, games, i, seat, color, numbers):
    """Value of opening a colour with the lowest of ``numbers``, or NOTHING without a plan."""
    wagers = wagers_held(rules, games, i, seat.player, color)
    planned = plan(rules, seat, numbers, wagers)
    if not seat.may_open or planned <= 0:
        return NOTHING
    value = POINT * (sum_of_faces(rules, numbers) + 2 * count(numbers) + rules.expedition_cost)
    value += POINT * 15 // 10 * wagers + planned - late_penalty(seat)
    value += POINT * max(0, rules.n_ranks // 2 - 1 - lowest(numbers))
    return value + bonus(rules, games, i, seat.player, color, 1, 0)


@kernel
def forced_opening(rules, games, i, seat):
    """Open something with a number when nothing is opened, or NONE where all that is too weak."""
    best, most = NONE, NOTHING
    for color in range(rules.n_colors):
        wagers = wagers_held(rules, games, i, seat.player, color)
        numbers = playable_numbers(rules, games, i, seat.player, color)
        total = sum_of_faces(rules, numbers)
        while numbers:
            planned = plan(rules, seat, numbers, wagers)
            weak = planned <= 0 and count(numbers) < 2 and sum_of_faces(rules, numbers) < 8
            value = planned + POINT // 5 * total + POINT * (rules.n_ranks - lowest(numbers))
            if value >= most and not (weak and not seat.mid):
                best, most = play_of(rules, color, 1 + lowest(numbers)), value
            numbers = without_lowest(numbers)
    return best


@kernel
def discard(rules, games, i, seat):
    """Discard the card that is worth least to both players together."""
    best, most = NONE, NOTHING
    for color in range(rules.n_colors):
        held = held_types(rules, games, i, seat.player, color)
        while held:
            card_type = lowest(held)
            value = value_of_discard(rules, games, i, seat, color, card_type)
            if value >= most:
                best, most = discard_of(rules, color, card_type), value
            held = without_lowest(held)
    return best


@kernel
def value_of_discard(rules, games, i, seat, color, card_type):
    value = -worth_to_me(rules, games, i, seat.player, color, card_type)
    value -= worth_to_them(rules, games, i, 1 - seat.player, color, card_type)
    if not takes_type(rules, games, i, seat.player, color, card_type):
        value += 20 * POINT
    elif card_type == WAGER:
        value -= 4 * POINT
    if not takes_type(rules, games, i, 1 - seat.player, color, card_type):
        value += 6 * POINT
    return value


@kernel
def draw(rules, games, i, seat):
    """Draw the pile's top that is worth most, or from the deck where that is worth as much."""
    best, most = draw_from_deck(rules), value_of_deck(seat)
    piles = drawable_piles(rules, games, i)
    while piles:
        color = lowest(piles)
        value = value_of_pile(rules, games, i, seat, color, pile_top(rules, games, i, color))
        if value > most or (value == most and best != draw_from_deck(rules)):
            best, most = draw_from_pile(rules, color), value
        piles = without_lowest(piles)
    return best


@kernel
def value_of_deck(seat):
    value = 2 * POINT
    if seat.late:
        value = -POINT
    elif seat.mid:
        value = POINT
    return value + (7500 if seat.lead > 0 else -12_500)


@kernel
def value_of_pile(rules, games, i, seat, color, top):
    """Value of drawing the top of a pile, which is a card of type ``top``."""
    player = seat.player
    started = table_of(games, i, player, color) != 0
    playable = takes_type(rules, games, i, player, color, top)
    thin = count(playable_numbers(rules, games, i, player, color)) < seat.wager_minimum
    theirs = worth_to_them(rules, games, i, 1 - player, color, top)
    supported = 0 if started else support(rules, games, i, seat, color, top)
    unhelpful = supported < 6 * POINT and theirs < 10 * POINT and seat.lead >= -15
    if not started and seat.opened >= 4 and unhelpful and (top != WAGER or thin):
        return -8 * POINT
    value = theirs * 2 // 5 + (0 if seat.lead > 0 else POINT * 15 // 10)
    if not started and seat.opened >= 3:
        value -= 10 * POINT if seat.opened == 3 else 20 * POINT
    if not playable:
        value -= 2 * POINT
    elif top == WAGER and not started and thin:
        return value + supported - POINT // 2
    elif top == WAGER:
        return value + 6 * POINT + commitment(rules, games, i, player, color)
    else:
        value += POINT * face_of(rules, top) + commitment(rules, games, i, player, color) * 7 // 10
        value += 5 * POINT if started else supported
    return value + (bonus(rules, games, i, player, color, 0, 1) if top != WAGER else 0)


@kernel
def support(rules, games, i, seat, color, top):
    """How well the hand supports opening a colour with the top of its pile."""
    wagers = wagers_held(rules, games, i, seat.player, color)
    numbers = playable_numbers(rules, games, i, seat.player, color)
    with_top = numbers if top == WAGER else numbers | 1 << (top - 1)
    as_high = numbers if top == WAGER else numbers >> (top - 1)
    value = POINT * 8 // 10 * count(as_high) + POINT * wagers
    if top != WAGER and is_low(rules, top - 1):
        value += POINT * 15 // 10
    completes = count(numbers) < seat.open_minimum <= count(with_top)
    if completes and POINT * sum_of_faces(rules, with_top) >= seat.target and with_top & high_ranks(rules):
        value += 4 * POINT
    elif seat.opened <= 2 and (numbers or wagers):
        value += POINT * 15 // 10
    planned = plan(rules, seat, with_top, wagers + (top == WAGER))
    if seat.opened <= 2:
        return value + planned // 4
    return value + max(0, planned) // 10 if seat.opened == 3 else value
