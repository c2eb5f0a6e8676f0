"""Small rounds in full: exact values, regrets, best responses and equilibria, to check sampled ones against.

A round is unrolled ply by ply from all its deals. A card drawn from the deck is equally likely to be any card that is
left in it: since nobody sees the order of the deck, that is the same as a deck shuffled before the deal. Equal rounds
of a ply are one node, so plain rounds make a graph of positions, and rounds that remember what each player has seen
make a tree in which both have perfect recall. All values are final score differences in points.

A strategy gives a probability for each legal action, in ascending order, of the player to move of a round; it is asked
where there is more than one. What it may look at is the caller's to keep to: ``key_of(round)`` stands for that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import combinations, groupby
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, hstack

from naive import NaiveRound

KeyOf = Callable[[NaiveRound], Hashable]
Strategy = Callable[[NaiveRound], list[float]]

NEVER = 1e-9  # the weight of a sequence up to which a player does not follow it


class WatchedRound(NaiveRound):
    """A round in which each player remembers the hand dealt, all actions, and the cards drawn from the deck."""

    def __init__(self, rules: Any, deck: list[int]) -> None:
        super().__init__(rules, deck)
        self.seen = [tuple(self.card(card) for card in hand) for hand in self.hands]

    def copy(self) -> WatchedRound:
        twin = super().copy()
        twin.seen = list(self.seen)
        return twin

    def card(self, card: int) -> tuple[int, int]:
        """Colour and type: wagers of a colour look the same."""
        return self.colour(card), self.type_of(card)

    def act(self, action: int) -> None:
        player, drawn = self.to_move, self.card(self.deck[0])
        super().act(action)
        self.seen = [(*seen, action) for seen in self.seen]
        if action == self.deck_action():
            self.seen[player] += (drawn,)


def recall(round: WatchedRound) -> Hashable:
    """The key of perfect recall: the seat to move and all that it has seen."""
    return round.to_move, round.seen[round.to_move]


@dataclass(eq=False)
class Node:
    """A position and, by legal action in ascending order, the likelihood of each position that may follow."""

    round: NaiveRound
    moves: dict[int, list[tuple[float, Node]]] = field(default_factory=dict)


Factors = dict[Node, list[float]]  # a weight for each legal action


class Unrolled(NamedTuple):
    """All positions of a game."""

    deals: list[tuple[float, Node]]
    nodes: list[Node]  # a position comes after all that lead to it


def unroll(rules: Any, kind: type[NaiveRound] = NaiveRound) -> Unrolled:
    """The graph of positions, or with ``WatchedRound`` the tree of histories."""
    hands = list(deals_of(rules))
    layer: dict[Hashable, Node] = {}
    deals = [(1 / len(hands), merged(layer, kind(rules, deck))) for deck in hands]
    nodes: list[Node] = []
    while layer:
        nodes += layer.values()
        following: dict[Hashable, Node] = {}
        for node in layer.values():
            for action in node.round.legal():
                node.moves[action] = [(p, merged(following, after)) for p, after in outcomes(node.round, action)]
        layer = following
    return Unrolled(deals, nodes)


def deals_of(rules: Any) -> Iterable[list[int]]:
    """A deck for each two hands; what is left of it is in ascending order."""
    cards = range(rules.n_colors * (rules.n_wagers + rules.n_ranks))
    for first in combinations(cards, rules.hand_size):
        others = [card for card in cards if card not in first]
        for second in combinations(others, rules.hand_size):
            dealt = [card for pair in zip(first, second, strict=True) for card in pair]
            yield dealt + [card for card in others if card not in second]


def outcomes(round: NaiveRound, action: int) -> list[tuple[float, NaiveRound]]:
    """What an action may lead to, with probabilities; only a draw from the deck is chance."""
    next_cards = round.deck if action == round.deck_action() else round.deck[:1]
    after = []
    for card in next_cards:
        twin = round.copy()
        twin.deck = [card] + [other for other in round.deck if other != card]
        twin.act(action)
        twin.deck.sort()
        after.append((1 / len(next_cards), twin))
    return after


def merged(layer: dict[Hashable, Node], round: NaiveRound) -> Node:
    """The node of the layer for this position, made if there is none yet."""
    return layer.setdefault(frozen({**vars(round), "rules": None}), Node(round))


def frozen(value: Any) -> Hashable:
    """A state of dicts, lists and sets as something that can be looked up."""
    if isinstance(value, dict | list):
        return tuple(frozen(part) for part in (value.values() if isinstance(value, dict) else value))
    return frozenset(value) if isinstance(value, set) else value


def is_choice(node: Node) -> bool:
    """Whether more than one action is legal: only then is a player asked, a coin thrown or a row kept."""
    return len(node.moves) > 1


def moves_of(game: Unrolled, seat: int) -> list[Node]:
    """The positions in which the seat is to move."""
    return [node for node in game.nodes if node.moves and node.round.to_move == seat]


def followed(game: Unrolled, seat: int, strategy: Strategy) -> Factors:
    """The probability of each legal action at the seat's decisions."""
    return {node: strategy(node.round) if is_choice(node) else [1.0] for node in moves_of(game, seat)}


