"""Rounds as text: the rules, who played, the deck and every action, which give each state of the round again.

A file holds rounds one after the other, each like this; ``#`` begins a comment::

    lostcfr round 1
    rules n_colors=5 n_ranks=9 min_rank=2 n_wagers=3 hand_size=8 ... stall_limit=10
    player 0 balanced
    player 1 runs/quick:mixture
    chance seed=7 deal=0
    deck r7 r4 gw r5 ...
    play b6, draw deck
    discard g3, draw r

The number in the first line is the format's. The deck has its cards in the order dealt, to player 0 and 1 in turn, and
then drawn. A line holds a turn; the last one may be a card alone, and a round may stop anywhere. ``chance`` says which
deal of which seed it was, so that agents can go on as they would have.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from lostcfr.errors import IllegalAction, InputError, RulesError
from lostcfr.game import LostCities
from lostcfr.lanes import TRAJECTORIES, Lanes
from lostcfr.rules import Rules, parse_rules

HEADER = "lostcfr round 1"


@dataclass(frozen=True)
class Round:
    """A round, to its end or to where it stopped."""

    rules: Rules
    agents: tuple[str, str]  # names of the players in seats 0 and 1
    seed: int
    deal: int  # its number among the deals of the seed
    deck: tuple[int, ...]  # card ids in the order dealt and drawn
    actions: tuple[int, ...]

    @cached_property
    def game(self) -> LostCities:
        return LostCities(self.rules)

    def lanes(self, decisions: int | None = None) -> Lanes:
        """One lane after so many decisions of the round; by default after all."""
        lanes = self.game.lanes(1)
        lanes.deal(decks=[list(self.deck)], first=self.deal)
        for action in self.actions[:decisions]:
            lanes.act([action])
        return lanes

    def text(self) -> str:
        """The round as a file has it."""
        rules = " ".join(f"{name}={'null' if value is None else value}" for name, value in asdict(self.rules).items())
        names = [self.game.short_action_name(action) for action in self.actions]
        turns = [", ".join(names[place : place + 2]) for place in range(0, len(names), 2)]
        players = [f"player {seat} {agent}" for seat, agent in enumerate(self.agents)]
        chance = f"chance seed={self.seed} deal={self.deal}"
        deck = " ".join(["deck", *map(self.game.short_card_name, self.deck)])
        return "\n".join([HEADER, f"rules {rules}", *players, chance, deck, *turns, ""])


def write_rounds(path: Path, rounds: Iterable[Round]) -> None:
    """Write a file of rounds, which appears as a whole or, if the disk is full, not at all."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_text("\n".join(each.text() for each in rounds), encoding="utf-8")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def read_rounds(path: Path) -> list[Round]:
    """The rounds of a file; ``InputError`` says in which line what is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path} is no text, so no file of rounds") from None
    rounds: list[list[tuple[int, str]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.partition("#")[0].strip()
        if content.startswith("lostcfr round"):
            if content != HEADER:
                raise InputError(f"{path}:{number}: {content!r} is another format than this version's, {HEADER!r}")
            rounds.append([])
        elif content:
            if not rounds:
                raise InputError(f"{path}:{number}: a round begins with the line {HEADER!r}, not with {content!r}")
            rounds[-1].append((number, content))
    if not rounds:
        raise InputError(f"{path} holds no round: each begins with the line {HEADER!r}")
    return [_Parser(path, lines).round() for lines in rounds]


class _Parser:
    """The lines (number, text) of one round."""

    def __init__(self, path: Path, lines: Sequence[tuple[int, str]]) -> None:
        self.path, self.lines, self.place = path, lines, 0

    def round(self) -> Round:
        rules = self._rules(self._value("rules"))
        agents = self._value("player 0"), self._value("player 1")
        seed, deal = self._chance(self._value("chance"))
        game = LostCities(rules)
        deck = self._deck(game, self._value("deck"))
        return Round(rules, agents, seed, deal, deck, tuple(self._actions(game, deck, deal)))

    def _wrong(self, what: str) -> InputError:
        """The error of the line read last."""
        return InputError(
            f"{self.path}:{self.lines[self.place - 1][0]}: {what}" if self.lines else f"{self.path}: {what}"
        )

    def _value(self, key: str) -> str:
        """What stands behind the key of the next line, which must have that key."""
        if self.place == len(self.lines):
            raise self._wrong(f"the round ends here, but a line must follow that begins with {key!r}")
        line = self.lines[self.place][1]
        self.place += 1
        value = line.removeprefix(f"{key} ").strip()
        if value == line:
            raise self._wrong(f"this line must begin with {key!r}, but is {line!r}")
        return value

    def _rules(self, text: str) -> Rules:
        try:
            return parse_rules(text.split())
        except RulesError as error:
            raise self._wrong(str(error)) from None

    def _chance(self, text: str) -> tuple[int, int]:
        words = [word.split("=") for word in text.split()]
        values = {word[0]: int(word[1]) for word in words if len(word) == 2 and word[1].isascii() and word[1].isdigit()}
        if len(words) != 2 or list(values) != ["seed", "deal"]:
            raise self._wrong(f"the chance is written as seed=7 deal=0, but is {text!r}")
        if values["seed"] >= 2**64 or values["deal"] >= TRAJECTORIES:
            raise self._wrong("seed must be below 2^64, and deal below 2^32")
        return values["seed"], values["deal"]

    def _deck(self, game: LostCities, text: str) -> tuple[int, ...]:
        left = [game.short_card_name(card) for card in range(game.deck_size)]
        deck = []
        for name in text.lower().split():
            if name not in left:
                raise self._wrong(f"the deck has {name!r} {'too often' if name in deck else 'but the game has not'}")
            deck.append(name)
            left.remove(name)
        if left:
            raise self._wrong(f"the deck has {len(deck)} cards of {game.deck_size}; {left[0]} is missing")
        return tuple(_card_ids(game, deck))

    def _actions(self, game: LostCities, deck: Sequence[int], deal: int) -> Iterable[int]:
        """All actions, each tried on the round so far."""
        lanes = game.lanes(1)
        lanes.deal(decks=[list(deck)], first=deal)
        while self.place < len(self.lines):
            line = self.lines[self.place][1]
            self.place += 1
            names = line.split(",")
            is_last = self.place == len(self.lines)
            if len(names) != 2 and not (is_last and len(names) == 1):
                raise self._wrong(f"a turn is written as 'play r7, draw deck', but this line is {line!r}")
            for name in names:
                try:
                    action = game.parse_action(name)
                    lanes.act([action])
                except IllegalAction as error:
                    raise self._wrong(f"{name.strip()!r} is illegal here: {error.why}") from None
                except InputError as error:
                    raise self._wrong(str(error)) from None
                yield action


def _card_ids(game: LostCities, names: Sequence[str]) -> Iterable[int]:
    """Ids of cards in the order of their short names; the wagers of a colour, which are alike, in ascending order."""
    ids: dict[str, list[int]] = {}
    for card in reversed(range(game.deck_size)):
        ids.setdefault(game.short_card_name(card), []).append(card)
    return [ids[name].pop() for name in names]
