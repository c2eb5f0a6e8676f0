"""The table as text for a terminal. All of it is made from a ``View``, so a screen shows what its player may know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lostcfr.play.view import WAGER, View

# Readable on dark and on light backgrounds; white is the terminal's own colour of text.
STYLES = {
    "red": "red",
    "green": "green",
    "white": "bold",
    "blue": "dodger_blue2",
    "yellow": "dark_goldenrod",
    "purple": "magenta",
}
EXPEDITION_WIDTH = 20  # so that columns hardly move from turn to turn, and 80 columns are enough
PILE_WIDTH = 7


def screen(view: View, turn: int, opponent: str) -> Iterator[RenderableType]:
    """All that the player to move knows, but for the order of the piles below their tops."""
    score = f"you {view.score('mine')}, {opponent} {view.score('theirs')}"
    yield Text(f"\nTurn {turn}.  Points: {score}.  Deck: {view['deck_left']}.", "bold")
    yield table(view, opponent)
    yield Text("Your hand  ") + hand(view, "hand")
    yield from known(view, opponent)
    yield from stall(view)


def table(view: View, opponent: str) -> Table:
    """Both sides' expeditions with their points, and the top of each pile with its number of cards."""
    out = Table(box=None, pad_edge=False, padding=(0, 1))
    out.add_column("", no_wrap=True)
    out.add_column("yours", min_width=EXPEDITION_WIDTH)
    out.add_column("points", justify="right", no_wrap=True)
    out.add_column("pile", min_width=PILE_WIDTH, no_wrap=True)
    out.add_column(opponent, min_width=EXPEDITION_WIDTH, overflow="fold")
    out.add_column("points", justify="right", no_wrap=True)
    for color in view.colors:
        mine, theirs = (Text(expedition(view.cards(side, color)), STYLES[color]) for side in ("mine", "theirs"))
        points = [str(view.points(side, color)) if view.cards(side, color) else "" for side in ("mine", "theirs")]
        out.add_row(Text(color, STYLES[color]), mine, points[0], pile_top(view, color), theirs, points[1])
    return out


def expedition(cards: Sequence[str]) -> str:
    """The wagers as one word, then the numbers: ``www 2 5 10``."""
    wagers = cards.count(WAGER)
    return " ".join([WAGER * wagers] * bool(wagers) + [*cards[wagers:]]) or "-"


def pile_top(view: View, color: str) -> Text:
    """The top card of a pile and how many lie there: ``9 (3)``."""
    pile = view.pile(color)
    return Text(f"{pile[0]} ({len(pile)})" if pile else "-", STYLES[color])


def hand(view: View, place: str) -> Text:
    """The cards of a hand by colour; ``place`` as in ``View.cards``."""
    groups = [cards_of(color, view.cards(place, color)) for color in view.colors]
    return Text("  ").join(group for group in groups if group)


def cards_of(color: str, cards: Iterable[str]) -> Text:
    """Cards with the letter of their colour."""
    return Text(" ".join(color[0] + card for card in cards), STYLES[color])


def known(view: View, opponent: str) -> Iterator[Text]:
    """What each side knows of the other's hand, where it knows any of it."""
    if seen := view.count("known_theirs"):
        unseen = view.rules.hand_size - seen
        yield Text(f"{opponent} holds  ") + hand(view, "known_theirs") + Text(f"  and {unseen} unknown")
    if view.count("known_mine"):
        yield Text(f"{opponent} knows your  ") + hand(view, "known_mine")


def stall(view: View) -> Iterator[Text]:
    """The turns without a deck draw, where there are any and they are limited."""
    limit = view.rules.stall_limit
    if limit is not None and view["stall"]:
        turns = f"{view['stall']} turn{'s' * (view['stall'] != 1)} in a row without a deck draw"
        yield Text(f"{turns}; after {limit} only the deck may be drawn")


def draws(view: View) -> Text:
    """What may be drawn."""
    if view["stalled"]:
        return Text("Draw: deck (the stall limit is reached)")
    tops = {color: cards_of(color, view.pile(color)[:1]) for color in view.colors}
    free = [top for color, top in tops.items() if top and not view.is_banned(color)]
    banned = [f"; not {top.plain}, just discarded" for color, top in tops.items() if view.is_banned(color)]
    return Text("Draw: deck" + ", or from a pile  " * bool(free)) + Text("  ").join(free) + Text("".join(banned))


def piles(view: View) -> Iterator[Text]:
    """Every pile from its top down."""
    for color in view.colors:
        yield Text(f"{color:7}", STYLES[color]) + (cards_of(color, view.pile(color)) or Text("-"))
