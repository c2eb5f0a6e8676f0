"""A slow and obvious Lost Cities round, written from the rules alone, to check the fast engine against.

Numbering. A colour has T = n_ranks + 1 card types: 0 is the wager, r the r-th number in ascending order.
Card id: colour * (n_wagers + n_ranks) + k, where k < n_wagers are the wagers, then the numbers ascend.
Action id, with C colours: play = colour * T + type, discard = C * T + colour * T + type,
draw from a pile = 2 * C * T + colour, draw from the deck = 2 * C * T + C.
"""

from __future__ import annotations

import copy
import math
from typing import Any

WAGER = 0  # the card type of every wager; numbers are types 1..n_ranks


def card_type(rules: Any, card: int) -> int:
    """WAGER, or r for the r-th number of the colour."""
    k = card % (rules.n_wagers + rules.n_ranks)
    return WAGER if k < rules.n_wagers else k - rules.n_wagers + 1


def card_face(rules: Any, card: int) -> int:
    """The number printed on the card, 0 for a wager."""
    kind = card_type(rules, card)
    return 0 if kind == WAGER else rules.min_rank + kind - 1


def score_expedition(rules: Any, cards: list[int]) -> int:
    """The score of one expedition: the cost is multiplied by the wagers, the bonus is not."""
    if not cards:
        return 0
    wagers = [card for card in cards if card_type(rules, card) == WAGER]
    total = sum(card_face(rules, card) for card in cards)
    score = (total + rules.expedition_cost) * (1 + len(wagers))
    if len(cards) >= rules.bonus_threshold:
        score += rules.bonus
    return score


class NaiveRound:
    """One round. `deck` lists all card ids: dealt from the front, alternately, then drawn in order.

    A round with no deck left is finished. The draw that finishes it ends its turn like any other: the
    seat passes on, the stall counter is back at 0 and the drawn card is in the hand.
    """

    def __init__(self, rules: Any, deck: list[int]) -> None:
        n_cards = rules.n_colors * (rules.n_wagers + rules.n_ranks)
        if sorted(deck) != list(range(n_cards)):
            raise ValueError(f"deck must hold each card id from 0 to {n_cards - 1} once")
        dealt = 2 * rules.hand_size
        colours = range(rules.n_colors)
        self.rules = rules
        self.hands: list[list[int]] = [sorted(deck[0:dealt:2]), sorted(deck[1:dealt:2])]
        self.expeditions: list[list[list[int]]] = [[[] for _ in colours] for _ in range(2)]
        self.piles: list[list[int]] = [[] for _ in colours]  # the top of a pile is its last card
        self.known: list[set[int]] = [set(), set()]  # cards in this player's hand that the opponent knows
        self.deck: list[int] = list(deck[dealt:])  # the next card is the first
        self.to_move = 0
        self.drawing = False  # False: play or discard is next; True: draw is next
        self.banned: int | None = None  # the colour discarded to in this turn
        self.stall = 0  # turns in a row, of both players, that ended in a pile draw
        self.turns = 0  # turns completed
        self.finished = not self.deck

    def copy(self) -> NaiveRound:
        """A copy that shares nothing with this round but the rules."""
        twin = copy.copy(self)
        twin.hands = [list(hand) for hand in self.hands]
        twin.expeditions = [[list(cards) for cards in row] for row in self.expeditions]
        twin.piles = [list(pile) for pile in self.piles]
        twin.known = [set(cards) for cards in self.known]
        twin.deck = list(self.deck)
        return twin

    def colour(self, card: int) -> int:
        return card // (self.rules.n_wagers + self.rules.n_ranks)

    def type_of(self, card: int) -> int:
        return card_type(self.rules, card)

    def face(self, card: int) -> int:
        return card_face(self.rules, card)

    def is_wager(self, card: int) -> bool:
        return self.type_of(card) == WAGER

    def play_action(self, colour: int, kind: int) -> int:
        return colour * (self.rules.n_ranks + 1) + kind

    def discard_action(self, colour: int, kind: int) -> int:
        return (self.rules.n_colors + colour) * (self.rules.n_ranks + 1) + kind

    def pile_action(self, colour: int) -> int:
        return 2 * self.rules.n_colors * (self.rules.n_ranks + 1) + colour

    def deck_action(self) -> int:
        return self.pile_action(self.rules.n_colors)

    def num_actions(self) -> int:
        return self.deck_action() + 1

    def playable(self, player: int, card: int) -> bool:
        """Whether the player's expedition of that colour may take the card now."""
        expedition = self.expeditions[player][self.colour(card)]
        if self.is_wager(card):
            return all(self.is_wager(other) for other in expedition)
        return all(self.type_of(other) < self.type_of(card) for other in expedition)

    def legal(self) -> list[int]:
        """Legal action ids in ascending order, none when the round is finished."""
        if self.finished:
            return []
        return self._legal_draws() if self.drawing else self._legal_cards()

    def _legal_cards(self) -> list[int]:
        actions = set()
        for card in self.hands[self.to_move]:
            actions.add(self.discard_action(self.colour(card), self.type_of(card)))
            if self.playable(self.to_move, card):
                actions.add(self.play_action(self.colour(card), self.type_of(card)))
        return sorted(actions)

    def _legal_draws(self) -> list[int]:
        limit = self.rules.stall_limit
        if limit is not None and self.stall >= limit:
            return [self.deck_action()]
        open_piles = [c for c in range(self.rules.n_colors) if self.piles[c] and c != self.banned]
        return [self.pile_action(c) for c in open_piles] + [self.deck_action()]

    def act(self, action: int) -> None:
        """Apply one legal action of the player to move."""
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal here")
        if self.drawing:
            self._draw(action)
        else:
            self._play_or_discard(action)

    def _play_or_discard(self, action: int) -> None:
        n_types = self.rules.n_ranks + 1
        discard = action >= self.rules.n_colors * n_types
        colour, kind = divmod(action % (self.rules.n_colors * n_types), n_types)
        card = self._leaving_card(colour, kind)
        self.hands[self.to_move].remove(card)
        self.known[self.to_move].discard(card)
        if discard:
            self.piles[colour].append(card)
            self.banned = colour
        else:
            self.expeditions[self.to_move][colour].append(card)
        self.drawing = True

    def _leaving_card(self, colour: int, kind: int) -> int:
        """The lowest held id of that colour and type; cards the opponent knows leave first."""
        hand = self.hands[self.to_move]
        held = [card for card in hand if self.colour(card) == colour and self.type_of(card) == kind]
        known = [card for card in held if card in self.known[self.to_move]]
        return min(known) if known else min(held)

    def _draw(self, action: int) -> None:
        if action == self.deck_action():
            card = self.deck.pop(0)
            self.stall = 0
        else:
            card = self.piles[action - self.pile_action(0)].pop()
            self.known[self.to_move].add(card)
            self.stall += 1
        self.hands[self.to_move] = sorted([*self.hands[self.to_move], card])
        self.finished = not self.deck
        self.to_move = 1 - self.to_move
        self.drawing = False
        self.banned = None
        self.turns += 1

    def scores(self) -> list[int]:
        """The score of each player's cards on the table as it stands."""
        return [sum(score_expedition(self.rules, cards) for cards in row) for row in self.expeditions]


