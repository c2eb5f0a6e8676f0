"""Slow, obvious twins of the rule-based bots: one small function a quantity, exact fractions throughout.

A *number* is a card with a face, a *wager* has face 0; a player has *started* or *opened* a colour once any card of
it lies on the own expedition. "Worth" below is the value of a choice, None where its conditions do not hold.
"""

from fractions import Fraction as F
from typing import NamedTuple, Protocol

from naive import NaiveRound

CLASSIC_DECK = 44  # deck after the deal in classic rules, for which the next three thresholds are given
LATE, SELECTIVE_LATE, MID = 12, 20, 21
NEW_COLOUR_PENALTY = (0, 0, 6, 14, 28)  # by colours opened, the last one for more
NOISE = F("0.15")
VETO = F(-8)


class Style(NamedTuple):
    """What tells the three planners apart."""

    open_ratio: F  # of the hand size: fewest numbers of a strong opening
    wager_multiplier: F  # of the opening target: least sum behind a wager
    wager_ratio: F  # of the hand size: fewest numbers behind a wager
    opening_limit: int  # classic deck at or under which nothing is opened
    target_ratio: F  # of the colour sum: upper bound of the opening target


STYLES = {
    "balanced": Style(F("0.40"), F("1.15"), F("0.34"), 12, F("0.50")),
    "aggressive": Style(F("0.30"), F("1.00"), F("0.25"), 7, F("0.42")),
    "cautious": Style(F("0.50"), F("1.35"), F("0.45"), 18, F("0.62")),
}


class RandomSource(Protocol):
    """Where `random` and `noisy` take their chances from."""

    def uniform(self, n: int) -> int: ...

    def coin(self, probability: F) -> bool: ...


class Seat:
    """What the player to move may see: own hand, tables, piles and the deck's size."""

    def __init__(self, round: NaiveRound) -> None:
        self.round, self.rules, self.deck = round, round.rules, len(round.deck)
        self.me, self.other = round.to_move, 1 - round.to_move
        self.hand = round.hands[self.me]
        self.face, self.colour, self.is_wager = round.face, round.colour, round.is_wager
        self.face_bound = round.rules.min_rank + round.rules.n_ranks  # one above the highest face
        self.high_face = round.rules.min_rank + round.rules.n_ranks // 2

    def play(self, card: int) -> int:
        return self.colour(card) * (self.rules.n_ranks + 1) + self.round.type_of(card)

    def discard(self, card: int) -> int:
        return self.rules.n_colors * (self.rules.n_ranks + 1) + self.play(card)

    def draw(self, colour: int) -> int:
        """The draw from a pile, or from the deck for the colour after the last."""
        return 2 * self.rules.n_colors * (self.rules.n_ranks + 1) + colour

    def draw_deck(self) -> int:
        return self.draw(self.rules.n_colors)

    def tops(self) -> list[int]:
        """The top card of each pile that may be drawn from."""
        legal = self.round.legal()
        return [pile[-1] for colour, pile in enumerate(self.round.piles) if self.draw(colour) in legal]

    def scaled(self, deck: int) -> int:
        """A classic deck threshold under these rules, rounded half up."""
        dealt = self.rules.n_colors * (self.rules.n_wagers + self.rules.n_ranks) - 2 * self.rules.hand_size
        return (deck * dealt * 2 + CLASSIC_DECK) // (2 * CLASSIC_DECK)

    def started(self, player: int, colour: int) -> bool:
        return bool(self.round.expeditions[player][colour])

    def opened(self) -> int:
        return sum(self.started(self.me, colour) for colour in range(self.rules.n_colors))

    def table_sum(self, player: int, colour: int) -> int:
        return sum(self.face(card) for card in self.round.expeditions[player][colour])

    def table_wagers(self, player: int, colour: int) -> int:
        return sum(self.is_wager(card) for card in self.round.expeditions[player][colour])

    def last_face(self, player: int, colour: int) -> int:
        """Face of the last number on the expedition, 0 if it holds none."""
        return max((self.face(card) for card in self.round.expeditions[player][colour]), default=0)

    def held(self, colour: int) -> list[int]:
        return [card for card in self.hand if self.colour(card) == colour]

    def held_wagers(self, colour: int) -> int:
        return sum(self.is_wager(card) for card in self.held(colour))

    def mine_to_play(self, card: int) -> bool:
        return self.round.playable(self.me, card)

    def theirs_to_play(self, card: int) -> bool:
        return self.round.playable(self.other, card)

    def playable(self, colour: int) -> list[int]:
        return [card for card in self.held(colour) if self.mine_to_play(card)]

    def faces(self, colour: int) -> list[int]:
        """Faces of the own playable numbers of a colour."""
        return [self.face(card) for card in self.playable(colour) if not self.is_wager(card)]


