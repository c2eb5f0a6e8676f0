"""What a checkpoint of a run holds: from a solver to named arrays and a state of plain numbers, and back.

A memory is stored as increments: each checkpoint adds a part with the rows that changed since the last one, and the
parts are put together anew when they have grown to twice the memory. Snapshots and rollouts are parts as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy.typing as npt

from lostcfr.memory import Reservoir
from lostcfr.run.checkpoint import Checkpoint, Checkpoints
from lostcfr.solvers.learners import RolloutLearner
from lostcfr.solvers.solver import STRATEGY, Solver
from lostcfr.traverse.rollout import Rollout

MOST_PARTS = 64  # of a memory
TARGETS = "-targets"  # behind the name of a learner: the file with what it is learning
MOST_COPIES = 2  # stored rows of a memory for each that it holds
Arrays = dict[str, npt.NDArray[Any]]


class Store:
    """Writes a solver to checkpoints and reads it back; knows which parts hold its memories."""

    def __init__(self, checkpoints: Checkpoints, solver: Solver) -> None:
        self.checkpoints, self.solver = checkpoints, solver
        self.parts: dict[str, dict[str, int]] = {name: {} for name in solver.memories}  # of a memory: name -> rows
        self._stored: set[str] = set()  # snapshots and rollouts that the newest checkpoint lists
        self.newest = ""

    def write(self, name: str, state: dict[str, Any], keep: int, *, compact: bool = True) -> None:
        """Write a checkpoint; without ``compact`` only what changed, which is quick."""
        old: list[str] = []
        new: dict[str, Arrays] = {}
        anew = self._longest() if compact else None
        for memory in self.solver.memories:
            kept, added = self._memory_parts(memory, name, memory == anew)
            old, new = old + kept, new | added
        constant = self._constant_parts()
        old += [part for part in constant if part in self._stored]
        new |= {part: arrays() for part, arrays in constant.items() if part not in self._stored}
        files = {learner.name: learner.fit.arrays() for learner in self.solver.learners}
        files |= self.solver.more_arrays() | {name + TARGETS: arrays for name, arrays in self._targets().items()}
        self.checkpoints.write(name, state | self._state(), files, old, new, keep=keep)
        self._stored = set(constant)
        self.newest = name

    def _constant_parts(self) -> dict[str, Callable[[], Arrays]]:
        """Snapshots and rollouts, which never change, by the names of their parts."""
        snapshots = {snapshot_part(t): partial(_joined, weights) for t, weights in self.solver.snapshots.items()}
        window = self.solver.window.rollouts if self.solver.window else {}
        return snapshots | {rollout_part(t): rollout._asdict for t, rollout in window.items()}

    def _targets(self) -> dict[str, Arrays]:
        """What learners are in the middle of learning, by their names."""
        learners = [each for each in self.solver.learners if isinstance(each, RolloutLearner)]
        return {each.name: each.learned for each in learners if each.learned}

    def _longest(self) -> str | None:
        """The memory with the most stored rows for its size, if too many; only one, as storing it anew takes long."""
        memories = self.solver.memories

        def excess(memory: str) -> float:
            parts = self.parts[memory]
            return max(len(parts) / MOST_PARTS, sum(parts.values()) / (MOST_COPIES * max(1, memories[memory].size)))

        longest = max(memories, key=excess, default=None)
        return longest if longest and excess(longest) >= 1 else None

    def _memory_parts(self, memory: str, name: str, anew: bool) -> tuple[list[str], dict[str, Arrays]]:
        """Parts of a memory that stay, and the new one, if there is anything new; with ``anew`` it holds all rows."""
        parts, rows = self.parts[memory], self.solver.memories[memory]
        changes: Arrays = rows.take_changes()
        if anew:
            parts.clear()
            changes = rows.all_rows()
        old = list(parts)
        if not len(changes["places"]):
            return old, {}
        part = f"{memory}-rows-{name}"
        parts[part] = len(changes["places"])
        return old, {part: changes}

    def _state(self) -> dict[str, Any]:
        solver = self.solver
        memories = {name: {"seen": rows.seen, "parts": self.parts[name]} for name, rows in solver.memories.items()}
        return {
            "iteration": solver.iteration,
            "memories": memories,
            "snapshots": list(solver.snapshots),
            "window": list(solver.window.rollouts) if solver.window else [],
            "networks": networks_of(solver),
        }

    def mark_best(self) -> None:
        """Keep the networks of the newest checkpoint as the best ones."""
        files = [name for names in networks_of(self.solver).values() for name in names]
        snapshots = sorted(map(snapshot_part, self.solver.snapshots))
        self.checkpoints.mark_best(self.newest, files, snapshots)

    def read(self, checkpoint: Checkpoint) -> dict[str, Any]:
        """Make the solver what the checkpoint holds; returns its state."""
        state, solver = checkpoint.state, self.solver
        solver.iteration = state["iteration"]
        for learner in solver.learners:
            learner.fit.load(checkpoint.arrays(learner.name))
            if isinstance(learner, RolloutLearner):
                learner.learned = self._stored_arrays(checkpoint, learner.name + TARGETS)
        for name, rows in solver.memories.items():
            self._restore_memory(name, rows, checkpoint)
        solver.take_back({name: checkpoint.arrays(name) for name in solver.more_arrays()})
        solver.snapshots = {t: read_snapshot(checkpoint, t) for t in state["snapshots"]}
        if solver.window:
            rollouts = {t: Rollout.of_arrays(checkpoint.part(rollout_part(t))) for t in state["window"]}
            solver.window.rollouts = rollouts
        self._stored = set(self._constant_parts())
        self.newest = checkpoint.name
        return state

    def _restore_memory(self, name: str, rows: Reservoir, checkpoint: Checkpoint) -> None:
        memory = checkpoint.state["memories"][name]
        rows.restore(memory["seen"], (checkpoint.part(part) for part in memory["parts"]))
        self.parts[name] = dict(memory["parts"])

    @staticmethod
    def _stored_arrays(checkpoint: Checkpoint, file: str) -> Arrays:
        """The arrays of a file of a checkpoint, none where it has no such file."""
        return checkpoint.arrays(file) if file in checkpoint.files else {}


def networks_of(solver: Solver) -> dict[str, list[str]]:
    """Which files of a checkpoint hold the networks of each view that is not made of snapshots."""
    return {
        "current": [learner.name for learner in solver.players],
        "average": [STRATEGY] if solver.strategy else [],
    }


def snapshot_part(iteration: int) -> str:
    """The name of the part that holds the networks which play an iteration."""
    return f"snapshot-{iteration:08d}"


def rollout_part(iteration: int) -> str:
    """The name of the part that holds the rounds of an iteration."""
    return f"rollout-{iteration:08d}"


def read_snapshot(checkpoint: Checkpoint, iteration: int) -> list[Arrays]:
    """The networks that play an iteration."""
    networks: list[Arrays] = []
    for name, array in checkpoint.part(snapshot_part(iteration)).items():
        number, _, parameter = name.partition(".")
        while len(networks) <= int(number):
            networks.append({})
        networks[int(number)][parameter] = array
    return networks


def _joined(networks: list[Arrays]) -> Arrays:
    """The arrays of some networks under one name each."""
    return {f"{number}.{name}": array for number, arrays in enumerate(networks) for name, array in arrays.items()}
