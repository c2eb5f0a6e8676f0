"""One round or several at the terminal, with totals, and what is kept of them when a person stops."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lostcfr.names import HUMAN
from lostcfr.play.keep import keep
from lostcfr.play.session import Session, deal
from lostcfr.play.terminal import Leave, Setting, Terminal
from lostcfr.record import Round
from lostcfr.rules import next_starter
from lostcfr.run.signals import ends_raised

if TYPE_CHECKING:
    from lostcfr.agents import Agent
    from lostcfr.game import LostCities


class Player(NamedTuple):
    """Who plays: an agent, or a person where it is None."""

    name: str
    agent: Agent | None

    @property
    def recorded(self) -> str:
        """The name that a file of rounds has."""
        return HUMAN if self.agent is None else self.name


class Match:
    """Rounds between two players, one after the other; ``played`` are those that are over, which are saved together."""

    def __init__(
        self, setting: Setting, players: tuple[Player, Player], save: Path | None, played: Sequence[Round] = ()
    ) -> None:
        self.setting, self.players, self.save = setting, players, save
        self.played = [*played]

    def play(self, game: LostCities, seed: int, rounds: int, starter: int) -> None:
        """Play deals 0, 1, ... of the seed; who is ahead starts the next one."""
        totals = [0, 0]
        for number in range(rounds):
            seats = starter, 1 - starter  # the player in each seat; seat 0 starts
            names = self.players[seats[0]].recorded, self.players[seats[1]].recorded
            ended = self.play_round(deal(game, names, seed, number), seats)
            if ended is None:
                return
            for seat, points in enumerate(ended.lanes().scores()[0].tolist()):
                totals[seats[seat]] += points
            if rounds > 1:
                self._say_totals(number + 1, rounds, totals)
            starter = next_starter(totals[0] - totals[1], starter)

    def play_round(self, begun: Round, seats: tuple[int, int]) -> Round | None:
        """Play one round to its end and keep it where wanted; None where a person stops before."""
        first, second = self.players[seats[0]], self.players[seats[1]]
        session = Session(begun, (first.agent, second.agent))
        terminal = Terminal(self.setting, session, (first.name, second.name), self.played)
        try:
            with ends_raised():
                terminal.play()
        except (Leave, EOFError):
            self._keep(terminal)
            return None
        except BaseException:  # Ctrl-C, a terminal that closes; whatever it is, the round must not be lost
            self._keep(terminal)
            raise
        self.played.append(session.played)
        if self.save is not None:
            self.setting.console.print(f"saved in {keep(self.played, self.save)}")
        if self.setting.review:
            terminal.review()
        return session.played

    def _keep(self, terminal: Terminal) -> None:
        """Keep the round that stops here, unless it is kept already or there is none yet."""
        begun, console = terminal.session.played, self.setting.console
        if not begun.actions:
            console.print(f"\nnothing was played; --seed {begun.seed} deals the same cards again")
            return
        saved = [path for path, played in terminal.files.items() if played.actions == begun.actions]
        path = saved[-1] if saved and self.save is None else keep([*self.played, begun], self.save)
        console.print(f"\nthe round so far is in {path}; lostcfr play --load {path} goes on with it", soft_wrap=True)

    def _say_totals(self, number: int, rounds: int, totals: list[int]) -> None:
        score = ", ".join(f"{player.name} {points}" for player, points in zip(self.players, totals, strict=True))
        self.setting.console.print(f"\nafter round {number} of {rounds}: {score}")
