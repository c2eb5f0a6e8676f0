"""A round at the terminal: it shows, asks, obeys, and asks again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console, RenderableType
from rich.progress import track

from lostcfr.errors import IllegalAction, InputError, LostCFRError
from lostcfr.narration import result, turn
from lostcfr.play import render, reports
from lostcfr.play.advice import Difference, differences, hint
from lostcfr.play.moves import Moves
from lostcfr.play.session import Session, seat_of
from lostcfr.play.view import View
from lostcfr.record import Round, write_rounds

if TYPE_CHECKING:
    from lostcfr.agents import Agent

COMMANDS = {
    "r7": "play red 7; rw is a red wager; the long name, play red 7, is as good",
    "d r7": "discard it; also dr7, -r7 and discard red 7",
    "deck": "draw from the deck; also x",
    "r": "take the top of the red pile; also red",
    "r7 deck": "a whole turn: play red 7, draw from the deck",
    "moves": "list your legal moves",
    "table": "show the table again",
    "piles": "show every pile from its top down",
    "hint": "what the advisor would do, and what it expects of that",
    "undo": "go back to your last decision",
    "save FILE": "write the round so far to a new file",
    "quit": "stop; the round so far is kept in a file",
    "help": "show this",
}
WORDS = ("moves", "table", "piles", "hint", "undo", "save", "quit", "help")


class Leave(Exception):
    """The person stops the round."""


class Setting(NamedTuple):
    """What stays the same for all rounds."""

    console: Console
    advisor: Agent
    hints: bool  # whether each decision comes with one
    review: bool


class Terminal:
    """One round; ``names`` of the players by seat, ``before`` the rounds that are saved with it."""

    def __init__(self, setting: Setting, session: Session, names: tuple[str, str], before: list[Round]) -> None:
        self.setting, self.session, self.names, self.before = setting, session, names, before
        self.moves = Moves(session.game)
        self.files: dict[Path, Round] = {}  # what ``save`` has written where
        self.seated: int | None = None  # who of two persons sits at the terminal

    def play(self) -> None:
        """Play to the end. ``Leave`` or EOFError where the person stops."""
        while not self.session.is_over:
            if self.session.agents[self.session.seat] is None:
                self._take_turn()
            else:
                self._reply()
        self.say("", *result(self.session.played, self.session.lanes, self.names))

    def say(self, *parts: RenderableType) -> None:
        for part in parts:
            self.setting.console.print(part)

    def ask(self, prompt: str) -> str:
        """A line of the person's; where it comes from a file or pipe, it is shown as if it were typed."""
        if sys.stdin is None:
            raise EOFError
        try:
            line = input(prompt)
        except UnicodeDecodeError:
            return "?"
        if not sys.stdin.isatty():
            self.say(line)
        return line.strip()

    def review(self) -> None:
        """Say where the advisor would have decided otherwise; Ctrl-C ends it early and shows what is done."""
        played, advisor = self.session.played, self.setting.advisor
        seats = tuple(seat for seat in range(2) if self.session.agents[seat] is None)
        decisions = sum(seat_of(decision) in seats for decision in range(len(played.actions)))
        found: list[Difference | None] = []
        console = Console(stderr=True)
        try:
            for each in track(
                differences(played, advisor, seats),
                "reviewing, Ctrl-C to stop",
                decisions,
                console=console,
                transient=True,
                disable=not console.is_terminal,
            ):
                found.append(each)  # noqa: PERF402 - what is found before an interrupt counts
        except KeyboardInterrupt:
            self.say("")
        self.say(*reports.review(found, decisions, self.session.game, advisor.name))

    def _take_turn(self) -> None:
        seat = self.session.seat
        if self.session.has_two_persons and self.seated != seat:
            self._hand_over(seat)
        self._show()
        while self.session.seat == seat and not self.session.is_over:
            try:
                self._obey(self.ask("draw> " if self.session.is_drawing else "card> "))
            except IllegalAction as error:
                self.say(f"you cannot {error.action}: {error.why}; moves lists what you can do")
            except LostCFRError as error:
                self.say(str(error))

    def _reply(self) -> None:
        self.session.reply()
        self.say(self._last_turn(self.session.seat))

    def _last_turn(self, viewer: int) -> str:
        """The turn just completed, as the viewer may hear of it."""
        done = int(self.session.lanes.turns[0]) - 1
        told = turn(self.session.played, self.session.played.lanes(2 * done), viewer)
        return f"\n{done + 1:3}. {self.names[done % 2]} {told}"

    def _hand_over(self, seat: int) -> None:
        """Clear the screen between two persons, and wait until the next one sits there."""
        console = self.setting.console
        if self.seated is not None:
            self.ask(f"{self.names[1 - seat]}: press Enter, then make room for {self.names[seat]}. ")
        console.clear() if not console.is_dumb_terminal else self.say("\n" * console.height)
        self.ask(f"{self.names[seat]}: press Enter when you sit here alone. ")
        self.seated = seat
        if self.session.lanes.turns[0]:
            self.say(self._last_turn(seat))

    def _show(self) -> None:
        view = View(self.session.lanes)
        self.say(*render.screen(view, int(self.session.lanes.turns[0]) + 1, self.names[1 - self.session.seat]))
        self._show_decision()

    def _show_decision(self) -> None:
        """What a decision needs beside the table."""
        if self.session.is_drawing:
            self.say(render.draws(View(self.session.lanes)))
        if self.setting.hints and len(self.session.legal()) > 1:
            self._hint()

    def _obey(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        command = word.lower()
        if command == "save":
            self._save(rest.strip())
        elif command in WORDS and not rest:
            getattr(self, f"_{command}")()
        elif line:
            self._move(line)

    def _move(self, line: str) -> None:
        session, seat = self.session, self.session.seat
        session.play(self.moves.parse(line, session.is_drawing, session.legal(), WORDS))
        if session.seat == seat and not session.is_over:
            self._show_decision()
        elif session.game.action_name(session.played.actions[-1]) == "draw deck":
            left = int(session.lanes.deck_left[0])
            card = session.game.card_name(session.played.deck[session.game.deck_size - left - 1])
            self.say(f"You draw {card} from the deck, {left} left.")

    def _moves(self) -> None:
        names = [self.moves.short(action) for action in self.session.legal()]
        self.say(", ".join(names))

    def _table(self) -> None:
        self._show()

    def _piles(self) -> None:
        self.say(*render.piles(View(self.session.lanes)))

    def _hint(self) -> None:
        advisor = self.setting.advisor
        self.say(*reports.hint_table(hint(self.session.played, advisor), self.session.game, advisor.name))

    def _undo(self) -> None:
        self.session.undo()
        self._show()

    def _save(self, name: str) -> None:
        path = Path(name)
        if not name:
            raise InputError("save needs the name of a file, such as: save round.txt")
        if path.exists() and path not in self.files:
            raise InputError(f"{path} exists already; save the round under a name that is free")
        try:
            write_rounds(path, [*self.before, self.session.played])
        except OSError as error:
            raise InputError(f"{path} cannot be written ({error.strerror}); name another file") from None
        self.files[path] = self.session.played
        self.say(f"the round so far is in {path}; lostcfr play --load {path} goes on with it")

    def _quit(self) -> None:
        raise Leave

    def _help(self) -> None:
        self.say(*(f"{command:10} {meaning}" for command, meaning in COMMANDS.items()))
