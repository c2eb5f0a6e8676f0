"""What mirrored pairs say about two agents. The unit is the pair: its two matches share their deals."""

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


def result_of(rounds: int) -> str:
    """What has a winner, in words: a round, or a match of several."""
    return "round" if rounds == 1 else f"match of {rounds} rounds"


def summary(agent: str, opponent: str, pairs: Pairs) -> dict[str, Any]:
    """Figures of mirrored pairs, as plain numbers; docs/evaluation.md has each in words.

    Points and shares of wins are those of matches, with the interval over pairs; how it was played is said a round.
    """
    points, rounds = (pairs.score - pairs.opponent_score).astype(np.float64), int(pairs.rounds.sum())
    return {
        "agent": agent,
        "opponent": opponent,
        "pairs": len(points),
        "rounds": rounds // points.size,
        "mean": float(points.mean()),
        "ci95": list(interval(points.mean(axis=1))),
        "win": float((points > 0).mean()),
        "draw": float((points == 0).mean()),
        "loss": float((points < 0).mean()),
        "score": float(pairs.score.mean()),
        "opponent_score": float(pairs.opponent_score.mean()),
        "turns": float(pairs.turns.sum() / rounds),
        "stalled": float(pairs.forced.sum() / max(1, pairs.turns.sum())),
        "opened": float(pairs.opened.sum() / rounds),
        "unfinished": float(pairs.unfinished.sum() / rounds),
        **conduct(pairs),
    }


def conduct(pairs: Pairs) -> dict[str, float | None]:
    """How the agent played: means a round, an expedition or a decision.

    Entropy and support are None where no network decided.
    """
    opened, by_networks = int(pairs.opened.sum()), bool(pairs.support.any())
    expeditions, free = max(1, opened), pairs.plies - pairs.forced_decisions
    good, rounds = int(pairs.good_openings.sum()), pairs.rounds.sum()
    return {
        "decisions": float(free.sum() / rounds),
        "forced_decisions": float(pairs.forced_decisions.sum() / rounds),
        "pile_draws": float(pairs.pile_draws.sum() / rounds),
        "cards": float(pairs.cards.sum() / expeditions),
        "positive": float(pairs.positive.sum() / expeditions),
        "negative": float(pairs.negative.sum() / expeditions),
        "bonus": float(pairs.bonuses.sum() / expeditions),
        "good_openings": good / expeditions,
        "bad_openings": (opened - good) / expeditions,
        "entropy": float(pairs.entropy.sum() / free.sum() / MILLIONTHS) if by_networks else None,
        "support": float(pairs.support.sum() / free.sum()) if by_networks else None,
    }
