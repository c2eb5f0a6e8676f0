"""The methods by the names that configurations have for them."""

from __future__ import annotations

from pathlib import Path

from lostcfr.config import Configuration
from lostcfr.solvers.critic_cfr import CriticCFR
from lostcfr.solvers.deep_cfr import DeepCFR
from lostcfr.solvers.policy_gradient import PolicyGradient
from lostcfr.solvers.solver import Solver

METHODS = {"deep_cfr": DeepCFR, "critic_cfr": CriticCFR, "policy_gradient": PolicyGradient}


def new_solver(
    configuration: Configuration, folder: Path, *, threads: int | None = None, device: str = "cpu"
) -> Solver:
    """The solver of a configuration's method before its first iteration."""
    return METHODS[configuration.method](configuration, folder, threads=threads, device=device)
