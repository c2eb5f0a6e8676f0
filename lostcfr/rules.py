"""The rules of Lost Cities as a configuration: eight sizes and values, and the stall limit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from lostcfr.errors import InputError, RulesError, nearest, whole

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Numbers = TypeVar("Numbers", int, "npt.NDArray[np.int64]")

COLORS = ("red", "green", "white", "blue", "yellow", "purple")
ENDLESS_CAP = 1000  # decisions after which matches end a round that no stall limit ends
MASK_BITS = 16  # the cards of one colour are the bits of one 16-bit mask

ALLOWED = {
    "n_colors": (1, len(COLORS)),
    "n_ranks": (1, MASK_BITS - 1),
    "min_rank": (1, 100),
    "n_wagers": (0, MASK_BITS - 1),
    "hand_size": (1, (len(COLORS) * MASK_BITS - 1) // 2),
    "expedition_cost": (-1000, 0),
    "bonus_threshold": (1, 1000),
    "bonus": (0, 1000),
    "stall_limit": (0, 255),
}


def rule(classic: int, meaning: str) -> Any:
    """A field of ``Rules`` with its classic value and what it means."""
    return field(default=classic, metadata={"meaning": meaning})


@dataclass(frozen=True)
class Rules:
    """The rules of one game; the defaults are the classic ones. Impossible rules raise ``RulesError``."""

    n_colors: int = rule(5, "Expeditions; 6 in the larger edition.")
    n_ranks: int = rule(9, "Numbered cards a colour, one each.")
    min_rank: int = rule(2, "Face value of the lowest numbered card.")
    n_wagers: int = rule(3, "Wager cards a colour.")
    hand_size: int = rule(8, "Cards in hand at the start of a turn.")
    expedition_cost: int = rule(-20, "Points added once to every started expedition, before multiplying.")
    bonus_threshold: int = rule(8, "Cards, wagers counted, from which an expedition earns the bonus.")
    bonus: int = rule(20, "Points of the bonus.")
    stall_limit: int | None = rule(10, "Turns in a row without a deck draw until only the deck is left; null: none.")

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, self.checked(each.name, getattr(self, each.name)))
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
    def checked(name: str, value: object) -> int | None:
        """The value of one field, if it is allowed by itself; else ``RulesError``."""
        if value is None and name == "stall_limit":
            return None
        try:
            return whole(value, *ALLOWED[name], name)
        except InputError as error:
            raise RulesError(f"{error}{' or None' if name == 'stall_limit' else ''}") from None

    @property
    def cards_per_color(self) -> int:
        return self.n_wagers + self.n_ranks

    @property
    def deck_size(self) -> int:
        """Cards in all, the two hands included."""
        return self.n_colors * self.cards_per_color

    @property
    def decision_cap(self) -> int:
        """The most decisions a match lets a round take: what the stall limit allows, or else ENDLESS_CAP."""
        if self.stall_limit is None:
            return ENDLESS_CAP
        return 2 * (self.deck_size - 2 * self.hand_size) * (self.stall_limit + 1)


def next_starter(lead: Numbers, last: Numbers) -> Numbers:
    """The player who starts the next round of a match: the one ahead, or at equal totals the other one than last time.

    ``lead``: points by which player 0 is ahead; ``last``: who started the last round. Numbers, or arrays of them.
    """
    starter: Numbers = (lead < 0) + (lead == 0) * (1 - last)
    return starter


def parse_rules(assignments: Iterable[str]) -> Rules:
    """Classic rules with some fields changed, from texts such as ``n_colors=6`` or ``stall_limit=null``."""
    values: dict[str, int | None] = {}
    for assignment in assignments:
        name, equals, text = (part.strip() for part in assignment.partition("="))
        if not equals:
            raise RulesError(f"a rule is written as name=value, such as n_colors=6, not {assignment!r}")
        if name not in ALLOWED:
            raise RulesError(f"there is no rule {name!r}{nearest(name, ALLOWED)}")
        if name in values:
            raise RulesError(f"{name} is given twice")
        try:
            values[name] = None if text.lower() in ("null", "none") else int(text)
        except ValueError:
            raise RulesError(f"{name} is {text!r}, but must be a whole number (or null, for stall_limit)") from None
    return Rules(**values)  # type: ignore[arg-type]
