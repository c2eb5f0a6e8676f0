"""Memories of past decisions: a uniform sample of all rows ever inserted, and minibatches from it.

A row is one decision: ``features`` u1 [F]; ``actions`` u1 [K], the legal action ids in ascending order, 255 where
there is none; ``values`` f4 [K] beside them; and the iteration that made it.
"""

import math
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.errors import CheckpointError, InputError, LostCFRError, ResourceError, whole
from lostcfr.kernels import reservoir as kernels
from lostcfr.threads import Workers

GRAIN_SAMPLE = 256  # rows of a minibatch that are worth a thread of their own
MOST_ROWS = 2**31 - 1
MOST_SEEN = 2**62
MEMORIES = 8  # of one run: purposes that kernels.rng keeps for them
GIB = 2**30

Array = npt.NDArray[Any]
Changes = dict[str, Array]


class Batch(NamedTuple):
    """The rows of a minibatch."""

    features: npt.NDArray[np.uint8]  # [b, F] u1
    actions: npt.NDArray[np.uint8]  # [b, K] u1
    values: npt.NDArray[np.float32]  # [b, K] f4
    weights: npt.NDArray[np.float32]  # [b] f4

    def rows(self, begin: int, end: int) -> "Batch":
        """A view of the rows from ``begin`` to before ``end``."""
        some = slice(begin, end)
        return Batch(self.features[some], self.actions[some], self.values[some], self.weights[some])


