"""What mirrored pairs say about two agents. The unit is the pair: its two rounds share a deal."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from lostcfr.arena.match import Pairs
from lostcfr.kernels.tally import MILLIONTHS

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
        **conduct(pairs),
    }


def conduct(pairs: Pairs) -> dict[str, float | None]:
    """How the agent played: means a round, an expedition or a decision; docs/evaluation.md has each in words.

    Entropy and support are None where no network decided.
    """
    opened, by_networks = int(pairs.opened.sum()), bool(pairs.support.any())
    expeditions, free = max(1, opened), pairs.plies - pairs.forced_decisions
    good = int(pairs.good_openings.sum())
    return {
        "decisions": float(free.mean()),
        "forced_decisions": float(pairs.forced_decisions.mean()),
        "pile_draws": float(pairs.pile_draws.mean()),
        "cards": float(pairs.cards.sum() / expeditions),
        "positive": float(pairs.positive.sum() / expeditions),
        "negative": float(pairs.negative.sum() / expeditions),
        "bonus": float(pairs.bonuses.sum() / expeditions),
        "good_openings": good / expeditions,
        "bad_openings": (opened - good) / expeditions,
        "entropy": float(pairs.entropy.sum() / free.sum() / MILLIONTHS) if by_networks else None,
        "support": float(pairs.support.sum() / free.sum()) if by_networks else None,
    }
