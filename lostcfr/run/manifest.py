"""The manifest of a checkpoint: the state, and for each file its place, size and SHA-256."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from lostcfr import __version__
from lostcfr.errors import CheckpointError, DivergedError, nearest
from lostcfr.run.arrays import Written, hashed, sync

FORMAT = 1
MANIFEST = "manifest.json"


def write_manifest(
    folder: Path, name: str, state: dict[str, Any], files: dict[str, Any], parts: dict[str, Any]
) -> None:
    """Write a manifest. ``files``, ``parts``: path from the folder, size and sha256, by name.

    Raises DivergedError, and nothing is written, for a number in the state that is not finite.
    """
    content = {"format": FORMAT, "lostcfr": __version__, "name": name, "state": state, "files": files, "parts": parts}
    path = folder / MANIFEST
    try:
        content = json.loads(json.dumps(content, allow_nan=False))  # as it will be read
    except ValueError:
        raise DivergedError(f"{path}: a number of the state is not finite: {state}") from None
    path.write_text(json.dumps(content | {"sha256": _digest(content)}, indent=1) + "\n")
    sync(path)


def _digest(content: dict[str, Any]) -> str:
    """SHA-256 of a manifest's content, whatever its layout and the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest, its own digest checked and removed; CheckpointError says what is wrong with it."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise CheckpointError(f"{path} is damaged: it is not JSON") from None
    if not isinstance(manifest, dict):
        raise CheckpointError(f"{path} is damaged: it is not a JSON object")
    written = manifest.get("format")
    if isinstance(written, int) and written > FORMAT:
        raise CheckpointError(f"{path} has format {written}, but this lostcfr reads {FORMAT}: a newer one wrote it")
    if manifest.pop("sha256", None) != _digest(manifest):
        raise CheckpointError(f"{path} is damaged: its content does not match its own SHA-256")
    return manifest


def entry_of(folder: Path, manifest: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    """The entry of a file or part (``kind``: files or parts)."""
    entries: dict[str, dict[str, Any]] = manifest[kind]
    if name not in entries:
        raise CheckpointError(f"{folder} has no '{name}' among its {kind}{nearest(name, entries)}")
    return entries[name]


def check(path: Path, entry: dict[str, Any]) -> None:
    """Raise a CheckpointError that says what is wrong with a file, unless it is what its entry says."""
    path = Path(os.path.normpath(path))
    written = Written(entry["size"], entry["sha256"])
    try:
        size = path.stat().st_size
        found = hashed(path) if size == written.size else Written(size, "")
    except FileNotFoundError:
        raise CheckpointError(f"{path} is missing") from None
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
    if found.size != written.size:
        raise CheckpointError(f"{path} is damaged: it has {found.size} bytes, but was written with {written.size}")
    if found != written:
        raise CheckpointError(f"{path} is damaged: its content does not match its SHA-256")
