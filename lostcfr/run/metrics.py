"""Rows of results, one JSON object a line: added one by one, cut back when a run is resumed."""

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lostcfr.errors import CheckpointError, DivergedError, ResourceError


class RowLog:
    """A file of rows that one process adds to. A last line without its end, left by a kill, is removed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("ab", buffering=0)
        self._file.truncate(path.read_bytes().rfind(b"\n") + 1)

    @property
    def length(self) -> int:
        """Bytes of the rows so far."""
        return os.fstat(self._file.fileno()).st_size

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a row: texts, numbers, lists and mappings, keys in their order, floats so that they read back equal.

        Raises DivergedError for a number that is not finite, ResourceError where the disk refuses; no row is then
        added.
        """
        try:
            line = json.dumps(row, allow_nan=False, ensure_ascii=False).encode() + b"\n"
        except ValueError:
            raise DivergedError(f"{self.path}: a number of this row is not finite: {dict(row)}") from None
        before = self.length
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._file.truncate(before)
            raise ResourceError(f"{self.path} could not be written: {error.strerror}") from error

    def sync(self) -> int:
        """Bring all rows to the disk; their length in bytes."""
        os.fsync(self._file.fileno())
        return self.length

    def truncate(self, length: int) -> None:
        """Keep the rows of the first ``length`` bytes; CheckpointError where there are not as many."""
        if self.length < length:
            raise CheckpointError(
                f"{self.path} has {self.length} bytes, but had {length} when the checkpoint was written: rows are "
                "missing; put the file back, or go on from an earlier checkpoint by deleting the later ones"
            )
        self._file.truncate(length)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def read_rows(path: Path) -> list[dict[str, Any]]:
    """All rows of a file; a last line that is still being written is left out, and a missing file has no rows."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            rows.append(json.loads(line))
        except ValueError:
            raise CheckpointError(f"{path}:{number} is not a row of JSON; delete that line to read the rest") from None
    return rows
