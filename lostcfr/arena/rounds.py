"""Rounds of a match again, decision by decision, to be kept or told."""

import numpy as np
import numpy.typing as npt

from lostcfr.agents import Agent
from lostcfr.errors import whole
from lostcfr.game import LostCities
from lostcfr.record import Round


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
    lanes = game.lanes(whole(deals, 1, None, "deals"))
    lanes.deal(seed=seed, first=first)
    decks = lanes.games.deck.tolist()
    columns: list[npt.NDArray[np.int64]] = []
    while not lanes.finished.all() and len(columns) < (max_decisions or game.rules.decision_cap):
        chosen = agents[len(columns) // 2 % 2].actions(lanes, seed)  # all rounds are at the same decision
        lanes.act(chosen)
        columns.append(chosen)
    names = agents[0].name, agents[1].name
    return [
        Round(game.rules, names, seed, first + lane, tuple(decks[lane]), tuple(row[row >= 0].tolist()))
        for lane, row in enumerate(np.array(columns).T)
    ]
