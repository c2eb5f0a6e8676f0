"""Arrays for the kernels of a traversal: made here, grown here, and nowhere else."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from lostcfr.game import LostCities
from lostcfr.kernels import rules as game_rules, state, trajectory as codes
from lostcfr.traverse.samples import Baseline, Forward

NO_BASELINE = np.zeros((0, 0), np.float32)

Arrays = TypeVar("Arrays", bound=tuple[Any, ...])


def idle_paths(lanes: int) -> codes.Paths:
    """Lanes without a trajectory."""
    return codes.Paths(
        trajectory=np.full(lanes, codes.IDLE, np.int64),
        branch=np.zeros(lanes, np.uint64),
        row=np.full(lanes, codes.NO_ROW, np.int64),
        slot=np.zeros(lanes, np.int64),
        explored=np.zeros(lanes, np.bool_),
        network=np.zeros((lanes, 2), np.int32),
    )


def empty_requests(game: LostCities, lanes: int, history: bool) -> codes.Requests:
    """Room for one request a lane; with the opponent's hand, where a baseline wants to see it."""
    slots = game.most_legal
    return codes.Requests(
        features=np.zeros((lanes, game.num_features), np.uint8),
        history=np.zeros((lanes, game.num_history_features if history else 0), np.uint8),
        actions=np.full((lanes, slots), game_rules.NO_ACTION, np.uint8),
        legal=np.zeros(lanes, np.int64),
        lane=np.zeros(lanes, np.int64),
        network=np.zeros(lanes, np.int32),
        size=np.zeros(1, np.int64),
    )


def empty_choices(game: LostCities, lanes: int) -> codes.Choices:
    """Room for one choice a lane."""
    return codes.Choices(
        sigma=np.zeros((lanes, game.most_legal), np.float32),
        slot=np.zeros(lanes, np.int64),
        sampled=np.zeros(lanes, np.float32),
        fallback=np.zeros(lanes, np.bool_),
        counts=np.zeros(lanes, np.bool_),
    )


def empty_rows(game: LostCities, rows: int, history: bool) -> codes.Rows:
    """Room for decisions to learn from; with the opponent's hand, where a baseline or critic wants to see it."""
    slots = game.most_legal
    return codes.Rows(
        features=np.empty((rows, game.num_features), np.uint8),
        history=np.empty((rows, game.num_history_features if history else 0), np.uint8),
        actions=np.empty((rows, slots), np.uint8),
        values=np.empty((rows, slots), np.float32),
        sigma=np.empty((rows, slots), np.float32),
        sampled=np.empty(rows, np.float32),
        facts=np.empty((rows, codes.FACTS), np.int64),
        used=np.zeros(1, np.int64),
    )


def row_bytes(game: LostCities) -> int:
    """Bytes of one row of a traversal."""
    return sum(column.nbytes for column in empty_rows(game, 1, False)) - empty_rows(game, 0, False).used.nbytes


def queue_of(order: npt.NDArray[np.int64]) -> codes.Queue:
    """A queue of trajectories of which none may start yet."""
    return codes.Queue(order=plain(order, np.int64), state=np.zeros(codes.QUEUE_STATE, np.int64))


def answers_to(requests: codes.Requests, n: int, forward: Forward, baseline: Baseline | None) -> codes.Answers:
    """What networks and baseline say to the first ``n`` requests."""
    features = requests.features[:n]
    outputs = forward(features, requests.network[:n])
    returns = NO_BASELINE if baseline is None else baseline(features, requests.history[:n])
    return codes.Answers(plain(outputs, np.float32), plain(returns, np.float32))


def plain(array: npt.NDArray[Any], dtype: type[np.generic]) -> npt.NDArray[Any]:
    """The array as kernels are compiled for; one that is read-only or not contiguous would need another version."""
    return np.require(array, dtype, ["C", "A", "W"])


def grown(arrays: Arrays, old: int, new: int) -> Arrays:
    """The same arrays with ``new`` instead of ``old`` entries, where they have that many; new ones are zero."""

    def longer(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if array.shape[0] != old or old == new:
            return array
        out = np.zeros((new, *array.shape[1:]), array.dtype)
        out[:old] = array
        return out

    return type(arrays)(*map(longer, arrays))


class Group:
    """Lanes that one thread advances, and all they need; kept from one traversal to the next."""

    def __init__(self, game: LostCities, lanes: int, history: bool) -> None:
        self.game, self.history = game, history
        self.rows = empty_rows(game, 0, history)
        self.resize(lanes)

    def resize(self, lanes: int) -> None:
        """Idle lanes, as many as that."""
        self.lanes = lanes
        self.games = state.alloc(self.game.parameters, lanes)
        self.paths = idle_paths(lanes)
        self.requests = empty_requests(self.game, lanes, self.history)
        self.choices = empty_choices(self.game, lanes)

    def make_room_for_rows(self) -> bool:
        """As many more rows as there are requests; whether that took more memory."""
        capacity, used = len(self.rows.sampled), int(self.rows.used[0])
        needed = used + int(self.requests.size[0])
        if needed > capacity:
            self.rows = grown(self.rows, capacity, max(needed, capacity * 3 // 2, 4096))
        return needed > capacity

    def make_room_for_lanes(self, lanes: int) -> None:
        """As many lanes as that; the ones there are go on."""
        if lanes <= self.lanes:
            return
        new = max(lanes, 2 * self.lanes)
        self.games = grown(self.games, self.lanes, new)
        self.paths = grown(self.paths, self.lanes, new)
        self.paths.trajectory[self.lanes :] = codes.IDLE
        self.requests = grown(self.requests, self.lanes, new)
        self.choices = grown(self.choices, self.lanes, new)
        self.lanes = new

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        parts = (self.rows, self.games, self.paths, self.requests, self.choices)
        return sum(array.nbytes for arrays in parts for array in arrays)
