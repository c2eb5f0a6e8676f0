"""The recursive scheduler: one trajectory after the other, a call a decision, each answered on its own.

Slow and plain: the call stack stands where ``lockstep`` has lanes. Both use the same kernels, so that their samples are
equal byte for byte; it is the oracle for the other one, and the place to look when a target seems wrong.
"""

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from lostcfr.game import LostCities
from lostcfr.kernels import tick, trajectory as codes, values
from lostcfr.kernels.state import PLY
from lostcfr.kernels.trajectory import ALL_SLOTS, IDLE, NO_ROW, below_branch
from lostcfr.traverse.lockstep import Stopped
from lostcfr.traverse.samples import Baseline, Collector, Forward, Played
from lostcfr.traverse.storage import Group, answers_to, queue_of


class Recursive:
    """Plays trajectories one by one; its ``play`` is that of ``Lockstep``."""

    def __init__(self, game: LostCities, *, history: bool = False) -> None:
        self.game, self.history = game, history

    def play(
        self,
        task: codes.Task,
        order: npt.NDArray[np.int64],
        forward: Forward,
        *,
        baseline: Baseline | None = None,
        record: bool = True,
        roots: int | None = None,
        watch: Callable[[int], bool] = lambda started: False,
    ) -> Played:
        """As ``Lockstep.play``; ``roots`` means nothing here."""
        began = time.perf_counter()
        results = np.zeros((len(order), codes.RESULTS), np.int64)
        recursion = Recursion(self.game, task, forward, baseline, record, results, self.history)
        for place, trajectory in enumerate(order):
            if watch(place):
                raise Stopped
            recursion.trajectory(trajectory)
        return Played(
            results=results,
            samples=Collector(self.game).collect(task, len(order), [recursion.rows.rows]),
            nodes=recursion.nodes,
            ticks=recursion.nodes,
            lane_ticks=recursion.nodes,
            seconds=time.perf_counter() - began,
        )


class Recursion:
    """The recursion: one lane a depth, and the rows so far."""

    def __init__(
        self,
        game: LostCities,
        task: codes.Task,
        forward: Forward,
        baseline: Baseline | None,
        record: bool,
        results: npt.NDArray[np.int64],
        history: bool,
    ) -> None:
        self.game, self.task, self.forward, self.baseline = game, task, forward, baseline
        self.record, self.results, self.history = record, results, history
        self.rows = Group(game, 1, history)  # only its rows are used; lanes are in ``lanes``
        self.lanes: list[Group] = []
        self.nodes = 0

    def trajectory(self, number: np.int64) -> None:
        """Play one trajectory from its deal."""
        queue = queue_of(np.array([number]))
        queue.state[codes.END] = queue.state[codes.ROOM] = 1
        self.visit(0, queue)

    def visit(self, depth: int, queue: codes.Queue) -> None:
        """Play the lane of ``depth`` to the end of its round, or to a decision of which all actions are followed.

        Then the rows made here are closed, last first: their actions are all answered.
        """
        lane, rows, made = self.lane(depth), self.rows, []
        while True:
            tick.advance(
                self.game.parameters, self.task, lane.games, lane.paths, queue, lane.requests, rows.rows, self.results
            )
            if lane.requests.size[0]:
                made.append(self.decide(lane))
                if lane.choices.slot[0] == ALL_SLOTS:
                    for slot in range(int(lane.requests.legal[0])):
                        self.follow(depth, slot, queue)
                    lane.paths.trajectory[0] = IDLE
                    break
                tick.apply(self.game.parameters, lane.games, lane.requests, lane.choices)
            elif not queue.state[codes.BUSY]:
                break
        for row in reversed(made):
            if row != NO_ROW and not self.task.rollout:
                value = values.close_row(rows.rows, row)
                values.deliver_to_row(rows.rows, *rows.rows.facts[row, [codes.PARENT, codes.SLOT]], value)

    def decide(self, lane: Group) -> int:
        """Answer the decision of a lane; the row of the subject that it made, or NO_ROW."""
        answers, rows, before = self.ask(lane), self.rows, lane.paths.row[0]
        tick.choose(self.task, lane.games, lane.paths, lane.requests, answers, lane.choices)
        if self.record:
            rows.requests.size[0] = 1
            rows.make_room_for_rows()
            tick.record(self.task, lane.games, lane.paths, lane.requests, answers, lane.choices, rows.rows)
        else:
            rules, results = self.game.parameters, self.results
            tick.tally(rules, self.task, lane.games, lane.paths, lane.requests, lane.choices, results)
        return int(lane.paths.row[0]) if lane.paths.row[0] != before else NO_ROW

    def follow(self, depth: int, slot: int, queue: codes.Queue) -> None:
        """Make one action of the subject in a lane of its own, and visit what comes of it."""
        lane, below = self.lane(depth), self.lane(depth + 1)
        for source, target in ((lane.games, below.games), (lane.paths, below.paths)):
            for ours, theirs in zip(source, target, strict=True):
                theirs[...] = ours
        below.paths.branch[0] = below_branch(lane.paths.branch[0], lane.games.status[0, PLY], slot)
        below.paths.slot[0] = below.choices.slot[0] = slot
        tick.apply(self.game.parameters, below.games, lane.requests, below.choices)
        self.visit(depth + 1, queue)

    def ask(self, lane: Group) -> codes.Answers:
        self.nodes += 1
        return answers_to(lane.requests, 1, self.forward, self.baseline)

    def lane(self, depth: int) -> Group:
        """The lane of a depth."""
        while depth >= len(self.lanes):
            self.lanes.append(Group(self.game, 1, self.history))
        return self.lanes[depth]
