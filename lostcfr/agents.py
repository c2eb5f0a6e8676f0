"""Agents by name: what can sit at the table."""

from lostcfr.kernels import bots, planners
from lostcfr.names import BOT_NAMES, bot_name as bot_name

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
