"""Checkpoints of a run: written whole or not at all, and read only where every byte is as it was written.

``checkpoints/<name>/`` holds safetensors files and a manifest with the state and the size and SHA-256 of each file.
Parts, arrays that never change once written, are shared between checkpoints and stand in ``checkpoints/parts/``.
``checkpoints/best/`` is a copy of chosen files of one checkpoint. A part or a file of the best carries its digest in
its name: a name never stands for two contents, so nothing that a manifest lists is ever overwritten by something else.
"""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from lostcfr.errors import CheckpointError, ResourceError, nearest
from lostcfr.run.arrays import Arrays, read_arrays, sync, write_arrays
from lostcfr.run.manifest import MANIFEST, check, entry_of, read_manifest, write_manifest

BEST, PARTS, SUFFIX = "best", "parts", ".safetensors"


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint. Its files and parts were found intact, or else are checked as each is read."""

    folder: Path
    manifest: dict[str, Any]
    verified: bool = True

    @property
    def name(self) -> str:
        """The name it was written under; the best keeps that of the checkpoint it was copied from."""
        return str(self.manifest["name"])

    @property
    def state(self) -> dict[str, Any]:
        """The state as JSON gives it back: lists for tuples, texts for keys."""
        return dict(self.manifest["state"])

    @property
    def files(self) -> list[str]:
        """Names of its files."""
        return list(self.manifest["files"])

    @property
    def parts(self) -> list[str]:
        """Names of its parts."""
        return list(self.manifest["parts"])

    def arrays(self, file: str) -> dict[str, npt.NDArray[Any]]:
        """The arrays of one of its files (see ``read_arrays``)."""
        return self._read("files", file)

    def part(self, name: str) -> dict[str, npt.NDArray[Any]]:
        """The arrays of one of its parts."""
        return self._read("parts", name)

    def _read(self, kind: str, name: str) -> dict[str, npt.NDArray[Any]]:
        entry = entry_of(self.folder, self.manifest, kind, name)
        if not self.verified:
            check(self.folder / entry["path"], entry)
        return read_arrays(self.folder / entry["path"])


def open_checkpoint(folder: Path) -> Checkpoint:
    """The checkpoint in a folder, for those who read some of it: only its manifest is checked now."""
    return Checkpoint(folder, read_manifest(folder), verified=False)


class Checkpoints:
    """The checkpoints in a folder, in the order of their names. One process may write (see ``RunDirectory``)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """Names of all checkpoints but the best, in ascending order; damaged ones too."""
        folders = [path.name for path in self.folder.glob("[!.]*") if path.is_dir()]
        return sorted(set(folders) - {BEST, PARTS})

    def latest(self) -> Checkpoint | None:
        """The newest checkpoint, or None where there is none.

        Raises CheckpointError where it is damaged: what to delete to go on from an earlier one is for a person to do.
        """
        names = self.names()
        return self.load(names[-1]) if names else None

    def load(self, name: str) -> Checkpoint:
        """A checkpoint by its name; CheckpointError where it is missing or damaged."""
        names = self.names()
        if name not in names:
            raise CheckpointError(f"{self.folder} holds no checkpoint '{name}'{nearest(name, names)}")
        try:
            return _verified(self.folder / name)
        except CheckpointError as damage:
            raise CheckpointError(f"{damage}; {self._way_on(name)}") from None

    def best(self) -> Checkpoint | None:
        """The checkpoint that ``mark_best`` copied last, or None; CheckpointError where the copy is damaged."""
        folder = self.folder / BEST
        if not (folder / MANIFEST).exists():
            return None
        try:
            return _verified(folder)
        except CheckpointError as damage:
            raise CheckpointError(f"{damage}; delete {folder} to go on without a best checkpoint") from None

    def write(
        self,
        name: str,
        state: dict[str, Any],
        files: Mapping[str, Arrays],
        parts: Iterable[str] = (),
        new_parts: Mapping[str, Arrays] | None = None,
        *,
        keep: int,
    ) -> None:
        """Write a checkpoint, then delete all but the last ``keep`` and the parts that no checkpoint needs any more.

        ``name`` must come after all names so far. ``parts``: names of parts of the newest checkpoint that this one
        needs too. A kill at any moment leaves the earlier checkpoints, or these and the new one, whole.
        Raises ResourceError where the disk is full or refuses; what was written is then removed again.
        """
        names, new_parts = self.names(), new_parts or {}
        if names and name <= names[-1]:
            raise CheckpointError(f"checkpoint '{name}' has to come after '{names[-1]}', the newest in {self.folder}")
        listed = {part: self._part_of(names, part) for part in parts}
        self._sweep()
        with self._aside(name, _size(files) + _size(new_parts)) as aside:
            entries = {file: _write_file(aside, file, arrays) for file, arrays in files.items()}
            listed |= {part: _write_part(aside, part, arrays) for part, arrays in new_parts.items()}
            write_manifest(aside, name, state, entries, listed)
            _move(aside, self.folder / PARTS, [Path(listed[part]["path"]).name for part in new_parts])
            sync(aside)
            aside.rename(self.folder / name)
            sync(self.folder)
        for old in self.names()[:-keep]:
            self._discard(old)
        self._drop_unlisted()

    def mark_best(self, name: str, files: Iterable[str], parts: Iterable[str] = ()) -> None:
        """Make ``best`` a copy of these files of a checkpoint, with its state; these of its parts are kept for it."""
        folder = self.folder / name
        manifest = read_manifest(folder)
        sources = {file: entry_of(folder, manifest, "files", file) for file in files}
        listed = {part: entry_of(folder, manifest, "parts", part) for part in parts}
        self._sweep()
        with self._aside(BEST, sum(entry["size"] for entry in sources.values())) as aside:
            entries = {file: _copy(folder, entry, file, aside) for file, entry in sources.items()}
            write_manifest(aside, name, manifest["state"], entries, listed)
            # The manifest is moved last: until then the old one and its files are what they were.
            _move(aside, self.folder / BEST, [entry["path"] for entry in entries.values()])
            _move(aside, self.folder / BEST, [MANIFEST])
            aside.rmdir()
        self._drop_unlisted()

    def _part_of(self, names: list[str], part: str) -> dict[str, Any]:
        if not names:
            raise CheckpointError(f"{self.folder} holds no checkpoint that part '{part}' could be of")
        newest = self.folder / names[-1]
        return entry_of(newest, read_manifest(newest), "parts", part)

    def _way_on(self, damaged: str) -> str:
        """What a person can do about a damaged checkpoint."""
        names = self.names()
        for earlier in reversed(names[: names.index(damaged)]):
            try:
                _verified(self.folder / earlier)
            except CheckpointError:
                continue
            newer = " and ".join(str(self.folder / name) for name in names if name > earlier)
            return f"delete {newer} to go on from checkpoint {earlier}"
        return "no earlier checkpoint is intact, so start a new run in another folder"

    @contextmanager
    def _aside(self, name: str, needed: int) -> Iterator[Path]:
        """A folder to write in, out of sight; it is removed again if anything fails."""
        aside = self.folder / f".{name}.part-{os.getpid()}"
        try:
            aside.mkdir(parents=True)
            yield aside
        except OSError as error:
            shutil.rmtree(aside, ignore_errors=True)
            raise ResourceError(
                f"{self.folder / name} could not be written: {error.strerror}; it needs {needed} bytes and "
                f"{shutil.disk_usage(self.folder).free} are free there; earlier checkpoints are as they were"
            ) from error
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise

    def _sweep(self) -> None:
        """Remove what killed processes left aside."""
        for left in self.folder.glob(".*.part-*"):
            shutil.rmtree(left, ignore_errors=True)

    def _discard(self, name: str) -> None:
        """Delete a checkpoint; it is put aside first, so that a kill leaves no half of it under its name."""
        aside = self.folder / f".{name}.part-{os.getpid()}"
        (self.folder / name).rename(aside)
        shutil.rmtree(aside, ignore_errors=True)

    def _drop_unlisted(self) -> None:
        """Delete parts and files of the best that no manifest lists."""
        folders = [self.folder / name for name in self.names()]
        if (self.folder / BEST / MANIFEST).exists():
            folders.append(self.folder / BEST)
        try:
            manifests = [read_manifest(folder) for folder in folders]
        except CheckpointError:
            return  # which parts a damaged manifest needs is not known, so all stay
        entries = [entry for each in manifests for entry in [*each["files"].values(), *each["parts"].values()]]
        listed = {Path(entry["path"]).name for entry in entries}
        for path in [*(self.folder / PARTS).glob("*"), *(self.folder / BEST).glob("*" + SUFFIX)]:
            if path.name not in listed:
                path.unlink()


