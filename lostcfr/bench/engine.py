"""Speed of the engine, and its functional signature.

The limit of random play is arithmetic: a decision is one Philox block (ten dependent multiplications) and two
counts over the colours. The limit of the encoder is stores: a row of classic rules writes 468 feature bytes and
106 legal bytes, and reads at most 141 bytes of state.
"""

import hashlib
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lostcfr.agents import BOTS
from lostcfr.arena.match import play_pairs
from lostcfr.game import LostCities
from lostcfr.lanes import Lanes
from lostcfr.rules import Rules
from lostcfr.threads import budget

LANES = 4096
GRAIN = 64
REPEATS = 7
STAGES = 8  # features are encoded at 0, 20, ..., 140 decisions into a random round; none is over by then
PLIES_A_STAGE = 20
SEED = 7
SIGNATURE_RULES = (
    Rules(),
    Rules(n_colors=6, stall_limit=30),
    Rules(n_colors=2, n_ranks=4, n_wagers=1, hand_size=3, stall_limit=2),
)


def run(threads: int | None = None, progress: Callable[[str], None] = lambda step: None) -> dict[str, Any]:
    """Warm up, measure and sign the engine under classic rules; ``progress`` is told each step's name.

    Returns plain numbers: ``decisions_per_second`` of random play, deals included; ``feature_rows_per_second``
    of encoder and legal mask together; ``bots``, the decisions per second of each in a mirror match;
    ``signature``; and beside these ``threads`` and ``warm_up_seconds``, compiling or loading.
    """
    game = LostCities()
    progress("warm-up")
    began = time.perf_counter()
    for _ in _steps(game, threads, lanes=2 * GRAIN):
        pass
    warm_up = time.perf_counter() - began
    rates = {}
    for name, measure in _steps(game, threads, LANES):
        progress(name)
        rates[name] = _rate(measure)
    progress("signature")
    return {
        "decisions_per_second": rates["random"],
        "feature_rows_per_second": rates["features"],
        "bots": {name: rates[name] for name in BOTS},
        "signature": signature(threads),
        "threads": budget(threads),
        "warm_up_seconds": warm_up,
    }


def _steps(game: LostCities, threads: int | None, lanes: int) -> Iterator[tuple[str, Callable[[], int]]]:
    """Name and piece of work of each measurement; a piece has run once when it is handed out."""
    for name in BOTS:
        play = Playing(game, threads, lanes if name in ("random", "discard-only") else lanes // 4, name)
        play()
        yield name, play
    gathering = Gathering(game, threads, lanes)
    gathering()
    yield "features", gathering


def _rate(work: Callable[[], int]) -> float:
    """Median over some repeats of the things done per second."""
    rates = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        done = work()
        rates.append(done / (time.perf_counter() - began))
    return statistics.median(rates)


class Playing:
    """Deal and play whole rounds of a bot against itself; a call returns the decisions made."""

    def __init__(self, game: LostCities, threads: int | None, rounds: int, name: str) -> None:
        self.game, self.threads, self.pairs, self.name = game, threads, rounds // 2, name

    def __call__(self) -> int:
        played = play_pairs(self.game, self.name, self.name, self.pairs, SEED, threads=self.threads)
        return 2 * int(played.turns.sum())


class Gathering:
    """Encode features and legal masks of lanes at all stages of random play; a call returns the rows."""

    ROUNDS = 20

    def __init__(self, game: LostCities, threads: int | None, lanes: int) -> None:
        self.lanes = game.lanes(lanes, threads=threads)
        self.lanes.deal(seed=SEED)
        stage = np.arange(lanes) * STAGES // lanes
        for ply in range(PLIES_A_STAGE * (STAGES - 1)):
            actions = self.lanes.bot_actions(np.full(lanes, BOTS["random"]), seed=SEED)
            self.lanes.act(np.where(ply < PLIES_A_STAGE * stage, actions, -1))
        self.features, self.legal = self.lanes.gather()

    def __call__(self) -> int:
        for _ in range(self.ROUNDS):
            self.lanes.gather(self.features, self.legal)
        return self.ROUNDS * len(self.lanes)


def signature(threads: int | None = None) -> int:
    """One number that changes when any rule, feature, bot or random stream does, on any machine the same."""
    digest = hashlib.sha256()
    for rules in SIGNATURE_RULES:
        game = LostCities(rules)
        lanes = game.lanes(4 * len(BOTS), threads=threads)
        lanes.deal(seed=SEED)
        while not lanes.finished.all():
            _sign_tick(digest, lanes)
        digest.update(lanes.scores().astype("<i4").tobytes())
    return int.from_bytes(digest.digest()[:6], "big")


def _sign_tick(digest: Any, lanes: Lanes) -> None:
    """Add everything one can see of a tick to the digest, and make the decisions of all bots in turn."""
    bots = np.resize(np.array(list(BOTS.values())), len(lanes))
    actions = lanes.bot_actions(bots, seed=SEED)
    for seen in (lanes.observe(), lanes.observe_history(), lanes.legal(), actions.astype("<i8")):
        digest.update(seen.tobytes())
    lanes.act(actions)
