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


def bot_code(name: str) -> int:
    """The code of a rule-based player for kernels; underscores are as good as hyphens."""
    code = BOTS.get(name.strip().lower().replace("_", "-"))
    if code is None:
        raise InputError(f"there is no agent {name!r}{nearest(name, BOTS)}")
    return code
