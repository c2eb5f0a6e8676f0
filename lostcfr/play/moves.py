"""What may be typed for a move: ``r7``, ``d r7``, ``deck``, a whole turn such as ``r7 deck``, and the long names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lostcfr.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from lostcfr.game import LostCities

DISCARD_VERBS = ("discard", "d", "-")


class Moves:
    """The spellings of a game's actions."""

    def __init__(self, game: LostCities) -> None:
        self._spellings: dict[bool, dict[str, int]] = {False: {}, True: {}}  # whether it is a draw
        self._short = []
        for action in range(game.num_actions):
            verb, what = game.action_name(action).split(maxsplit=1)
            short = game.short_action_name(action).split()[1]
            self._short.append(f"d {short}" if verb == "discard" else short)
            names = {what, short, what.replace("wager", "w")}
            self._spellings[verb == "draw"] |= dict.fromkeys(_spellings(verb, names, short), action)

    def short(self, action: int) -> str:
        """The shortest clear spelling: ``r7`` plays, ``d r7`` discards, ``r`` and ``deck`` draw."""
        return self._short[action]

    def parse(self, text: str, is_drawing: bool, legal: Iterable[int], also: Iterable[str] = ()) -> tuple[int, ...]:
        """The action of a text, or the two of a whole turn; case does not matter.

        InputError with the nearest name, among the legal actions and the words of ``also``, for any other text.
        """
        words = text.lower().replace(",", " ").split()
        for length in range(len(words), 0, -1):
            head, tail = " ".join(words[:length]), " ".join(words[length:])
            action = self._spellings[is_drawing].get(head)
            draw = self._spellings[True].get(tail)
            if action is not None and not tail:
                return (action,)
            if action is not None and draw is not None and not is_drawing:
                return action, draw
        raise InputError(self._unknown(" ".join(words), is_drawing, [*map(self.short, legal)], [*also]))

    def _unknown(self, text: str, is_drawing: bool, legal: list[str], also: list[str]) -> str:
        near = did_you_mean(text, legal + also)
        if is_drawing:
            return f"{text!r} is no draw{near}; draw by one of: {', '.join(legal)}"
        card = next((name for name in legal if not name.startswith("d ")), legal[0].removeprefix("d "))
        return f"{text!r} is no move{near}; a move is such as {card} to play or d {card} to discard, and help lists all"


def _spellings(verb: str, names: set[str], short: str) -> Iterator[str]:
    """All texts that mean an action on ``names``, of which ``short`` is one."""
    if verb == "discard":
        yield from (f"{word} {name}" for word in DISCARD_VERBS for name in names)
        yield from (f"d{short}", f"-{short}")
        return
    words = ("draw", "take") if verb == "draw" else (verb,)
    names = names | ({"x"} if short == "deck" else set())
    yield from names
    yield from (f"{word} {name}" for word in words for name in names)
