"""Names of the rule-based players, apart from the players themselves: checking a name loads no kernels."""

from lostcfr.errors import InputError, nearest

BOT_NAMES = ("random", "discard-only", "balanced", "aggressive", "cautious", "noisy", "selective")


def bot_name(name: str, also: tuple[str, ...] = ()) -> str:
    """The name of a rule-based player as ``BOT_NAMES`` has it; underscores and capitals are as good.

    ``also``: names that are allowed beside these.
    """
    allowed = (*also, *BOT_NAMES)
    known = name.strip().lower().replace("_", "-")
    if known not in allowed:
        raise InputError(f"there is no agent {name!r}{nearest(name, allowed)}")
    return known