class Planner(Seat):
    """The three planners."""

    def __init__(self, round: NaiveRound, style: Style) -> None:
        super().__init__(round)
        break_even, self.colour_sum = -self.rules.expedition_cost, sum(range(self.rules.min_rank, self.face_bound))
        self.target = min(F("0.8") * break_even, style.target_ratio * self.colour_sum)
        self.wager_target = self.target * style.wager_multiplier
        self.open_minimum = self.share_of_hand(style.open_ratio)
        self.wager_minimum = self.share_of_hand(style.wager_ratio)
        self.may_open = self.deck > self.scaled(style.opening_limit)
        self.late = self.deck <= self.scaled(LATE)
        self.mid_or_late = self.deck <= self.scaled(MID)

    def share_of_hand(self, ratio: F) -> int:
        """At least 1, rounded half up."""
        return max(1, int(ratio * self.rules.hand_size + F("0.5")))

    def lead(self) -> int:
        """Own score minus the other's, as the tables stand."""
        return self.round.scores()[self.me] - self.round.scores()[self.other]

    def commitment(self, colour: int) -> F:
        faces = self.faces(colour)
        value = F(5 * self.started(self.me, colour) + 2 * self.table_wagers(self.me, colour))
        value += F("0.25") * self.table_sum(self.me, colour) + F("1.2") * len(faces)
        value += F("1.5") * (len(self.playable(colour)) - len(faces)) + F("0.15") * sum(faces)
        return value + F("0.05") * self.bonus(colour, committed=0, extra=0)

    def interest(self, colour: int) -> F:
        """How much the opponent wants a colour."""
        value = F(5 * self.started(self.other, colour) + 2 * self.table_wagers(self.other, colour))
        value += F("0.25") * self.table_sum(self.other, colour) + F("0.4") * self.last_face(self.other, colour)
        pile = self.round.piles[colour]
        if pile and self.theirs_to_play(pile[-1]):
            value += F("1.5") if self.is_wager(pile[-1]) else 1 + F("0.1") * self.face(pile[-1])
        one_more = len(self.round.expeditions[self.other][colour]) + 1
        return value + (4 if one_more >= self.rules.bonus_threshold else 0)

    def bonus(self, colour: int, committed: int, extra: int) -> F:
        """`committed` cards go from the hand to the table, `extra` cards join the hand."""
        need = self.rules.bonus_threshold - (len(self.round.expeditions[self.me][colour]) + committed)
        if need <= 0:
            return F(self.rules.bonus)
        ready = len(self.playable(colour)) - committed + extra
        return F("0.4") * self.rules.bonus if ready >= need else F(0)

    def late_penalty(self) -> int:
        return 15 if self.late else 8 if self.mid_or_late else 0

    def new_colour_penalty(self) -> int:
        return NEW_COLOUR_PENALTY[min(self.opened(), len(NEW_COLOUR_PENALTY) - 1)]

    def plan(self, faces: list[int], wagers: int) -> F:
        """Worth of a plan to open a colour with these numbers, the lowest one first; 0 without a plan."""
        n, total, few, many = len(faces), sum(faces), self.opened() <= 2, self.opened() >= 4
        high = sum(face >= self.high_face for face in faces)
        enough = n >= self.open_minimum and total >= self.target
        if not many and enough and (high >= 1 or total >= F("0.85") * self.colour_sum):
            return 6 + F("0.25") * total + F("0.8") * n + F("0.5") * wagers - self.new_colour_penalty()
        if few and n >= 2 and total >= F("0.65") * self.target and high >= 1:
            return 3 + F("0.18") * total + F("0.7") * n + F("0.4") * wagers - self.new_colour_penalty()
        rich = n >= self.open_minimum + 1 and total >= F("1.4") * self.target and high >= 2
        if rich and not self.mid_or_late:
            return 10 + F("0.3") * total + n + F("0.7") * high - self.new_colour_penalty()
        if not many and self.mid_or_late and n >= 1 and min(faces) >= self.face_bound - 3:
            return F("1.5") + F("0.2") * min(faces) - self.new_colour_penalty()
        return F(0)

    def faces_from(self, card: int) -> list[int]:
        """Faces of the own playable numbers of the card's colour, from the card up."""
        return [face for face in self.faces(self.colour(card)) if face >= self.face(card)]

    def plan_from(self, card: int) -> F:
        return self.plan(self.faces_from(card), self.held_wagers(self.colour(card)))

    def mine(self, card: int) -> F:
        """What a card of the hand is worth to its owner."""
        colour, commitment = self.colour(card), self.commitment(self.colour(card))
        if not self.mine_to_play(card):
            return F(0)
        if self.is_wager(card):
            return 7 + F("1.2") * commitment
        value = F("0.8") * self.face(card) + commitment + 7 * self.started(self.me, colour)
        return value + (5 if commitment >= 6 and self.face(card) < self.high_face else 0)

    def theirs(self, card: int) -> F:
        """What a card is worth to the opponent."""
        if not self.theirs_to_play(card):
            return F(0)
        interest = self.interest(self.colour(card))
        if self.is_wager(card):
            return 8 + F("1.5") * interest
        return self.face(card) * (F("0.4") + F("0.25") * interest)

    def wager_worth(self, card: int) -> F | None:
        colour, faces = self.colour(card), self.faces(self.colour(card))
        if len(faces) < self.wager_minimum or sum(faces) < self.wager_target or not self.may_open:
            return None
        return sum(faces) + 2 * len(faces) + self.bonus(colour, committed=1, extra=0) - self.late_penalty()

    def number_worth(self, card: int) -> F | None:
        started = self.started(self.me, self.colour(card))
        return self.continuing_worth(card) if started else self.opening_worth(card)

    def continuing_worth(self, card: int) -> F:
        colour, face = self.colour(card), self.face(card)
        value = F(4 + 3 + self.face_bound - face)
        value += 2 * face if self.late else F("0.8") * face if self.mid_or_late else 0
        if self.table_sum(self.me, colour) + sum(self.faces_from(card)) < self.target:
            value -= 6
        return value + 3 * self.table_wagers(self.me, colour) + self.bonus(colour, committed=1, extra=0)

    def opening_worth(self, card: int) -> F | None:
        colour, faces, plan = self.colour(card), self.faces_from(card), self.plan_from(card)
        if not self.may_open or plan <= 0:
            return None
        value = sum(faces) + 2 * len(faces) + F("1.5") * self.held_wagers(colour) + plan
        value += self.rules.expedition_cost + max(0, self.high_face - 1 - self.face(card))
        return value + self.bonus(colour, committed=1, extra=0) - self.late_penalty()

    def forced_worth(self, card: int) -> F | None:
        faces, plan = self.faces_from(card), self.plan_from(card)
        if plan <= 0 and len(faces) < 2 and sum(faces) < 8 and not self.mid_or_late:
            return None
        return plan + F("0.2") * sum(self.faces(self.colour(card))) + (self.face_bound - self.face(card))

    def discard_worth(self, card: int) -> F:
        value = -self.mine(card) - self.theirs(card) + (0 if self.theirs_to_play(card) else 6)
        if not self.mine_to_play(card):
            return value + 20
        return value - (4 if self.is_wager(card) else 0)

    def card_decision(self) -> int:
        """The best action of the first step that yields one, the higher action among equals."""
        wagers = [card for card in self.hand if self.mine_to_play(card) and self.is_wager(card)]
        numbers = [card for card in self.hand if self.mine_to_play(card) and not self.is_wager(card)]
        steps = [
            [(self.wager_worth(card), self.play(card)) for card in wagers],
            [(self.number_worth(card), self.play(card)) for card in numbers],
            [(self.forced_worth(card), self.play(card)) for card in numbers if self.opened() == 0],
            [(self.discard_worth(card), self.discard(card)) for card in self.hand],
        ]
        yielding = [[(worth, action) for worth, action in step if worth is not None] for step in steps]
        return max(next(step for step in yielding if step))[1]

    def deck_worth(self) -> F:
        value = -1 if self.late else 1 if self.mid_or_late else 2
        return value + (F("0.75") if self.lead() > 0 else F("-1.25"))

    def support(self, top: int) -> F:
        """How well the hand supports opening the colour of a pile top."""
        colour, few = self.colour(top), self.opened() <= 2
        wagers, higher = self.held_wagers(colour), self.faces_from(top)
        joined = self.faces(colour) + ([] if self.is_wager(top) else [self.face(top)])
        value = F("0.8") * len(higher) + wagers
        if not self.is_wager(top) and self.face(top) < self.high_face:
            value += F("1.5")
        completes = len(self.faces(colour)) < self.open_minimum <= len(joined)
        if completes and sum(joined) >= self.target and any(face >= self.high_face for face in joined):
            value += 4
        elif few and self.held(colour):
            value += F("1.5")
        plan = self.plan(joined, wagers + self.is_wager(top))
        if few:
            return value + F("0.25") * plan
        return value + (F("0.1") * max(F(0), plan) if self.opened() == 3 else 0)

    def vetoed(self, top: int) -> bool:
        """A pile top of yet another colour that neither helps nor denies enough."""
        thin = self.opened() >= 4 and self.support(top) < 6
        return thin and self.theirs(top) < 10 and self.lead() >= -15

    def top_worth(self, top: int) -> F:
        fresh = not self.started(self.me, self.colour(top))
        value = F("0.4") * self.theirs(top) + (0 if self.lead() > 0 else F("1.5"))
        if fresh and self.opened() >= 3:
            value -= 10 if self.opened() == 3 else 20
        gain = self.wager_gain(top, fresh) if self.is_wager(top) else self.number_gain(top, fresh)
        return VETO if gain is None else value + gain

    def wager_gain(self, top: int, fresh: bool) -> F | None:
        """None is the veto."""
        if not self.mine_to_play(top):
            return F(-2)
        if fresh and len(self.faces(self.colour(top))) < self.wager_minimum:
            return None if self.vetoed(top) else self.support(top) - F("0.5")
        return 6 + self.commitment(self.colour(top))

    def number_gain(self, top: int, fresh: bool) -> F | None:
        """None is the veto."""
        bonus, commitment = self.bonus(self.colour(top), committed=0, extra=1), self.commitment(self.colour(top))
        if not self.mine_to_play(top):
            return bonus - 2
        if fresh and self.vetoed(top):
            return None
        return self.face(top) + F("0.7") * commitment + (self.support(top) if fresh else 5) + bonus

    def draw_decision(self) -> int:
        """A pile only if it beats the deck; among equal piles the higher colour."""
        worths = [(self.top_worth(top), self.draw(self.colour(top))) for top in self.tops()]
        return max([pair for pair in worths if pair[0] > self.deck_worth()], default=(0, self.draw_deck()))[1]


