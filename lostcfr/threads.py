"""One thread budget: how many threads work on lanes, and the slices they take.

Kernels release the GIL, so plain Python threads run them side by side; each works on its own range of lanes
and writes to its own rows, so a result depends neither on the number of threads nor on the slices.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from lostcfr.errors import whole

THREADS_VARIABLE = "LOSTCFR_THREADS"

Item = TypeVar("Item")
Result = TypeVar("Result")


def budget(threads: int | None = None) -> int:
    """Threads to use: the argument, else ``$LOSTCFR_THREADS``, else the cores this process may run on."""
    if threads is not None:
        return whole(threads, 1, None, "threads")
    chosen = os.environ.get(THREADS_VARIABLE)
    if chosen:
        return whole(int(chosen) if chosen.isdecimal() else chosen, 1, None, THREADS_VARIABLE)
    return cores()


def cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Workers:
    """Threads that share ranges of lanes. The threads start with the first range that is worth sharing."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = budget(threads)
        self._pool: ThreadPoolExecutor | None = None
        self._compiled: set[Callable[..., Any]] = set()

    def run(self, kernel: Callable[..., Any], *arguments: Any, lanes: int, grain: int) -> list[Any]:
        """Call ``kernel(*arguments, begin, end)`` over all lanes; the results, in the order of the slices.

        ``grain`` is the fewest lanes that are worth a slice of their own (about 50 us of work).
        """
        slices = max(1, min(self.threads, lanes // grain))
        if slices == 1:
            return [kernel(*arguments, 0, lanes)]
        self._compile(kernel, *arguments)
        ends = [lanes * k // slices for k in range(slices + 1)]
        others = [self.pool.submit(kernel, *arguments, ends[k], ends[k + 1]) for k in range(1, slices)]
        return [kernel(*arguments, 0, ends[1]), *(other.result() for other in others)]

    def stream(self, kernel: Callable[..., Any], *arguments: Any, lanes: int, grain: int) -> Iterator[tuple[int, int]]:
        """The same in slices of ``grain`` lanes for long work; yields (begin, end) of each as it is done."""
        bounds = [(begin, min(begin + grain, lanes)) for begin in range(0, lanes, grain)]
        self._compile(kernel, *arguments)
        work: list[Future[Any]] = []
        try:
            work.extend(self.pool.submit(kernel, *arguments, begin, end) for begin, end in bounds)
            for future, bound in zip(work, bounds, strict=True):
                future.result()
                yield bound
        finally:
            for future in work:
                future.cancel()

    def map(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """``work`` of each item, side by side, in the order of the items; the calling thread does its share."""
        if self.threads == 1 or len(items) == 1:
            return [work(item) for item in items]
        share = -(-len(items) // self.threads)
        others = [self.pool.submit(work, item) for item in items[share:]]
        return [*(work(item) for item in items[:share]), *(other.result() for other in others)]

    def _compile(self, kernel: Callable[..., Any], *arguments: Any) -> None:
        """Call a kernel once over no lanes: it compiles here, on the caller's thread, where Ctrl-C is heard."""
        if kernel not in self._compiled:
            kernel(*arguments, 0, 0)
            self._compiled.add(kernel)

    @property
    def pool(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="lanes")
        return self._pool