def _size(files: Mapping[str, Arrays]) -> int:
    return sum(array.nbytes for arrays in files.values() for array in arrays.values())


def _write_file(aside: Path, name: str, arrays: Arrays) -> dict[str, Any]:
    return {"path": name + SUFFIX, **write_arrays(aside / (name + SUFFIX), arrays)._asdict()}


def _write_part(aside: Path, name: str, arrays: Arrays) -> dict[str, Any]:
    unnamed = aside / "part"
    written = write_arrays(unnamed, arrays)
    stored = unnamed.rename(aside / _stored_name(name, written.sha256))
    return {"path": f"../{PARTS}/{stored.name}", **written._asdict()}


def _copy(folder: Path, entry: dict[str, Any], name: str, aside: Path) -> dict[str, Any]:
    check(folder / entry["path"], entry)
    copied = aside / _stored_name(name, entry["sha256"])
    shutil.copyfile(folder / entry["path"], copied)
    sync(copied)
    return entry | {"path": copied.name}


def _stored_name(name: str, sha256: str) -> str:
    return f"{name}-{sha256[:16]}{SUFFIX}"


def _move(source: Path, target: Path, names: Iterable[str]) -> None:
    target.mkdir(exist_ok=True)
    for name in names:
        (source / name).replace(target / name)
    sync(target)


def _verified(folder: Path) -> Checkpoint:
    """The checkpoint in a folder; CheckpointError names the first file that is not as it was written."""
    manifest = read_manifest(folder)
    for entry in [*manifest["files"].values(), *manifest["parts"].values()]:
        check(folder / entry["path"], entry)
    return Checkpoint(folder, manifest)
