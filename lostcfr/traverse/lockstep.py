"""The interleaved scheduler: groups of lanes advance many trajectories in lockstep, one thread a group.

A tick gathers the decisions of all lanes, asks the networks once, and moves every lane on; finished lanes take the
next trajectory at once. What a trajectory does depends on its own number alone, so samples and results are the same
for any width and number of threads; ``recursive`` says what they must be.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, wait
from typing import Any

import numpy as np
import numpy.typing as npt

from lostcfr.errors import ResourceError
from lostcfr.game import LostCities
from lostcfr.kernels import tick, trajectory as codes, values
from lostcfr.threads import Workers
from lostcfr.traverse.samples import Baseline, Collector, Forward, Played
from lostcfr.traverse.storage import NO_BASELINE, Group, answers_to, queue_of

LARGEST_CHUNK = 64  # trajectories that a group takes at a time, few enough to end together
WATCH_SECONDS = 0.2  # how often the main thread looks at progress and signals


class Stopped(Exception):
    """The traversal was asked to stop; what it had so far is dropped."""


class Trajectories:
    """The trajectories of one traversal, handed out in order to the groups that ask."""

    def __init__(self, order: npt.NDArray[np.int64], groups: int, watch: Callable[[int], bool]) -> None:
        self.order, self.groups, self.watch = order, groups, watch
        self.given = 0
        self.stopped = False
        self._lock = threading.Lock()

    def take(self, wanted: int) -> tuple[int, int]:
        """Places (begin, end) of the next trajectories; at most ``wanted``, fewer towards the end."""
        with self._lock:
            left = len(self.order) - self.given
            share = max(1, left // (2 * self.groups))
            begin, self.given = self.given, self.given + min(left, wanted, share)
            return begin, self.given

    def look(self) -> None:
        """Tell ``watch`` how many have started; it says whether to stop."""
        self.stopped = self.stopped or self.watch(self.given)


class Lockstep:
    """Plays trajectories; holds its lanes from one call of ``play`` to the next.

    ``width``: lanes of each thread. ``history``: whether baselines will be used. ``most_bytes``: what rows and lanes
    may take before ``ResourceError``.
    """

    def __init__(
        self,
        game: LostCities,
        width: int,
        threads: int | None = None,
        *,
        history: bool = False,
        most_bytes: float = float("inf"),
    ) -> None:
        self.game, self.width, self.most_bytes = game, width, most_bytes
        self.workers = Workers(threads)
        self.collector = Collector(game)
        self.groups = [Group(game, width, history) for _ in range(self.workers.threads)]

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
        """Play the trajectories ``order`` (i8 [T], each at most once, from task.first on) to their ends.

        Results are those of task.first .. max(order), 0 where one is left out.
        ``roots``: trajectories that each group may start a tick, where they branch; None is no limit.
        ``watch`` is told now and then how many have started, and says whether to stop: then ``Stopped`` is raised.
        The samples are views that are good until the next call.
        """
        began = time.perf_counter()
        results = np.zeros((order.max(initial=task.first - 1) + 1 - task.first, codes.RESULTS), np.int64)
        source = Trajectories(order, len(self.groups), watch)
        for group in self.groups:
            group.rows.used[0] = 0
            group.resize(self.width) if group.lanes != self.width else group.paths.trajectory.fill(codes.IDLE)
        runs = [Run(self, group, task, source, forward, baseline, record, roots, results) for group in self.groups]
        self._run(runs, source)
        mapped = self.workers.pool.map if len(self.groups) > 1 else map
        if not task.rollout:
            for _ in mapped(values.sweep_back, (group.rows for group in self.groups)):
                pass
        return Played(
            results=results,
            samples=self.collector.collect(task, len(results), [group.rows for group in self.groups], mapped),
            nodes=sum(run.nodes for run in runs),
            ticks=sum(run.ticks for run in runs),
            lane_ticks=sum(run.lane_ticks for run in runs),
            seconds=time.perf_counter() - began,
        )

    def _run(self, runs: list[Any], source: Trajectories) -> None:
        """Run all groups, each on its thread; the main thread watches. One group runs where it is."""
        runs[0].compile()
        if len(runs) == 1:
            runs[0].to_the_end(source.look)
            source.look()
            return
        work = [self.workers.pool.submit(run.to_the_end, lambda: None) for run in runs]
        try:
            # All at once: where one group fails, the others need not play to the end.
            while any(not future.done() for future in work):
                for future in wait(work, WATCH_SECONDS, FIRST_EXCEPTION).done:
                    future.result()
                source.look()
        except BaseException:
            source.stopped = True
            raise
        finally:
            wait(work)
        for future in work:
            future.result()
        source.look()


class Run:
    """One group's part in one traversal."""

    def __init__(
        self,
        scheduler: Lockstep,
        group: Group,
        task: codes.Task,
        source: Trajectories,
        forward: Forward,
        baseline: Baseline | None,
        record: bool,
        roots: int | None,
        results: npt.NDArray[np.int64],
    ) -> None:
        self.rules, self.scheduler, self.group, self.task = scheduler.game.parameters, scheduler, group, task
        self.source, self.forward, self.baseline = source, forward, baseline
        self.record, self.roots, self.results = record, roots, results
        self.queue = queue_of(source.order)
        self.nodes = self.ticks = self.lane_ticks = 0

    def compile(self) -> None:
        """Call every kernel once on idle lanes: they compile here, on the main thread, where Ctrl-C is heard."""
        outputs = np.zeros((0, self.scheduler.game.num_actions), np.float32)
        self.advance()
        self.move(codes.Answers(outputs, NO_BASELINE))

    def to_the_end(self, look: Callable[[], None]) -> None:
        """Tick until no trajectory is left."""
        last_look = time.monotonic()
        while self.refill():
            self.advance()
            if self.group.requests.size[0]:
                self.move(self.ask())
            if self.source.stopped:
                raise Stopped
            if time.monotonic() - last_look > WATCH_SECONDS:
                look()
                last_look = time.monotonic()

    def refill(self) -> bool:
        """Take new trajectories where the group has none waiting; False when all is done."""
        waiting, busy = self.queue.state[codes.NEXT] < self.queue.state[codes.END], self.queue.state[codes.BUSY]
        if not waiting:
            wanted = max(self.scheduler.width - int(busy), min(LARGEST_CHUNK, self.scheduler.width))
            self.queue.state[codes.NEXT : codes.END + 1] = self.source.take(wanted)
            waiting = self.queue.state[codes.NEXT] < self.queue.state[codes.END]
        self.queue.state[codes.ROOM] = self.group.lanes if self.roots is None else self._room(int(busy))
        return bool(waiting or busy)

    def _room(self, busy: int) -> int:
        """Trajectories to start, where they branch: as the lanes beyond the width are used up by the running ones."""
        assert self.roots is not None
        return self.roots if busy < self.scheduler.width else 0

    def advance(self) -> None:
        group = self.group
        tick.advance(
            self.rules, self.task, group.games, group.paths, self.queue, group.requests, group.rows, self.results
        )

    def ask(self) -> codes.Answers:
        """The answers of networks and baseline to this tick's requests."""
        requests, n = self.group.requests, int(self.group.requests.size[0])
        self.nodes += n
        self.ticks += 1
        self.lane_ticks += self.group.lanes
        return answers_to(requests, n, self.forward, self.baseline)

    def move(self, answers: codes.Answers) -> None:
        """Choose, record or tally, apply."""
        group, task = self.group, self.task
        more = tick.choose(task, group.games, group.paths, group.requests, answers, group.choices)
        if self.record:
            if group.make_room_for_rows():
                self._check_bytes()
            tick.record(task, group.games, group.paths, group.requests, answers, group.choices, group.rows)
        else:
            tick.tally(self.rules, task, group.games, group.paths, group.requests, group.choices, self.results)
        tick.apply(self.rules, group.games, group.requests, group.choices)
        if task.branching:
            self.queue.state[codes.BUSY] += more
            group.make_room_for_lanes(int(self.queue.state[codes.BUSY]))
            tick.branch(self.rules, group.games, group.paths, group.requests, group.choices)
            self._check_bytes()

    def _check_bytes(self) -> None:
        used = sum(group.nbytes for group in self.scheduler.groups)
        if used > self.scheduler.most_bytes:
            fewer = ", or set traversal.sampling to outcome" if self.task.branching else ""
            raise ResourceError(
                f"the traversal needs more than {self.scheduler.most_bytes / 2**30:.2f} GiB for the rows and lanes of "
                f"one iteration: lower traversal.per_player or raise memory.budget_gib{fewer}"
            )