def both(game: Unrolled, players: list[Strategy]) -> Factors:
    """The probability of each legal action at all decisions."""
    return followed(game, 0, players[0]) | followed(game, 1, players[1])


def reaches(game: Unrolled, factors: Factors) -> dict[Node, float]:
    """The sum over all ways to each position of the products of chance and of the actions' factors."""
    reach: dict[Node, float] = defaultdict(float)
    for p, node in game.deals:
        reach[node] += p
    for node in game.nodes:
        for factor, after in zip(factors.get(node, []), node.moves.values(), strict=True):
            for p, child in after:
                reach[child] += reach[node] * factor * p
    return reach


def payoff(node: Node) -> int:
    """The score difference of a finished round for player 0."""
    scores = node.round.scores()
    return scores[0] - scores[1]


def action_values(node: Node, values: dict[Node, float]) -> list[float]:
    """The mean of the following positions' values, by legal action."""
    return [sum(p * values[child] for p, child in after) for after in node.moves.values()]


def backed_up(node: Node, sigma: Factors, values: dict[Node, float], seat: int) -> float:
    """What the position is worth to the seat, from the values of those that may follow."""
    if not node.moves:
        return payoff(node) * (1 - 2 * seat)
    return float(np.dot(sigma[node], action_values(node, values)))


def position_values(game: Unrolled, sigma: Factors, seat: int) -> dict[Node, float]:
    """The expected score difference for the seat from each position on, where both follow ``sigma``."""
    values: dict[Node, float] = {}
    for node in reversed(game.nodes):
        values[node] = backed_up(node, sigma, values, seat)
    return values


def evaluate(game: Unrolled, players: list[Strategy]) -> float:
    """The expected score difference for player 0."""
    values = position_values(game, both(game, players), 0)
    return sum(p * values[node] for p, node in game.deals)


class Row(NamedTuple):
    """The decisions of the traverser that share a key."""

    actions: list[int]  # legal, in ascending order
    visits: float  # expected number of these decisions a trajectory that are kept
    advantages: list[float]  # by action, in points for the traverser


def advantages(
    game: Unrolled,
    traverser: int,
    players: list[Strategy],
    key_of: KeyOf,
    sampling: str,
    exploration: float = 0.0,
) -> dict[Hashable, Row]:
    """E[u(h a) - sum_b sigma(b) u(h b)] over the kept visits h of each key, where both play on by ``players``.

    ``sampling`` says how the traverser moves on the way to h: see ``onward``. The opponent follows its strategy.
    """
    sigma = both(game, players)
    values = position_values(game, sigma, traverser)
    own = [node for node in moves_of(game, traverser) if is_choice(node)]
    reach = reaches(game, sigma | {node: onward(sampling, sigma[node], exploration) for node in own})
    actions: dict[Hashable, list[int]] = {}
    visits: dict[Hashable, float] = defaultdict(float)
    sums: dict[Hashable, Any] = defaultdict(float)
    for node in own:
        key = key_of(node.round)
        if actions.setdefault(key, list(node.moves)) != list(node.moves):
            raise ValueError(f"the key {key} stands for positions with different legal actions")
        visits[key] += reach[node]
        sums[key] += reach[node] * (np.array(action_values(node, values)) - values[node])
    return {key: Row(actions[key], visits[key], (sums[key] / visits[key]).tolist()) for key in actions if visits[key]}


def onward(sampling: str, sigma: list[float], exploration: float) -> list[float]:
    """The weight with which the traverser goes on through each action to rows that are kept.

    external: all actions are followed. every: each decision explores with probability ``exploration``, uniformly.
    one: at each decision a coin lands with probability ``exploration``, then the action is uniform and no later row
    is kept, so that only the coin that does not land goes on.
    """
    if sampling == "external":
        return [1.0] * len(sigma)
    share = {"every": exploration / len(sigma), "one": 0.0}[sampling]
    return [(1 - exploration) * p + share for p in sigma]


def best_response(tree: Unrolled, seat: int, opponent: Strategy) -> tuple[float, Strategy]:
    """The most points that ``seat`` can expect against a strategy, and how; the tree is one of ``WatchedRound``."""
    sigma = followed(tree, 1 - seat, opponent)
    own = {node: [1.0] * len(node.moves) for node in moves_of(tree, seat)}
    reach = reaches(tree, sigma | own)
    values: dict[Node, float] = {}  # for the responder
    response: dict[Hashable, list[float]] = {}
    for _, group in groupby(reversed(tree.nodes), key=lambda node: (node.round.turns, node.round.drawing)):
        ply = list(group)
        gains: dict[Hashable, Any] = defaultdict(float)
        mine = [node for node in ply if node in own]
        for node in mine:
            gains[recall(node.round)] += reach[node] * np.array(action_values(node, values))
        response |= {key: list(np.eye(len(gain))[np.argmax(gain)]) for key, gain in gains.items()}
        sigma |= {node: response[recall(node.round)] for node in mine}
        values |= {node: backed_up(node, sigma, values, seat) for node in ply}
    return sum(p * values[node] for p, node in tree.deals), by_recall(response)


