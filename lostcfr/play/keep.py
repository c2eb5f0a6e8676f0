"""Where rounds go, so that none is lost."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from lostcfr.errors import InputError, ResourceError
from lostcfr.record import Round, read_rounds, write_rounds

NAME = "lostcfr-round"


def keep(rounds: Sequence[Round], wanted: Path | None) -> Path:
    """Write rounds to the wanted file, or where that is none or fails to a new file here or for temporary files.

    Returns where they are; ResourceError where they can be nowhere.
    """
    places = [] if wanted is None else [wanted]
    for path in (*places, *map(unused, (Path(), Path(tempfile.gettempdir())))):
        try:
            write_rounds(path, rounds)
        except OSError:
            continue
        return path
    raise ResourceError("no file can be written here or in the folder of temporary files, so the round is not kept")


def unused(folder: Path) -> Path:
    """A name in the folder that no file has yet."""
    names = (f"{NAME}{f'-{number}' * (number > 1)}.txt" for number in count(1))
    return next(path for name in names if not (path := folder / name).exists())


def unfinished(path: Path, seat: int | None, person: str) -> tuple[list[Round], Round]:
    """The rounds of a file but the last, and the last one, which must not be over.

    ``seat``: whose seat the person takes over in it, if any. InputError where nobody in it is a person then.
    """
    *before, last = read_rounds(path)
    if last.lanes().finished[0]:
        raise InputError(f"the last round of {path} is over; lostcfr replay {path} tells it")
    names = tuple(person if player == seat else name for player, name in enumerate(last.agents))
    if person not in names:
        raise InputError(f"{path} was played by {' and '.join(names)}: say with --seat 0 or 1 whose place you take")
    return before, Round(last.rules, (names[0], names[1]), last.seed, last.deal, last.deck, last.actions)
