"""Agents by name: what can sit at the table."""

from lostcfr.errors import InputError, nearest
from lostcfr.kernels import bots, planners

BOTS = {
    "random": bots.RANDOM,
    "discard-only": bots.DISCARD_ONLY,
    "balanced": planners.BALANCED,
    "aggressive": planners.AGGRESSIVE,
    "cautious": planners.CAUTIOUS,
    "noisy": bots.NOISY,
    "selective": bots.SELECTIVE,
}


def bot_name(name: str) -> str:
    """The name of a rule-based player as ``BOTS`` has it; underscores and capitals are as good."""
    known = name.strip().lower().replace("_", "-")
    if known not in BOTS:
        raise InputError(f"there is no agent {name!r}{nearest(name, BOTS)}")
    return known


def bot_code(name: str) -> int:
    """The code of a rule-based player for kernels and ``Lanes.bot_actions``."""
    return BOTS[bot_name(name)]
