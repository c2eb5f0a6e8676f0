"""Updates of a network by rows: regrets and values by least squares, strategies by cross-entropy, policies by PPO."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from lostcfr.errors import CheckpointError, DivergedError
from lostcfr.forward import torch_threads
from lostcfr.kernels.rules import NO_ACTION
from lostcfr.nets import Network, initialize
from lostcfr.threads import Workers

Arrays = dict[str, npt.NDArray[np.float32]]

SMALLEST = 1e-8  # of a probability whose logarithm is taken
SHARD = 256  # rows of a batch that one thread takes at a time; fewer make the products of matrices slower


def regret_loss(outputs: Tensor, actions: Tensor, values: Tensor, weights: Tensor) -> Tensor:
    """f4 []: the weighted mean over rows of the mean squared error over a row's legal actions, in points squared.

    ``outputs`` f4 [b, A]; the others as in ``Batch``.
    """
    legal = actions != NO_ACTION
    error = torch.where(legal, _at(outputs, actions, legal) - values, 0.0)
    rows = error.square().sum(1) / legal.sum(1)
    return _weighted(rows, weights)


def strategy_loss(outputs: Tensor, actions: Tensor, values: Tensor, weights: Tensor) -> Tensor:
    """f4 []: the weighted mean over rows of the cross-entropy from ``values`` to the softmax over legal actions.

    ``outputs`` f4 [b, A]; the others as in ``Batch``.
    """
    legal = actions != NO_ACTION
    # The lowest number, not -infinity: times a strategy of 0 that would not be a number.
    chosen = _at(outputs, actions, legal).masked_fill(~legal, torch.finfo(outputs.dtype).min)
    rows = -(values * torch.where(legal, torch.log_softmax(chosen, 1), 0.0)).sum(1)
    return _weighted(rows, weights)


def policy_loss(
    outputs: Tensor,
    actions: Tensor,
    choice: Tensor,
    advantages: Tensor,
    played: Tensor,
    magnet: Tensor,
    clip: float,
    entropy: float,
    attraction: float,
) -> Tensor:
    """f4 []: the mean over rows of what PPO with a magnet wants to be small.

    That is ``-min(r A, clamp(r, 1 - clip, 1 + clip) A)``, r being the probability of the action taken over the one it
    was played with (Schulman, Wolski, Dhariwal, Radford and Klimov, "Proximal policy optimization algorithms", 2017,
    equation 7), less ``entropy`` times the policy's entropy, plus ``attraction`` times its divergence KL(policy ||
    magnet) (Sokota et al., "A unified approach to reinforcement learning, quantal response equilibria, and two-player
    zero-sum games", ICLR 2023).

    ``outputs`` f4 [b, A]; ``actions`` u1 [b, K]; ``choice`` i8 [b], the slot of the action taken; ``advantages`` f4
    [b]; ``played`` f4 [b], its probability then; ``magnet`` f4 [b, K], the magnet's policy.
    """
    legal = actions != NO_ACTION
    logits = _at(outputs, actions, legal).masked_fill(~legal, torch.finfo(outputs.dtype).min)
    logs = torch.log_softmax(logits, 1)
    policy = torch.where(legal, logs.exp(), 0.0)
    ratio = logs.gather(1, choice.unsqueeze(1)).squeeze(1).exp() / played
    gain = torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)
    distance = logs - magnet.clamp_min(SMALLEST).log() if attraction else torch.zeros_like(logs)
    return -gain.mean() + (policy * torch.where(legal, entropy * logs + attraction * distance, 0.0)).sum(1).mean()


def _at(outputs: Tensor, actions: Tensor, legal: Tensor) -> Tensor:
    """[b, K]: the outputs at the actions; something else where there is none."""
    return outputs.gather(1, (actions * legal).long())


def _weighted(rows: Tensor, weights: Tensor) -> Tensor:
    return (rows * weights).sum() / len(rows)


LOSSES: dict[str, Callable[..., Tensor]] = {
    "regret": regret_loss,
    "value": regret_loss,  # of the one action taken
    "strategy": strategy_loss,
    "policy": policy_loss,
}


class Rows(Protocol):
    """The rows of an update: a NamedTuple of arrays, the features first; the others are what the loss takes."""

    @property
    def features(self) -> npt.NDArray[np.uint8]: ...

    def rows(self, begin: int, end: int) -> Rows: ...

    def __iter__(self) -> Iterator[npt.NDArray[Any]]: ...


class Fit:
    """A network (of ``nets.build``) and its optimiser, Adam; ``step`` after ``step`` the same on any number of threads.

    For that, a product of matrices is never shared among threads, since the shares may sum in another order. The
    threads of ``workers`` take shards of SHARD rows instead, and the gradients are added in the order of the shards.

    ``loss``: a key of LOSSES. ``clip``: the largest norm of a gradient over all parameters; longer ones are shortened.
    """

    def __init__(
        self,
        module: Network,
        loss: str,
        learning_rate: float,
        clip: float,
        device: str | torch.device = "cpu",
        workers: Workers | None = None,
    ) -> None:
        self.module = module.to(device)
        self.device = torch.device(device)
        self.workers = workers or Workers(1)
        self.loss, self.learning_rate, self.clip = loss, learning_rate, clip
        self.parameters = list(module.parameters())
        self._start()

    def _start(self) -> None:
        """A new optimiser, with its state from the beginning, so that it can be saved and loaded at any time."""
        self.optimizer = torch.optim.Adam(self.parameters, lr=self.learning_rate, fused=True)
        for parameter in self.parameters:
            self.optimizer.state[parameter] = {
                "step": torch.zeros((), device=self.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }

    def slow_down(self, share: float) -> None:
        """Go on with that share of the learning rate."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate * share

    def restart(self, seed: int, number: int) -> None:
        """Fresh parameters, as ``nets.build`` draws them, and a fresh optimiser."""
        initialize(self.module, seed, number)
        self._start()

    @property
    def steps(self) -> int:
        """Steps of the optimiser so far."""
        return int(self.optimizer.state[self.parameters[0]]["step"])

    def step(self, batch: Rows, *coefficients: float) -> float:
        """Move the parameters once; the loss before. DivergedError if it is not finite: nothing has moved then.

        ``coefficients`` are the last arguments of the loss.
        """
        with torch_threads(1):
            loss, gradients = self._gradients(batch, coefficients)
            norm_of_all = nn.utils.get_total_norm(gradients)
            value, norm = torch.stack([loss, norm_of_all]).tolist()
            if not (math.isfinite(value) and math.isfinite(norm)):
                raise DivergedError(
                    f"step {self.steps + 1} of the {self.loss} fit has loss {value:g} and gradient norm {norm:g}, but "
                    f"both must be finite: lower learning_rate (it is {self.learning_rate:g}) or clip (it is "
                    f"{self.clip:g})"
                )
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                parameter.grad = gradient
            if norm > self.clip:
                nn.utils.clip_grads_with_norm_(self.parameters, self.clip, norm_of_all)
            self.optimizer.step()
            self.optimizer.zero_grad()
        return float(value)

    def _gradients(self, batch: Rows, coefficients: tuple[float, ...]) -> tuple[Tensor, list[Tensor]]:
        """The loss of a batch, f4 [], and its gradient by parameter. A GPU takes the batch whole."""
        rows = len(batch.features)
        size = SHARD if self.device.type == "cpu" else rows
        shards = [batch.rows(k, k + size) for k in range(0, rows, size)]
        (loss, gradients), *others = self.workers.map(lambda shard: self._shard(shard, rows, coefficients), shards)
        for more, terms in others:
            loss += more
            torch._foreach_add_(gradients, terms)
        return loss, gradients

    def _shard(self, shard: Rows, rows: int, coefficients: tuple[float, ...]) -> tuple[Tensor, list[Tensor]]:
        """The part of the loss and of its gradients that comes from some of a batch's rows."""
        torch.set_num_threads(1)  # a setting of each thread
        features, *targets = [self._on_device(array) for array in shard]
        loss = LOSSES[self.loss](self.module(features), *targets, *coefficients) * (len(features) / rows)
        return loss.detach(), list(torch.autograd.grad(loss, self.parameters))

    def _on_device(self, array: npt.NDArray[Any]) -> Tensor:
        tensor = torch.from_numpy(array)
        if self.device.type == "cuda":
            return tensor.pin_memory().to(self.device, non_blocking=True)
        return tensor

    def weights(self) -> Arrays:
        """Copies of the parameters, by name."""
        return _copies(_parameters(self.module))

    def arrays(self) -> Arrays:
        """Copies of all that ``step`` changes: ``network.*``, ``adam.step.*``, ``adam.mean.*``, ``adam.square.*``."""
        return _copies(self._state())

    def load(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from ``arrays()`` of a fit of the same settings, byte for byte; CheckpointError if they do not fit."""
        _overwrite(self._state(), arrays)

    def _state(self) -> dict[str, Tensor]:
        state = {}
        for name, parameter in _parameters(self.module).items():
            moments = self.optimizer.state[parameter]
            state[f"network.{name}"] = parameter
            state[f"adam.step.{name}"] = moments["step"]
            state[f"adam.mean.{name}"] = moments["exp_avg"]
            state[f"adam.square.{name}"] = moments["exp_avg_sq"]
        return state


def load_weights(module: nn.Module, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Set the parameters of a module to ``Fit.weights()`` of one like it; CheckpointError if they do not fit."""
    _overwrite(_parameters(module), arrays)


def _parameters(module: nn.Module) -> dict[str, Tensor]:
    return dict(module.named_parameters())


def _copies(tensors: Mapping[str, Tensor]) -> Arrays:
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors.items()}


def _overwrite(tensors: Mapping[str, Tensor], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Set tensors of f4 to arrays of the same names and shapes: all of them, or none and an error."""
    for name in [*tensors, *arrays]:
        problem = _mismatch(tensors.get(name), arrays.get(name))
        if problem:
            raise CheckpointError(
                f"array {name!r} {problem}: the arrays belong to a network of another kind, size or game; "
                f"load them with the configuration they were saved with"
            )
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(torch.from_numpy(np.array(arrays[name], np.float32)))


def _mismatch(tensor: Tensor | None, array: npt.NDArray[Any] | None) -> str:
    """What is wrong with an array for a tensor, or nothing."""
    if array is None:
        return "is missing"
    if tensor is None:
        return "is not of this network"
    if array.dtype != np.float32:
        return f"has the type {array.dtype}, but must be float32"
    if array.shape != tuple(tensor.shape):
        return f"has shape {array.shape}, but this network needs {tuple(tensor.shape)}"
    return ""
