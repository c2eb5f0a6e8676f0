"""The tick: refill and gather, choose, record, apply. Each kernel works on all lanes of a group.

Training, matches and search are uses of this one tick; where training records, a match tallies. Every draw of chance is
keyed by the trajectory, the decision and, in external sampling, the branch, so lanes, groups and their order do not
matter.
"""

import numpy as np

from lostcfr.kernels import bots, infoset, policy, rng, rules as game, tally as tallies, trajectory as codes
from lostcfr.kernels.jit import kernel, leaf
from lostcfr.kernels.state import copy_lane, finished, is_draw, ply, to_move, turns
from lostcfr.kernels.trajectory import ALL_SLOTS, IDLE, NO_ROW, below_branch, subject
from lostcfr.kernels.values import deliver


@kernel
def advance(rules, task, games, paths, queue, requests, rows, results):
    """Hand on finished lanes, start new trajectories, play to the next decision that a network has to answer.

    Forced decisions and rule-based players are played inside. A lane starts at most one trajectory a call.
    """
    requests.size[0] = busy = 0
    for i in range(paths.trajectory.shape[0]):
        if paths.trajectory[i] != IDLE and is_over(rules, task, games, i):
            finish(rules, task, games, paths, i, rows, results)
        if paths.trajectory[i] == IDLE and queue.state[codes.NEXT] < queue.state[codes.END] and queue.state[codes.ROOM]:
            start(rules, task, games, paths, i, queue)
        if paths.trajectory[i] != IDLE:
            busy += 1
            if play_on(rules, task, games, paths, i, requests, results):
                requests.size[0] += 1
    queue.state[codes.BUSY] = busy


@leaf
def is_over(rules, task, games, i):
    return finished(rules, games, i) or ply(games, i) >= task.max_plies


@leaf
def stream_of(task, trajectory):
    """The number of a trajectory's chance."""
    return trajectory >> task.mirror


@leaf
def draw(task, games, paths, i, purpose):
    """64 random bits for a decision of lane ``i``."""
    stream = stream_of(task, paths.trajectory[i])
    return rng.draw(task.seed ^ paths.branch[i], task.iteration, stream, ply(games, i), purpose)


@leaf
def start(rules, task, games, paths, i, queue):
    """Deal the next trajectory in lane ``i`` and seat its players."""
    trajectory = queue.order[queue.state[codes.NEXT]]
    queue.state[codes.NEXT] += 1
    queue.state[codes.ROOM] -= 1
    paths.trajectory[i] = trajectory
    paths.branch[i] = np.uint64(0)
    paths.row[i] = NO_ROW
    paths.slot[i] = 0
    paths.explored[i] = False
    game.shuffle(rules, games, i, task.seed, task.iteration, stream_of(task, trajectory))
    game.deal(rules, games, i)
    for seat in range(2):
        paths.network[i, seat] = network_of(task, trajectory, seat)


@leaf
def network_of(task, trajectory, seat):
    """The network that plays in a seat of a trajectory, or -1 - code of a rule-based player."""
    role = 0 if seat == subject(trajectory) else 1
    # By seat, not by role: the seats of a mirrored pair draw alike, whoever is the subject.
    point = policy.unit(rng.draw(task.seed, task.iteration, stream_of(task, trajectory), seat, rng.OPPONENT))
    choice = 0
    while choice < task.seating.cumulative.shape[1] - 1 and point >= task.seating.cumulative[role, choice]:
        choice += 1
    return task.seating.network[role, choice, seat]


@kernel
def list_networks(task, trajectories, out_network):
    """Who will play in both seats (i4 [T, 2]) of some trajectories (i8 [T])."""
    for k in range(trajectories.shape[0]):
        for seat in range(2):
            out_network[k, seat] = network_of(task, trajectories[k], seat)


@leaf
def finish(rules, task, games, paths, i, rows, results):
    """Add up the round in lane ``i``, bring its returns to the row they belong to, and free the lane."""
    row = paths.trajectory[i] - task.first
    mine = subject(paths.trajectory[i])
    score = game.score(rules, games, i, mine)
    opponent_score = game.score(rules, games, i, 1 - mine)
    results[row, codes.ROUNDS] += 1
    results[row, codes.SCORE] += score
    results[row, codes.OPPONENT_SCORE] += opponent_score
    results[row, codes.TURNS] += turns(games, i)
    tallies.count_round(rules, games, i, mine, results, row)
    results[row, codes.UNFINISHED] += not finished(rules, games, i)
    deliver(rows, paths.row[i], paths.slot[i], np.float64(score - opponent_score))
    paths.trajectory[i] = IDLE


