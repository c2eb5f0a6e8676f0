"""The rule-based players by code: which decision each makes in a lane. Their rules are in docs/bots.md."""

import numpy as np

from lostcfr.kernels import rng
from lostcfr.kernels.bits import count, nth
from lostcfr.kernels.cards import discard_of, draw_from_deck, type_of_bit
from lostcfr.kernels.jit import leaf
from lostcfr.kernels.planners import BALANCED, PLANNERS, planner_action
from lostcfr.kernels.rules import uniform_action
from lostcfr.kernels.selective import selective_action
from lostcfr.kernels.state import is_draw, ply, to_move

# The planners have the codes below PLANNERS.
RANDOM = PLANNERS
DISCARD_ONLY = PLANNERS + 1
NOISY = PLANNERS + 2
SELECTIVE = PLANNERS + 3
BOTS = PLANNERS + 4

NOISE = np.uint64(2**64 * 15 // 100)  # of 2^64: how often the noisy player plays at random


@leaf
def decide(rules, games, i, bot, seed, iteration, trajectory):
    """The action of a bot in lane ``i``, which must not be finished; chance is that of its trajectory."""
    if bot == SELECTIVE:
        return selective_action(rules, games, i)
    decision = ply(games, i)
    if bot == DISCARD_ONLY:
        return discard_only(rules, games, i, rng.draw(seed, iteration, trajectory, decision, rng.BOT))
    if bot == NOISY:
        noise = rng.draw(seed, iteration, trajectory, decision, rng.BOT_NOISE)
        bot = RANDOM if noise < NOISE else BALANCED
    if bot == RANDOM:
        return uniform_action(rules, games, i, rng.draw(seed, iteration, trajectory, decision, rng.BOT))
    return planner_action(rules, games, i, bot)


@leaf
def discard_only(rules, games, i, bits):
    """Discard any card of the hand, each equally likely by 64 random bits; draw the deck."""
    if not is_draw(games, i):
        k = rng.below(bits, rules.hand_size)
        for color in range(rules.n_colors):
            held = np.int64(games.hand[i, to_move(games, i), color])
            if k < count(held):
                return discard_of(rules, color, type_of_bit(rules, nth(held, k)))
            k -= count(held)
    return draw_from_deck(rules)
