"""Errors a user can cause: each says what, where, what is allowed and how to fix it, and has an exit code."""

import difflib
import operator
from collections.abc import Iterable
from typing import Self

EXIT_USAGE = 2
EXIT_CONFIGURATION = 3
EXIT_CHECKPOINT = 4
EXIT_RESOURCES = 5
EXIT_DIVERGED = 6
EXIT_BUG = 70


class LostCFRError(Exception):
    """Base of all errors that this package raises on purpose; ``exit_code`` is the command line's."""

    exit_code = EXIT_BUG


class RulesError(LostCFRError, ValueError):
    """Rules that no game can have; the message names the field."""

    exit_code = EXIT_CONFIGURATION


class ConfigurationError(LostCFRError, ValueError):
    """A configuration that cannot be read or cannot be meant; the message names the file, line and key."""

    exit_code = EXIT_CONFIGURATION


class CheckpointError(LostCFRError):
    """A run directory or checkpoint that is missing, damaged, in use, or of another run."""

    exit_code = EXIT_CHECKPOINT


class ResourceError(LostCFRError):
    """Memory, disk or a device that the work needs and the machine does not have."""

    exit_code = EXIT_RESOURCES


class DivergedError(LostCFRError):
    """Training has left the finite numbers; the last checkpoint is as it was."""

    exit_code = EXIT_DIVERGED


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

    def __reduce__(self) -> tuple[type[Self], tuple[int, str, str]]:
        return type(self), (self.lane, self.action, self.why)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`` (did you mean 'x'?)`` where a known name is near, or nothing."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" (did you mean '{near[0]}'?)" if near else ""


def nearest(name: str, known: Iterable[str]) -> str:
    """The near name, if there is one, and all known ones: `` (did you mean 'x'?); known: x, y``."""
    known = list(known)
    return f"{did_you_mean(name, known)}; known: {', '.join(known)}"


def whole(value: object, low: int, high: int | None, name: str) -> int:
    """The value as an int, or an InputError that says the name and what is allowed; ``high`` None is no bound."""
    allowed = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InputTypeError(f"{name} is {value!r}, but must be {allowed}") from None
    if number < low or (high is not None and number > high):
        raise InputError(f"{name} is {number}, but must be {allowed}")
    return number
