"""What an agent expects of an action: rounds played on in hidden worlds that fit all that the player knows.

The player to move knows some cards of the opponent, and none of the deck's order. A *world* fills both in at random,
all ways equally likely; what the opponent's play may say about its hand is not taken into account. In each world the
round goes on with the agent in both seats, with the same chance after every action that is compared, so that luck
cancels in differences.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.agents import Agent
from lostcfr.errors import InputError, whole
from lostcfr.lanes import Lanes
from lostcfr.record import Round

MOST_WORLDS = 1_000_000


class Comparison(NamedTuple):
    """What K actions come to, for the player who decides."""

    actions: tuple[int, ...]
    points: npt.NDArray[np.float64]  # [K]  mean lead at the end of the round
    errors: npt.NDArray[np.float64]  # [K]  standard error of the difference to the action of the highest mean


def compare(played: Round, agent: Agent, actions: Sequence[int], worlds: int = 64) -> Comparison:
    """Play the round on after each of the legal ``actions``, in the same ``worlds``.

    It depends on nothing that the player to move does not know, but for the seed of the record. InputError where the
    round is over or the agent was trained with other rules.
    """
    whole(worlds, 2, MOST_WORLDS, "worlds")
    lanes = played.lanes()
    if lanes.finished[0]:
        raise InputError("the round is over, so there is no action to compare")
    viewer, seed = int(lanes.to_move[0]), world_seed(played)
    decks = sample_decks(played, lanes, worlds, seed)
    leads = [finish(after(played, decks, action), agent, seed) @ [1, -1] for action in actions]
    margins = np.array(leads, np.float64) * (1 - 2 * viewer)
    points = margins.mean(axis=1)
    behind = margins - margins[points.argmax()]
    return Comparison(tuple(actions), points, behind.std(axis=1, ddof=1) / np.sqrt(worlds))


def world_seed(played: Round) -> int:
    """A seed for the worlds of this decision, unlike that of the deal itself."""
    text = f"worlds {played.seed} {played.deal} {len(played.actions)}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def sample_decks(played: Round, lanes: Lanes, worlds: int, seed: int) -> npt.NDArray[np.int64]:
    """i8 [worlds, deck]: decks with which the round's actions lead to what the player to move sees in its one lane.

    What that player does not know keeps its places in the deck and is dealt to them anew.
    """
    held, drawn = hidden_cards(played, lanes)
    deck = np.array(played.deck)
    places = np.concatenate([np.flatnonzero(np.isin(deck, held)), np.arange(drawn, len(deck))])
    unseen = np.sort(deck[places])  # so that nothing depends on where they really are
    shuffled = played.game.lanes(worlds)
    shuffled.deal(seed=seed)
    cards = shuffled.games.deck.astype(np.int64)
    order = cards[cards < len(unseen)].reshape(worlds, len(unseen))
    decks = np.tile(deck, (worlds, 1))
    decks[:, places] = unseen[order]
    return decks


def hidden_cards(played: Round, lanes: Lanes) -> tuple[list[int], int]:
    """Ids of the cards in the opponent's hand that the player to move does not know, and how many left the deck."""
    size, opponent = played.rules.cards_per_color, 1 - int(lanes.to_move[0])
    masks = lanes.games.hand[0, opponent] & ~lanes.games.known[0, opponent]
    held = [color * size + bit for color, mask in enumerate(masks.tolist()) for bit in range(size) if mask >> bit & 1]
    return held, played.game.deck_size - int(lanes.deck_left[0])


def after(played: Round, decks: npt.NDArray[np.int64], action: int) -> Lanes:
    """A lane for each deck, after the round's actions and one more."""
    lanes = played.game.lanes(len(decks))
    lanes.deal(decks=decks)
    for each in (*played.actions, action):
        lanes.act(np.full(len(decks), each))
    return lanes


def finish(lanes: Lanes, agent: Agent, seed: int) -> npt.NDArray[np.int32]:
    """i4 [n, 2]: the scores when the agent has played both seats to the end or the cap on decisions."""
    while not lanes.finished.all() and 2 * lanes.turns.max() < lanes.game.rules.decision_cap:
        lanes.act(agent.actions(lanes, seed))
    return lanes.scores()
