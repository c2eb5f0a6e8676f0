"""Averages over iterations: which snapshots a mixture keeps and how much each counts, and the weights of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def kept_snapshots(iterations: int, most: int) -> list[int]:
    """The iterations 1 .. ``iterations`` whose snapshots are kept: evenly spaced ones, at most ``most``, and the last.

    A snapshot has the number of the iteration that it plays, so the last is that of the next one. The spacing doubles
    when they would be too many, so none that was dropped is missed later.
    """
    if most == 0 or iterations == 0:
        return []
    spacing = 1
    while _spaced(iterations, spacing) > most:
        spacing *= 2
    kept = list(range(spacing, iterations + 1, spacing))
    return kept if kept and kept[-1] == iterations else [*kept, iterations]


def _spaced(iterations: int, spacing: int) -> int:
    return -(-iterations // spacing)


def snapshot_weights(kept: Sequence[int], exponent: float) -> npt.NDArray[np.float64]:
    """f8, one a snapshot: the sum of ``t ** exponent`` over its iteration and the dropped ones just before it.

    With all iterations kept, drawing a snapshot for each round by these weights plays exactly the average strategy:
    linear CFR's for exponent 1 (Steinberger, "Single Deep Counterfactual Regret Minimization", 2019).
    """
    before = [0, *kept[:-1]]
    spans = [np.arange(low + 1, high + 1, dtype=np.float64) for low, high in zip(before, kept, strict=True)]
    return np.array([(span**exponent).sum() for span in spans])


def regret_weights(weighting: str, alpha: float, iteration: int) -> npt.NDArray[np.float32]:
    """f4 [iteration + 1]: what a regret of each iteration counts in the one given; entry 0 is no iteration.

    linear: ``s``. dcfr: the product of ``k^alpha / (k^alpha + 1)`` over ``k = s .. iteration - 1``, the discount that
    DCFR gives to positive cumulative regret (Brown and Sandholm, "Solving imperfect-information games via discounted
    regret minimization", AAAI 2019); a network that learns sums cannot discount negative ones apart.
    """
    steps = np.arange(iteration + 1, dtype=np.float64)
    if weighting == "none":
        weights = np.ones(iteration + 1)
    elif weighting == "linear":
        weights = steps / iteration
    else:
        factors = steps[1:iteration] ** alpha / (steps[1:iteration] ** alpha + 1)
        weights = np.concatenate([[0.0], np.cumprod(factors[::-1])[::-1], [1.0]])
    weights[0] = 0.0
    return weights.astype(np.float32)


def left_of_regrets(weighting: str, alpha: float, iteration: int) -> float:
    """What is left in an iteration of the regrets summed up before it; 0 in the first."""
    return float(regret_weights(weighting, alpha, iteration)[iteration - 1])


def strategy_weights(weighting: str, gamma: float, iteration: int) -> npt.NDArray[np.float32]:
    """f4 [iteration + 1]: what a strategy of each iteration counts in the average.

    linear: ``s``; dcfr: ``(s / iteration) ** gamma``; none: 1.
    """
    exponent = {"none": 0.0, "linear": 1.0, "dcfr": gamma}[weighting]
    weights = (np.arange(iteration + 1, dtype=np.float64) / iteration) ** exponent
    weights[0] = 0.0
    return weights.astype(np.float32)
