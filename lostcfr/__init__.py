"""Train, solve and play two-player imperfect-information card games, Lost Cities above all."""

from typing import TYPE_CHECKING, Any

from lostcfr.errors import IllegalAction, InputError, LostCFRError, RulesError
from lostcfr.rules import Rules

if TYPE_CHECKING:
    from lostcfr.game import LostCities
    from lostcfr.lanes import Lanes
    from lostcfr.run.agent_names import load_agent

__version__ = "0.2.0"
__all__ = ["IllegalAction", "InputError", "Lanes", "LostCFRError", "LostCities", "Rules", "RulesError", "load_agent"]


def __getattr__(name: str) -> Any:
    # Numba takes a second to import and torch two; whoever only reads rules or a help text need not wait for it.
    if name == "LostCities":
        from lostcfr.game import LostCities

        return LostCities
    if name == "Lanes":
        from lostcfr.lanes import Lanes

        return Lanes
    if name == "load_agent":
        from lostcfr.run.agent_names import load_agent

        return load_agent
    raise AttributeError(f"module 'lostcfr' has no attribute {name!r}")
