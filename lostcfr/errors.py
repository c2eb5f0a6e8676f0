"""Errors a user can cause: each says what, where, what is allowed and how to fix it, and has an exit code."""

import difflib
from collections.abc import Iterable

EXIT_USAGE = 2
EXIT_CONFIGURATION = 3
EXIT_RESOURCES = 5
EXIT_BUG = 70


class LostCFRError(Exception):
    """Base of all errors that this package raises on purpose; ``exit_code`` is the command line's."""

    exit_code = EXIT_BUG


class RulesError(LostCFRError, ValueError):
    """Rules that no game can have; the message names the field."""

    exit_code = EXIT_CONFIGURATION


class InputError(LostCFRError, ValueError):
    """An argument with a wrong value or shape."""

    exit_code = EXIT_USAGE


class InputTypeError(InputError, TypeError):
    """An argument with a wrong type."""


class IllegalAction(InputError):
    """An action that the rules forbid. Nothing was changed.

    Attributes: ``lane`` the lane's index, ``action`` the action's name, ``why`` the rule that forbids it.
    """

    def __init__(self, lane: int, action: str, why: str) -> None:
        super().__init__(f"lane {lane}: {action} is not legal: {why}")
        self.lane, self.action, self.why = lane, action, why


def nearest(name: str, known: Iterable[str]) -> str:
    """A clause that lists the known names, the near ones first in words: `` (did you mean 'x'?); known: ...``."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    return f"{hint}; known: {', '.join(known)}"
