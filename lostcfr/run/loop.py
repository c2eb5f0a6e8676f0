"""The training loop: collect, train each network, evaluate once in a while, checkpoint.

The loop can be stopped and killed at any time. Its place - iteration, phase, step - is part of every checkpoint, and
all chance is keyed by it, so a run that goes on from a checkpoint is the same, byte for byte, as one never stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lostcfr.arena.match import play_pairs
from lostcfr.arena.stats import summary
from lostcfr.config import Configuration
from lostcfr.errors import CheckpointError
from lostcfr.run.directory import RunDirectory
from lostcfr.run.schedules import criterion, deciding, due, mean_points
from lostcfr.run.signals import Interruption
from lostcfr.run.state import Store
from lostcfr.solvers.learners import Learner
from lostcfr.solvers.methods import new_solver
from lostcfr.traverse.lockstep import Stopped
from lostcfr.traverse.statistics import describe

COLLECT = "collect"
EVALUATE = "evaluate"


@dataclass
class Place:
    """Where a run is: the iteration under way (from 1), its phase, steps done of that, and the row so far."""

    iteration: int = 1
    phase: int = 0
    step: int = 0
    row: dict[str, Any] = field(default_factory=dict)
    best: float | None = None  # mean points of the best evaluation
    best_by: list[Any] | None = None  # what that is a mean of
    best_checkpoint: str = ""  # the one that was written after it
    seconds: float = 0.0  # spent on the run so far


@dataclass(frozen=True)
class Progress:
    """What a run is doing, for those who watch."""

    iteration: int
    iterations: int
    phase: str
    done: float  # share of the phase
    share: float  # of the whole run, by iterations or minutes, whichever is nearer to its end
    seconds: float
    row: dict[str, Any] | None = None  # the row of an iteration that has just ended
    evaluations: tuple[dict[str, Any], ...] = ()  # of an evaluation that has just ended


class Training:
    """A run under way. ``report`` is called often, a few times a second at least."""

    def __init__(
        self,
        configuration: Configuration,
        directory: RunDirectory,
        *,
        threads: int | None = None,
        device: str = "cpu",
        report: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self.configuration, self.directory, self.device, self.report = configuration, directory, device, report
        self.solver = new_solver(configuration, directory.path, threads=threads, device=device)
        self.store = Store(directory.checkpoints, self.solver)
        self.place = Place()
        self.phases = [COLLECT, *(learner.name for learner in self.solver.learners), EVALUATE]
        self.began = time.monotonic()
        self.interruption = Interruption()

    def resume(self) -> None:
        """Go on from the newest checkpoint, or from the start where there is none yet."""
        checkpoint = self.directory.checkpoints.latest()
        lengths = {}
        if checkpoint is not None:
            self._check_device(checkpoint.state["device"])
            state = self.store.read(checkpoint)
            self.place, lengths = Place(**state["place"]), state["lengths"]
            if self.place.best_checkpoint == checkpoint.name:
                self.store.mark_best()  # again, for the run may have been killed just before
        self.directory.rewind(lengths)

    def _check_device(self, before: str) -> None:
        """CheckpointError where the run would go on with other bits than it began with."""
        if before != self.device:
            raise CheckpointError(
                f"{self.directory.path} was trained with --device {before}, but would go on with {self.device}, which "
                f"rounds otherwise: add --device {before}"
            )

    def run(self) -> int:
        """Train to the limits; returns 0, or 130 or 143 where a signal stopped it, with a checkpoint of that moment."""
        self.began = time.monotonic() - self.place.seconds
        with self.interruption:
            try:
                while not self.finished:
                    self.iterate()
                self.checkpoint()
            except Stopped:
                self.checkpoint(compact=False)
            return self.interruption.exit_code

    @property
    def seconds(self) -> float:
        """Spent on this run, in all processes that worked on it."""
        return time.monotonic() - self.began

    @property
    def finished(self) -> bool:
        """Whether a limit is reached; looked at between iterations."""
        limits = self.configuration.limits
        late = limits.minutes is not None and self.seconds >= 60 * limits.minutes
        return self.place.iteration > limits.iterations or (late and self.place.phase == self.place.step == 0)

    def iterate(self) -> None:
        """Go on to the end of the iteration under way."""
        place, evaluations = self.place, []
        place.row = place.row or {"iteration": place.iteration, "times": {}}
        while place.phase < len(self.phases):
            phase, began = self.phases[place.phase], time.monotonic()
            try:
                if phase == COLLECT:
                    self.collect()
                elif phase == EVALUATE:
                    if self.solver.iteration < place.iteration:  # not so if an evaluation was broken off
                        self.solver.finish_iteration()
                    evaluations = self.evaluate()
                else:
                    self.fit(self.solver.learners[place.phase - 1])
            finally:
                times = place.row["times"]
                times[phase] = times.get(phase, 0.0) + time.monotonic() - began
            place.phase, place.step = place.phase + 1, 0
        self.end_iteration(evaluations)

    def collect(self) -> None:
        rounds = 2 * self.configuration.traversal.per_player
        played = self.solver.collect(lambda started: self.watch(started / rounds))
        self.place.row |= describe(played)
        self.place.row["times"] |= {
            "nodes_per_second": played.nodes / played.seconds,
            "mean_batch": played.mean_batch,
            "occupancy": played.occupancy,
        }

    def fit(self, learner: Learner) -> None:
        """Train one network, from the step where it was left."""
        place, losses = self.place, self.place.row.setdefault("loss", {})
        steps = learner.settings.steps
        for loss in learner.train(place.iteration, place.step, lambda step: self.watch(step / steps)):
            # A running mean, so that a run that stops between two steps goes on with the same number.
            losses[learner.name] = losses.get(learner.name, 0.0) + loss / steps
            place.step += 1

    def evaluate(self) -> list[dict[str, Any]]:
        """Mirrored pairs against each opponent of the schedules that are due after this iteration; their rows."""
        iteration, view = self.place.iteration, self.configuration.evaluation.view
        schedules = due(self.configuration, iteration)
        work = [(name, opponent, each.pairs) for name, each in schedules.items() for opponent in each.opponents]
        if not work:
            return []
        agent, rows = self.solver.agent(view), []
        total, played = sum(2 * number for *_, number in work), 0
        for schedule, opponent, number in work:

            def watch(rounds: int, before: int = played) -> bool:
                return self.watch((before + rounds) / total)

            pairs = play_pairs(
                self.solver.game,
                agent,
                opponent,
                number,
                self.configuration.seed,
                threads=self.solver.workers.threads,
                device=self.device,
                watch=watch,
            )
            played += 2 * number
            rows.append({"iteration": iteration, "schedule": schedule, **summary(view, opponent, pairs)})
        return rows

    def end_iteration(self, evaluations: list[dict[str, Any]]) -> None:
        """Write the rows of the iteration, and a checkpoint if one is due."""
        place, row = self.place, self.place.row
        self.directory.metrics.append(row)
        for each in evaluations:
            self.directory.evaluations.append(each)
        place.iteration, place.phase, place.step, place.row = place.iteration + 1, 0, 0, {}
        is_best = self.find_best(evaluations)
        if is_best or row["iteration"] % self.configuration.checkpoint.every == 0:
            self.checkpoint()
        if is_best:
            self.store.mark_best()
        self.tell(1.0, row=row, evaluations=tuple(evaluations))

    def find_best(self, evaluations: list[dict[str, Any]]) -> bool:
        """Whether the run is better than ever before by these evaluations, which is noted.

        The first evaluation of another criterion than before, after a change of settings, counts as better: there is
        nothing to compare it with.
        """
        schedule, place = deciding(self.configuration), self.place
        rows = [row for row in evaluations if row["schedule"] == schedule]
        if not rows:
            return False
        score, measured = mean_points(rows), [schedule, *criterion(rows)]
        if place.best is not None and place.best_by == measured and score <= place.best:
            return False
        place.best, place.best_by, place.best_checkpoint = score, measured, self.checkpoint_name
        return True

    @property
    def checkpoint_name(self) -> str:
        """Name of a checkpoint of this moment: finished iterations, phase and step, so that names ascend."""
        return f"{self.place.iteration - 1:08d}-{self.place.phase}-{self.place.step:09d}"

    def checkpoint(self, compact: bool = True) -> None:
        """Write the run as it is now; nothing to do where that is what the newest checkpoint holds."""
        name = self.checkpoint_name
        if name == self.store.newest:
            return
        self.place.seconds = self.seconds
        state = {"place": vars(self.place), "lengths": self.directory.lengths(), "device": self.device}
        self.store.write(name, state, self.configuration.checkpoint.keep, compact=compact)

    def watch(self, done: float) -> bool:
        """Report the share of the phase that is done; whether to stop now."""
        self.tell(done)
        return self.interruption.signal is not None

    def tell(
        self, done: float, row: dict[str, Any] | None = None, evaluations: tuple[dict[str, Any], ...] = ()
    ) -> None:
        """Report where the run is."""
        limits, place, ended = self.configuration.limits, self.place, row is not None
        iteration, phase = (place.iteration - 1, EVALUATE) if ended else (place.iteration, self.phases[place.phase])
        begun = place.iteration - 1 + (0 if ended else (place.phase + min(done, 1.0)) / len(self.phases))
        share = begun / limits.iterations
        if limits.minutes is not None:
            share = max(share, self.seconds / (60 * limits.minutes))
        self.report(
            Progress(iteration, limits.iterations, phase, done, min(share, 1.0), self.seconds, row, evaluations)
        )
