"""What the player to move knows, read from the columns of ``Lanes.observe`` and from nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lostcfr.lanes import Lanes

WAGER = "w"


class View:
    """One decision as the player to move sees it. Cards are named without their colour: ``w``, ``2``, ``10``."""

    def __init__(self, lanes: Lanes) -> None:
        """``lanes``: one lane whose round is not over."""
        self.rules = lanes.game.rules
        self.colors = lanes.game.colors
        self._columns: dict[str, int] = dict(zip(lanes.game.feature_names(), lanes.observe()[0].tolist(), strict=True))
        self._faces = [str(self.rules.min_rank + rank) for rank in range(self.rules.n_ranks)]

    def __getitem__(self, column: str) -> int:
        """The value of a column that has no colour, such as ``deck_left``."""
        return self._columns[column]

    def cards(self, place: str, color: str) -> list[str]:
        """The cards of a colour in a place: hand, known_mine, known_theirs, mine, theirs; wagers first, ascending."""
        wagers = [WAGER] * self._columns[f"{color}.{place}_wagers"]
        return wagers + [face for face in self._faces if self._columns[f"{color}.{place}_{face}"]]

    def count(self, place: str) -> int:
        """Cards of all colours in a place."""
        return sum(len(self.cards(place, color)) for color in self.colors)

    def pile(self, color: str) -> list[str]:
        """The cards of a discard pile, from the top down."""
        cards = [(f"wager{k + 1}", WAGER) for k in range(self.rules.n_wagers)]
        cards += [(face, face) for face in self._faces]
        depths = [(self._columns[f"{color}.depth_{name}"], card) for name, card in cards]
        return [card for depth, card in sorted(depths) if depth]

    def is_banned(self, color: str) -> bool:
        """Whether the card just discarded lies on this pile."""
        return bool(self._columns[f"{color}.banned"])

    def points(self, place: str, color: str) -> int:
        """What an expedition (mine or theirs) is worth; the columns of gain and loss end at 255."""
        cards, rules = self.cards(place, color), self.rules
        if not cards:
            return 0
        numbers = [int(card) for card in cards if card != WAGER]
        points = (sum(numbers) + rules.expedition_cost) * (1 + len(cards) - len(numbers))
        return points + (rules.bonus if len(cards) >= rules.bonus_threshold else 0)

    def score(self, place: str) -> int:
        """The points of all expeditions of a side."""
        return sum(self.points(place, color) for color in self.colors)