@leaf
def play_on(rules, task, games, paths, i, requests, results):
    """Play lane ``i`` to a decision that a network has to answer and request it; False if the round ended first."""
    r = requests.size[0]
    row = paths.trajectory[i] - task.first
    while not is_over(rules, task, games, i):
        if is_draw(games, i) and game.is_stalled(rules, games, i):
            results[row, codes.FORCED] += 1
        network = np.int64(paths.network[i, to_move(games, i)])
        if network < 0:
            stream = stream_of(task, paths.trajectory[i])
            seed = task.seed ^ paths.branch[i]
            action = bots.decide(rules, games, i, -1 - network, seed, task.iteration, stream)
        else:
            legal = game.list_legal(rules, games, i, requests.actions, r)
            if legal > 1:
                write_request(rules, games, i, legal, network, requests, r)
                return True
            action = np.int64(requests.actions[r, 0])
        if to_move(games, i) == subject(paths.trajectory[i]):
            tallies.count_action(rules, games, i, action, results, row)
        game.apply(rules, games, i, action)
    return False


@leaf
def write_request(rules, games, i, legal, network, requests, r):
    """Make the decision of lane ``i``, whose ``legal`` actions are listed, request ``r``."""
    requests.legal[r] = legal
    requests.lane[r] = i
    requests.network[r] = network
    infoset.encode(rules, games, i, requests.features, r)
    if requests.history.shape[1]:
        infoset.encode_history(rules, games, i, requests.history, r)


@kernel
def request_all(rules, games, requests):
    """Request the decision of every lane whose round is not over, forced ones too, of network 0."""
    requests.size[0] = 0
    for i in range(games.status.shape[0]):
        r = requests.size[0]
        legal = game.list_legal(rules, games, i, requests.actions, r)
        if legal:
            write_request(rules, games, i, legal, 0, requests, r)
            requests.size[0] += 1


@kernel
def choose(task, games, paths, requests, answers, choices):
    """Turn each answer into a policy and draw an action, each from its trajectory's own chance.

    Returns how many more lanes ``branch`` will need.
    """
    more = 0
    for r in range(requests.size[0]):
        i = requests.lane[r]
        legal = requests.legal[r]
        choices.fallback[r] = write_policy(task, games, paths, requests, answers, choices, r)
        choices.counts[r] = to_move(games, i) == subject(paths.trajectory[i]) and not paths.explored[i]
        if task.branching and choices.counts[r]:
            choices.slot[r] = ALL_SLOTS
            choices.sampled[r] = 1.0
            more += legal - 1
            continue
        exploration = task.exploration if choices.counts[r] else 0.0
        share = exploration  # the share of uniform play in this draw, which a coin decides where it is all or nothing
        if task.explores_once and exploration > 0.0:
            paths.explored[i] = policy.unit(draw(task, games, paths, i, rng.EXPLORE)) < exploration
            share = 1.0 if paths.explored[i] else 0.0
        slot = policy.sample(choices.sigma, r, legal, share, draw(task, games, paths, i, rng.ACTION))
        choices.slot[r] = slot
        choices.sampled[r] = policy.explored(choices.sigma[r, slot], exploration, legal)
    return more


@leaf
def write_policy(task, games, paths, requests, answers, choices, r):
    """Write the policy of request ``r``; returns whether regret matching found no positive regret."""
    legal = requests.legal[r]
    for slot in range(legal, requests.actions.shape[1]):
        choices.sigma[r, slot] = 0.0
    ties = draw(task, games, paths, requests.lane[r], rng.TIE)
    meaning = task.seating.outputs[requests.network[r]]
    fallback = False
    if meaning == codes.LOGITS:
        policy.softmax(answers.outputs, requests.actions, r, legal, choices.sigma)
    else:
        uniform = meaning == codes.REGRETS_OR_UNIFORM
        fallback = policy.match_regrets(answers.outputs, requests.actions, r, legal, uniform, ties, choices.sigma)
    floor = task.seating.floor[requests.network[r]]
    if floor > 0.0:
        policy.cut(choices.sigma, r, legal, floor, ties)
    return fallback


@kernel
def write_policies(task, games, paths, requests, answers, choices):
    """Turn each answer into a policy."""
    for r in range(requests.size[0]):
        choices.fallback[r] = write_policy(task, games, paths, requests, answers, choices, r)


@kernel
def tally(rules, task, games, paths, requests, choices, results):
    """Count what networks decide for the subjects."""
    for r in range(requests.size[0]):
        i = requests.lane[r]
        if choices.slot[r] != ALL_SLOTS and to_move(games, i) == subject(paths.trajectory[i]):
            row = paths.trajectory[i] - task.first
            action = np.int64(requests.actions[r, choices.slot[r]])
            tallies.count_policy(choices.sigma, r, requests.legal[r], results, row)
            tallies.count_action(rules, games, i, action, results, row)


