"""What a match counts of its subject's play, decision by decision and at the end of a round.

All counts are whole numbers that are added up, so that the order of decisions leaves no trace.
"""

import numpy as np

from lostcfr.kernels import rules as game, trajectory as codes
from lostcfr.kernels.bits import count
from lostcfr.kernels.cards import WAGER, draw_from_deck, first_discard, numbers_in, types_per_color
from lostcfr.kernels.jit import leaf
from lostcfr.kernels.state import is_draw, ply, to_move

MILLIONTHS = 1e6  # of a nat: what entropies are added up in
RARE = 0.01  # an action with this probability or less is no part of a policy's support


@leaf
def count_action(rules, games, i, action, results, row):
    """Count a decision of lane ``i``, which is about to be made, for the player who makes it."""
    results[row, codes.FORCED_DECISIONS] += game.is_forced(rules, games, i)
    if is_draw(games, i):
        results[row, codes.PILE_DRAWS] += action != draw_from_deck(rules)
    elif action < first_discard(rules):
        color = action // types_per_color(rules)
        if games.table[i, to_move(games, i), color] == 0:
            points = visible_score(rules, games, i, color, action - color * types_per_color(rules))
            results[row, codes.GOOD_OPENINGS] += points >= 0


@leaf
def visible_score(rules, games, i, color, card_type):
    """Points of a new expedition that is opened by a held card and goes on with every number held above it."""
    numbers = numbers_in(rules, np.int64(games.hand[i, to_move(games, i), color]))
    if card_type == WAGER:
        return game.score_expedition(rules, (numbers << rules.n_wagers) | 1)
    lowest = card_type - 1
    return game.score_expedition(rules, numbers >> lowest << lowest << rules.n_wagers)


@leaf
def count_policy(sigma, r, legal, results, row):
    """Count entropy and support of the policy ``sigma[r]`` (f4)."""
    nats = 0.0
    for slot in range(legal):
        probability = np.float64(sigma[r, slot])
        if probability > 0.0:
            nats -= probability * np.log(probability)
        results[row, codes.SUPPORT] += probability > RARE
    results[row, codes.ENTROPY] += np.int64(np.rint(MILLIONTHS * nats))


@leaf
def count_round(rules, games, i, player, results, row):
    """Count a player's decisions and what it has on the table when the round is over."""
    results[row, codes.PLIES] += 2 * (ply(games, i) // 4) + min(2, max(0, ply(games, i) % 4 - 2 * player))
    for color in range(rules.n_colors):
        cards = np.int64(games.table[i, player, color])
        points = game.score_expedition(rules, cards)
        results[row, codes.OPENED] += cards != 0
        results[row, codes.CARDS] += count(cards)
        results[row, codes.POSITIVE] += points > 0
        results[row, codes.NEGATIVE] += points < 0
        results[row, codes.BONUSES] += cards != 0 and count(cards) >= rules.bonus_threshold
