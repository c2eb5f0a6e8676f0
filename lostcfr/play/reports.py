"""Hints and reviews as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lostcfr.play.advice import WORLDS, Difference, Hint

if TYPE_CHECKING:
    from lostcfr.game import LostCities

MOST_LISTED = 10


def hint_table(hint: Hint, game: LostCities, advisor: str) -> Iterator[RenderableType]:
    """The actions of a hint: how likely the advisor is to take each, and what it expects of it."""
    table = _table("move", "likely", "points", "behind", "error")
    best = hint.comparison.points.max()
    rows = zip(hint.comparison.actions, hint.probabilities, *hint.comparison[1:], strict=True)
    for action, probability, points, error in rows:
        figures = f"{probability:.0%}", f"{points:+.1f}", f"{best - points:.1f}", f"{error:.1f}"
        table.add_row(game.short_action_name(action), *figures)
    yield table
    yield Text(
        f"likely: by {advisor}; points: your mean lead at the end of {WORLDS} rounds in which it plays both sides, "
        f"with hidden cards dealt anew; an estimate, so the highest need not be the best"
    )


def review(found: Sequence[Difference | None], decisions: int, game: LostCities, advisor: str) -> Iterator[str | Table]:
    """The costliest differences, and what all of them cost; ``found`` may be fewer than the decisions there are."""
    differing = sorted((each for each in found if each is not None), key=lambda each: -each.cost)
    looked = f"{len(found)} of {decisions} decisions" if len(found) < decisions else f"{decisions} decisions"
    yield f"\nReview by {advisor}, {looked}: it would have decided otherwise in {len(differing)}"
    if not differing:
        return
    yield _difference_table(differing[:MOST_LISTED], game)
    if len(differing) > MOST_LISTED:
        yield f"and {len(differing) - MOST_LISTED} more that cost less"
    cost, error = sum(each.cost for each in differing), math.hypot(*(each.error for each in differing))
    yield f"cost in all: {cost:+.1f} points, standard error {error:.1f}, by its own estimate"


def _difference_table(differing: Sequence[Difference], game: LostCities) -> Table:
    table = _table("turn", "taken", "it would", "cost", "error", left=("taken", "it would"))
    for each in differing:
        names = game.short_action_name(each.taken), game.short_action_name(each.advised)
        table.add_row(str(each.decision // 2 + 1), *names, f"{each.cost:+.1f}", f"{each.error:.1f}")
    return table


def _table(*headers: str, left: Sequence[str] = ("move",)) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    for header in headers:
        table.add_column(header, justify="left" if header in left else "right")
    return table
