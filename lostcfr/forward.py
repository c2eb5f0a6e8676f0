"""Networks answer requests: grouped by network, in tiles of fixed size, back in the order asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import torch

from lostcfr.errors import ResourceError
from lostcfr.nets import Network, Scratch
from lostcfr.threads import Workers

SMALLEST_TILE = 8


class Forward:
    """Answers requests with several networks; may be called from several threads at once.

    A network sees at most ``tile`` rows at a time, and a last tile that is not full is filled up, because some matrix
    products round differently for other numbers of rows. Where each kind of network proves to give the same bits
    for short tiles on this machine, the last one is only filled up to a multiple of eight rows. A matrix
    product is never shared among cores: that may round differently, too, and other groups have the cores.
    """

    def __init__(self, modules: Sequence[Network], tile: int, device: str = "cpu") -> None:
        self.modules, self.tile, self.device = list(modules), tile, torch.device(device)
        self._own = threading.local()
        self._step = SMALLEST_TILE if self.modules and self._short_tiles_agree() else tile

    @torch.inference_mode()
    def __call__(self, features: npt.NDArray[np.uint8], network: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
        """Outputs f4 [N, A] for ``features`` (u1 [N, F]) of the networks ``network`` (i4 [N], at least one row).

        They are good until the thread calls again.
        """
        torch.set_num_threads(1)  # a setting of each thread; in a new one it would be all cores
        if len(self.modules) == 1:
            return self._rows(self.modules[0], features)
        answers: npt.NDArray[np.float32] | None = None
        for number in np.unique(network):
            rows = np.flatnonzero(network == number)
            outputs = self._rows(self.modules[number], features[rows])
            if answers is None:
                answers = np.empty((len(features), outputs.shape[1]), np.float32)
            answers[rows] = outputs
        assert answers is not None
        return answers

    def of_all(self, features: npt.NDArray[np.uint8], workers: Workers, network: int = 0) -> npt.NDArray[np.float32]:
        """Outputs f4 [N, A] of one network for one row u1 [N, F] or more, which the workers share."""

        def answered(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
            return self(rows, np.full(len(rows), network, np.int32)).copy()

        with torch_threads(1):
            return np.concatenate(workers.map(answered, np.array_split(features, min(workers.threads, len(features)))))

    def _rows(self, module: Network, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The outputs of one network."""
        if len(features) <= self.tile:
            return self._tile(module, features)
        return np.concatenate(
            [self._tile(module, features[k : k + self.tile]).copy() for k in range(0, len(features), self.tile)]
        )

    def _tile(self, module: Network, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The outputs for at most one tile of rows."""
        filled = min(self.tile, -(-len(features) // self._step) * self._step)
        outputs: npt.NDArray[np.float32] = self._answer(module, features, filled).numpy()
        return outputs[: len(features)]

    def _answer(self, module: Network, features: npt.NDArray[np.uint8], rows: int) -> torch.Tensor:
        """``module.answer`` on the device, in the memory of this thread; what comes back is on the CPU."""
        if not hasattr(self._own, "scratch"):
            self._own.scratch = Scratch(self.device)
        return module.answer(torch.from_numpy(features).to(self.device), rows, self._own.scratch).cpu()

    @torch.inference_mode()
    def _short_tiles_agree(self) -> bool:
        """Whether rows get the same bits in tiles of any multiple of eight rows; tried with each kind of network."""
        kinds = {str([tuple(each.shape) for each in module.parameters()]): module for module in self.modules}
        return all(map(self._agrees, kinds.values()))

    def _agrees(self, module: Network) -> bool:
        """The same for one network, on rows of all values."""
        columns = len(module.scales)
        numbers = np.arange(self.tile * columns, dtype=np.uint64).reshape(self.tile, columns)
        features = ((numbers * np.uint64(2654435761)) >> np.uint64(13)).astype(np.uint8)
        whole = self._answer(module, features, self.tile).clone()
        sizes = [size for size in (8, 16, 24, 40, 64, 136) if size < self.tile]
        return all(torch.equal(self._answer(module, features[:size], size), whole[:size]) for size in sizes)


def chosen_device(wanted: str) -> str:
    """``cpu`` or ``cuda`` for auto, cpu or cuda; ResourceError where there is no GPU that torch can use."""
    if wanted == "cpu":
        return wanted
    if torch.cuda.is_available():
        return "cuda"
    if wanted == "cuda":
        raise ResourceError("--device cuda: torch finds no GPU; use --device cpu, or install a CUDA build of torch")
    return "cpu"


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Let torch use that many threads for one operation, and put it back afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
