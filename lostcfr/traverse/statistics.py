"""What a traversal shows about play and targets, in plain numbers that depend on neither width nor threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lostcfr.kernels import trajectory as codes
from lostcfr.kernels.rules import NO_ACTION
from lostcfr.traverse.samples import Played, Samples

TURNS_A_DEPTH = 10  # turns of a round that make one depth


def describe(played: Played) -> dict[str, Any]:
    """Means over rounds and decisions; points are a round, entropy is in nats."""
    rounds = played.results.sum(axis=0)
    count = max(1, int(rounds[codes.ROUNDS]))
    samples = played.samples
    return {
        "rounds": int(rounds[codes.ROUNDS]),
        "nodes": played.nodes,
        "regret_rows": int((~samples.learns_strategy).sum()),
        "strategy_rows": int(samples.learns_strategy.sum()),
        "score": float(rounds[codes.SCORE] / count),
        "opponent_score": float(rounds[codes.OPPONENT_SCORE] / count),
        "turns": float(rounds[codes.TURNS] / count),
        "opened": float(rounds[codes.OPENED] / count),
        "forced": int(rounds[codes.FORCED]),
        "fallback": float(samples.fallback.mean()) if len(samples.fallback) else 0.0,
        "entropy": float(entropy(samples.sigma).mean()) if len(samples.sigma) else 0.0,
        "targets": by_depth(samples) if len(samples.ply) and not samples.history.shape[1] else [],
    }


def entropy(sigma: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """f8 [n]: entropy of each policy (f4 [n, K]) in nats."""
    probabilities = sigma.astype(np.float64)
    logarithms = np.log(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    found: npt.NDArray[np.float64] = -(probabilities * logarithms).sum(axis=1)
    return found


def by_depth(samples: Samples) -> list[dict[str, Any]]:
    """Regret targets by depth, ten turns each: rows, and mean, standard deviation and share of zeros over actions."""
    depth = samples.ply // (2 * TURNS_A_DEPTH)
    found = []
    for each in np.unique(depth[~samples.learns_strategy]):
        rows = ~samples.learns_strategy & (depth == each)
        targets = samples.values[rows][samples.actions[rows] != NO_ACTION].astype(np.float64)
        found.append(
            {
                "turn": int(each) * TURNS_A_DEPTH,
                "rows": int(rows.sum()),
                "mean": float(targets.mean()),
                "sd": float(targets.std()),
                "zero": float((targets == 0).mean()),
            }
        )
    return found
