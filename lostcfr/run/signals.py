"""Signals that end a process: in long work the first asks for an orderly end and a second one ends at once."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
OF_A_TERMINAL = (signal.SIGTERM, signal.SIGHUP)  # beside SIGINT, which Python itself raises; the second when it closes


class Interruption:
    """While it is entered, a signal is noted instead of raised, for a loop to look at between two slices of work.

    Only the main thread may handle signals; in another thread it hears nothing and changes nothing.
    ``signal`` is the number of the signal heard, or None.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    @property
    def exit_code(self) -> int:
        """Exit code of a process that ends because of the signal (130 for Ctrl-C, 143 for SIGTERM), or 0."""
        return 0 if self.signal is None else 128 + self.signal

    def __enter__(self) -> "Interruption":
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._hear) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            # None stands for a handler that was not set from Python and cannot be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._before = {}

    def _hear(self, number: int, _: FrameType | None) -> None:
        if self.signal is not None:
            os._exit(128 + number)
        self.signal = number


@contextmanager
def ends_raised() -> Iterator[None]:
    """SIGTERM, and SIGHUP of a terminal that closes, raise SystemExit with 128 + their number, so nothing is lost."""

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in OF_A_TERMINAL}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
