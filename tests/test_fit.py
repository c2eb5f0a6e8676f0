"""Fitting: losses against cases done by hand, and steps that repeat byte for byte."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lostcfr import LostCities, Rules
from lostcfr.errors import CheckpointError, DivergedError
from lostcfr.fit import LOSSES, Fit, load_weights, regret_loss, strategy_loss
from lostcfr.kernels.rules import NO_ACTION
from lostcfr.memory import Batch
from lostcfr.nets import KINDS, build
from lostcfr.threads import Workers

GAME = LostCities()
MINI = LostCities(Rules(n_colors=2, n_ranks=3, n_wagers=0, hand_size=2))
NONE = NO_ACTION
OF_BATCHES = [loss for loss in LOSSES if loss != "policy"]


def network(kind="mlp", game=MINI, hidden=32, number=0, activation="relu"):
    return build(SimpleNamespace(kind=kind, hidden=hidden, layers=2, activation=activation), game, 7, number)


def fit(module=None, loss="regret", learning_rate=0.01, clip=1.0, workers=None):
    return Fit(module or network(), loss, learning_rate, clip, workers=workers)


def batch_of(game=MINI, b=64, seed=0, size=5.0):
    """Rows of random numbers with 2 to 6 actions each; the values of a row are a strategy times ``size``."""
    chance = np.random.Generator(np.random.Philox(key=seed))
    order = chance.permuted(np.tile(np.arange(game.num_actions, dtype=np.uint8), (b, 1)), axis=1)[:, :6]
    none = np.arange(6) >= chance.integers(2, 7, b)[:, None]
    values = np.where(none, 0, chance.random((b, 6), np.float32))
    return Batch(
        chance.integers(0, 4, (b, game.num_features), np.uint8),
        np.sort(np.where(none, NONE, order).astype(np.uint8), axis=1),
        (size * values / values.sum(1, keepdims=True)).astype(np.float32),
        (chance.random(b, np.float32) + 0.5),
    )


def loss_and_gradient(loss, outputs, actions, values, weights):
    outputs = torch.tensor(outputs, dtype=torch.float32, requires_grad=True)
    types = torch.uint8, torch.float32, torch.float32
    rest = [torch.tensor(each, dtype=kind) for each, kind in zip((actions, values, weights), types, strict=True)]
    result = loss(outputs, *rest)
    result.backward()
    return result.item(), outputs.grad.numpy()


def same(first, second):
    return first.keys() == second.keys() and all(first[name].tobytes() == second[name].tobytes() for name in first)


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def test_the_regret_loss_of_two_rows_by_hand():
    """Row 0: errors 1 and -3 of two actions, mean square 5; row 1: error 2 of one, 4; weights 1 and 3."""
    outputs, actions = [[4.0, 9.0, -1.0], [7.0, 8.0, 2.0]], [[0, 2], [2, NONE]]
    found, gradient = loss_and_gradient(regret_loss, outputs, actions, [[3.0, 2.0], [0.0, 0.0]], [1.0, 3.0])
    assert found == (5 * 1 + 4 * 3) / 2
    assert gradient.tolist() == [[2 * 1 / 2 / 2, 0, 2 * -3 / 2 / 2], [0, 0, 2 * 2 * 3 / 2]]


def test_the_strategy_loss_of_two_rows_by_hand():
    """Row 0: softmax (3/4, 1/4) over actions 0 and 2 against (1/2, 1/2); row 1: one action, so nothing to say."""
    outputs, actions = [[math.log(3), 5.0, 0.0], [1.0, 2.0, 3.0]], [[0, 2], [1, NONE]]
    found, gradient = loss_and_gradient(strategy_loss, outputs, actions, [[0.5, 0.5], [1.0, 0.0]], [4.0, 9.0])
    assert found == pytest.approx(-(math.log(3 / 4) + math.log(1 / 4)) / 2 * 4 / 2, rel=1e-6)
    np.testing.assert_allclose(gradient, [[0.25 * 4 / 2, 0, -0.25 * 4 / 2], [0, 0, 0]], atol=1e-6)


@pytest.mark.parametrize("loss", OF_BATCHES)
def test_losses_and_gradients_equal_a_slow_twin(loss):
    batch = batch_of(GAME, 40, size=1.0)
    chance = np.random.Generator(np.random.Philox(key=9))
    outputs = chance.standard_normal((40, 106))
    found, gradient = loss_and_gradient(LOSSES[loss], outputs, *batch[1:])
    expected, slopes = 0.0, np.zeros((40, 106))
    for row in range(40):
        n = (batch.actions[row] != NONE).sum()
        legal, values = batch.actions[row, :n], batch.values[row, :n].astype(float)
        chosen = outputs[row, legal]
        if loss in ("regret", "value"):
            one, slope = ((chosen - values) ** 2).mean(), 2 * (chosen - values) / n
        else:
            sigma = np.exp(chosen) / np.exp(chosen).sum()
            one, slope = -(values * np.log(sigma)).sum(), sigma * values.sum() - values
        expected += batch.weights[row] * one / 40
        slopes[row, legal] = batch.weights[row] * slope / 40
    assert found == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(gradient, slopes, atol=1e-7)


@pytest.mark.parametrize("loss", OF_BATCHES)
def test_illegal_outputs_have_no_influence_and_no_gradient(loss):
    batch = batch_of()
    legal = np.zeros((64, MINI.num_actions), bool)
    for row, actions in enumerate(batch.actions):
        legal[row, actions[actions != NONE]] = True
    chance = np.random.Generator(np.random.Philox(key=9))
    outputs = np.where(legal, chance.standard_normal(legal.shape), 0)
    plain = loss_and_gradient(LOSSES[loss], outputs, *batch[1:])
    for other in (1e30, -1e30, np.inf, np.nan):
        found = loss_and_gradient(LOSSES[loss], np.where(legal, outputs, other), *batch[1:])
        assert found[0] == plain[0]
        assert np.array_equal(found[1], plain[1])
    assert (plain[1][~legal] == 0).all()
    assert (plain[1][legal] != 0).all()


@pytest.mark.parametrize("loss", OF_BATCHES)
def test_a_row_of_weight_two_is_two_rows(loss):
    batch = batch_of(b=8)
    once = [np.concatenate([array, array[:3]]) for array in batch]
    once[3][8:] = once[3][:3]
    twice = [array.copy() for array in batch]
    twice[3][:3] *= 2
    outputs = np.random.Generator(np.random.Philox(key=9)).standard_normal((8, MINI.num_actions))
    first, _ = loss_and_gradient(LOSSES[loss], np.concatenate([outputs, outputs[:3]]), *once[1:])
    second, _ = loss_and_gradient(LOSSES[loss], outputs, *twice[1:])
    assert first * 11 == pytest.approx(second * 8, rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_learns_regrets(kind, threads):
    """On the same rows again and again the loss goes to nearly 0 points squared."""
    threads(1)
    batch, learner = batch_of(size=6.0), fit(network(kind, hidden=64), clip=100.0)
    losses = [learner.step(batch) for _ in range(300)]
    assert losses[0] > 3
    assert losses[-1] < 0.05


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_learns_strategies(kind, threads):
    """Cross-entropy ends at the entropy of the strategies."""
    threads(1)
    batch, learner = batch_of(size=1.0), fit(network(kind, hidden=64), "strategy", clip=100.0)
    losses = [learner.step(batch) for _ in range(300)]
    logs = np.log(np.where(batch.values > 0, batch.values, 1))
    entropy = -(batch.weights * (batch.values * logs).sum(1)).mean()
    assert losses[0] > entropy + 0.1
    assert entropy - 1e-4 < losses[-1] < entropy + 0.01


def test_two_steps_are_adam_with_a_clipped_gradient():
    batch, learner = batch_of(), fit(learning_rate=0.01, clip=0.25)
    twin = network()
    optimizer = torch.optim.Adam(twin.parameters(), lr=0.01)
    for _ in range(2):
        optimizer.zero_grad()
        loss = regret_loss(twin(torch.from_numpy(batch.features)), *map(torch.from_numpy, batch[1:]))
        loss.backward()
        norm = math.sqrt(sum(each.grad.square().sum().item() for each in twin.parameters()))
        assert norm > 1
        for each in twin.parameters():
            each.grad *= 0.25 / norm
        optimizer.step()
        assert learner.step(batch) == pytest.approx(loss.item(), rel=1e-5)
    assert learner.steps == 2
    for name, parameter in twin.named_parameters():
        np.testing.assert_allclose(learner.weights()[name], parameter.detach(), atol=1e-5)


def test_a_short_gradient_is_left_as_it_is():
    free, clipped = fit(clip=1e9), fit(clip=1e3)
    assert free.step(batch_of()) == clipped.step(batch_of())
    assert same(free.arrays(), clipped.arrays())


@pytest.mark.parametrize("loss", OF_BATCHES)
@pytest.mark.parametrize(("kind", "activation"), [("mlp", "relu"), ("colour_equivariant", "silu")])
def test_steps_are_the_same_on_any_number_of_threads(kind, activation, loss, threads):
    """Of the shards and of torch; 15 and 20 columns are so few that torch rounds them otherwise on more threads."""
    batch, results = batch_of(GAME, 1024, size=1.0), []
    for number in (1, 2, 3, 4):
        threads(number)
        learner = fit(network(kind, GAME, 20, activation=activation), loss, workers=Workers(number))
        losses = [learner.step(batch) for _ in range(2)]
        results.append((losses, learner.arrays()))
    for losses, arrays in results[1:]:
        assert losses == results[0][0]
        assert same(arrays, results[0][1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_fit_goes_on_byte_for_byte(kind):
    whole = fit(network(kind))
    for seed in range(3):
        whole.step(batch_of(seed=seed))
    saved = whole.arrays()
    half = fit(network(kind, number=5))
    half.step(batch_of(seed=8))
    half.load(saved)
    assert half.steps == 3
    for seed in range(3, 6):
        assert whole.step(batch_of(seed=seed)) == half.step(batch_of(seed=seed))
    assert same(whole.arrays(), half.arrays())
    assert not same(whole.arrays(), saved)


def test_a_fit_can_be_saved_before_its_first_step():
    learner, other = fit(), fit(network(number=5))
    other.load(learner.arrays())
    assert learner.step(batch_of()) == other.step(batch_of())
    assert same(learner.arrays(), other.arrays())


def test_arrays_hold_the_whole_state_as_plain_numbers():
    learner = fit()
    learner.step(batch_of())
    arrays, names = learner.arrays(), list(learner.weights())
    assert set(arrays) == {
        f"{part}.{name}" for part in ("network", "adam.step", "adam.mean", "adam.square") for name in names
    }
    assert all(type(array) is np.ndarray and array.dtype == np.float32 for array in arrays.values())
    assert same(learner.weights(), {name: arrays[f"network.{name}"] for name in names})


def test_restart_makes_a_new_fit():
    learner = fit()
    learner.step(batch_of())
    learner.restart(7, 3)
    assert same(learner.arrays(), fit(network(number=3)).arrays())


def test_weights_carry_over_to_another_network():
    learner, other = fit(), network(number=5)
    learner.step(batch_of())
    load_weights(other, learner.weights())
    assert same(fit(other).weights(), learner.weights())


def changed(arrays, name, value):
    arrays = dict(arrays)
    if value is None:
        del arrays[name]
    else:
        arrays[name] = value
    return arrays


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("adam.mean.output.bias", None, "'adam.mean.output.bias' is missing"),
        ("network.extra", np.zeros(3, np.float32), "'network.extra' is not of this network"),
        (
            "network.output.bias",
            np.zeros(3, np.float32),
            r"'network.output.bias' has shape \(3,\), but .* needs \(19,\)",
        ),
        ("network.output.bias", np.zeros(15), "'network.output.bias' has the type float64"),
    ],
)
def test_arrays_that_do_not_fit_name_the_first_and_change_nothing(name, value, message):
    learner, source = fit(), fit(network(number=5)).arrays()
    before = learner.arrays()
    with pytest.raises(CheckpointError, match=message) as error:
        learner.load(changed(source, name, value))
    assert "\n" not in str(error.value)
    assert same(learner.arrays(), before)


def test_weights_of_another_kind_are_refused():
    with pytest.raises(CheckpointError, match=r"is missing|is not of this network"):
        load_weights(network(), fit(network("colour_equivariant")).weights())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": np.nan}, "step 2 of the regret fit has loss nan"),
        ({"values": np.inf}, "has loss inf"),
        ({"weights": np.nan}, "has loss nan"),
        ({"values": 1e30, "weights": 1e-30}, "(loss|gradient norm) inf"),
    ],
)
def test_a_step_that_leaves_the_finite_numbers_moves_nothing(change, message):
    learner, batch = fit(), batch_of()
    learner.step(batch)
    before = learner.arrays()
    wrong = {name: np.where(getattr(batch, name) > 0, value, 0).astype(np.float32) for name, value in change.items()}
    with pytest.raises(DivergedError, match=message) as error:
        learner.step(batch._replace(**wrong))
    assert "lower learning_rate (it is 0.01)" in str(error.value)
    assert "\n" not in str(error.value)
    assert same(learner.arrays(), before)
    clean = fit()
    clean.step(batch)
    assert learner.step(batch) == clean.step(batch)


def test_a_gradient_that_overflows_while_the_loss_does_not_is_seen():
    """Tiny hidden units behind huge output weights: outputs are ordinary, the slope of the hidden layer is not."""
    module = network()
    with torch.no_grad():
        module.hidden.linear[1].weight *= 1e-36
        module.output.weight *= 1e38
    learner = fit(module)
    before = learner.arrays()
    with pytest.raises(DivergedError, match=r"has loss [0-9.e+]+ and gradient norm (inf|nan)"):
        learner.step(batch_of())
    assert same(learner.arrays(), before)