@kernel
def record(task, games, paths, requests, answers, choices, rows):
    """Append the decisions worth learning from to ``rows``, which must have the room."""
    for r in range(requests.size[0]):
        i = requests.lane[r]
        mine = to_move(games, i) == subject(paths.trajectory[i])
        kept = task.rollout if mine else keeps_of_opponent(task, paths, i, requests, r)
        if choices.counts[r] or kept:
            row = rows.used[0]
            rows.used[0] += 1
            copy_request(requests, choices, r, rows, row)
            write_facts(games, paths, i, rows, row)
            rows.facts[row, codes.KIND] = codes.ADVANTAGE if mine else codes.STRATEGY
            rows.facts[row, codes.FALLBACK] = choices.fallback[r]
            rows.facts[row, codes.CHOICE] = choices.slot[r]
            # A decision counts up to the exploratory one, which so is the one that counts and has explored.
            rows.facts[row, codes.EXPLORED] = choices.counts[r] and paths.explored[i]
            if mine:
                write_baseline(answers, r, rows, row)
                paths.row[i] = row
                paths.slot[i] = choices.slot[r]


@leaf
def keeps_of_opponent(task, paths, i, requests, r):
    """Whether a decision of the opponent becomes a row; in a rollout only one by the network that is learning."""
    same = requests.network[r] == paths.network[i, subject(paths.trajectory[i])]
    return task.keeps_opponent and (same or not task.rollout)


@leaf
def copy_request(requests, choices, r, rows, row):
    for column in range(requests.features.shape[1]):
        rows.features[row, column] = requests.features[r, column]
    for column in range(requests.history.shape[1]):
        rows.history[row, column] = requests.history[r, column]
    for slot in range(requests.actions.shape[1]):
        rows.actions[row, slot] = requests.actions[r, slot]
        rows.sigma[row, slot] = choices.sigma[r, slot]
        rows.values[row, slot] = 0.0
    rows.sampled[row] = choices.sampled[r]


@leaf
def write_facts(games, paths, i, rows, row):
    rows.facts[row, codes.TRAJECTORY] = paths.trajectory[i]
    rows.facts[row, codes.PLY] = ply(games, i)
    rows.facts[row, codes.BRANCH] = np.int64(paths.branch[i])
    rows.facts[row, codes.PARENT] = paths.row[i]
    rows.facts[row, codes.SLOT] = paths.slot[i]


@leaf
def write_baseline(answers, r, rows, row):
    """Start the values of a row from the baseline, if there is one."""
    if answers.baseline.shape[0]:
        for slot in range(rows.actions.shape[1]):
            if rows.actions[row, slot] != game.NO_ACTION:
                rows.values[row, slot] = answers.baseline[r, rows.actions[row, slot]]


@kernel
def apply(rules, games, requests, choices):
    """Make the chosen action of each request that follows one."""
    for r in range(requests.size[0]):
        if choices.slot[r] != ALL_SLOTS:
            action = np.int64(requests.actions[r, choices.slot[r]])
            game.apply(rules, games, requests.lane[r], action)


@kernel
def branch(rules, games, paths, requests, choices):
    """Make every action of each request that follows all, one lane an action; there must be idle lanes enough."""
    free = 0
    for r in range(requests.size[0]):
        if choices.slot[r] == ALL_SLOTS:
            i = requests.lane[r]
            for slot in range(1, requests.legal[r]):
                while paths.trajectory[free] != IDLE:
                    free += 1
                copy_lane(games, i, games, free)
                copy_path(paths, i, free)
                follow(rules, games, paths, free, requests, r, slot)
            follow(rules, games, paths, i, requests, r, 0)


@leaf
def copy_path(paths, i, j):
    """Make lane ``j`` another one of the trajectory in lane ``i``."""
    paths.trajectory[j] = paths.trajectory[i]
    paths.branch[j] = paths.branch[i]
    paths.row[j] = paths.row[i]
    paths.explored[j] = paths.explored[i]
    for seat in range(2):
        paths.network[j, seat] = paths.network[i, seat]


@leaf
def follow(rules, games, paths, i, requests, r, slot):
    """Make one of the actions of request ``r`` in lane ``i``, from where on it is a branch of its own."""
    paths.branch[i] = below_branch(paths.branch[i], ply(games, i), slot)
    paths.slot[i] = slot
    game.apply(rules, games, i, np.int64(requests.actions[r, slot]))
