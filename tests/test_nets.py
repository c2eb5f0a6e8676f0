"""Networks: what depends on what, bit for bit, and what a fresh one is like."""

import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lostcfr import LostCities
from lostcfr.agents import BOTS
from lostcfr.kernels import infoset
from lostcfr.nets import ACTIVATIONS, KINDS, VARIANCE, build, symmetric_mean
from rule_sets import RULE_SETS

GAME = LostCities()
CASES = [(kind, activation) for kind in KINDS for activation in ACTIVATIONS]


def settings(kind="mlp", hidden=64, layers=2, activation="relu"):
    return SimpleNamespace(kind=kind, hidden=hidden, layers=layers, activation=activation)


def played(game, n=64, decisions=41):
    """u1 [n, F] of real play."""
    lanes = game.lanes(n, threads=1)
    lanes.deal(seed=5)
    for _ in range(decisions):
        lanes.act(lanes.bot_actions(np.resize(list(BOTS.values()), n), seed=2))
    return lanes.observe()


def answer(module, features):
    with torch.no_grad():
        return module(torch.from_numpy(features))


def lively(kind="mlp", game=GAME, activation="relu", hidden=64):
    """A network whose outputs differ much from 0, as after some fitting."""
    module = build(settings(kind, hidden, activation=activation), game, 3, 1)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.startswith("output") or name.endswith("bias"):
                parameter += 0.1 * torch.sin(torch.arange(parameter.numel()).view(parameter.shape) + len(name))
    return module


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
@pytest.mark.parametrize("kind", KINDS)
def test_outputs_have_one_column_an_action(kind, rules):
    game = LostCities(rules)
    outputs = answer(build(settings(kind, 16), game, 1, 0), played(game, 8, 2))
    assert (outputs.shape, outputs.dtype) == ((8, game.num_actions), torch.float32)


def test_an_mlp_has_the_layers_it_is_said_to_have():
    module = build(settings(hidden=512, layers=3), GAME, 1, 0)
    shapes = [tuple(parameter.shape) for name, parameter in module.named_parameters() if name.endswith("weight")]
    assert shapes == [(512, 468), (512, 512), (512, 512), (106, 512)]


def test_an_mlp_is_its_formula():
    module = lively()
    weights = {name: parameter.detach().double().numpy() for name, parameter in module.named_parameters()}
    features = played(GAME)
    units = features * GAME.feature_scales().astype(float)
    for layer in ("hidden.linear.0", "hidden.linear.1"):
        units = np.maximum(units @ weights[f"{layer}.weight"].T + weights[f"{layer}.bias"], 0)
    expected = units @ weights["output.weight"].T + weights["output.bias"]
    np.testing.assert_allclose(answer(module, features), expected, atol=1e-4)


def test_a_colour_equivariant_network_is_its_formula():
    game, T = LostCities(RULE_SETS["mini"]), 5  # noqa: N806
    module = lively("colour_equivariant", game)
    weights = {name: parameter.detach().double().numpy() for name, parameter in module.named_parameters()}

    def layer(name, units):
        return weights[f"{name}.weight"] @ units + weights[f"{name}.bias"]

    for row, found in zip(played(game, 6, 9), answer(module, played(game, 6, 9)), strict=True):
        units = row * game.feature_scales().astype(float)
        codes = units[:-8].reshape(2, -1)
        for name in ("encoder.linear.0", "encoder.linear.1"):
            codes = [np.maximum(layer(name, code), 0) for code in codes]
        pooled = np.concatenate([np.maximum(*codes), (codes[0] + codes[1]) / 2, units[-8:]])
        context = np.maximum(layer("context", pooled), 0)
        heads = [np.maximum(layer("head_code", code) + layer("head_context", context), 0) for code in codes]
        colors = [layer("output_color", head) for head in heads]
        expected = [*colors[0][:T], *colors[1][:T], *colors[0][T : 2 * T], *colors[1][T : 2 * T]]
        expected += [colors[0][2 * T], colors[1][2 * T], *layer("output_deck", context)]
        np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_are_what_torch_calls_by_that_name(activation):
    inputs = torch.linspace(-9, 9, 1001)
    expected = getattr(torch.nn.functional, activation)(inputs)
    torch.testing.assert_close(ACTIVATIONS[activation](inputs), expected, rtol=1e-5, atol=1e-6)
    assert activation in VARIANCE


def permuted(game, order):
    """Columns of the features and ids of the actions for the colours in another order."""
    C, T = game.rules.n_colors, game.rules.n_ranks + 1  # noqa: N806
    group = infoset.color_group_size(game.parameters)
    columns = np.arange(C * group).reshape(C, group)[order].ravel()
    cards = np.arange(C * T).reshape(C, T)[order].ravel()
    piles = 2 * C * T + order
    actions = np.r_[cards, C * T + cards, piles, 2 * C * T + C]
    return np.r_[columns, np.arange(C * group, game.num_features)], actions


