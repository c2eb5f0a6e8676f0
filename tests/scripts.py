"""Rounds for the tests of ``lostcfr play``: what a person types who plays as a rule-based player would."""

from lostcfr.agents import bot
from lostcfr.play.moves import Moves
from lostcfr.play.session import Session, deal


def begin(game, seed, person=0, opponent="selective"):
    """A session of a person in a seat against a rule-based player, or against another person where it is "human"."""
    names, agents = ["human", "human"], [None, None]
    if opponent != "human":
        names[1 - person], agents[1 - person] = opponent, bot(opponent)
    return Session(deal(game, tuple(names), seed, 0), tuple(agents))


def advance(session, decisions, as_bot="balanced"):
    """Make the person's next decisions as a rule-based player would, with all replies; returns what they are."""
    made = []
    while not session.is_over and len(made) < decisions:
        if session.agents[session.seat] is not None:
            session.reply()
            continue
        action = int(bot(as_bot).actions(session.lanes, session.played.seed)[0])
        session.play([action])
        made.append(action)
    while not session.is_over and session.agents[session.seat] is not None:
        session.reply()
    return made


def script(session, as_bot="balanced"):
    """What the person types to the end of the session's round."""
    moves = Moves(session.game)
    return [moves.short(action) for action in advance(session, session.played.rules.decision_cap, as_bot)]
