"""Agents whose networks were never trained: they play as tests need, in any rules."""

from dataclasses import asdict, replace

import numpy as np

from lostcfr import LostCities, nets
from lostcfr.config import Configuration, NetworkConfig
from lostcfr.names import PLAY_ALL
from lostcfr.solvers.views import agent_of


def fresh(rules, view="average", weights=(1.0,), floor=PLAY_ALL):
    """An agent with a small network for each weight, all different."""
    game, configuration = LostCities(rules), Configuration.model_validate({"rules": asdict(rules)})
    networks = [[sharp(nets.build(NetworkConfig(hidden=16, layers=1), game, 7, k))] for k in range(len(weights))]
    return replace(agent_of(f"fresh {view}", view, networks, np.array(weights), configuration), floor=floor)


def sharp(network):
    """The network with outputs a hundred times as large: those of a new one hardly differ from action to action."""
    for parameter in list(network.parameters())[-2:]:
        parameter.data *= 100
    return network
