"""Which evaluations a run makes, and which of them decide on its best checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lostcfr.config import Configuration, MatchesConfig

REGULAR, EXTENDED = "regular", "extended"


def due(configuration: Configuration, iteration: int) -> dict[str, MatchesConfig]:
    """The schedules that ask for an evaluation after an iteration, by name."""
    settings: dict[str, MatchesConfig] = {
        REGULAR: configuration.evaluation,
        EXTENDED: configuration.extended_evaluation,
    }
    return {name: each for name, each in settings.items() if each.every and iteration % each.every == 0}


def deciding(configuration: Configuration) -> str:
    """The schedule by which the best checkpoint is found: the extended one if there is one, for it errs less."""
    return EXTENDED if configuration.extended_evaluation.every else REGULAR


def mean_points(rows: Sequence[dict[str, Any]]) -> float:
    """The mean over the opponents of an evaluation, by which a run finds its best."""
    return sum(float(row["mean"]) for row in rows) / len(rows)


def criterion(rows: Sequence[dict[str, Any]]) -> list[Any]:
    """What was measured in an evaluation: only means of the same criterion can be compared."""
    return [rows[0]["agent"], rows[0]["pairs"], [row["opponent"] for row in rows]]
