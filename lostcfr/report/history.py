"""Everything that a report says of a run, read from its folder without a lock: the run may be under way."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.config import Configuration
from lostcfr.config_file import load
from lostcfr.errors import CheckpointError
from lostcfr.run.checkpoint import BEST, Checkpoints
from lostcfr.run.directory import CHECKPOINTS, CONFIG, EVALUATIONS, METRICS
from lostcfr.run.manifest import MANIFEST, read_manifest
from lostcfr.run.metrics import read_rows
from lostcfr.run.schedules import criterion, mean_points

Floats = npt.NDArray[np.float64]
Row = dict[str, Any]


class Series(NamedTuple):
    """Evaluations of one view against one opponent on one schedule, in the order of iterations."""

    opponent: str
    agent: str
    schedule: str
    rows: list[Row]


@dataclass(frozen=True)
class History:
    """A run so far. ``metrics`` has a row for each of n iterations, at least one."""

    folder: Path
    configuration: Configuration
    metrics: list[Row]
    evaluations: list[Row]
    newest: Row | None  # manifests of checkpoints, None where there is none yet
    best: Row | None

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.resolve().name

    @cached_property
    def iterations(self) -> Floats:
        """[n]: number of each iteration."""
        return self.column("iteration")

    def column(self, name: str) -> Floats:
        """[n]: a column of the metrics; not a number where a row has none."""
        return numbers(self.metrics, name)

    @property
    def phases(self) -> list[str]:
        """Names of the phases of an iteration, in their order; other times of a row are rates."""
        learners = [name for row in self.metrics for name in row.get("loss", {})]
        return list(dict.fromkeys(["collect", *learners, "evaluate"]))

    def seconds(self, phase: str) -> Floats:
        """[n]: seconds of a phase in each iteration, 0 where it was left out."""
        return np.nan_to_num(self.time(phase))

    def time(self, name: str) -> Floats:
        """[n]: one of the times of each iteration, seconds or a rate."""
        return numbers((row.get("times", {}) for row in self.metrics), name)

    @cached_property
    def minutes(self) -> Floats:
        """[n]: minutes of all phases up to the end of each iteration."""
        return np.cumsum(np.sum([self.seconds(phase) for phase in self.phases], axis=0)) / 60

    @property
    def series(self) -> list[Series]:
        """All evaluations by opponent, view and schedule, in the order they first appear."""
        found: dict[tuple[str, str, str], list[Row]] = {}
        for row in self.evaluations:
            found.setdefault((row["opponent"], row["agent"], row["schedule"]), []).append(row)
        return [Series(*key, rows) for key, rows in found.items()]

    @property
    def opponents(self) -> list[str]:
        """Who was played against."""
        return list(dict.fromkeys(each.opponent for each in self.series))

    def evaluated(self, schedule: str) -> dict[int, list[Row]]:
        """Rows of each evaluation of a schedule, by iteration."""
        found: dict[int, list[Row]] = {}
        for row in self.evaluations:
            if row["schedule"] == schedule:
                found.setdefault(row["iteration"], []).append(row)
        return dict(sorted(found.items()))


def numbers(rows: Iterable[Row], name: str) -> Floats:
    """[n]: a column of rows; not a number where a row has none."""
    return np.array([np.nan if row.get(name) is None else row[name] for row in rows], np.float64)


def best_of(evaluated: dict[int, list[Row]]) -> int:
    """The iteration of the best of some evaluations, ascending: of those since another thing was measured."""
    *_, newest = evaluated.values()
    since = takewhile(lambda item: criterion(item[1]) == criterion(newest), reversed(evaluated.items()))
    return max(reversed(list(since)), key=lambda item: mean_points(item[1]))[0]


def read_history(folder: Path) -> History:
    """Read the folder of a run. CheckpointError where it holds none, or none with a finished iteration."""
    if not (folder / CONFIG).is_file():
        raise CheckpointError(
            f"{folder} holds no run: there is no {CONFIG} in it; name the folder that lostcfr train wrote (--run)"
        )
    metrics = _read(folder / METRICS, ("iteration",))
    if not metrics:
        raise CheckpointError(f"{folder} has no finished iteration yet: wait for the first row in {METRICS}")
    evaluations = _read(folder / EVALUATIONS, ("iteration", "schedule", "agent", "opponent", "mean", "ci95"))
    best = folder / CHECKPOINTS / BEST
    return History(
        folder=folder,
        configuration=load(folder / CONFIG),
        metrics=metrics,
        evaluations=evaluations,
        newest=_newest_manifest(Checkpoints(folder / CHECKPOINTS)),
        best=read_manifest(best) if (best / MANIFEST).is_file() else None,
    )


def _read(path: Path, needed: tuple[str, ...]) -> list[Row]:
    """The rows of a file; CheckpointError where one is not of a run."""
    rows = read_rows(path)
    for number, row in enumerate(rows, start=1):
        missing = [name for name in needed if not isinstance(row, dict) or name not in row]
        if missing:
            raise CheckpointError(f"{path}:{number} is no row of a run: it has no '{missing[0]}'; put the file back")
    return rows


def _newest_manifest(checkpoints: Checkpoints) -> Row | None:
    """Of the newest checkpoint, also while a run under way writes new ones and deletes old ones."""
    names = checkpoints.names()
    while names:
        try:
            return read_manifest(checkpoints.folder / names[-1])
        except CheckpointError:
            before, names = names, checkpoints.names()
            if names == before:
                raise
    return None
