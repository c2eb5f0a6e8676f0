"""Trajectories under way and what was decided in them: the arrays that the kernels of ``tick`` work on.

A trajectory is one round seen by its *subject*, the player in seat ``trajectory & 1``: the traverser in training,
the agent in a match. A decision that a network answers becomes a *request*; the ones worth learning from become *rows*.
"""

from typing import NamedTuple

import numpy as np

from lostcfr.kernels import rng
from lostcfr.kernels.jit import leaf

IDLE = -1  # the trajectory of a lane without one
NO_ROW = -1
ALL_SLOTS = -1  # the choice that follows every action

# Columns of Rows.facts.
TRAJECTORY = 0
PLY = 1
BRANCH = 2  # the 64 bits of Paths.branch
PARENT = 3  # the row of the subject's decision before this one, or NO_ROW
SLOT = 4  # the action taken there
KIND = 5  # ADVANTAGE or STRATEGY
FALLBACK = 6  # whether no regret was positive
CHOICE = 7  # the action followed here, or ALL_SLOTS
EXPLORED = 8  # whether this was the one exploratory decision
FACTS = 9
ADVANTAGE = 0  # a decision of the subject: values become regret targets
STRATEGY = 1  # a decision of its opponent: sigma is what the strategy network learns

# What a network's outputs mean, and what it plays where no regret is positive.
REGRETS = 0  # the action of the highest one
REGRETS_OR_UNIFORM = 1  # any action
LOGITS = 2

# Entries of Queue.state.
NEXT = 0  # place in Queue.order of the trajectory to start next
END = 1  # place behind the last one to start
ROOM = 2  # how many may start in this tick
BUSY = 3  # lanes that hold a trajectory
QUEUE_STATE = 4

# Columns of a trajectory's results; sums over its rounds, of which external sampling has many.
ROUNDS = 0
SCORE = 1  # points of the subject
OPPONENT_SCORE = 2
TURNS = 3
FORCED = 4  # deck draws that the stall limit forced
OPENED = 5  # expeditions that the subject started
UNFINISHED = 6  # rounds that were ended early
# The subject's play. What its networks decide is only counted where nothing is recorded, in matches.
CARDS = 7  # of its expeditions
POSITIVE = 8  # expeditions above 0 points
NEGATIVE = 9
BONUSES = 10  # expeditions with a bonus
PLIES = 11  # its decisions
FORCED_DECISIONS = 12  # those with one legal action
PILE_DRAWS = 13
GOOD_OPENINGS = 14  # expeditions that were opened with a visible score (see ``tally``) of at least 0
ENTROPY = 15  # of the policies of its networks, in millionths of a nat
SUPPORT = 16  # actions with a probability above 0.01 in them
RESULTS = 17


class Seating(NamedTuple):
    """Who plays: role 0 is the subject, role 1 its opponent; each draws one of M choices for a trajectory."""

    cumulative: np.ndarray  # [2, M] f8  probability of the choices up to this one
    network: np.ndarray  # [2, M, 2] i4  the choice's network for each seat, or -1 - code of a rule-based player
    outputs: np.ndarray  # [networks] u1  one of the meanings above
    floor: np.ndarray  # [networks] f4  actions less likely than this are not played; above 1 only the likeliest is


class Task(NamedTuple):
    """What a batch of trajectories is for."""

    seed: np.uint64
    iteration: int
    first: int  # the trajectory of the first row of results
    mirror: int  # 1 where the trajectories 2 p and 2 p + 1 share their chance, the mirrored pair p; else 0
    max_plies: int  # a round ends here, scored as it stands
    exploration: float  # probability of an exploratory decision of the subject
    explores_once: bool  # whether it explores at most one decision of a trajectory
    branching: bool  # external sampling: the subject follows every action
    keeps_opponent: bool  # whether decisions of the opponent become rows
    rollout: bool  # whether rows stay as played, also those behind an exploratory decision, and become no targets
    seating: Seating


class Paths(NamedTuple):
    """Where each of B lanes is in its trajectory."""

    trajectory: np.ndarray  # [B] i8  or IDLE
    branch: np.ndarray  # [B] u8  digest of the subject's choices in external sampling, else 0; part of every draw's key
    row: np.ndarray  # [B] i8  row of the subject's last decision, which the returns go to, or NO_ROW
    slot: np.ndarray  # [B] i8  what was chosen there
    explored: np.ndarray  # [B] b1  whether the one exploratory decision is behind
    network: np.ndarray  # [B, 2] i4  who sits where, as in Seating.network


class Queue(NamedTuple):
    """The trajectories still to start."""

    order: np.ndarray  # [T] i8
    state: np.ndarray  # [4] i8  the entries named above


class Requests(NamedTuple):
    """Decisions that networks are asked for, at most one a lane."""

    features: np.ndarray  # [B, F] u1
    history: np.ndarray  # [B, H] u1  what a baseline sees beside them; H is 0 without one
    actions: np.ndarray  # [B, K] u1  legal actions in ascending order, then NO_ACTION
    legal: np.ndarray  # [B] i8  how many are legal
    lane: np.ndarray  # [B] i8
    network: np.ndarray  # [B] i4
    size: np.ndarray  # [1] i8  requests of this tick


class Answers(NamedTuple):
    """What the networks say to N requests."""

    outputs: np.ndarray  # [N, A] f4
    baseline: np.ndarray  # [N, A] f4  expected returns of the subject; [0, 0] without a baseline


class Choices(NamedTuple):
    """What follows from the answers."""

    sigma: np.ndarray  # [B, K] f4  the policy at the legal actions
    slot: np.ndarray  # [B] i8  the action followed, or ALL_SLOTS
    sampled: np.ndarray  # [B] f4  the probability it was sampled with; 1 for all
    fallback: np.ndarray  # [B] b1  whether no regret was positive
    counts: np.ndarray  # [B] b1  whether an unbiased regret can be formed here


class Rows(NamedTuple):
    """Decisions to learn from, in the order they were made in a group of lanes."""

    features: np.ndarray  # [R, F] u1
    history: np.ndarray  # [R, H] u1  as in Requests
    actions: np.ndarray  # [R, K] u1  legal actions, then NO_ACTION
    values: np.ndarray  # [R, K] f4  ADVANTAGE: returns of each action, then regret targets; points of the subject
    sigma: np.ndarray  # [R, K] f4  the policy
    sampled: np.ndarray  # [R] f4  the probability with which the action was sampled
    facts: np.ndarray  # [R, 9] i8  the columns named above
    used: np.ndarray  # [1] i8  rows written


@leaf
def subject(trajectory):
    """The seat of a trajectory's subject."""
    return trajectory & 1


@leaf
def below_branch(branch, ply, slot):
    """The branch that follows action ``slot`` at a decision: 64 bits that no other path of the trajectory has."""
    return rng.draw(branch, 0, slot, ply, rng.BRANCH)
