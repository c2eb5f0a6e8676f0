"""Networks from what a player knows (``Lanes.observe``) to one number an action: a regret, a logit, or a value.

All of them take features u1 or f4 [N, F], unscaled, and give f4 [N, A]. Critics take F + H columns, the opponent's hand
(``Lanes.observe_history``) behind the features, and may give one value, f4 [N, 1].

In multiples of eight rows, on one thread of torch, an answer depends on its own row alone, bit for bit: on neither the
other rows nor their number. Two choices see to it. The Intel MKL is told to sum in one order; the sigmoid of torch,
which rounds the ends of an array otherwise than its middle, is written by its tanh. A few rows, or a product of
matrices shared among threads, are rounded otherwise on some processors: ``forward.Forward`` fills rows up, and it and
``fit.Fit`` keep each product on one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from lostcfr.kernels import infoset
from lostcfr.kernels.cards import types_per_color

if TYPE_CHECKING:
    from lostcfr.game import LostCities

# Read at the first product of matrices in the process; a value that the user has set stands.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

OUTPUT_STD = 0.01  # of an output for inputs of size 1 before any fitting: small, so that play starts near uniform


class NetworkSettings(Protocol):
    """What describes a network; ``NetworkConfig`` of the configuration does."""

    @property
    def kind(self) -> str: ...  # a key of KINDS
    @property
    def hidden(self) -> int: ...  # units of each hidden layer
    @property
    def layers(self) -> int: ...  # hidden layers
    @property
    def activation(self) -> str: ...  # a key of ACTIVATIONS


def _silu(inputs: Tensor) -> Tensor:
    """``x * sigmoid(x)``, with ``sigmoid(x) = (1 + tanh(x / 2)) / 2``."""
    return inputs * (torch.tanh(inputs * 0.5) * 0.5 + 0.5)


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu_,  # in place: what goes in is always the fresh output of a layer, which nobody else needs
    "gelu": nn.functional.gelu,
    "silu": _silu,
    "tanh": torch.tanh,
}
# Variance of the weights times the number of inputs: 2 makes up for the half that a rectifier drops (He, Zhang, Ren
# and Sun, "Delving deep into rectifiers", ICCV 2015), tanh drops none.
VARIANCE = {"relu": 2.0, "gelu": 2.0, "silu": 2.0, "tanh": 1.0}


def _linear(inputs: int, outputs: int) -> nn.Linear:
    """A layer whose parameters hold anything until ``initialize``; the usual start would use global chance."""
    layer: nn.Linear = nn.utils.skip_init(nn.Linear, inputs, outputs)
    return layer


def _into(scratch: Scratch, name: str, layer: nn.Module, inputs: Tensor) -> Tensor:
    """A linear layer's outputs, in memory of that name."""
    assert isinstance(layer, nn.Linear)
    out = scratch.take(name, len(inputs), layer.out_features)
    return torch.addmm(layer.bias, inputs, layer.weight.t(), out=out)


class Stack(nn.Module):
    """Hidden layers of one width, one after the other."""

    def __init__(self, inputs: int, settings: NetworkSettings) -> None:
        super().__init__()
        self.activation = ACTIVATIONS[settings.activation]
        widths = [inputs] + [settings.hidden] * settings.layers
        self.linear = nn.ModuleList(map(_linear, widths[:-1], widths[1:]))

    def forward(self, inputs: Tensor) -> Tensor:
        for layer in self.linear:
            inputs = self.activation(layer(inputs))
        return inputs


class Scratch:
    """Memory for the layers of one thread, used again call after call: new memory costs a tenth of a forward."""

    def __init__(self, device: torch.device | None = None) -> None:
        self.device = device
        self._tensors: dict[str, Tensor] = {}

    def take(self, name: str, rows: int, columns: int) -> Tensor:
        """f4 [rows, columns], holding anything."""
        held = self._tensors.get(name)
        if held is None or len(held) < rows or held.shape[1] != columns:
            held = self._tensors[name] = torch.zeros(rows, columns, device=self.device)
        return held[:rows]


class Role(NamedTuple):
    """What a network is for: what it sees, and what it says."""

    sees_both_hands: bool = False
    one_value: bool = False  # of the whole situation, instead of one number an action


PLAYER, ACTION_CRITIC, VALUE_CRITIC = Role(), Role(True), Role(True, True)


class Network(nn.Module):
    """What all kinds share: the activation, the variance of the first weights and the scales of the columns."""

    scales: Tensor  # f4 [F], or [F + H] for a critic

    def __init__(self, settings: NetworkSettings, game: LostCities, role: Role) -> None:
        super().__init__()
        self.activation, self.variance = ACTIVATIONS[settings.activation], VARIANCE[settings.activation]
        scales = [game.feature_scales(), *([game.history_feature_scales()] if role.sees_both_hands else [])]
        self.register_buffer("scales", torch.from_numpy(np.concatenate(scales)), persistent=False)

    def answer(self, features: Tensor, rows: int, scratch: Scratch) -> Tensor:
        """``forward`` for play, bit for bit: f4 [rows, A], of which those of ``features`` (u1 [N, F]) come first.

        The rows from N on are filled up with anything. What comes back is good until ``scratch`` is used again.
        """
        scaled = scratch.take("scaled", rows, features.shape[1])
        given = scaled[: len(features)]
        given.copy_(features).mul_(self.scales)  # in two steps: torch multiplies mixed types three times as slowly
        return self.layers(scaled, scratch)

    def layers(self, scaled: Tensor, scratch: Scratch) -> Tensor:
        """All that follows the scaling, without gradients."""
        raise NotImplementedError


