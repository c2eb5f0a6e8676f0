"""Games side by side: the public face of the kernels. It checks and allocates, the kernels compute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lostcfr.errors import IllegalAction, InputError, InputTypeError, whole
from lostcfr.kernels import bots as bot_codes, lanes as kernels, rng, rules as codes, state
from lostcfr.threads import Workers

if TYPE_CHECKING:
    from lostcfr.game import LostCities

# Lanes that are worth a thread of their own: about 50 us of work.
GRAIN_OBSERVE = 256
GRAIN_MOVE = 2048
TRAJECTORIES = 2**32

WHY = {
    codes.ROUND_OVER: "the round is over; only -1, which leaves the lane alone, is allowed",
    codes.NO_SUCH_ACTION: "there is no such action; ids run from 0 to the number of actions - 1, and -1 waits",
    codes.NOT_A_CARD_ACTION: "a card has to be played or discarded before drawing",
    codes.NOT_A_DRAW: "a card has been played or discarded, now one has to be drawn",
    codes.NOT_HELD: "the player does not hold that card",
    codes.NOT_ASCENDING: "the expedition already holds a number that is not lower",
    codes.PILE_EMPTY: "the pile is empty",
    codes.PILE_BANNED: "the card just discarded lies on that pile",
    codes.STALLED: "the stall limit is reached, so only the deck may be drawn from",
}


class Lanes:
    """``n`` games of one kind, made by ``LostCities.lanes`` and started by ``deal``.

    Arrays over lanes come back as copies. The state itself is in ``games`` (see ``lostcfr.kernels.state``).
    """

    def __init__(self, game: LostCities, n: int, workers: Workers) -> None:
        self.game = game
        self.n = n
        self.workers = workers
        self.games = state.alloc(game.parameters, n)
        self.first = 0
        self._dealt = False

    def __len__(self) -> int:
        return self.n

    def deal(self, seed: int | None = None, decks: npt.ArrayLike | None = None, first: int = 0) -> None:
        """Start a round in every lane, shuffled from ``seed`` or from given decks.

        Lane i is trajectory ``first + i``: its deck and its bots' chance depend on that and the seed alone.
        ``decks``: int [n, deck_size], card ids in the order dealt (to player 0 and 1 in turn) and then drawn.
        """
        if (seed is None) == (decks is None):
            raise InputError("deal takes either a seed or decks: exactly one of the two")
        first = whole(first, 0, TRAJECTORIES - self.n, "first")
        if decks is None:
            stream = rng.Stream(np.uint64(whole(seed, 0, 2**64 - 1, "seed")), 0, first)
            self._run(kernels.deal, stream, grain=GRAIN_OBSERVE)
        else:
            self._run(kernels.deal_decks, self._checked_decks(decks), grain=GRAIN_OBSERVE)
        self.first = first
        self._dealt = True

    def _checked_decks(self, decks: npt.ArrayLike) -> npt.NDArray[np.uint8]:
        size = self.game.deck_size
        rows = _whole_numbers(decks, (self.n, size), "decks")
        wrong = (np.sort(rows, axis=1) != np.arange(size)).any(axis=1)
        if wrong.any():
            lane = int(np.argmax(wrong))
            missing = sorted(set(range(size)) - set(rows[lane].tolist()))
            raise InputError(
                f"decks: row {lane} does not hold each card id from 0 to {size - 1} once; "
                f"card {missing[0]} ({self.game.card_name(missing[0])}) is missing"
            )
        return np.ascontiguousarray(rows, np.uint8)

    @property
    def to_move(self) -> npt.NDArray[np.int64]:
        """i8 [n]: the player whose decision it is, 0 or 1."""
        return (self._status(state.PLY) >> 1) & 1

    @property
    def drawing(self) -> npt.NDArray[np.bool_]:
        """b1 [n]: whether the decision is a draw."""
        odd: npt.NDArray[np.bool_] = (self._status(state.PLY) & 1) == 1
        return odd

    @property
    def turns(self) -> npt.NDArray[np.int64]:
        """i8 [n]: completed turns of the round."""
        return self._status(state.PLY) >> 1

    @property
    def deck_left(self) -> npt.NDArray[np.int64]:
        """i8 [n]: cards left in the deck."""
        return self.game.deck_size - self._status(state.DRAWN)

    @property
    def finished(self) -> npt.NDArray[np.bool_]:
        """b1 [n]: whether the round is over."""
        empty: npt.NDArray[np.bool_] = self.deck_left == 0
        return empty

    @property
    def banned(self) -> npt.NDArray[np.int64]:
        """i8 [n]: colour of the pile that may not be drawn from in this turn, or -1."""
        return self._status(state.BANNED)

    @property
    def stall(self) -> npt.NDArray[np.int64]:
        """i8 [n]: turns in a row without a deck draw."""
        return self._status(state.STALL)

    def legal(self, out: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.bool_]:
        """b1 [n, num_actions]: the legal actions; none where the round is over."""
        out = self._output(out, self.game.num_actions, np.bool_)
        self._run(kernels.legal, out, grain=GRAIN_MOVE)
        return out

    def act(self, actions: npt.ArrayLike) -> None:
        """Make one decision a lane (int [n]); -1 leaves a lane alone.

        If any is illegal, ``IllegalAction`` says the first such lane and nothing changes in any lane.
        """
        wanted = _whole_numbers(actions, (self.n,), "actions")
        found = self._run(kernels.first_illegal, wanted, grain=GRAIN_MOVE)
        lane = next((lane for lane in found if lane != kernels.NO_LANE), None)
        if lane is not None:
            action = int(wanted[lane])
            exists = 0 <= action < self.game.num_actions
            why = codes.why_illegal(self.game.parameters, self.games, lane, action)
            raise IllegalAction(lane, self.game.action_name(action) if exists else f"action {action}", WHY[why])
        self._run(kernels.apply, wanted, grain=GRAIN_MOVE)

    def scores(self) -> npt.NDArray[np.int32]:
        """i4 [n, 2]: points of both players for the cards on the table."""
        out = np.empty((self.n, 2), np.int32)
        self._run(kernels.score, out, grain=GRAIN_MOVE)
        return out

    def observe(self, out: npt.NDArray[np.uint8] | None = None) -> npt.NDArray[np.uint8]:
        """u1 [n, num_features]: what the player to move knows, by ``feature_names``; 0 where the round is over."""
        out = self._output(out, self.game.num_features, np.uint8)
        self._run(kernels.observe, out, grain=GRAIN_OBSERVE)
        return out

    def gather(
        self, features: npt.NDArray[np.uint8] | None = None, legal: npt.NDArray[np.bool_] | None = None
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
        """``observe`` and ``legal`` at once, which is faster than one after the other."""
        features = self._output(features, self.game.num_features, np.uint8)
        legal = self._output(legal, self.game.num_actions, np.bool_)
        self._run(kernels.gather, features, legal, grain=GRAIN_OBSERVE)
        return features, legal

    def observe_history(self, out: npt.NDArray[np.uint8] | None = None) -> npt.NDArray[np.uint8]:
        """u1 [n, num_history_features]: the opponent's hand, which only a critic may see beside ``observe``."""
        out = self._output(out, self.game.num_history_features, np.uint8)
        self._run(kernels.observe_history, out, grain=GRAIN_MOVE)
        return out

    def bot_actions(self, bots: npt.ArrayLike, seed: int = 0) -> npt.NDArray[np.int64]:
        """i8 [n]: the decision of a rule-based player in each lane, -1 where the round is over.

        ``bots``: int [n], the codes of ``lostcfr.agents.BOTS``. ``seed``: their own chance, if they use any.
        """
        chosen = _whole_numbers(bots, (self.n,), "bots")
        if chosen.min() < 0 or chosen.max() >= bot_codes.BOTS:
            raise InputError(f"bots must hold codes from 0 to {bot_codes.BOTS - 1}, see lostcfr.agents.BOTS")
        out = np.empty(self.n, np.int64)
        stream = rng.Stream(np.uint64(whole(seed, 0, 2**64 - 1, "seed")), 0, self.first)
        self._run(kernels.choose_bots, chosen, stream, out, grain=GRAIN_OBSERVE)
        return out

    def copy_lane(self, source: int, target: int) -> None:
        """Make lane ``target`` an independent copy of lane ``source``."""
        source, target = whole(source, 0, self.n - 1, "source"), whole(target, 0, self.n - 1, "target")
        self._check_dealt()
        state.copy_lane(self.games, source, self.games, target)

    def select(self, lanes: npt.ArrayLike) -> Lanes:
        """Independent copies of some lanes (int [m], any of them several times), in that order.

        They are numbered anew: lane i of them has the chance of trajectory ``first + i``.
        """
        self._check_dealt()
        wanted = _whole_numbers(lanes, np.shape(lanes)[:1], "lanes")
        if len(wanted) and (wanted.min() < 0 or wanted.max() >= self.n):
            raise InputError(f"lanes must hold numbers from 0 to {self.n - 1}")
        chosen = Lanes(self.game, len(wanted), self.workers)
        for column, copy in zip(self.games, chosen.games, strict=True):
            copy[:] = column[wanted]
        chosen.first, chosen._dealt = self.first, True
        return chosen

    def _run(self, kernel: Any, *arguments: Any, grain: int) -> list[Any]:
        if kernel not in (kernels.deal, kernels.deal_decks):
            self._check_dealt()
        return self.workers.run(kernel, self.game.parameters, self.games, *arguments, lanes=self.n, grain=grain)

    def _check_dealt(self) -> None:
        if not self._dealt:
            raise InputError("these lanes hold no round yet: call deal(seed=...) first")

    def _status(self, column: int) -> npt.NDArray[np.int64]:
        self._check_dealt()
        values: npt.NDArray[np.int64] = self.games.status[:, column].astype(np.int64)
        return values

    def _output(self, out: Any, columns: int, dtype: type[np.generic]) -> Any:
        if out is None:
            return np.empty((self.n, columns), dtype)
        fits = isinstance(out, np.ndarray) and out.shape == (self.n, columns) and out.dtype == dtype
        if not (fits and out.flags.carray):
            raise InputError(
                f"out must be a writable C-contiguous {np.dtype(dtype).name} array of shape {(self.n, columns)}"
            )
        return out


def _whole_numbers(values: npt.ArrayLike, shape: tuple[int, ...], name: str) -> npt.NDArray[np.int64]:
    """The values as a C-contiguous i8 array of that shape."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} must be an array of shape {shape}, but its rows differ in length") from None
    if array.dtype.kind not in "iu":
        raise InputTypeError(f"{name} must hold whole numbers, but its type is {array.dtype}")
    if array.shape != shape:
        raise InputError(f"{name} must have shape {shape}, but has {array.shape}")
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(2**63 - 1))
    # One layout of arguments keeps to one compiled version of a kernel; a read-only array would be another.
    return np.require(array, np.int64, ["C", "A", "W"])
