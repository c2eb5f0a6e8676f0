"""Which charts a report has, in which order, and what is said of each."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lostcfr.drawing import png
from lostcfr.report import charts
from lostcfr.report.history import Floats, History, numbers
from lostcfr.run.schedules import REGULAR

WIDTH, HEIGHT = 4.4, 3.1  # inches of a picture: on a phone one fills the width, on a desk three stand side by side


class Panel(NamedTuple):
    """One picture."""

    name: str  # of its file, without .png
    title: str
    alt: str  # what it shows, for those who do not see it
    png: bytes


class Chapter(NamedTuple):
    """Pictures that are read together."""

    title: str
    sentence: str  # how to read them
    panels: list[Panel]


Line = tuple[Floats, Floats]  # iterations and values


def chapters(history: History) -> list[Chapter]:
    """Every chapter that the rows have something for. ResourceError where matplotlib is not installed."""
    found = [strength(history), conduct(history), time(history), traversal(history), targets(history), losses(history)]
    return [chapter for chapter in found if chapter.panels]


def panel(name: str, title: str, alt: str, draw: Callable[[Any, Any], None]) -> Panel:
    """A picture with one pair of axes, on which ``draw(figure, axes)`` draws."""

    def all_of_it(figure: Any) -> None:
        axes = figure.subplots()
        axes.set_title(title)
        draw(figure, axes)

    return Panel(name, title, alt, png(all_of_it, WIDTH, HEIGHT))


def line_panel(history: History, name: str, title: str, label: str, lines: dict[str, Line]) -> list[Panel]:
    """A picture of lines, or none where no line has a value."""
    lines = {key: line for key, line in lines.items() if np.isfinite(line[1]).any()}
    if not lines:
        return []
    alt = f"{title}, {label}, by iteration. " + " ".join(told(key, *line) for key, line in lines.items())

    def draw(figure: Any, axes: Any) -> None:
        charts.lines(axes, history.iterations[-1], label, lines)

    return [panel(name, title, alt, draw)]


def told(name: str, iterations: Floats, values: Floats) -> str:
    """The two ends of a line in words."""
    there = np.flatnonzero(np.isfinite(values))
    first, last = there[0], there[-1]
    begun = f"{values[first]:.3g} at iteration {iterations[first]:.0f}"
    end = f", {values[last]:.3g} at iteration {iterations[last]:.0f}" if last > first else ""
    return f"{name}: {begun}{end}."


def strength(history: History) -> Chapter:
    """Learning curves, a picture for each opponent."""
    panels = []
    for opponent in history.opponents:
        found = [each for each in history.series if each.opponent == opponent]
        ends = [
            told(f"{each.agent}, {each.schedule}", numbers(each.rows, "iteration"), numbers(each.rows, "mean"))
            for each in found
        ]
        alt = f"Points a round ahead of {opponent} by iteration, with 95 % intervals. {' '.join(ends)}"
        draw = partial(_points, history, opponent)
        panels.append(panel(f"points-{opponent}", f"against {opponent}", alt, draw))
    return Chapter(
        "Points against each opponent",
        "Above 0 the run wins points. The band is the 95 % interval of a mean over mirrored pairs: two evaluations "
        "whose bands overlap may be equally strong. Diamonds, where there are any, are evaluations over more pairs. "
        "Each picture has its own scale.",
        panels,
    )


def _points(history: History, opponent: str, figure: Any, axes: Any) -> None:
    charts.points(axes, history, opponent)


def conduct(history: History) -> Chapter:
    """How the run played in its regular evaluations, a line for each opponent."""
    shown = [
        ("win", "Rounds won", "% of rounds", 100),
        ("opened", "Expeditions opened", "a round", 1),
        ("turns", "Length of a round", "turns", 1),
        ("stalled", "Stalled turns", "% of turns", 100),
        ("entropy", "Entropy of the policy", "nats a decision", 1),
    ]
    regular = [each for each in history.series if each.schedule == REGULAR and each.agent == history.series[-1].agent]
    panels = []
    for name, title, label, scale in shown:
        lines = {each.opponent: (numbers(each.rows, "iteration"), scale * numbers(each.rows, name)) for each in regular}
        panels += line_panel(history, f"evaluations-{name}", title, label, lines)
    return Chapter(
        "Play in evaluations",
        "How the points came about, a line for each opponent, of the view that was evaluated last. A stalled turn is "
        "one whose deck draw the stall limit forced: many of them mean that rounds are drawn out.",
        panels,
    )


def time(history: History) -> Chapter:
    """Where the time of an iteration goes."""
    phases = ", ".join(f"{phase} {np.mean(history.seconds(phase)):.3g}" for phase in history.phases)
    split = panel(
        "time-phases",
        "Time of an iteration",
        f"Seconds of each phase by iteration, stacked. Means: {phases}.",
        lambda figure, axes: charts.stacked(axes, history),
    )
    rate = {"decisions": (history.iterations, history.time("nodes_per_second"))}
    lanes = {"occupancy": (history.iterations, 100 * history.time("occupancy"))}
    return Chapter(
        "Time",
        "What to make faster: the thickest layer. The first iteration may hold compiling. The rate counts decisions "
        "that networks answered while games were collected; occupancy is the share of lanes that had one.",
        [
            split,
            *line_panel(history, "time-rate", "Rate of the traversal", "decisions a second", rate),
            *line_panel(history, "time-occupancy", "Occupancy", "% of lanes", lanes),
        ],
    )


def traversal(history: History) -> Chapter:
    """How the player being trained plays while it collects rows."""
    iterations = history.iterations
    sides = {
        "traverser": (iterations, history.column("score")),
        "opponent": (iterations, history.column("opponent_score")),
    }
    stalled = history.column("forced") / (history.column("rounds") * history.column("turns"))
    single = [
        ("opened", "Expeditions opened", "a round, by the traverser", history.column("opened")),
        ("turns", "Length of a round", "turns", history.column("turns")),
        ("stalled", "Stalled turns", "% of turns", 100 * stalled),
        ("entropy", "Entropy of the policy", "nats a decision", history.column("entropy")),
        ("fallback", "Fallback", "% of rows", 100 * history.column("fallback")),
    ]
    panels = line_panel(history, "traversal-score", "Scores", "points a round", sides)
    for name, title, label, values in single:
        panels += line_panel(history, f"traversal-{name}", title, label, {title: (iterations, values)})
    return Chapter(
        "Play in traversals",
        "The current player against its training opponent, exploration included. Entropy near 0 means a deterministic "
        "policy. Fallback is the share of rows where no regret was positive, so that traversal.all_negative decided.",
        panels,
    )


def targets(history: History) -> Chapter:
    """Regret targets by depth and iteration."""
    shown: list[tuple[str, str, str, Callable[[Floats], dict[str, Any]]]] = [
        ("sd", "Spread of targets", "points", charts.logarithmic),
        ("mean", "Mean of targets", "points", charts.around_zero),
        ("zero", "Targets that are 0", "share", charts.plain),
        ("rows", "Rows", "rows", charts.logarithmic),
    ]
    panels = []
    for name, title, label, scale in shown:
        turns, values = charts.by_depth(history, name)
        if np.isfinite(values).any():
            alt = (
                f"{title} by iteration and turn, {label}: from {np.nanmin(values):.3g} to {np.nanmax(values):.3g} over "
                f"turns {turns[0]:.0f} and later."
            )
            draw = partial(charts.heat_map, history=history, name=name, label=label, scale=scale)
            panels.append(panel(f"targets-{name}", title, alt, draw))
    return Chapter(
        "Regret targets by depth",
        "What the advantage network learns from, by the turn of the round. A wide spread is noise that more rows must "
        "average out, and a share of zeros near 1 means that little is learned there. The mean takes all legal actions "
        "alike: it is below 0 where the policy does better than a uniform choice. Empty: no rows.",
        panels,
    )


def losses(history: History) -> Chapter:
    """The mean loss of each fit."""
    panels = []
    for name in [phase for phase in history.phases if phase not in ("collect", "evaluate")]:
        values = numbers((row.get("loss", {}) for row in history.metrics), name)
        label = "points squared" if name.startswith("advantage") else "nats" if name == "strategy" else "loss"
        panels += line_panel(history, f"loss-{name}", name, label, {name: (history.iterations, values)})
    return Chapter(
        "Losses",
        "The mean over the updates of each fit. A falling loss is no progress, for regrets grow with the points at "
        "stake; a sudden jump deserves a look.",
        panels,
    )