class Mlp(Network):
    """``layers`` hidden layers of ``hidden`` units over all columns."""

    def __init__(self, settings: NetworkSettings, game: LostCities, role: Role = PLAYER) -> None:
        super().__init__(settings, game, role)
        self.hidden = Stack(len(self.scales), settings)
        self.output = _linear(settings.hidden, 1 if role.one_value else game.num_actions)

    def forward(self, features: Tensor) -> Tensor:
        outputs: Tensor = self.output(self.hidden(features * self.scales))
        return outputs

    def layers(self, scaled: Tensor, scratch: Scratch) -> Tensor:
        inputs = scaled
        for number, layer in enumerate(self.hidden.linear):
            inputs = self.activation(_into(scratch, f"hidden {number % 2}", layer, inputs))
        return _into(scratch, "outputs", self.output, inputs)


class ColorEquivariant(Network):
    """One encoder and one head for all colours: exchanging colours of the features exchanges them in the outputs.

    Each colour's columns go through ``layers`` hidden layers to a code. The largest and the mean code and the global
    columns make the context, one hidden layer. A colour's actions are read from its code and the context through one
    hidden layer more, the draw from the deck and a value of the whole from the context. Every layer has ``hidden``
    units. A row costs about n_colors times an ``mlp`` of the same ``hidden``: with classic rules, 128 units take as
    long as an ``mlp`` of 512.
    """

    def __init__(self, settings: NetworkSettings, game: LostCities, role: Role = PLAYER) -> None:
        super().__init__(settings, game, role)
        self.role, self.features = role, game.num_features
        self.colors, self.types = game.rules.n_colors, types_per_color(game.parameters)
        self.group, hidden = infoset.color_group_size(game.parameters), settings.hidden
        self.encoder = Stack(self.group + (self.types if role.sees_both_hands else 0), settings)
        self.context = _linear(2 * hidden + infoset.GLOBAL_COLUMNS, hidden)
        if role.one_value:
            self.output_value = _linear(hidden, 1)
            return
        self.head_code, self.head_context = _linear(hidden, hidden), _linear(hidden, hidden)
        self.output_color = _linear(hidden, 2 * self.types + 1)
        self.output_deck = _linear(hidden, 1)

    def forward(self, features: Tensor) -> Tensor:
        return self.layers(features * self.scales, Scratch())

    def layers(self, scaled: Tensor, scratch: Scratch) -> Tensor:
        codes = self.encoder(self._by_color(scaled)).unflatten(0, (len(scaled), self.colors))
        shared = scaled[:, self.colors * self.group : self.features]
        context = self.activation(self.context(torch.cat([codes.amax(1), symmetric_mean(codes), shared], 1)))
        if self.role.one_value:
            value: Tensor = self.output_value(context)
            return value
        heads = self.activation(self.head_code(codes) + self.head_context(context).unsqueeze(1))
        return self._by_action(self.output_color(heads), self.output_deck(context))

    def _by_color(self, scaled: Tensor) -> Tensor:
        """[N C, columns of a colour]: what is seen of each colour."""
        groups = scaled[:, : self.colors * self.group].unflatten(1, (self.colors, self.group))
        if self.role.sees_both_hands:
            hands = scaled[:, self.features :].unflatten(1, (self.colors, self.types))
            groups = torch.cat([groups, hands], 2)
        rows: Tensor = groups.flatten(0, 1)
        return rows

    def _by_action(self, colors: Tensor, deck: Tensor) -> Tensor:
        """Outputs [N, C, play T + discard T + draw 1] and [N, 1] in the order of the action ids."""
        play, discard, draw = colors.split([self.types, self.types, 1], 2)
        return torch.cat([play.flatten(1), discard.flatten(1), draw.flatten(1), deck], 1)


KINDS: dict[str, type[Mlp | ColorEquivariant]] = {"mlp": Mlp, "colour_equivariant": ColorEquivariant}


def symmetric_mean(codes: Tensor) -> Tensor:
    """The mean over axis 1 of f4 [N, C, H], the same bits in any order of the C.

    Adding and taking away ``2 C max |x|`` rounds all values to one grid, so coarse that a sum of C is exact: 24 bits
    less about ``log2(4 C)`` are left. Sorting would do too, at ten times the cost. Gradients are those of the mean.
    """
    n = codes.shape[1]
    coarse = codes.detach().abs().amax(1, keepdim=True) * (2 * n)
    return ((codes + coarse) - coarse).sum(1) / n


def build(settings: NetworkSettings, game: LostCities, seed: int, number: int, role: Role = PLAYER) -> Network:
    """A network of the settings for the game, on the CPU; its parameters depend on (seed, number) alone.

    ``seed`` is a run's, ``number`` tells the networks of a run apart, both from 0 to 2^64 - 1.
    """
    module = KINDS[settings.kind](settings, game, role)
    initialize(module, seed, number)
    return module


def initialize(module: Network, seed: int, number: int) -> None:
    """Overwrite every parameter of a module of ``build``, on any device, as ``build`` draws them.

    Weights are normal with variance ``module.variance`` / inputs, those of the layers named ``output*`` with standard
    deviation OUTPUT_STD / sqrt(inputs); biases are 0.
    """
    chance = np.random.Generator(np.random.Philox(key=np.array([seed, number], np.uint64)))
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
                continue
            std = OUTPUT_STD if name.startswith("output") else module.variance**0.5
            normal = chance.standard_normal(parameter.shape, np.float32)
            parameter.copy_(torch.from_numpy(normal * np.float32(std / parameter.shape[1] ** 0.5)))
