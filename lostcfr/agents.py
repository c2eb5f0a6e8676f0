"""What can sit at the table: rule-based players by name, and networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lostcfr.errors import InputError, whole
from lostcfr.kernels import bots, planners, state, tick, trajectory as codes
from lostcfr.kernels.lanes import LEAVE
from lostcfr.kernels.rules import NO_ACTION
from lostcfr.names import BOT_NAMES, PLAY_ALL, bot_name
from lostcfr.traverse.samples import Player, plain_task, seating
from lostcfr.traverse.storage import answers_to, empty_choices, empty_requests, idle_paths

if TYPE_CHECKING:
    from lostcfr.forward import Forward
    from lostcfr.lanes import Lanes
    from lostcfr.nets import Network
    from lostcfr.rules import Rules

CODES = (
    bots.RANDOM,
    bots.DISCARD_ONLY,
    planners.BALANCED,
    planners.AGGRESSIVE,
    planners.CAUTIOUS,
    bots.NOISY,
    bots.SELECTIVE,
)
BOTS = dict(zip(BOT_NAMES, CODES, strict=True))
TILE = 256  # rows of a forward


def bot_code(name: str) -> int:
    """The code of a rule-based player for kernels and ``Lanes.bot_actions``."""
    return BOTS[bot_name(name)]


@dataclass(frozen=True)
class Agent:
    """One player: some networks, and which of them decide for a round; or a rule-based player."""

    name: str
    player: Player  # its networks are numbers of ``modules``, or -1 - code of a rule-based player
    modules: Sequence[Network] = ()
    outputs: Sequence[int] = ()  # what those of each module mean, by codes of kernels.trajectory
    rules: Rules | None = None  # the rules it was trained for; None where any will do
    floor: float = PLAY_ALL  # it plays no action less likely than that, but always one

    def shifted(self, first: int) -> Player:
        """The player where its first network has the number ``first``."""
        networks = self.player.networks
        return Player(
            np.where(networks < 0, networks, networks + np.int32(first)).astype(np.int32), self.player.weights
        )

    @property
    def floors(self) -> list[float]:
        """Its floor for each module."""
        return [self.floor] * len(self.modules)

    def policy(self, lanes: Lanes, seed: int = 0) -> npt.NDArray[np.float32]:
        """f4 [n, num_actions]: with what probability it takes each action in each lane; 0 where the round is over.

        A mixture's policy is the mean of its snapshots' policies by their weights, which is the chance of an action
        if a snapshot is drawn for this decision alone. In a match one is drawn for a round, so what was played before
        says something about which; that is not taken into account.

        ``seed``: the chance of rule-based players, whose one action has the probability 1, and of ties. InputError
        where the lanes are of other rules than the agent was trained with.
        """
        out = np.zeros((len(lanes), lanes.game.num_actions), np.float32)
        if not self.modules:
            actions = self.actions(lanes, seed)
            playing = np.flatnonzero(actions != LEAVE)
            out[playing, actions[playing]] = 1.0
            return out
        asked = self._asked(lanes, seed)
        mixed, weights = np.zeros(asked.requests.actions.shape), self.player.weights / self.player.weights.sum()
        for networks, weight in zip(self.player.networks, weights, strict=True):
            tick.write_policies(*self._answered(asked, np.broadcast_to(networks, (len(lanes), 2))))
            mixed += weight * asked.choices.sigma
        n = int(asked.requests.size[0])
        row, slot = np.nonzero(asked.requests.actions[:n] != NO_ACTION)
        out[asked.requests.lane[row], asked.requests.actions[row, slot]] = mixed[row, slot]
        return out

    def actions(self, lanes: Lanes, seed: int = 0) -> npt.NDArray[np.int64]:
        """i8 [n]: the action it takes in each lane, -1 where the round is over; InputError as ``policy``.

        It is the one of a match of that seed in which lane i is deal ``lanes.first + i``: a mixture keeps to one
        snapshot for the whole of a deal.
        """
        if not self.modules:
            return lanes.bot_actions(np.full(len(lanes), -1 - int(self.player.networks[0, 0])), seed)
        asked = self._asked(lanes, seed)
        drawn = np.empty((len(lanes), 2), np.int32)
        tick.list_networks(asked.task, asked.paths.trajectory, drawn)
        tick.choose(*self._answered(asked, drawn))
        out, n = np.full(len(lanes), LEAVE), int(asked.requests.size[0])
        row = np.arange(n)
        out[asked.requests.lane[:n]] = asked.requests.actions[row, asked.choices.slot[:n]]
        return out

    def _asked(self, lanes: Lanes, seed: int) -> _Asked:
        """The decisions of all lanes whose round is not over, forced ones too."""
        self._check_rules(lanes)
        game = lanes.game
        task = plain_task(
            game, whole(seed, 0, 2**64 - 1, "seed"), seating(self.player, self.player, self.outputs, self.floors)
        )
        paths, requests = idle_paths(len(lanes)), empty_requests(game, len(lanes), history=False)
        paths.trajectory[:] = lanes.first + np.arange(len(lanes))
        to_move = lanes.to_move
        tick.request_all(game.parameters, lanes.games, requests)
        return _Asked(task, lanes.games, paths, requests, empty_choices(game, len(lanes)), to_move)

    def _answered(self, asked: _Asked, networks: npt.NDArray[np.int32]) -> tuple[Any, ...]:
        """What the kernels take that choose, once the networks (i4 [lanes, 2], by seat) have answered."""
        from lostcfr.forward import torch_threads

        requests, n = asked.requests, int(asked.requests.size[0])
        lane = requests.lane[:n]
        requests.network[:n] = networks[lane, asked.to_move[lane]]
        with torch_threads(1):
            answers = answers_to(requests, n, self._forward, None)
        return asked.task, asked.games, asked.paths, requests, answers, asked.choices

    @cached_property
    def _forward(self) -> Forward:
        """Its networks, where they are; torch is loaded for networks only."""
        from lostcfr.forward import Forward

        return Forward(self.modules, TILE, str(next(self.modules[0].parameters()).device))

    def _check_rules(self, lanes: Lanes) -> None:
        if self.rules is None or self.rules == lanes.game.rules:
            return
        ours, theirs = asdict(self.rules), asdict(lanes.game.rules)
        name = next(name for name in ours if ours[name] != theirs[name])
        raise InputError(
            f"{self.name} was trained with {name}={ours[name]}, but these lanes are of a game with "
            f"{name}={theirs[name]}: make them by LostCities(agent.rules).lanes(n)"
        )


class _Asked(NamedTuple):
    """Decisions of some lanes, as the kernels of ``tick`` take them."""

    task: codes.Task
    games: state.Games
    paths: codes.Paths
    requests: codes.Requests
    choices: codes.Choices
    to_move: npt.NDArray[np.int64]  # [lanes]


def bot(name: str) -> Agent:
    """A rule-based player."""
    network = -1 - bot_code(name)
    return Agent(bot_name(name), Player(np.array([[network, network]], np.int32), np.ones(1)))