class Reservoir:
    """At most ``capacity`` rows, at any time a uniform sample of all that were inserted.

    ``number`` (0 .. 7) tells the memories of one run, which share its ``seed``, apart. With ``directory`` the rows
    lie in nameless files there, mapped into memory: they vanish with the process, whatever ends it.

    Attributes: ``capacity``; ``features`` and ``slots``, the columns F and K; ``seen``, the rows ever inserted.
    """

    def __init__(
        self,
        capacity: int,
        features: int,
        slots: int,
        seed: int,
        number: int,
        directory: Path | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.capacity = whole(capacity, 1, MOST_ROWS, "capacity")
        self.features = whole(features, 1, None, "features")
        self.slots = whole(slots, 1, None, "slots")
        self.seed = np.uint64(whole(seed, 0, 2**64 - 1, "seed"))
        self.number = whole(number, 0, MEMORIES - 1, "number")
        self.workers = workers or Workers()
        self.seen = 0
        self._last = 0  # no row is of a later iteration
        columns = _columns(self.capacity, self.features, self.slots)
        self._memory = kernels.Memory(**{name: _allocate(*each, directory) for name, each in columns.items()})

    def __len__(self) -> int:
        return self.size

    @property
    def size(self) -> int:
        """Rows that the memory holds now."""
        return min(self.seen, self.capacity)

    @property
    def nbytes(self) -> int:
        """Bytes of all places, filled or not."""
        return sum(array.nbytes for array in self._memory)

    def insert(
        self,
        features: npt.NDArray[np.uint8],
        actions: npt.NDArray[np.uint8],
        values: npt.NDArray[np.float32],
        iteration: int,
    ) -> None:
        """Offer n rows (u1 [n, F], u1 [n, K], f4 [n, K]), all made in ``iteration``.

        Where a row goes depends on the seed and on how many came before it, not on how they were grouped.
        """
        iteration = whole(iteration, 0, 2**31 - 1, "iteration")
        n = len(features)
        whole(self.seen + n, 0, MOST_SEEN, "the number of rows ever inserted")
        rows = kernels.Rows(
            _checked(features, (n, self.features), np.uint8, "features"),
            _checked(actions, (n, self.slots), np.uint8, "actions"),
            _checked(values, (n, self.slots), np.float32, "values"),
        )
        kernels.insert(self._memory, self.seed, self.number, self.seen, rows, iteration)
        self.seen += n
        self._last = max(self._last, iteration)

    def new_batch(self, rows: int) -> Batch:
        """Buffers for minibatches of so many rows."""
        rows = whole(rows, 1, MOST_ROWS, "rows")
        shapes = _batch_columns(rows, self.features, self.slots)
        return Batch(**{name: np.zeros(shape, dtype) for name, (shape, dtype) in shapes.items()})

    def sample(self, iteration: int, step: int, table: npt.NDArray[np.float32], batch: Batch) -> None:
        """Fill ``batch`` with rows drawn uniformly with replacement, the same for the same iteration and step.

        ``table`` (f4, one entry an iteration from 0 on): a row's weight is the entry of the iteration that made it;
        divided by ``mean_weight`` beforehand, weights are 1 on average over the memory.
        """
        rows = len(batch.features)
        for name, (shape, dtype) in _batch_columns(rows, self.features, self.slots).items():
            array = getattr(batch, name)
            _check(array, shape, dtype, f"batch.{name}", InputError)
            if not array.flags.carray:
                raise InputError(f"batch.{name} must be writable and C-contiguous, as new_batch makes it")
        minibatch = kernels.Minibatch(
            self.seed, self.number, whole(iteration, 0, 2**32 - 1, "iteration"), whole(step, 0, 2**32 - 1, "step")
        )
        arguments = self._memory, self.size, self._checked_table(table), minibatch, batch
        self.workers.run(kernels.sample, *arguments, lanes=rows, grain=GRAIN_SAMPLE)

    def mean_weight(self, table: npt.NDArray[np.float32]) -> float:
        """Mean of ``table`` (as for ``sample``) over the rows in the memory."""
        return float(kernels.sum_weights(self._memory.iteration, self.size, self._checked_table(table))) / self.size

    def _checked_table(self, table: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The table, if it has an entry for every row; kernels do not check."""
        if not self.seen:
            raise InputError("this memory is empty: insert rows before drawing from it")
        if len(table) <= self._last:
            raise InputError(
                f"the table of weights has {len(table)} entries, but a row is of iteration {self._last}: "
                f"give one entry for each iteration from 0 to {self._last}"
            )
        return _checked(table, (len(table),), np.float32, "the table of weights")

    def take_changes(self) -> Changes:
        """The rows that were written since this was last called, as they are now.

        ``places`` i8 [m], ascending; ``features`` u1 [m, F], ``actions`` u1 [m, K], ``values`` f4 [m, K] and
        ``iteration`` i4 [m] of those places. They are copies.
        """
        places = np.flatnonzero(self._memory.changed)
        self._memory.changed.fill(False)
        return {"places": places, **{name: array[places] for name, array in self._contents().items()}}

    def all_rows(self) -> Changes:
        """``take_changes`` for every row, without clearing anything; views, good until the next insertion."""
        rows = {name: array[: self.size] for name, array in self._contents().items()}
        return {"places": np.arange(self.size), **rows}

    def apply_changes(self, arrays: Mapping[str, Array]) -> None:
        """Write the rows of a ``take_changes`` or ``all_rows`` to their places, and mark these as changed.

        ``seen`` stays as it is. CheckpointError, and nothing is written, if the arrays are none of this memory.
        """
        places = self._checked_changes(arrays)
        for name, array in self._contents().items():
            array[places] = arrays[name]
        self._memory.changed[places] = True
        self._last = max(self._last, int(arrays["iteration"].max(initial=0)))

    def restore(self, seen: int, changes: Iterable[Mapping[str, Array]]) -> None:
        """Become the memory that had seen so many rows and gave these changes, one ``take_changes`` after another.

        Nothing is marked as changed then. CheckpointError if a row is missing or is none of this memory, which is
        then empty.
        """
        size = min(whole(seen, 0, MOST_SEEN, "seen"), self.capacity)
        self.seen = self._last = 0
        self._memory.changed.fill(False)
        for arrays in changes:
            self.apply_changes(arrays)
        found = np.count_nonzero(self._memory.changed[:size])
        beyond = np.count_nonzero(self._memory.changed[size:])
        if found < size or beyond:
            raise CheckpointError(
                f"the stored changes do not make up the memory: {size - found} of its {size} rows are missing and "
                f"{beyond} lie beyond; go back to an earlier checkpoint"
            )
        self._memory.changed.fill(False)
        self.seen = seen

    def _contents(self) -> dict[str, Array]:
        """The arrays that make up the rows, by name."""
        return {name: array for name, array in self._memory._asdict().items() if name != "changed"}

    def _checked_changes(self, arrays: Mapping[str, Array]) -> npt.NDArray[np.int64]:
        """The places, if the arrays are changes of a memory like this."""
        expected = {"places", *self._contents()}
        if set(arrays) != expected:
            raise CheckpointError(
                f"the stored changes are {', '.join(sorted(arrays))}, but must be {', '.join(sorted(expected))}"
            )
        places = arrays["places"]
        m = np.size(places)
        _check(places, (m,), np.int64, "the stored places", CheckpointError)
        for name, array in self._contents().items():
            _check(arrays[name], (m, *array.shape[1:]), array.dtype, f"the stored {name}", CheckpointError)
        if m and (places[0] < 0 or places[-1] >= self.capacity or (places[1:] <= places[:-1]).any()):
            raise CheckpointError(f"the stored places must ascend within 0 .. {self.capacity - 1}, but do not")
        if (arrays["iteration"] < 0).any():
            raise CheckpointError("the stored iteration must hold no number below 0, but does")
        return places


def bytes_needed(capacity: int, features: int, slots: int) -> int:
    """Bytes of a Reservoir of these sizes."""
    columns = _columns(capacity, features, slots).values()
    return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in columns)


def available_bytes(directory: Path | None = None) -> int:
    """Bytes of memory that this machine could give a process now; with ``directory``, free bytes on its disk."""
    if directory is not None:
        return shutil.disk_usage(directory).free
    try:
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):  # not Linux: what the machine has, in use or not
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_budget(
    total_bytes: int, budget_gib: float, available: int | None = None, directory: Path | None = None
) -> None:
    """ResourceError unless memories of so many bytes fit both the budget and what is free.

    ``directory``: where they lie if they are mapped. ``available``: bytes that are free, if not to be measured.
    """
    free = available_bytes(directory) if available is None else available
    where = "of memory" if directory is None else f"on the disk of {directory}"
    need = f"memories and snapshots need {total_bytes / GIB:.2f} GiB"
    fewer = "set memory.advantage_rows, memory.strategy_rows or averaging.snapshots lower"
    if total_bytes > budget_gib * GIB:
        raise ResourceError(
            f"{need}, but memory.budget_gib allows {budget_gib:g} ({free / GIB:.2f} GiB {where} are free): "
            f"{fewer} or memory.budget_gib higher"
        )
    if total_bytes > free:
        other = "memory.mapped to true" if directory is None else "free some space"
        raise ResourceError(
            f"{need}, but {free / GIB:.2f} GiB {where} are free (memory.budget_gib allows {budget_gib:g}): "
            f"{fewer}, or {other}"
        )


def _columns(capacity: int, features: int, slots: int) -> dict[str, tuple[tuple[int, ...], npt.DTypeLike]]:
    """Shape and type of each array of a kernels.Memory."""
    return {
        "features": ((capacity, features), np.uint8),
        "actions": ((capacity, slots), np.uint8),
        "values": ((capacity, slots), np.float32),
        "iteration": ((capacity,), np.int32),
        "changed": ((capacity,), np.bool_),
    }


def _batch_columns(rows: int, features: int, slots: int) -> dict[str, tuple[tuple[int, ...], npt.DTypeLike]]:
    """Shape and type of each array of a Batch."""
    columns = _columns(rows, features, slots)
    return {name: columns[name] for name in ("features", "actions", "values")} | {"weights": ((rows,), np.float32)}


def _allocate(shape: tuple[int, ...], dtype: npt.DTypeLike, directory: Path | None) -> Array:
    """Zeros, whose pages are taken as rows arrive; with ``directory``, in a nameless file whose space is taken now.

    A file that grew on a full disk would end the process without a word.
    """
    if directory is None:
        return np.zeros(shape, dtype)
    size = math.prod(shape) * np.dtype(dtype).itemsize
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.truncate(size)
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            return np.frombuffer(mmap.mmap(file.fileno(), size), dtype).reshape(shape)
    except OSError as error:
        raise ResourceError(
            f"{size / GIB:.2f} GiB for a mapped memory could not be had in {directory} ({error.strerror}): "
            "choose another directory, free some space, or set memory.mapped to false"
        ) from error


def _check(array: Any, shape: tuple[int, ...], dtype: npt.DTypeLike, name: str, error: type[LostCFRError]) -> None:
    """An error of the given kind unless ``array`` is an array of that shape and type."""
    if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != dtype:
        found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else f"a {type(array).__name__}"
        raise error(f"{name} must be an array {np.dtype(dtype)} {shape}, but is {found}")


def _checked(array: Any, shape: tuple[int, ...], dtype: npt.DTypeLike, name: str) -> Array:
    """The array in the one layout for which kernels are compiled, or an InputError."""
    _check(array, shape, dtype, name, InputError)
    return np.require(array, dtype, ["C", "A", "W"])
