"""What agents give away at the end of a round, where the best play is known exactly.

With one card left in the deck, the rest of a round is worth to the player about to play or discard what its best
single play adds to its own score, at least 0: it makes that play and ends the round by drawing from the deck
(docs/rules.md; ``tests/test_rules.py`` checks it by exhaustive search). So each decision of an agent there has an exact
price, without any sampling of what follows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.agents import BOTS, Agent
from lostcfr.arena.stats import interval
from lostcfr.errors import InputError, whole
from lostcfr.game import LostCities
from lostcfr.lanes import Lanes

BLOCK = 1024  # deals side by side


class Branches(NamedTuple):
    """Lanes that went on from others by one decision each."""

    source: npt.NDArray[np.int64]  # [b]  the lane each came from
    action: npt.NDArray[np.int64]  # [b]
    lanes: Lanes  # b of them


class Losses(NamedTuple):
    """What one turn of an agent in each of n positions gives away, in expected points."""

    value: npt.NDArray[np.int64]  # [n]  what the position is worth to the player to move
    card: npt.NDArray[np.float64]  # [n]  lost by playing or discarding
    draw: npt.NDArray[np.float64]  # [n]  lost by drawing from a pile, which hands the last turn over

    @property
    def total(self) -> npt.NDArray[np.float64]:
        """[n]: both together, at least 0; exactly 0 for an agent that plays no worse action."""
        return self.card + self.draw


def branches(lanes: Lanes, wanted: npt.NDArray[np.bool_]) -> Branches:
    """A lane for each action that is ``wanted`` (b1 [n, num_actions])."""
    source, action = np.nonzero(wanted)
    after = lanes.select(source)
    after.act(action)
    return Branches(source, action, after)


def gains(lanes: Lanes, after: Branches) -> npt.NDArray[np.int64]:
    """i8 [b]: what the decision added to the score of the player who made it."""
    mover, source = lanes.to_move[after.source], after.source
    return (after.lanes.scores()[np.arange(len(source)), mover] - lanes.scores()[source, mover]).astype(np.int64)


def exact_values(lanes: Lanes) -> npt.NDArray[np.int64]:
    """i8 [n]: the rest of the round in points ahead, for the player to move; 0 where it is over.

    The lanes are at a card decision with one card left in the deck, or over.
    """
    after = branches(lanes, lanes.legal())
    values = np.zeros(len(lanes), np.int64)
    np.maximum.at(values, after.source, gains(lanes, after))
    return values


def losses(lanes: Lanes, agent: Agent, seed: int = 0) -> Losses:
    """What the agent's turn in each lane gives away if the rest of the round is then played as well as can be.

    All its decisions count with their probabilities by ``agent.policy``; nothing is drawn but the chance of rule-based
    players and of ties, from the ``seed``. The lanes are at a card decision with one card left in the deck.
    """
    value = exact_values(lanes)
    cards = shares(agent.policy(lanes, seed))
    played = branches(lanes, cards > 0)
    draws = shares(agent.policy(played.lanes, seed))
    drawn = branches(played.lanes, draws > 0)
    # After a draw from a pile the last turn is the opponent's, who gains what that is worth.
    by_draw = expected(drawn, draws, exact_values(drawn.lanes))
    by_card = value[played.source] - gains(lanes, played)
    return Losses(value, expected(played, cards, by_card), expected(played, cards, by_draw))


def expected(after: Branches, policy: npt.NDArray[np.float64], points: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """f8 [n]: the mean of ``points`` [b] over what came of each lane, by its policy [n, num_actions]."""
    weighed = policy[after.source, after.action] * points
    return np.bincount(after.source, weighed, len(policy)).astype(np.float64)


def shares(policy: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Probabilities that add up to one, in rows of double precision."""
    wide: npt.NDArray[np.float64] = policy.astype(np.float64)
    wide /= wide.sum(axis=1, keepdims=True)
    return wide


def positions(game: LostCities, seed: int, first: int, n: int, threads: int | None = None) -> Lanes:
    """The card decisions with one card left in the deck that rounds of rule-based players come to, up to n of them.

    Round d of n from ``first`` on is deal d of the seed. Its players are the next of all ordered pairs of rule-based
    players, taken in turn, so that positions are as good and as bad as rounds can make them. Without a stall limit some
    rounds may never come that far; they are left out.
    """
    lanes = game.lanes(n, threads)
    lanes.deal(seed=seed, first=first)
    codes, deal = np.array(list(BOTS.values())), first + np.arange(n)
    players = np.stack([codes[deal % len(codes)], codes[deal // len(codes) % len(codes)]], axis=1)
    for _ in range(game.rules.decision_cap):
        going = (lanes.deck_left > 1) | lanes.drawing
        if not going.any():
            break
        actions = lanes.bot_actions(players[np.arange(n), lanes.to_move], seed)
        lanes.act(np.where(going, actions, -1))
    return lanes.select(np.flatnonzero((lanes.deck_left == 1) & ~lanes.drawing))


def check(
    game: LostCities,
    agents: list[Agent],
    number: int,
    seed: int,
    *,
    threads: int | None = None,
    watch: Callable[[int], object] = lambda done: None,
) -> list[dict[str, Any]]:
    """Figures of each agent over the same ``number`` of positions; docs/evaluation.md has each in words.

    ``watch`` is told how many positions of all agents are done. InputError where rounds do not come to such positions.
    """
    whole(number, 2, None, "positions")
    found: list[list[Losses]] = [[] for _ in agents]
    done, first = 0, 0
    while done < number:
        lanes = positions(game, seed, first, BLOCK, threads)
        if not len(lanes):
            raise InputError(
                f"none of {BLOCK} rounds came to its last card within {game.rules.decision_cap} decisions: set a "
                f"stall_limit"
            )
        lanes = lanes.select(np.arange(min(len(lanes), number - done)))
        for kept, agent in zip(found, agents, strict=True):
            kept.append(losses(lanes, agent, seed))
            watch(done * len(agents) + len(lanes))
        done, first = done + len(lanes), first + BLOCK
    return [summary(agent.name, kept) for agent, kept in zip(agents, found, strict=True)]


def summary(agent: str, parts: list[Losses]) -> dict[str, Any]:
    """Means over all positions, as plain numbers, in points."""
    all_of_it = Losses(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    total = all_of_it.total
    return {
        "agent": agent,
        "positions": len(total),
        "loss": float(total.mean()),
        "ci95": list(interval(total)),
        "card_loss": float(all_of_it.card.mean()),
        "draw_loss": float(all_of_it.draw.mean()),
        "lossy": float((total > 0).mean()),
        "worst": float(total.max()),
        "value": float(all_of_it.value.mean()),
    }
