"""The three views of a trained player as agents: the last iterate, the mixture of snapshots, the strategy network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lostcfr import nets
from lostcfr.agents import Agent
from lostcfr.config import Configuration
from lostcfr.fit import load_weights
from lostcfr.game import LostCities
from lostcfr.kernels import trajectory as codes
from lostcfr.traverse.samples import Player


def agent_of(
    name: str,
    view: str,
    networks: Sequence[Sequence[nets.Network]],
    weights: npt.NDArray[np.float64],
    configuration: Configuration,
) -> Agent:
    """An agent that draws one of ``networks`` for each round by ``weights``; each is one module, or one a seat."""
    numbers = np.arange(sum(map(len, networks)), dtype=np.int32).reshape(len(networks), -1)
    modules = [module for each in networks for module in each]
    return Agent(
        name=name,
        player=Player(np.repeat(numbers, 2 // numbers.shape[1], axis=1), weights),
        modules=modules,
        outputs=[meaning_of(view, configuration)] * len(modules),
        rules=configuration.rules,
    )


def meaning_of(view: str, configuration: Configuration) -> int:
    """What the outputs of a view's networks mean."""
    if view == "average" or configuration.plays_softmax:
        return codes.LOGITS
    uniform = configuration.traversal.all_negative == "uniform"
    return codes.REGRETS_OR_UNIFORM if uniform else codes.REGRETS


def loaded(
    configuration: Configuration, game: LostCities, arrays: Mapping[str, npt.NDArray[Any]], device: str
) -> nets.Network:
    """The network of a configuration with stored parameters; CheckpointError if they are those of another."""
    module = nets.KINDS[configuration.network.kind](configuration.network, game)
    load_weights(module, arrays)
    return module.to(device)
