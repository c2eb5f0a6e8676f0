"""The rules of Lost Cities as a configuration: eight sizes and values, and the stall limit."""

from __future__ import annotations

import operator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from lostcfr.errors import RulesError

if TYPE_CHECKING:
    from lostcfr.kernels.cards import RuleParameters

COLORS = ("red", "green", "white", "blue", "yellow", "purple")
MASK_BITS = 16  # the cards of one colour are the bits of one 16-bit mask

ALLOWED = {
    "n_colors": (1, len(COLORS)),
    "n_ranks": (1, MASK_BITS - 1),
    "min_rank": (1, 100),
    "n_wagers": (0, MASK_BITS - 1),
    "hand_size": (1, len(COLORS) * MASK_BITS // 2),
    "expedition_cost": (-1000, 0),
    "bonus_threshold": (1, 1000),
    "bonus": (0, 1000),
    "stall_limit": (0, 1_000_000),
}


@dataclass(frozen=True)
class Rules:
    """The rules of one game; the defaults are the classic ones. Impossible rules raise ``RulesError``."""

    n_colors: int = 5  # expeditions; 6 in the larger edition
    n_ranks: int = 9  # numbered cards a colour, one each
    min_rank: int = 2  # face value of the lowest numbered card
    n_wagers: int = 3  # wager cards a colour
    hand_size: int = 8  # cards in hand at the start of a turn
    expedition_cost: int = -20  # points added once to every started expedition, before multiplying
    bonus_threshold: int = 8  # cards, wagers counted, from which an expedition earns the bonus
    bonus: int = 20  # points
    stall_limit: int | None = 10  # turns in a row without a deck draw until only the deck is left; None: no limit

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, self._checked(field.name, getattr(self, field.name)))
        if self.cards_per_color > MASK_BITS:
            raise RulesError(
                f"n_wagers + n_ranks is {self.cards_per_color}, but a colour has at most {MASK_BITS} cards: "
                f"lower n_wagers or n_ranks"
            )
        if self.deck_size <= 2 * self.hand_size:
            raise RulesError(
                f"hand_size is {self.hand_size}, but two hands must leave a card of the {self.deck_size} "
                f"to draw: it is at most {(self.deck_size - 1) // 2} with these sizes"
            )

    @staticmethod
    def _checked(name: str, value: object) -> int | None:
        if value is None and name == "stall_limit":
            return None
        low, high = ALLOWED[name]
        allowed = f"a whole number from {low} to {high}" + (" or None" if name == "stall_limit" else "")
        try:
            if isinstance(value, bool):
                raise TypeError
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            raise RulesError(f"{name} is {value!r}, but must be {allowed}") from None
        if not low <= number <= high:
            raise RulesError(f"{name} is {number}, but must be {allowed}")
        return number

    @property
    def cards_per_color(self) -> int:
        return self.n_wagers + self.n_ranks

    @property
    def deck_size(self) -> int:
        """Cards in all, the two hands included."""
        return self.n_colors * self.cards_per_color

    def parameters(self) -> RuleParameters:
        """The same rules as kernels take them."""
        from lostcfr.kernels.cards import NO_STALL_LIMIT, RuleParameters

        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.stall_limit is None:
            values["stall_limit"] = NO_STALL_LIMIT
        return RuleParameters(**values)