def nash_conv(tree: Unrolled, players: list[Strategy]) -> float:
    """The sum of what each seat gains by its best response: 0 where the strategies are an equilibrium."""
    return best_response(tree, 0, players[1])[0] + best_response(tree, 1, players[0])[0]


def by_recall(table: dict[Hashable, list[float]]) -> Strategy:
    """The strategy that looks up what the player to move has seen."""

    def strategy(round: NaiveRound) -> list[float]:
        return table[recall(round)]

    return strategy


class Sequences:
    """The sequences of one seat: 0 is the empty one, each other ends in an action at an information state."""

    def __init__(self) -> None:
        self.sizes: dict[Hashable, int] = {}  # actions of each information state
        self.first: dict[Hashable, int] = {}  # sequence of its first action; those of the others follow
        self.before: dict[Hashable, int] = {}  # sequence that leads to it
        self.count = 1

    def add(self, key: Hashable, before: int, n_actions: int) -> None:
        """Number the actions of an information state, unless another of its histories did so."""
        if key not in self.first:
            self.sizes[key], self.first[key], self.before[key] = n_actions, self.count, before
            self.count += n_actions

    def flow(self) -> csr_array:
        """A row each for the empty sequence, which weighs 1, and for the states, whose actions share its weight."""
        rows, columns, entries = [0], [0], [1.0]
        for row, key in enumerate(self.first, start=1):
            rows += [row] * (1 + self.sizes[key])
            columns += [self.before[key], *range(self.first[key], self.first[key] + self.sizes[key])]
            entries += [-1.0] + [1.0] * self.sizes[key]
        return coo_array((entries, (rows, columns)), shape=(1 + len(self.first), self.count)).tocsr()

    def strategy(self, plan: Any) -> Strategy:
        """Behaviour from the weights of the sequences; uniform where the seat itself never goes."""
        table = {}
        for key, first in self.first.items():
            weights = np.maximum(plan[first : first + self.sizes[key]], 0)
            total = weights.sum()
            table[key] = list(weights / total if total > NEVER else np.full(len(weights), 1 / len(weights)))
        return by_recall(table)


def sequence_form(tree: Unrolled) -> tuple[list[Sequences], csr_array]:
    """Both seats' sequences, and the payoff of player 0 by pair of sequences, weighted by chance."""
    seats = [Sequences(), Sequences()]
    chance = reaches(tree, {node: [1.0] * len(node.moves) for node in tree.nodes if node.moves})
    sequences = {node: (0, 0) for _, node in tree.deals}
    for node in tree.nodes:
        mover, pair = node.round.to_move, sequences[node]
        if node.moves:
            seats[mover].add(recall(node.round), pair[mover], len(node.moves))
        for offset, after in enumerate(node.moves.values()):
            new = seats[mover].first[recall(node.round)] + offset
            sequences |= {child: (new, pair[1]) if mover == 0 else (pair[0], new) for _, child in after}
    ends = [node for node in tree.nodes if not node.moves]
    entries = [chance[node] * payoff(node) for node in ends]
    rows, columns = zip(*[sequences[node] for node in ends], strict=True)
    return seats, coo_array((entries, (rows, columns)), shape=(seats[0].count, seats[1].count)).tocsr()


def solve(tree: Unrolled) -> tuple[float, list[Strategy]]:
    """The value for player 0 and an equilibrium, by the linear programme of Koller, Megiddo and von Stengel (1996).

    max f.v over plans x of player 0 and the value v of each information state of player 1, where no sequence of
    player 1 costs less than v says: F'v <= A'x, Ex = e, x >= 0. The weights of these bounds are player 1's plan.
    """
    seats, payoffs = sequence_form(tree)
    mine, theirs = (seat.flow() for seat in seats)
    program = linprog(
        np.r_[np.zeros(seats[0].count), -1.0, np.zeros(theirs.shape[0] - 1)],
        A_ub=hstack([-payoffs.T, theirs.T], format="csr"),
        b_ub=np.zeros(seats[1].count),
        A_eq=hstack([mine, csr_array((mine.shape[0], theirs.shape[0]))], format="csr"),
        b_eq=np.r_[1.0, np.zeros(mine.shape[0] - 1)],
        bounds=[(0, None)] * seats[0].count + [(None, None)] * theirs.shape[0],
        method="highs",
    )
    if not program.success:
        raise ArithmeticError(program.message)
    plans = program.x[: seats[0].count], -program.ineqlin.marginals
    return -program.fun, [seat.strategy(plan) for seat, plan in zip(seats, plans, strict=True)]