@pytest.mark.parametrize("name", ["classic", "six-colours", "mini", "one-colour"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_permuted_colours_permute_the_outputs_exactly(name, activation):
    game = LostCities(RULE_SETS[name])
    module = lively("colour_equivariant", game, activation)
    chance = np.random.Generator(np.random.Philox(key=1))
    noise = chance.integers(0, 256, (50, game.num_features), np.uint8)
    for features in (played(game, 50), noise):
        outputs = answer(module, features).numpy()
        for _ in range(5):
            columns, actions = permuted(game, chance.permutation(game.rules.n_colors))
            assert np.array_equal(answer(module, features[:, columns]).numpy(), outputs[:, actions])


def test_the_names_of_permuted_columns_and_actions_agree():
    columns, actions = permuted(GAME, np.array([2, 0, 1, 3, 4]))
    translated = dict(zip(GAME.colors, np.array(GAME.colors)[[2, 0, 1, 3, 4]], strict=True))
    for names, order in ((GAME.feature_names(), columns), ([GAME.action_name(k) for k in range(106)], actions)):
        expected = [re.sub(r"\w+", lambda word: translated.get(word[0], word[0]), name) for name in names]
        assert [names[k] for k in order] == expected


def test_an_mlp_tells_colours_apart():
    features = played(GAME)
    columns, actions = permuted(GAME, np.array([1, 0, 2, 3, 4]))
    module = lively()
    assert not np.allclose(answer(module, features[:, columns]), answer(module, features)[:, actions], atol=1e-2)


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_the_symmetric_mean_is_the_mean_in_any_order(n):
    chance = np.random.Generator(np.random.Philox(key=n))
    codes = torch.from_numpy(chance.standard_normal((40, n, 33), np.float32) ** 5)
    codes[0] = 0.0
    codes.requires_grad_()
    mean = symmetric_mean(codes)
    size = codes.detach().abs().amax(1)
    assert ((mean - codes.double().mean(1)).abs() <= size * n * 2.0**-22).all()
    for _ in range(5):
        assert torch.equal(symmetric_mean(codes[:, chance.permutation(n)]), mean)
    mean.sum().backward()
    assert torch.equal(codes.grad, torch.full_like(codes, 1 / n))


@pytest.mark.parametrize(("kind", "activation"), CASES)
def test_a_row_depends_on_itself_alone(kind, activation, threads):
    """In any multiple of eight rows, at any place among them."""
    features = np.concatenate([played(GAME, 100, k) for k in range(3, 43, 4)])
    module = lively(kind, activation=activation, hidden=100)
    threads(1)
    outputs = answer(module, features)
    for first, rows in ((0, 8), (77, 8), (500, 16), (1, 24), (499, 40), (3, 256)):
        assert torch.equal(answer(module, features[first : first + rows]), outputs[first : first + rows])


@pytest.mark.parametrize("kind", KINDS)
def test_u1_and_f4_features_are_the_same(kind):
    features = played(GAME)
    module = lively(kind)
    assert torch.equal(answer(module, features), answer(module, features.astype(np.float32)))


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_depend_on_seed_and_number_alone(kind):
    def parameters(seed, number):
        return torch.cat([each.flatten() for each in build(settings(kind), GAME, seed, number).parameters()])

    first = parameters(2**64 - 1, 1)
    torch.rand(3)
    assert torch.equal(parameters(2**64 - 1, 1), first)
    for other in ((2**64 - 1, 2), (2**64 - 2, 1), (1, 2**64 - 1)):
        assert not torch.equal(parameters(*other), first)


@pytest.mark.parametrize("kind", KINDS)
def test_global_chance_is_neither_read_nor_moved(kind):
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    build(settings(kind), GAME, 1, 0)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state()[1] == before[1]).all()  # noqa: NPY002


@pytest.mark.parametrize(("kind", "activation"), CASES)
def test_a_fresh_network_says_nearly_nothing_but_not_the_same_everywhere(kind, activation):
    """Outputs far below a point: regrets and strategies start level. Hidden units are neither dead nor huge."""
    outputs = answer(build(settings(kind, 256, 3, activation), GAME, 1, 0), played(GAME))
    assert outputs.std(0).mean() > 1e-5
    assert outputs.abs().max() < 0.2


@pytest.mark.parametrize("kind", KINDS)
def test_scales_are_not_saved_with_the_parameters(kind):
    module = build(settings(kind), GAME, 1, 0)
    assert set(module.state_dict()) == {name for name, _ in module.named_parameters()}


def test_no_rows_have_no_answers():
    for kind in KINDS:
        assert answer(lively(kind), np.zeros((0, GAME.num_features), np.uint8)).shape == (0, 106)


def test_the_order_of_sums_is_set_when_torch_came_first():
    program = "import os, torch; os.environ.pop('MKL_CBWR', None); import lostcfr.nets; print(os.environ['MKL_CBWR'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "AUTO,STRICT\n"
