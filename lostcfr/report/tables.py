"""The figures of a report as HTML tables. Every text is escaped here."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from lostcfr.config import Configuration, unread
from lostcfr.report.history import Floats, History, Row, best_of
from lostcfr.run.schedules import EXTENDED, REGULAR, deciding
from lostcfr.yaml_text import shown

NONE = "-"  # where there is no figure


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column names its rows; one too wide for the screen scrolls by itself."""
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "\n".join(
        f'<tr><th scope="row">{escape(first)}</th>' + "".join(f"<td>{escape(each)}</td>" for each in others) + "</tr>"
        for first, *others in rows
    )
    return (
        f'<div class="card">\n<h3>{escape(caption)}</h3>\n'
        f'<div class="wide" role="region" tabindex="0" aria-label="{escape(caption)}"><table>\n'
        f"<thead><tr>{columns}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>\n</div>"
    )


def figure(value: Any, form: str) -> str:
    """A number in a form such as ``+.1f``, or a dash where there is none."""
    return NONE if value is None or math.isnan(value) else format(value, form)


STRENGTH = {  # column: its name in a row and its form
    "won": ("win", ".1%"),
    "drawn": ("draw", ".1%"),
    "lost": ("loss", ".1%"),
    "score": ("score", ".1f"),
    "its score": ("opponent_score", ".1f"),
    "turns": ("turns", ".1f"),
    "stalled": ("stalled", ".1%"),
    "opened": ("opened", ".2f"),
    "entropy": ("entropy", ".2f"),
    "pairs": ("pairs", ",d"),
}


def strength(history: History) -> str:
    """The newest evaluation of each schedule, and the best of the deciding one; a sentence where there is none yet."""
    parts = []
    for schedule, title in ((REGULAR, "evaluation"), (EXTENDED, "extended evaluation")):
        found = history.evaluated(schedule)
        if not found:
            continue
        newest = best = max(found)
        if schedule == deciding(history.configuration):
            best = best_of(found)
            title = f"and best {title}" if best == newest else title
        parts.append(evaluation(f"Newest {title}", newest, found[newest]))
        if best != newest:
            parts.append(evaluation(f"Best {title}", best, found[best]))
    return "\n".join(parts) or "<p>This run has not been evaluated yet.</p>"


def evaluation(title: str, iteration: int, rows: Sequence[Row]) -> str:
    """A table of one evaluation, a row for each opponent."""
    views = ", ".join(dict.fromkeys(row["agent"] for row in rows))
    head = ["against", "points a round", "95 % interval", *STRENGTH]
    body = [
        [
            row["opponent"],
            figure(row["mean"], "+.1f"),
            interval(row),
            *(figure(row.get(name), form) for name, form in STRENGTH.values()),
        ]
        for row in rows
    ]
    return table(f"{title}: the {views} after iteration {iteration}", head, body)


def interval(row: Row) -> str:
    """The 95 % interval of an evaluation's mean."""
    low, high = row["ci95"]
    return f"{low:+.1f} .. {high:+.1f}"


def time(history: History) -> str:
    """Where the time went, a row for each phase."""
    total = 60 * history.minutes[-1]
    rows = []
    for phase in history.phases:
        seconds = history.seconds(phase)
        share = seconds.sum() / total if total else 0.0
        rows.append([phase, f"{seconds.sum() / 60:.1f}", f"{share:.0%}", f"{seconds.mean():.2f}", f"{seconds[-1]:.2f}"])
    return table("Time by phase", ["phase", "minutes", "share", "mean seconds", "newest seconds"], rows)


def traversal(history: History) -> str:
    """First and newest figures of the traversals."""
    shown_as = {
        "score of the traverser": ("score", "+.1f"),
        "score of the opponent": ("opponent_score", "+.1f"),
        "expeditions opened a round": ("opened", ".2f"),
        "turns a round": ("turns", ".1f"),
        "entropy in nats": ("entropy", ".3f"),
        "fallback": ("fallback", ".1%"),
        "regret rows": ("regret_rows", ",.0f"),
        "decisions": ("nodes", ",.0f"),
    }
    rows = [
        [title, *(figure(each, form) for each in ends(history.column(name)))]
        for title, (name, form) in shown_as.items()
    ]
    return table("Traversals, first and newest iteration", ["figure", "first", "newest"], rows)


def ends(values: Floats) -> tuple[float, float]:
    """The first and the last value."""
    return float(values[0]), float(values[-1])


def changed(configuration: Configuration) -> str:
    """Settings that differ from their defaults; a sentence where none does."""
    values, usual = configuration.model_dump(mode="json"), Configuration().model_dump(mode="json")
    idle = unread(configuration)
    rows = []
    for section, value in values.items():
        inner = value if isinstance(value, dict) else {"": value}
        for name, setting in inner.items():
            key = f"{section}.{name}" if name else section
            default = usual[section][name] if name else usual[section]
            if setting != default and key not in idle:
                rows.append([key, shown(setting), shown(default)])
    if not rows:
        return "<p>Every setting has its default.</p>"
    return table("Settings that differ from the defaults", ["setting", "value", "default"], rows)


def summary(history: History) -> str:
    """The figures that come first, as a list of terms."""
    minutes = history.minutes[-1]
    spent = f"{minutes / 60:.1f} h" if minutes >= 120 else f"{minutes:.1f} min"
    facts = {
        "iterations": f"{history.iterations[-1]:,.0f}",
        "training": spent,
        "rounds traversed": figure(np.nansum(history.column("rounds")), ",.0f"),
        "decisions traversed": figure(np.nansum(history.column("nodes")), ",.0f"),
    }
    regular = history.evaluated(REGULAR)
    for row in regular[max(regular)] if regular else []:
        facts[f"points against {row['opponent']}"] = f"{row['mean']:+.1f}"
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
    return f"<dl>{items}</dl>"
