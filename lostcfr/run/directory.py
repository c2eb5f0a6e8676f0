"""The folder of a run: ``config.yaml metrics.jsonl evaluations.jsonl run.lock checkpoints/``."""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Self, TextIO

from lostcfr.errors import CheckpointError, ResourceError
from lostcfr.run.arrays import sync
from lostcfr.run.checkpoint import Checkpoints
from lostcfr.run.metrics import RowLog

CONFIG, LOCK, CHECKPOINTS, TENSORBOARD = "config.yaml", "run.lock", "checkpoints", "tensorboard"
METRICS, EVALUATIONS = "metrics.jsonl", "evaluations.jsonl"
ASIDE = f".{CONFIG}.part"


class RunDirectory:
    """A run that this process alone may write, until ``close`` or its end; made by ``create`` or ``resume``.

    ``metrics`` and ``evaluations`` are its rows, ``checkpoints`` its checkpoints, ``config`` the file with its
    configuration. Who only reads a run needs none of this: ``read_rows`` and ``Checkpoints`` take no lock.
    """

    def __init__(self, path: Path, lock: TextIO) -> None:
        self.path, self.config, self._lock = path, path / CONFIG, lock
        self.metrics = RowLog(path / METRICS)
        self.evaluations = RowLog(path / EVALUATIONS)
        self.checkpoints = Checkpoints(path / CHECKPOINTS)

    @classmethod
    def create(cls, path: Path, config: str) -> Self:
        """Start a run in a folder that is new or empty; ``config`` is the text of its ``config.yaml``.

        A run that ended before its first row and checkpoint has nothing to go on from, and is started anew. Raises
        CheckpointError where the folder holds any other run or anything else, ResourceError where the disk refuses.
        """
        _check_free(path)
        with _locked(path) as lock:
            _check_free(path)  # another process may have been as quick
            directory = cls(path, lock)
            directory.rewrite_config(config)
            return directory

    @classmethod
    def resume(cls, path: Path) -> Self:
        """Go on with a run; CheckpointError where there is none or another process is at it."""
        if not (path / CONFIG).is_file():
            raise CheckpointError(
                f"{path} holds no run: there is no {CONFIG} in it; check the path, or leave out --resume to start one"
            )
        with _locked(path) as lock:
            return cls(path, lock)

    def rewrite_config(self, config: str) -> None:
        """Replace the text of ``config.yaml``, whole or not at all."""
        (self.path / ASIDE).write_text(config, encoding="utf-8")
        sync(self.path / ASIDE)
        (self.path / ASIDE).replace(self.config)
        sync(self.path)

    def lengths(self) -> dict[str, int]:
        """Bytes of the rows so far, which are now on the disk: for the state of a checkpoint and for ``rewind``."""
        return {log.path.name: log.sync() for log in (self.metrics, self.evaluations)}

    def rewind(self, lengths: Mapping[str, int]) -> None:
        """Cut the rows back to those of a checkpoint (``lengths()`` of then), or to none with ``{}``.

        A resumed run then writes the same rows as one that was never stopped.
        """
        for log in (self.metrics, self.evaluations):
            log.truncate(lengths.get(log.path.name, 0))

    def close(self) -> None:
        """Let go of the run; the end of the process does so too, however it ends."""
        for file in (self.metrics, self.evaluations, self._lock):
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_free(path: Path) -> None:
    """CheckpointError where no run may be started; one without a row and a checkpoint, as a refusal leaves, may."""
    if path.exists() and not path.is_dir():
        raise CheckpointError(f"{path} is not a folder; name a new or an empty one")
    found = {each.name for each in path.iterdir()} if path.exists() else set()
    rows = [name for name in (METRICS, EVALUATIONS) if name in found and (path / name).stat().st_size]
    if CONFIG in found and (rows or Checkpoints(path / CHECKPOINTS).names()):
        raise CheckpointError(f"{path} already holds a run; add --resume to go on with it, or name another folder")
    ours = {CONFIG, METRICS, EVALUATIONS, TENSORBOARD} if LOCK in found else set()
    others = sorted(found - ours - {LOCK, CHECKPOINTS, ASIDE})
    if others:
        raise CheckpointError(f"{path} holds '{others[0]}' but no run; name a new or an empty folder")


@contextmanager
def _locked(path: Path) -> Iterator[TextIO]:
    """The lock of a run, which stays locked unless the body fails."""
    lock = None
    try:
        (path / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
        lock = (path / LOCK).open("a+")
        _take(lock, path)
        yield lock
    except BaseException as error:
        if lock is not None:
            lock.close()
        if isinstance(error, OSError):
            raise ResourceError(f"{path} cannot be used for a run: {error.filename}: {error.strerror}") from error
        raise


def _take(lock: TextIO, path: Path) -> None:
    """Lock the file and write who holds it; the system frees it when the process ends."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        holder = lock.read().strip() or "another process"
        raise CheckpointError(f"{path} is in use by {holder}; wait for its end or stop it") from None
    lock.truncate(0)
    lock.write(f"process {os.getpid()} since {datetime.now().astimezone().isoformat(' ', 'seconds')}")
    lock.flush()
