"""What can sit at the table: rule-based players by name, and networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lostcfr.kernels import bots, planners
from lostcfr.names import BOT_NAMES, bot_name
from lostcfr.traverse.samples import Player

if TYPE_CHECKING:
    from lostcfr.nets import Network
    from lostcfr.rules import Rules

CODES = (
    bots.RANDOM,
    bots.DISCARD_ONLY,
    planners.BALANCED,
    planners.AGGRESSIVE,
    planners.CAUTIOUS,
    bots.NOISY,
    bots.SELECTIVE,
)
BOTS = dict(zip(BOT_NAMES, CODES, strict=True))


def bot_code(name: str) -> int:
    """The code of a rule-based player for kernels and ``Lanes.bot_actions``."""
    return BOTS[bot_name(name)]


@dataclass(frozen=True)
class Agent:
    """One player: some networks, and which of them decide for a round; or a rule-based player."""

    name: str
    player: Player  # its networks are numbers of ``modules``, or -1 - code of a rule-based player
    modules: Sequence[Network] = ()
    outputs: Sequence[int] = ()  # what those of each module mean, by codes of kernels.trajectory
    rules: Rules | None = None  # the rules it was trained for; None where any will do

    def shifted(self, first: int) -> Player:
        """The player where its first network has the number ``first``."""
        networks = self.player.networks
        return Player(
            np.where(networks < 0, networks, networks + np.int32(first)).astype(np.int32), self.player.weights
        )


def bot(name: str) -> Agent:
    """A rule-based player."""
    network = -1 - bot_code(name)
    return Agent(bot_name(name), Player(np.array([[network, network]], np.int32), np.ones(1)))
