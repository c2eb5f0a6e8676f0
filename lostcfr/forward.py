"""Networks answer requests: grouped by network, in tiles of fixed size, back in the order asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import torch

from lostcfr.errors import ResourceError

SMALLEST_TILE = 8


class Forward:
    """Answers requests with several networks; may be called from several threads at once.

    A network sees at most ``tile`` rows at a time, and a last tile that is not full is filled up with zeros, because
    some matrix products round differently for other numbers of rows. Where the first network proves to give the same
    bits for short tiles on this machine, the last one is only filled up to a multiple of eight rows.
    """

    def __init__(self, modules: Sequence[torch.nn.Module], columns: int, tile: int, device: str = "cpu") -> None:
        self.modules, self.columns, self.tile = list(modules), columns, tile
        self.device = torch.device(device)
        self._step = SMALLEST_TILE if self.modules and self._short_tiles_agree() else tile

    @torch.inference_mode()
    def __call__(self, features: npt.NDArray[np.uint8], network: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
        """Outputs f4 [N, A] for ``features`` (u1 [N, F]) of the networks ``network`` (i4 [N], at least one row)."""
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

    def _rows(self, module: torch.nn.Module, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The outputs of one network."""
        tiles = [self._tile(module, features[k : k + self.tile]) for k in range(0, len(features), self.tile)]
        return tiles[0] if len(tiles) == 1 else np.concatenate(tiles)

    def _tile(self, module: torch.nn.Module, features: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The outputs for at most one tile of rows."""
        rows = len(features)
        padded = min(self.tile, -(-rows // self._step) * self._step)
        if padded != rows:
            full = np.zeros((padded, self.columns), np.uint8)
            full[:rows] = features
            features = full
        outputs: npt.NDArray[np.float32] = module(torch.from_numpy(features).to(self.device)).cpu().numpy()
        return outputs[:rows]

    @torch.inference_mode()
    def _short_tiles_agree(self) -> bool:
        """Whether rows get the same bits in tiles of any multiple of eight rows; tried on rows of all values."""
        rows = np.arange(self.tile * self.columns, dtype=np.uint64).reshape(self.tile, self.columns)
        features = ((rows * np.uint64(2654435761)) >> np.uint64(13)).astype(np.uint8)
        module = self.modules[0]
        whole = module(torch.from_numpy(features).to(self.device))
        sizes = [size for size in (8, 16, 24, 40, 64, 136) if size < self.tile]
        return all(
            torch.equal(module(torch.from_numpy(features[:size]).to(self.device)), whole[:size]) for size in sizes
        )


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
