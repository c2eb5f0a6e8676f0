"""The loops over lanes. Each kernel works on the lanes ``begin .. end-1``, so that threads share a batch."""

from lostcfr.kernels import bots, infoset, rules as game
from lostcfr.kernels.jit import kernel
from lostcfr.kernels.state import finished

LEAVE = -1  # the action that leaves a lane alone
NO_LANE = -1


@kernel
def deal(rules, games, stream, begin, end):
    """Shuffle and deal lane i as trajectory ``stream.first + i`` of the stream."""
    for i in range(begin, end):
        game.shuffle(rules, games, i, stream.seed, stream.iteration, stream.first + i)
        game.deal(rules, games, i)


@kernel
def deal_decks(rules, games, decks, begin, end):
    """Deal lane i from the deck in row i of ``decks`` (u1 [B, deck])."""
    for i in range(begin, end):
        for k in range(decks.shape[1]):
            games.deck[i, k] = decks[i, k]
        game.deal(rules, games, i)


@kernel
def legal(rules, games, out_legal, begin, end):
    """Legal actions of each lane (b1 [B, actions])."""
    for i in range(begin, end):
        game.legal(rules, games, i, out_legal, i)


@kernel
def first_illegal(rules, games, actions, begin, end):
    """The first lane whose action (i8 [B]) is neither legal nor LEAVE, or NO_LANE."""
    for i in range(begin, end):
        if actions[i] != LEAVE and game.why_illegal(rules, games, i, actions[i]) != game.LEGAL:
            return i
    return NO_LANE


@kernel
def apply(rules, games, actions, begin, end):
    """Make each lane's action (i8 [B]) but LEAVE."""
    for i in range(begin, end):
        if actions[i] != LEAVE:
            game.apply(rules, games, i, actions[i])


@kernel
def observe(rules, games, out_features, begin, end):
    """Features of each lane's player to move (u1 [B, features])."""
    for i in range(begin, end):
        infoset.encode(rules, games, i, out_features, i)


@kernel
def gather(rules, games, out_features, out_legal, begin, end):
    """``observe`` and ``legal`` in one pass over the lanes, while each game is in the cache."""
    for i in range(begin, end):
        infoset.encode(rules, games, i, out_features, i)
        game.legal(rules, games, i, out_legal, i)


@kernel
def observe_history(rules, games, out_features, begin, end):
    """What a critic sees beside ``observe`` (u1 [B, history features])."""
    for i in range(begin, end):
        infoset.encode_history(rules, games, i, out_features, i)


@kernel
def score(rules, games, out_scores, begin, end):
    """Points of both players (i4 [B, 2]) for the cards on the table."""
    for i in range(begin, end):
        for player in range(2):
            out_scores[i, player] = game.score(rules, games, i, player)


@kernel
def choose_bots(rules, games, codes, stream, out_actions, begin, end):
    """The action (i8 [B]) of the rule-based player ``codes[i]`` (i8 [B]) in each lane, LEAVE when finished."""
    for i in range(begin, end):
        if finished(rules, games, i):
            out_actions[i] = LEAVE
        else:
            trajectory = stream.first + i
            out_actions[i] = bots.decide(rules, games, i, codes[i], stream.seed, stream.iteration, trajectory)
