"""The only place where kernels are compiled: the ``kernel`` decorator and the cache on disk behind it.

Numba's own cache looks at one source file, so it misses an edit in another kernel module, and two processes
that compile at the same time can swap its entries. Here every entry is one file, named by function and
signature, inside a directory that is named by a digest of all kernel sources, versions and flags.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from numba.core import config, serialize
from numba.core.compiler import CompileResult

CACHE_VARIABLE = "LOSTCFR_CACHE_DIR"
STALE_SECONDS = 30 * 24 * 3600
DIGEST_DIGITS = 24
DIGEST_BYTES = hashlib.sha256().digest_size


@functools.cache
def sources_digest() -> str:
    """Part of the cache directory's name: changes with any kernel source, version, processor or flag below."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    flags = (config.BOUNDSCHECK, config.OPT, config.CPU_NAME, config.CPU_FEATURES, config.DEBUGINFO_DEFAULT)
    versions = (sys.version, numba.__version__, llvmlite.__version__, np.__version__)
    digest.update(repr((flags, versions, llvmlite.binding.get_host_cpu_name())).encode())
    return digest.hexdigest()[:DIGEST_DIGITS]


def cache_root() -> Path:
    """Where cache directories lie: ``$LOSTCFR_CACHE_DIR``, or ``lostcfr`` in the user's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "lostcfr"


@functools.cache
def cache_directory() -> Path | None:
    """The private directory of this build's compiled kernels, or None (said once) where none can be written."""
    try:
        directory = cache_root() / f"kernels-{sources_digest()}"
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Entries are machine code: a folder that others can write to, or have made, is not to be trusted.
        status = directory.stat()
        if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
            raise PermissionError(f"{directory} belongs to somebody else or can be written by others")
        with tempfile.TemporaryFile(dir=directory):
            os.utime(directory)
    except (OSError, RuntimeError) as error:  # a RuntimeError where there is no home folder
        _say(f"compiled kernels are not kept: {error}; set {CACHE_VARIABLE} to a folder that can be written")
        return None
    _drop_stale(directory)
    return directory


def is_cold() -> bool:
    """Whether no kernel of this build is on disk yet, so that the first use will take a while."""
    directory = cache_directory()
    return directory is None or not any(directory.glob("*.bin"))


def _drop_stale(current: Path) -> None:
    """Remove directories of other builds that no process has opened for a month."""
    for other in current.parent.glob("kernels-" + "[0-9a-f]" * DIGEST_DIGITS):
        with contextlib.suppress(OSError):
            if other != current and time.time() - other.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(other)


def _say(message: str) -> None:
    sys.stderr.write(f"lostcfr: {message}\n")


class KernelCache:
    """One compiled function's entries on disk; takes the place of ``numba.core.caching.FunctionCache``.

    An entry is a SHA-256 followed by Numba's own serialised machine code, written aside and renamed. Two
    processes that compile the same kernel write the same name with equivalent contents, so neither can
    hand the other a wrong function. A damaged entry is removed and compiled again.
    """

    def __init__(self, py_func: Callable[..., Any]) -> None:
        self._name = f"{py_func.__module__}.{py_func.__qualname__}"

    @property
    def cache_path(self) -> str:
        return str(cache_directory() or "")

    def enable(self) -> None: ...

    def disable(self) -> None: ...

    def flush(self) -> None:
        directory = cache_directory()
        for path in directory.glob(f"{self._name}-*.bin") if directory else ():
            path.unlink(missing_ok=True)

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        directory = cache_directory()
        if directory is None:
            return None
        key = hashlib.sha256(repr((signature, codegen.magic_tuple())).encode()).hexdigest()[:24]
        return directory / f"{self._name}-{key}.bin"

    def load_overload(self, signature: Any, target_context: Any) -> CompileResult | None:
        target_context.refresh()
        path = self._path(signature, target_context.codegen())
        if path is None or not path.exists():
            return None
        try:
            entry = path.read_bytes()
            if hashlib.sha256(entry[DIGEST_BYTES:]).digest() != entry[:DIGEST_BYTES]:
                raise ValueError("its checksum is wrong")
            return CompileResult._rebuild(target_context, *serialize.loads(entry[DIGEST_BYTES:]))
        except Exception as error:
            _say(f"the compiled kernel {path.name} could not be read ({error}); it is compiled again")
            with contextlib.suppress(OSError):
                path.unlink()
            return None

    def save_overload(self, signature: Any, result: CompileResult) -> None:
        path = self._path(signature, result.codegen)
        if path is None or result.library.has_dynamic_globals:
            return
        payload = serialize.dumps(result._reduce())
        try:
            with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as part:
                part.write(hashlib.sha256(payload).digest() + payload)
            os.replace(part.name, path)
        except OSError as error:
            with contextlib.suppress(OSError, UnboundLocalError):
                os.unlink(part.name)
            _say(f"the compiled kernel {path.name} was not kept: {error}")


def kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` for scalars and arrays: no GIL, no allocation, no exceptions, IEEE arithmetic.

    Everything compiled in this project carries this decorator or ``leaf``. Without Numba's runtime a kernel
    cannot allocate, and passing a batch costs no reference counts, which took two thirds of an encoder's time.
    With ``NUMBA_DISABLE_JIT=1`` the plain function comes back.
    """
    return _compiled(function)


def leaf(function: Callable[..., Any]) -> Any:
    """A kernel that is always inlined, for the short functions of the hot path.

    A call passes some sixty words for one batch of games; inlined, random play is 1.7 times as fast. Long
    functions stay ``kernel``: their bodies would be compiled again for every place that calls them.
    """
    return _compiled(function, forceinline=True)


def _compiled(function: Callable[..., Any], **flags: bool) -> Any:
    compiled = numba.njit(nogil=True, error_model="numpy", _nrt=False, **flags)(function)
    # The digest covers the modules of this package only; a kernel of another place is compiled each time.
    if hasattr(compiled, "_cache") and function.__module__.startswith(f"{__package__}."):
        compiled._cache = KernelCache(function)
    return compiled
