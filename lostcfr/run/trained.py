"""Agents that a run has trained, out of its checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lostcfr.agents import Agent
from lostcfr.config import Configuration
from lostcfr.config_file import load
from lostcfr.errors import CheckpointError, InputError
from lostcfr.game import LostCities
from lostcfr.names import VIEWS
from lostcfr.run.checkpoint import BEST, Checkpoint, Checkpoints, open_checkpoint
from lostcfr.run.directory import CHECKPOINTS, CONFIG
from lostcfr.run.manifest import MANIFEST
from lostcfr.run.state import read_snapshot
from lostcfr.solvers.averaging import snapshot_weights
from lostcfr.solvers.views import agent_of, loaded


def trained_agent(place: Path, view: str, name: str, device: str) -> Agent:
    """A view, or without one that which the run evaluates, of the player in a folder of a run or checkpoint."""
    checkpoint, config = _found(place)
    return agent_in(checkpoint, load(config), view, name, device)


def _found(folder: Path) -> tuple[Checkpoint, Path]:
    """The checkpoint that a folder is or holds, and the configuration of its run."""
    if (folder / MANIFEST).is_file():
        return open_checkpoint(folder), folder.resolve().parent.parent / CONFIG
    names = Checkpoints(folder / CHECKPOINTS).names()
    if not (folder / CONFIG).is_file() or not names:
        raise CheckpointError(
            f"{folder} holds no checkpoint of a run: name the folder that lostcfr train wrote (--run), "
            f"or one of its checkpoints, such as {folder / CHECKPOINTS / BEST}"
        )
    return open_checkpoint(folder / CHECKPOINTS / names[-1]), folder / CONFIG


def agent_in(checkpoint: Checkpoint, configuration: Configuration, view: str, name: str, device: str) -> Agent:
    """A view of the player in a checkpoint."""
    view = view or configuration.evaluation.view
    state = checkpoint.state
    available = {
        "mixture": bool(state["snapshots"]),
        "average": bool(state["networks"]["average"]),
        "current": True,
    }
    if not available.get(view):
        there = ", ".join(each for each in VIEWS if available[each])
        raise InputError(f"{name!r}: there is no view {view!r} of this agent; there are: {there}")
    game, weights = LostCities(configuration.rules), np.ones(1)
    if view == "mixture":
        stored = [read_snapshot(checkpoint, iteration) for iteration in state["snapshots"]]
        weights = snapshot_weights(state["snapshots"], configuration.averaging.exponent)
    else:
        stored = [[_network_of(checkpoint.arrays(file)) for file in state["networks"][view]]]
    networks = [[loaded(configuration, game, arrays, device) for arrays in each] for each in stored]
    return agent_of(name, view, networks, weights, configuration)


def _network_of(arrays: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The parameters among what a fit stores."""
    prefix = "network."
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
