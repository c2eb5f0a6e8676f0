"""Starting a run, going on with one, and taking an agent out of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lostcfr.agents import Agent, bot
from lostcfr.config import Configuration
from lostcfr.config_file import load, to_yaml
from lostcfr.errors import CheckpointError, InputError, did_you_mean
from lostcfr.game import LostCities
from lostcfr.names import BOT_NAMES, HUMAN, VIEWS, view_and_floor
from lostcfr.rules import Rules
from lostcfr.run.checkpoint import BEST, Checkpoint, Checkpoints, open_checkpoint
from lostcfr.run.directory import CHECKPOINTS, CONFIG, RunDirectory
from lostcfr.run.manifest import MANIFEST
from lostcfr.run.state import read_snapshot
from lostcfr.solvers.averaging import snapshot_weights
from lostcfr.solvers.views import agent_of, loaded

# Sections that may differ when a run goes on: they say how long and how closely watched, not what is computed.
FREE_TO_CHANGE = ("limits", "evaluation", "checkpoint")


@contextmanager
def opened(
    config: Path | None, folder: Path, overrides: list[str], *, resume: bool
) -> Iterator[tuple[Configuration, RunDirectory]]:
    """The configuration and the locked folder of a run that is started or, with ``resume``, gone on with.

    ``config`` None stands for the configuration of the run that goes on; ``overrides`` are then on top of that.
    """
    if not resume:
        if config is None:
            raise InputError("a new run needs a configuration file, such as configs/quick.yaml; or add --resume")
        configuration = load(config, overrides)
        with RunDirectory.create(folder, to_yaml(configuration)) as directory:
            yield configuration, directory
        return
    with RunDirectory.resume(folder) as directory:
        stored = load(directory.config)
        configuration = load(config or directory.config, overrides)
        check_same_run(stored, configuration, folder)
        if configuration != stored:
            directory.rewrite_config(to_yaml(configuration))
        yield configuration, directory


def check_same_run(stored: Configuration, wanted: Configuration, folder: Path) -> None:
    """CheckpointError unless the two differ only in what may change when a run goes on."""
    before, now = stored.model_dump(), wanted.model_dump()
    for section, value in before.items():
        if section in FREE_TO_CHANGE or value == now[section]:
            continue
        name, old, new = section, value, now[section]
        if isinstance(value, dict):
            key = next(key for key in value if value[key] != new[key])
            name, old, new = f"{section}.{key}", value[key], new[key]
        raise CheckpointError(
            f"{folder} was started with {name}: {old}, but {name} is now {new}; a run goes on only with the same "
            f"settings ({', '.join(FREE_TO_CHANGE)} may change): set it back, or start a run in another folder"
        )


def load_agent(name: str, device: str = "cpu") -> Agent:
    """The agent of a name: a rule-based player, or a run's folder or checkpoint with suffixes, as in ``RUN:VIEW:WAY``.

    A run's folder stands for its newest checkpoint; ``RUN/checkpoints/best`` is its best one. Views are mixture,
    average and current; without one it is the view that the run evaluates. Ways to choose an action are sample, which
    is also meant without one, greedy for the likeliest, and threshold=0.1 for those with at least that probability.
    """
    place, *suffixes = name.split(":")
    if place.strip().lower().replace("_", "-") in BOT_NAMES:
        if suffixes:
            folder = f"./{place.strip()}:{':'.join(suffixes)} is the run in a folder of that name"
            raise InputError(f"{name!r}: a rule-based player takes no suffix; write {place.strip()} ({folder})")
        return bot(place)
    if name.strip().lower() == HUMAN:
        raise InputError("'human' is a person, who plays in lostcfr play; here an agent is needed that plays by itself")
    if not place or not Path(place).is_dir():
        near = did_you_mean(place, (*BOT_NAMES, HUMAN))
        if suffixes or "/" in place:
            raise InputError(f"{place} is no folder of a run or checkpoint{near}, so {name!r} names no agent")
        known = f"a rule-based player ({', '.join(BOT_NAMES)}) or the folder of a run, such as runs/quick:mixture"
        raise InputError(f"there is no agent {name!r}{near}; an agent is {known}")
    view, floor = view_and_floor(name, suffixes)
    checkpoint, config = _found(Path(place))
    return replace(trained(checkpoint, load(config), view, name, device), floor=floor)


def rules_of_match(agents: Sequence[Agent], wanted: Rules | None) -> Rules:
    """The wanted rules, else those that the agents were trained with, else the classic ones.

    InputError unless all agents play by them.
    """
    trained = [agent.rules for agent in agents if agent.rules is not None]
    rules = wanted or (trained[0] if trained else Rules())
    for agent in agents:
        if agent.rules is not None and agent.rules != rules:
            theirs, chosen = asdict(agent.rules), asdict(rules)
            others = [name for name in theirs if theirs[name] != chosen[name]]
            options = " ".join(f"--rule {name}={theirs[name]}" for name in others)
            raise InputError(
                f"{agent.name} was trained with {others[0]}={theirs[others[0]]}, but the match is to be played with "
                f"{others[0]}={chosen[others[0]]}: set its rules by {options}, or choose another agent"
            )
    return rules


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


def trained(checkpoint: Checkpoint, configuration: Configuration, view: str, name: str, device: str) -> Agent:
    """A view of the player in a checkpoint."""
    view = view or configuration.evaluation.view
    averaging, state = configuration.averaging, checkpoint.state
    available = {
        "mixture": bool(state["snapshots"]),
        "average": averaging.strategy_network,
        "current": True,
    }
    if not available.get(view):
        there = ", ".join(each for each in VIEWS if available[each])
        raise InputError(f"{name!r}: there is no view {view!r} of this agent; there are: {there}")
    game, weights = LostCities(configuration.rules), np.ones(1)
    if view == "mixture":
        stored = [read_snapshot(checkpoint, iteration) for iteration in state["snapshots"]]
        weights = snapshot_weights(state["snapshots"], averaging.exponent)
    else:
        files = [file for file in state["memories"] if (file == "strategy") == (view == "average")]
        stored = [[_network_of(checkpoint.arrays(file)) for file in files]]
    networks = [[loaded(configuration, game, arrays, device) for arrays in each] for each in stored]
    return agent_of(name, view, networks, weights, configuration)


def _network_of(arrays: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The parameters among what a fit stores."""
    prefix = "network."
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
