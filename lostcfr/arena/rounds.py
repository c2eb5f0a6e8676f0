"""Rounds of matches again, decision by decision, to be kept or told."""

import numpy as np
import numpy.typing as npt

from lostcfr.agents import Agent
from lostcfr.errors import whole
from lostcfr.game import LostCities
from lostcfr.record import Round
from lostcfr.rules import next_starter


def play_rounds(
    game: LostCities,
    agents: tuple[Agent, Agent],
    seed: int,
    deals: int = 1,
    *,
    first: int = 0,
    max_decisions: int | None = None,
) -> list[Round]:
    """Play deals of a seed, from number ``first`` on, with ``agents[0]`` in seat 0.

    They are the rounds of ``play_pairs`` with the same seed, move for move. A round stops after ``max_decisions`` (by
    default ``rules.decision_cap``).
    """
    return _with_scores(game, agents, seed, deals, first, max_decisions)[0]


def play_matches(
    game: LostCities,
    agent: Agent,
    opponent: Agent,
    pairs: int,
    seed: int,
    *,
    rounds: int = 1,
    max_decisions: int | None = None,
) -> list[Round]:
    """The rounds of ``play_pairs`` with the same arguments, 2 * pairs * rounds in all.

    Of each pair first the match that the agent starts, then the one that its opponent starts, its rounds in order.
    """
    seatings = (agent, opponent), (opponent, agent)
    by_starter = [_with_scores(game, agents, seed, pairs * rounds, 0, max_decisions) for agents in seatings]
    found: list[Round] = []
    for match in range(2 * pairs):
        lead, starter = 0, match & 1
        for deal in range(match // 2 * rounds, (match // 2 + 1) * rounds):
            played, scores = by_starter[starter]
            found.append(played[deal])
            lead += int(scores[deal, starter] - scores[deal, 1 - starter])
            starter = next_starter(lead, starter)
    return found


def _with_scores(
    game: LostCities, agents: tuple[Agent, Agent], seed: int, deals: int, first: int, max_decisions: int | None
) -> tuple[list[Round], npt.NDArray[np.int32]]:
    """The rounds and their scores, i4 [deals, 2]."""
    lanes = game.lanes(whole(deals, 1, None, "deals"))
    lanes.deal(seed=seed, first=first)
    decks = lanes.games.deck.tolist()
    columns: list[npt.NDArray[np.int64]] = []
    while not lanes.finished.all() and len(columns) < (max_decisions or game.rules.decision_cap):
        chosen = agents[len(columns) // 2 % 2].actions(lanes, seed)  # all rounds are at the same decision
        lanes.act(chosen)
        columns.append(chosen)
    names = agents[0].name, agents[1].name
    rounds = [
        Round(game.rules, names, seed, first + lane, tuple(decks[lane]), tuple(row[row >= 0].tolist()))
        for lane, row in enumerate(np.array(columns).T)
    ]
    return rounds, lanes.scores()
