"""What mirrored pairs say about two agents. The unit is the pair: its two rounds share a deal."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from lostcfr.arena.match import Pairs

CONFIDENCE = 0.95


def interval(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Ends of the 95 % t-interval of the mean of independent values [P]."""
    mean, error = values.mean(), values.std(ddof=1) / np.sqrt(len(values))
    half = stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1) * error
    return float(mean - half), float(mean + half)


def summary(agent: str, opponent: str, pairs: Pairs) -> dict[str, Any]:
    """Figures of one match: means a round, shares of rounds, and the interval over pairs, as plain numbers."""
    points = (pairs.score - pairs.opponent_score).astype(np.float64)
    return {
        "agent": agent,
        "opponent": opponent,
        "pairs": len(points),
        "mean": float(points.mean()),
        "ci95": list(interval(points.mean(axis=1))),
        "win": float((points > 0).mean()),
        "draw": float((points == 0).mean()),
        "loss": float((points < 0).mean()),
        "score": float(pairs.score.mean()),
        "opponent_score": float(pairs.opponent_score.mean()),
        "turns": float(pairs.turns.mean()),
        "stalled": float(pairs.forced.sum() / max(1, pairs.turns.sum())),
        "opened": float(pairs.opened.mean()),
        "unfinished": float(pairs.unfinished.mean()),
    }
