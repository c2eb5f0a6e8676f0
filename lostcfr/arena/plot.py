"""The standings of a round robin as a picture."""

from typing import Any

import numpy as np

from lostcfr.arena.stats import result_of
from lostcfr.arena.tournament import Standings
from lostcfr.drawing import PALETTE, png

DARK = 0.6  # share of the darkest colour from which on figures on it are white


def picture(standings: Standings, rounds: int = 1) -> bytes:
    """A PNG: mean points a match of row against column, and beside it the ratings with their intervals."""
    n = len(standings.names)

    def draw(figure: Any) -> None:
        points, elo = figure.subplots(1, 2, width_ratios=(1 + n, 4))
        draw_points(figure, points, standings)
        points.set_title(f"points a {result_of(rounds)}, row against column")
        draw_ratings(elo, standings)
        elo.set_title(f"Elo of {'rounds' if rounds == 1 else 'matches'} won, 95 % interval")

    return png(draw, 6 + 1.3 * n, 1.6 + 0.55 * n)


def draw_points(figure: Any, axes: Any, standings: Standings) -> None:
    """The heat map: blue where the row's agent wins, red where it loses."""
    n, mean, half = len(standings.names), standings.mean, standings.half
    most = max(1.0, float(np.abs(mean).max()))
    axes.grid(False)
    image = axes.imshow(mean, cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
    for row, column in zip(*np.nonzero(~np.eye(n, dtype=bool)), strict=True):
        shade = "white" if abs(mean[row, column]) > DARK * most else "black"
        figures = f"{mean[row, column]:+.1f}\n± {half[row, column]:.1f}"
        axes.text(column, row, figures, ha="center", va="center", color=shade, fontsize=8)
    axes.set_xticks(range(n), [str(number + 1) for number in range(n)])
    axes.set_yticks(range(n), [f"{name}  {number + 1}" for number, name in enumerate(standings.names)])
    figure.colorbar(image, ax=axes)


def draw_ratings(axes: Any, standings: Standings) -> None:
    """Elo of the same rows, with 95 % intervals."""
    n, ends = len(standings.names), np.array([standings.elo - standings.low, standings.high - standings.elo])
    # Percentiles of a skew bootstrap may leave the estimate outside; a bar has no negative length.
    axes.errorbar(standings.elo, range(n), xerr=np.maximum(ends, 0), fmt="o", color=PALETTE[0], capsize=3)
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_yticks(range(n), [str(number + 1) for number in range(n)])
    axes.set_ylim(n - 0.5, -0.5)
