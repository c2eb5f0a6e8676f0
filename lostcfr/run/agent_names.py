"""Agents by their names, and the rules that those of a match have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from lostcfr.agents import Agent, bot
from lostcfr.errors import InputError, did_you_mean
from lostcfr.names import BOT_NAMES, HUMAN, view_and_floor
from lostcfr.rules import Rules


def load_agent(name: str, device: str = "cpu") -> Agent:
    """The agent of a name: a rule-based player, or a run's folder or checkpoint with suffixes, as in ``RUN:VIEW:WAY``.

    A run's folder stands for its newest checkpoint; ``RUN/checkpoints/best`` is its best one. Views are mixture,
    average and current; without one it is the view that the run evaluates. Ways to choose an action are sample, which
    is also meant without one, greedy for the likeliest, and threshold=0.1 for those with at least that probability.
    """
    place, *suffixes = name.split(":")
    if place.strip().lower().replace("_", "-") in BOT_NAMES:
        if suffixes:
            folder = f"./{place.strip()}:{':'.join(suffixes)} is the run in a folder of that name"
            raise InputError(f"{name!r}: a rule-based player takes no suffix; write {place.strip()} ({folder})")
        return bot(place)
    if name.strip().lower() == HUMAN:
        raise InputError("'human' is a person, who plays in lostcfr play; here an agent is needed that plays by itself")
    if not place or not Path(place).is_dir():
        near = did_you_mean(place, (*BOT_NAMES, HUMAN))
        if suffixes or "/" in place:
            raise InputError(f"{place} is no folder of a run or checkpoint{near}, so {name!r} names no agent")
        known = f"a rule-based player ({', '.join(BOT_NAMES)}) or the folder of a run, such as runs/quick:mixture"
        raise InputError(f"there is no agent {name!r}{near}; an agent is {known}")
    view, floor = view_and_floor(name, suffixes)
    from lostcfr.run.trained import trained_agent  # and torch, which takes seconds to load

    return replace(trained_agent(Path(place), view, name, device), floor=floor)


def rules_of_match(agents: Sequence[Agent], wanted: Rules | None) -> Rules:
    """The wanted rules, else those that the agents were trained with, else the classic ones.

    InputError unless all agents play by them.
    """
    trained = [agent.rules for agent in agents if agent.rules is not None]
    rules = wanted or (trained[0] if trained else Rules())
    for agent in agents:
        if agent.rules is not None and agent.rules != rules:
            theirs, chosen = asdict(agent.rules), asdict(rules)
            others = [name for name in theirs if theirs[name] != chosen[name]]
            options = " ".join(f"--rule {name}={_text(theirs[name])}" for name in others)
            raise InputError(
                f"{agent.name} was trained with {_listed(theirs, others)}, but the match is to be played with "
                f"{_listed(chosen, others)}: set its rules by {options}, or choose another agent"
            )
    return rules


def _listed(values: dict[str, int | None], names: Sequence[str]) -> str:
    return " and ".join(f"{name}={_text(values[name])}" for name in names)


def _text(value: int | None) -> str:
    """A rule's value as ``--rule`` takes it."""
    return "null" if value is None else str(value)
