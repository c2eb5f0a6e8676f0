"""Names of agents and what is in them, apart from the agents themselves: checking a name loads no kernels."""

from collections.abc import Sequence

from lostcfr.errors import InputError, nearest

BOT_NAMES = ("random", "discard-only", "balanced", "aggressive", "cautious", "noisy", "selective")
HUMAN = "human"  # a person at the terminal
VIEWS = ("mixture", "average", "current")
SAMPLE, GREEDY, THRESHOLD = "sample", "greedy", "threshold="
PLAY_ALL = 0.0  # the probability below which an agent plays no action
PLAY_LIKELIEST = 2.0  # above all there are, so that only the likeliest action is left


def bot_name(name: str, also: tuple[str, ...] = ()) -> str:
    """The name of a rule-based player as ``BOT_NAMES`` has it; underscores and capitals are as good.

    ``also``: names that are allowed beside these.
    """
    allowed = (*also, *BOT_NAMES)
    known = name.strip().lower().replace("_", "-")
    if known not in allowed:
        raise InputError(f"there is no agent {name!r}{nearest(name, allowed)}")
    return known


def view_and_floor(name: str, suffixes: Sequence[str]) -> tuple[str, float]:
    """What the suffixes of the agent ``name`` say, in any order: its view ("" where none does) and its floor."""
    views, floors = [], []
    for suffix in suffixes:
        if suffix in VIEWS:
            views.append(suffix)
        else:
            floors.append(_floor(name, suffix))
    if len(views) > 1:
        raise InputError(f"{name!r} names {len(views)} views; it may have one of {', '.join(VIEWS)}")
    if len(floors) > 1:
        ways = f"{SAMPLE}, {GREEDY} and {THRESHOLD}0.1"
        raise InputError(f"{name!r} names {len(floors)} ways to choose an action; it may have one of {ways}")
    return "".join(views), floors[0] if floors else PLAY_ALL


def _floor(name: str, suffix: str) -> float:
    """The probability below which a suffix says that no action is played."""
    if suffix in (SAMPLE, GREEDY):
        return PLAY_LIKELIEST if suffix == GREEDY else PLAY_ALL
    if not suffix.startswith(THRESHOLD):
        known = (*VIEWS, SAMPLE, GREEDY, f"{THRESHOLD}0.1")
        raise InputError(f"{name!r}: an agent has no suffix {suffix!r}{nearest(suffix, known)}")
    try:
        floor = float(suffix.removeprefix(THRESHOLD))
    except ValueError:
        floor = float("nan")
    if not 0.0 <= floor <= 1.0:
        raise InputError(f"{name!r}: {suffix!r} must give a probability from 0 to 1, such as {THRESHOLD}0.1")
    return floor