class Selective(Seat):
    """The strong simple bot; among equals the lower action."""

    def turns_left(self) -> int:
        return (self.deck + 1) // 2

    def gap(self, card: int) -> int:
        last = self.last_face(self.me, self.colour(card)) or self.rules.min_rank - 1
        return 0 if self.is_wager(card) else self.face(card) - last - 1

    def held_sum(self, colour: int) -> int:
        return sum(self.face(card) for card in self.held(colour))

    def continuing_cards(self) -> list[int]:
        """The lowest playable card of each started colour, where allowed."""
        started = [c for c in range(self.rules.n_colors) if self.started(self.me, c) and self.playable(c)]
        hurried = [colour for colour in started if len(self.held(colour)) >= self.turns_left()]
        lowest = {colour: min(self.playable(colour)) for colour in started}
        return [card for colour, card in lowest.items() if self.gap(card) <= 2 or colour in hurried]

    def threshold(self) -> int:
        return 24 if self.deck < self.scaled(SELECTIVE_LATE) else 18

    def opening_colours(self) -> list[int]:
        fresh = [colour for colour in range(self.rules.n_colors) if not self.started(self.me, colour)]
        fitting = [colour for colour in fresh if len(self.held(colour)) <= self.turns_left()]
        return [colour for colour in fitting if self.held_sum(colour) >= self.threshold()]

    def opening_card(self, colour: int) -> int:
        """A wager if one is held and the colour is rich early on, else the lowest number."""
        rich = self.held_sum(colour) >= self.threshold() + 6 and self.deck > self.scaled(SELECTIVE_LATE)
        return min(card for card in self.held(colour) if rich or not self.is_wager(card))

    def mine(self, card: int) -> F:
        colour = self.colour(card)
        if self.started(self.me, colour):
            return F(6 + self.face(card) if self.mine_to_play(card) else 0)
        return F(self.held_sum(colour), 4) + 3 * self.is_wager(card)

    def theirs(self, card: int) -> F:
        if self.started(self.other, self.colour(card)):
            return F(5 + self.face(card) if self.theirs_to_play(card) else 0)
        return F(self.face(card), 3)

    def card_decision(self) -> int:
        if self.continuing_cards():
            return min((self.gap(card), self.play(card)) for card in self.continuing_cards())[1]
        if self.opening_colours():
            colour = max(self.opening_colours(), key=lambda c: (self.held_sum(c), -c))
            return self.play(self.opening_card(colour))
        return min((self.mine(card) + self.theirs(card), self.discard(card)) for card in self.hand)[1]

    def draw_decision(self) -> int:
        started = [top for top in self.tops() if self.started(self.me, self.colour(top))]
        near = [top for top in started if self.mine_to_play(top) and self.gap(top) <= 1]
        return min([(self.gap(top), self.draw(self.colour(top))) for top in near], default=(0, self.draw_deck()))[1]


def decide(name: str, round: NaiveRound, random: RandomSource) -> int:
    """The action id that the named bot chooses for the player to move."""
    if name == "random" or (name == "noisy" and random.coin(NOISE)):
        legal = round.legal()
        return legal[random.uniform(len(legal))]
    if name == "discard-only":
        seat = Seat(round)
        return seat.draw_deck() if round.drawing else seat.discard(seat.hand[random.uniform(len(seat.hand))])
    bot = Selective(round) if name == "selective" else Planner(round, STYLES["balanced" if name == "noisy" else name])
    return bot.draw_decision() if round.drawing else bot.card_decision()