def best_single_play_gain(game: NaiveRound) -> int:
    """The most that one legal play adds to the mover's own score, at least 0; at a card decision."""
    player = game.to_move
    gains = [0]
    for card in game.hands[player]:
        if game.playable(player, card):
            after = game.copy()
            after.act(game.play_action(game.colour(card), game.type_of(card)))
            gains.append(after.scores()[player] - game.scores()[player])
    return max(gains)


def remainder_value(game: NaiveRound) -> int:
    """What the mover's utility still gains with one deck card left, both sides seeing all and playing best.

    A minimax of whole lines of play. It is finite because a deck draw ends the round and each pile draw
    raises the stall counter: at most stall_limit - stall + 1 turns are left. Trying the deck draw first makes
    the cuts deep: some 200 positions and 20 ms with classic rules. Uncut, each turn more is 30 to 50 fold.
    """
    if game.rules.stall_limit is None:
        raise ValueError("stall_limit must be set, or the search never ends")
    if game.finished or game.drawing or len(game.deck) != 1:
        raise ValueError("the position must be a card decision with one card left in the deck")
    player = game.to_move
    now = game.scores()[player] - game.scores()[1 - player]
    return int(_search(game, player, -math.inf, math.inf)) - now


def _search(game: NaiveRound, player: int, low: float, high: float) -> float:
    """Best reachable final utility of `player`; lines that cannot change a value in (low, high) are cut."""
    if game.finished:
        return game.scores()[player] - game.scores()[1 - player]
    maximising = game.to_move == player
    best = -math.inf if maximising else math.inf
    for action in reversed(game.legal()):  # the deck first: it ends the line and narrows the window
        after = game.copy()
        after.act(action)
        value = _search(after, player, low, high)
        if maximising:
            best = max(best, value)
            low = max(low, best)
        else:
            best = min(best, value)
            high = min(high, best)
        if low >= high:
            break
    return best
