"""What a checkpoint of a run holds: from a solver to named arrays and a state of plain numbers, and back.

A memory is stored as increments: each checkpoint adds a part with the rows that changed since the last one, and the
parts are put together anew when they have grown to twice the memory.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from lostcfr.run.checkpoint import Checkpoint, Checkpoints
from lostcfr.solvers.deep_cfr import DeepCFR, Learner

MOST_PARTS = 64  # of a memory
MOST_COPIES = 2  # stored rows of a memory for each that it holds
Arrays = dict[str, npt.NDArray[Any]]


class Store:
    """Writes a solver to checkpoints and reads it back; knows which parts hold its memories."""

    def __init__(self, checkpoints: Checkpoints, solver: DeepCFR) -> None:
        self.checkpoints, self.solver = checkpoints, solver
        self.parts: dict[str, dict[str, int]] = {learner.name: {} for learner in solver.learners}  # name -> rows
        self._stored: set[str] = set()  # snapshots that the newest checkpoint lists
        self.newest = ""

    def write(self, name: str, state: dict[str, Any], keep: int, *, compact: bool = True) -> None:
        """Write a checkpoint; without ``compact`` only what changed, which is quick."""
        old: list[str] = []
        new: dict[str, Arrays] = {}
        anew = self._longest() if compact else None
        for learner in self.solver.learners:
            kept, added = self._memory_parts(learner, name, learner is anew)
            old, new = old + kept, new | added
        for iteration, weights in self.solver.snapshots.items():
            snapshot = f"snapshot-{iteration:08d}"
            if snapshot in self._stored:
                old.append(snapshot)
            else:
                new[snapshot] = _joined(weights)
        files = {learner.name: learner.fit.arrays() for learner in self.solver.learners}
        self.checkpoints.write(name, state | self._state(), files, old, new, keep=keep)
        self._stored = {part for part in [*old, *new] if part.startswith("snapshot-")}
        self.newest = name

    def _longest(self) -> Learner | None:
        """The memory with the most stored rows for its size, if these are too many; one at a time, as it takes long."""

        def excess(learner: Learner) -> float:
            parts = self.parts[learner.name]
            return max(len(parts) / MOST_PARTS, sum(parts.values()) / (MOST_COPIES * max(1, learner.memory.size)))

        longest = max(self.solver.learners, key=excess)
        return longest if excess(longest) >= 1 else None

    def _memory_parts(self, learner: Learner, name: str, anew: bool) -> tuple[list[str], dict[str, Arrays]]:
        """Parts of a memory that stay, and the new one, if there is anything new; with ``anew`` it holds all rows."""
        parts = self.parts[learner.name]
        changes: Arrays = learner.memory.take_changes()
        if anew:
            parts.clear()
            changes = learner.memory.all_rows()
        old = list(parts)
        if not len(changes["places"]):
            return old, {}
        part = f"{learner.name}-rows-{name}"
        parts[part] = len(changes["places"])
        return old, {part: changes}

    def _state(self) -> dict[str, Any]:
        memories = {
            learner.name: {"seen": learner.memory.seen, "parts": self.parts[learner.name]}
            for learner in self.solver.learners
        }
        return {
            "iteration": self.solver.iteration,
            "memories": memories,
            "snapshots": list(self.solver.snapshots),
        }

    def mark_best(self) -> None:
        """Keep the networks of the newest checkpoint as the best ones."""
        files = [learner.name for learner in self.solver.learners]
        self.checkpoints.mark_best(self.newest, files, sorted(self._stored))

    def read(self, checkpoint: Checkpoint) -> dict[str, Any]:
        """Make the solver what the checkpoint holds; returns its state."""
        state, solver = checkpoint.state, self.solver
        solver.iteration = state["iteration"]
        for learner in solver.learners:
            learner.fit.load(checkpoint.arrays(learner.name))
            memory = state["memories"][learner.name]
            learner.memory.restore(memory["seen"], (checkpoint.part(part) for part in memory["parts"]))
            self.parts[learner.name] = dict(memory["parts"])
        solver.snapshots = {t: read_snapshot(checkpoint, t) for t in state["snapshots"]}
        self._stored = {part for part in checkpoint.parts if part.startswith("snapshot-")}
        self.newest = checkpoint.name
        return state


def read_snapshot(checkpoint: Checkpoint, iteration: int) -> list[Arrays]:
    """The advantage networks of an iteration."""
    networks: list[Arrays] = []
    for name, array in checkpoint.part(f"snapshot-{iteration:08d}").items():
        number, _, parameter = name.partition(".")
        while len(networks) <= int(number):
            networks.append({})
        networks[int(number)][parameter] = array
    return networks


def _joined(networks: list[Arrays]) -> Arrays:
    """The arrays of some networks under one name each."""
    return {f"{number}.{name}": array for number, arrays in enumerate(networks) for name, array in arrays.items()}
