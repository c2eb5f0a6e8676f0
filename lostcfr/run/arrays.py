"""Arrays in safetensors files: hashed while they are written, mapped when they are read.

The format is an unsigned 8-byte length, a JSON header of that length, and the raw little-endian arrays. Writing it
here takes one pass and no copy; the library's own function copies every array into bytes first.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[Any]]

CHUNK = 2**20  # bytes written and hashed at a time: small enough for the cache, and signals are heard in between
ALIGNMENT = 8  # bytes of the widest number: the header is filled up to it, so that mapped arrays are aligned
CODES = {
    "BOOL": np.dtype("?"),
    "U8": np.dtype("<u1"),
    "I8": np.dtype("<i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
NAMES = {dtype: name for name, dtype in CODES.items()}


class Written(NamedTuple):
    """What tells one file from any other."""

    size: int  # bytes
    sha256: str  # hexadecimal


def write_arrays(path: Path, arrays: Arrays) -> Written:
    """Write the arrays to a new file and to the disk below it; equal arrays give equal bytes.

    Arrays: any shape; bool, or int, unsigned or float of at most 8 bytes. Raises OSError as the system does.
    """
    digest, size = hashlib.sha256(), 0
    with path.open("xb") as file:
        for chunk in _chunks(arrays):
            file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
        file.flush()
        os.fsync(file.fileno())
    return Written(size, digest.hexdigest())


def read_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a file, mapped: memory is used for what is looked at, and a change stays in memory.

    The file must be one that ``write_arrays`` wrote and ``hashed`` found unchanged.
    """
    data = np.memmap(path, np.uint8, mode="c").view(np.ndarray)
    begin = ALIGNMENT + int.from_bytes(data[:ALIGNMENT].tobytes(), "little")
    header = json.loads(data[ALIGNMENT:begin].tobytes())
    body = data[begin:]
    return {
        name: body[slice(*entry["data_offsets"])].view(CODES[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
    }


def hashed(path: Path) -> Written:
    """Size and SHA-256 of a file as it is now."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Written(file.tell(), digest)


def sync(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _chunks(arrays: Arrays) -> Iterator[bytes | memoryview]:
    """The bytes of the file; the widest numbers come first, so that all are aligned."""
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    yield _header({name: arrays[name] for name in order})
    for name in order:
        flat = np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data
        for begin in range(0, len(flat), CHUNK):
            yield flat[begin : begin + CHUNK]


def _header(arrays: Arrays) -> bytes:
    entries, end = {}, 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        entries[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    return len(text).to_bytes(ALIGNMENT, "little") + text
