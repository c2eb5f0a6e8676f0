"""Kinds of charts over iterations; each draws on the axes it is given."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lostcfr.drawing import GREY, PALETTE
from lostcfr.report.history import Floats, History, Series, numbers
from lostcfr.run.schedules import EXTENDED

ONE_DEPTH = 10.0  # turns of a depth where there is only one
THOUSANDS = 10_000  # from where on numbers are written with commas
FEW = 40  # points up to which each has a mark
Lines = Mapping[str, tuple[Floats, Floats]]  # iterations and values, by the label of the line


def over_iterations(axes: Any, last: float, label: str, minutes: Floats | None = None) -> None:
    """The common axis below, from 0 to the last iteration; ``minutes`` by iteration, if given, stand above."""
    axes.set_xlim(0, last * 1.03)
    axes.set_xlabel("iteration")
    axes.set_ylabel(label)
    axes.xaxis.get_major_locator().set_params(integer=True)
    if minutes is not None and minutes[-1] > 0:
        # Straight on behind the last iteration, so that the ends of the axis can be told in minutes.
        iterations = np.append(np.arange(len(minutes) + 1), 2.0 * len(minutes))
        times = np.concatenate([[0.0], minutes, [2 * minutes[-1]]])
        above = axes.secondary_xaxis(
            "top", functions=(lambda x: np.interp(x, iterations, times), lambda x: np.interp(x, times, iterations))
        )
        above.set_xlabel("minutes of training")
        above.xaxis.get_major_locator().set_params(nbins=4)


def points(axes: Any, history: History, opponent: str) -> None:
    """Mean points a round against an opponent with the 95 % interval: a line and a band for each view and schedule."""
    found = [each for each in history.series if each.opponent == opponent]
    for color, each in zip(PALETTE, found, strict=False):
        iterations, mean = numbers(each.rows, "iteration"), numbers(each.rows, "mean")
        low, high = np.array([row["ci95"] for row in each.rows], np.float64).T
        label = _label(each)
        if each.schedule == EXTENDED:
            ends = [mean - low, high - mean]
            axes.errorbar(iterations, mean, yerr=ends, fmt="D", markersize=5, capsize=4, color=color, label=label)
        else:
            axes.fill_between(iterations, low, high, color=color, alpha=0.25, linewidth=0)
            axes.plot(iterations, mean, color=color, label=label, **_marks(mean))
            if len(mean) == 1:  # a band needs two points
                axes.vlines(iterations, low, high, color=color, alpha=0.5)
    _zero_if_near(axes)
    if len(found) > 1:
        axes.legend()
    over_iterations(axes, history.iterations[-1], "points a round ahead", history.minutes)


def _label(series: Series) -> str:
    return f"{series.agent}, extended" if series.schedule == EXTENDED else series.agent


def _marks(values: Floats) -> dict[str, Any]:
    return {"marker": "o", "markersize": 3.5} if len(values) <= FEW else {}


def _zero_if_near(axes: Any) -> None:
    """A line at level points, where the scale comes near it."""
    low, high = axes.get_ylim()
    if low - (high - low) / 2 < 0 < high + (high - low) / 2:
        axes.axhline(0, color=GREY, linewidth=1)


def lines(axes: Any, last: float, label: str, found: Lines) -> None:
    """A line for each name; there is a legend for more than one."""
    for color, (name, (iterations, values)) in zip(PALETTE, found.items(), strict=False):
        axes.plot(iterations, values, color=color, label=name, linewidth=1.6, **_marks(values))
    if label.startswith("%"):
        axes.set_ylim(bottom=0)
    if axes.get_ylim()[1] >= THOUSANDS:
        axes.yaxis.set_major_formatter("{x:,.0f}")
    if len(found) > 1:
        axes.legend()
    over_iterations(axes, last, label)


def stacked(axes: Any, history: History) -> None:
    """Seconds of each phase of an iteration, one on the other."""
    edges, below = np.append(history.iterations - 0.5, history.iterations[-1] + 0.5), np.zeros(len(history.metrics))
    for color, phase in zip(PALETTE, history.phases, strict=False):
        above = below + history.seconds(phase)
        axes.stairs(above, edges, baseline=below, fill=True, color=color, label=phase)
        below = above
    axes.set_ylim(0, 1.35 * below.max())  # with room for the legend
    axes.legend(ncols=2, loc="upper left")
    over_iterations(axes, history.iterations[-1], "seconds an iteration")


def by_depth(history: History, name: str) -> tuple[Floats, Floats]:
    """Turns [d] that begin a depth, ascending, and a number of the targets there [d, n]; not a number where none is."""
    rows = [{each["turn"]: each for each in row.get("targets", [])} for row in history.metrics]
    found = sorted({turn for row in rows for turn in row})
    step = float(min(np.diff(found), default=ONE_DEPTH))
    turns = np.arange(found[0], found[-1] + step, step) if found else np.empty(0)
    values = [numbers([row.get(turn, {}) for row in rows], name) for turn in turns]
    return turns, np.array(values).reshape(len(turns), len(rows))


def heat_map(figure: Any, axes: Any, history: History, name: str, label: str, scale: Callable[[Floats], Any]) -> None:
    """A number of the targets by iteration and depth; ``scale`` says how it is coloured."""
    turns, values = by_depth(history, name)
    step = turns[1] - turns[0] if len(turns) > 1 else ONE_DEPTH
    iterations = np.append(history.iterations - 0.5, history.iterations[-1] + 0.5)
    depths = np.append(turns, turns[-1] + step)
    axes.grid(False)
    drawn = axes.pcolormesh(iterations, depths, np.ma.masked_invalid(values), rasterized=True, **scale(values))
    figure.colorbar(drawn, ax=axes, label=label)
    over_iterations(axes, history.iterations[-1], "turn of the round")
    axes.set_xlim(iterations[0], iterations[-1])


def plain(values: Floats) -> dict[str, Any]:
    """Colours from 0 to the highest value."""
    return {"cmap": "cividis", "vmin": 0, "vmax": max(float(np.nanmax(values)), 1e-9)}


def logarithmic(values: Floats) -> dict[str, Any]:
    """Colours by magnitude; zeros have none."""
    from matplotlib.colors import LogNorm

    positive = values[values > 0] if (values > 0).any() else np.ones(1)
    low, high = float(positive.min()), float(positive.max())
    return {"cmap": "cividis", "norm": LogNorm(low, max(high, 1.01 * low))}


def around_zero(values: Floats) -> dict[str, Any]:
    """Two colours that meet at 0; the most extreme hundredth has the darkest."""
    most = max(float(np.nanquantile(np.abs(values), 0.99)), 1e-9)
    return {"cmap": "RdBu", "vmin": -most, "vmax": most}
