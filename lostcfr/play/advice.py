"""What an agent thinks: the likeliest actions of a decision, and where it would have played a round otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lostcfr.agents import bot
from lostcfr.play.estimate import Comparison, compare
from lostcfr.play.session import seat_of

if TYPE_CHECKING:
    from lostcfr.agents import Agent
    from lostcfr.lanes import Lanes
    from lostcfr.record import Round

MOST_HINTS = 5
OTHER_OPINIONS = ("selective", "balanced", "cautious", "aggressive", "discard-only")
WORLDS = 64


class Hint(NamedTuple):
    """Actions of one decision, with the agent's probabilities (f4 [K]) and estimates."""

    probabilities: list[float]
    comparison: Comparison


class Difference(NamedTuple):
    """A decision in which the agent's likeliest action is not the one taken."""

    decision: int  # its number in the round, from 0
    taken: int
    advised: int
    cost: float  # points that the action taken is worth less, by the agent's estimate; below 0 where it is worth more
    error: float  # standard error of the cost


def hint(played: Round, advisor: Agent) -> Hint:
    """The likeliest actions of the decision that the round stands at, and some that other players would take."""
    lanes = played.lanes()
    policy = advisor.policy(lanes, played.seed)[0]
    actions = candidates(lanes, policy, played.seed)
    return Hint([float(policy[action]) for action in actions], compare(played, advisor, actions, WORLDS))


def candidates(lanes: Lanes, policy: np.ndarray, seed: int) -> list[int]:
    """Up to ``MOST_HINTS`` actions: by probability, then what rule-based players choose, then any other draws."""
    likely = [action for action in np.argsort(-policy, kind="stable").tolist() if policy[action] > 0]
    others = [int(bot(name).actions(lanes, seed)[0]) for name in OTHER_OPINIONS]
    draws = lanes.legal()[0].nonzero()[0].tolist() if lanes.drawing[0] else []
    return list(dict.fromkeys([*likely, *others, *draws]))[:MOST_HINTS]


def differences(played: Round, advisor: Agent, seats: tuple[int, ...]) -> Iterator[Difference | None]:
    """For each decision of the seats, in order: where the agent would have done otherwise, or None."""
    lanes = played.lanes(0)
    for decision, taken in enumerate(played.actions):
        if seat_of(decision) in seats:
            yield difference(played, lanes, advisor, decision)
        lanes.act([taken])


def difference(played: Round, lanes: Lanes, advisor: Agent, decision: int) -> Difference | None:
    """The difference of one decision, which ``lanes`` stands at."""
    taken, advised = played.actions[decision], int(advisor.policy(lanes, played.seed)[0].argmax())
    if taken == advised:
        return None
    so_far = replace(played, actions=played.actions[:decision])
    comparison = compare(so_far, advisor, (taken, advised), WORLDS)
    cost = float(comparison.points[1] - comparison.points[0])
    return Difference(decision, taken, advised, cost, float(comparison.errors.max()))
