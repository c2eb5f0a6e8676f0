"""A round that is being played by persons and agents: it grows, and can be taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lostcfr.errors import IllegalAction, InputError
from lostcfr.record import Round

if TYPE_CHECKING:
    from lostcfr.agents import Agent
    from lostcfr.game import LostCities


def deal(game: LostCities, names: tuple[str, str], seed: int, number: int) -> Round:
    """A round before its first decision: deal ``number`` of the seed, as a match of that seed has it."""
    lanes = game.lanes(1)
    lanes.deal(seed=seed, first=number)
    return Round(game.rules, names, seed, number, tuple(lanes.games.deck[0].tolist()), ())


def seat_of(decision: int) -> int:
    """Whose decision that of this number is, counted from 0."""
    return decision // 2 % 2


class Session:
    """A round and who plays it.

    Attributes: ``played``, the round so far; ``lanes``, its one lane; ``agents``, by seat, None for a person.
    """

    def __init__(self, played: Round, agents: tuple[Agent | None, Agent | None]) -> None:
        self.played, self.agents = played, agents
        self.game = played.game
        self.lanes = played.lanes()

    @property
    def seat(self) -> int:
        """The player to move."""
        return seat_of(len(self.played.actions))

    @property
    def is_drawing(self) -> bool:
        return len(self.played.actions) % 2 == 1

    @property
    def is_over(self) -> bool:
        """Whether the deck is empty, or, without a stall limit, as many decisions are made as a match allows."""
        return bool(self.lanes.finished[0]) or len(self.played.actions) >= self.played.rules.decision_cap

    @property
    def has_two_persons(self) -> bool:
        return self.agents == (None, None)

    def legal(self) -> list[int]:
        """The legal actions of the player to move."""
        found: list[int] = self.lanes.legal()[0].nonzero()[0].tolist()
        return found

    def play(self, actions: Sequence[int]) -> None:
        """Make some decisions, or none of them if any is illegal (``IllegalAction``)."""
        try:
            for action in actions:
                self.lanes.act([action])
        except IllegalAction:
            self.lanes = self.played.lanes()
            raise
        self._keep((*self.played.actions, *actions))

    def reply(self) -> None:
        """Let the agent to move play to the end of its turn.

        Its chance depends on the seed, the deal and the decision alone, so that what is taken back cannot reroll it.
        """
        agent, seat = self.agents[self.seat], self.seat
        if agent is None:
            raise InputError("a person is to move, so no agent can reply")
        while self.seat == seat and not self.is_over:
            self.play([int(agent.actions(self.lanes, self.played.seed)[0])])

    def undo(self) -> None:
        """Go back to the last decision of the person to move, and take back every reply to it.

        InputError where there is none, or where another person has moved since.
        """
        decisions = range(len(self.played.actions))
        before = [decision for decision in decisions if self.agents[seat_of(decision)] is None]
        if not before:
            raise InputError("there is nothing to take back yet")
        if seat_of(before[-1]) != self.seat:
            raise InputError("the other person has moved last, so there is nothing of yours to take back")
        self._keep(self.played.actions[: before[-1]])
        self.lanes = self.played.lanes()

    def _keep(self, actions: tuple[int, ...]) -> None:
        self.played = replace(self.played, actions=actions)
