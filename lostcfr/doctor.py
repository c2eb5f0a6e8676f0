"""What this installation consists of: versions, cores, threads, the kernel cache, the extension, CUDA."""

import importlib.util
import os
import platform
from importlib import metadata

import numpy as np
from threadpoolctl import threadpool_info

from lostcfr import threads
from lostcfr.kernels import jit

PACKAGES = ("lostcfr", "numpy", "numba", "llvmlite", "scipy", "torch", "safetensors", "click", "pydantic")


def findings() -> list[tuple[str, str, bool]]:
    """Name, finding, and whether all is well with it."""
    return [
        ("Python", f"{platform.python_version()} on {platform.machine()}", True),
        *(_version(package) for package in PACKAGES),
        ("cores", f"{os.cpu_count()} in the machine, {threads.cores()} for this process", True),
        ("threads", f"{threads.budget()} for lanes ({threads.THREADS_VARIABLE} changes it)", True),
        ("numpy threads", _blas(), True),
        _cache(),
        _extension(),
        _cuda(),
    ]


def _version(package: str) -> tuple[str, str, bool]:
    try:
        return package, metadata.version(package), True
    except metadata.PackageNotFoundError:
        return package, "not installed: install lostcfr again with its dependencies", False


def _blas() -> str:
    np.dot(np.ones(2), np.ones(2))
    return ", ".join(f"{pool['num_threads']} ({pool['internal_api']})" for pool in threadpool_info()) or "unknown"


def _cache() -> tuple[str, str, bool]:
    directory = jit.cache_directory()
    if directory is None:
        return (
            "kernel cache",
            f"off: no folder can be written; set {jit.CACHE_VARIABLE} to one that can",
            False,
        )
    entries = list(directory.glob("*.bin"))
    size = sum(entry.stat().st_size for entry in entries) / 1e6
    state = f"{len(entries)} kernels, {size:.1f} MB" if entries else "empty: the first use compiles"
    return "kernel cache", f"{directory}: {state}", True


def _extension() -> tuple[str, str, bool]:
    found = importlib.util.find_spec("lostcfr.kernels.dense")
    if found is None:
        return "extension", "lostcfr.kernels.dense is missing: install lostcfr again with a C compiler", False
    return "extension", str(found.origin), True


def _cuda() -> tuple[str, str, bool]:
    try:
        import torch
    except (ImportError, OSError) as error:
        return "CUDA", f"unknown: torch cannot be imported ({error})", False
    if torch.cuda.is_available():
        return "CUDA", f"{torch.cuda.get_device_name()}, {torch.cuda.device_count()} device(s)", True
    return "CUDA", "not available; everything runs on the CPU", True
