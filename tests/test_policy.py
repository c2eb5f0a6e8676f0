"""From outputs to a policy to an action, against twins in plain Python; and the lists of legal actions."""

import numpy as np
import pytest
from scipy import stats

from lostcfr import LostCities
from lostcfr.kernels import policy, rng, rules as game_rules
from lostcfr.kernels.jit import kernel
from lostcfr.kernels.rules import NO_ACTION
from rule_sets import RULE_SETS

MOST_BITS = np.uint64(2**64 - 1)
SLOTS, ACTIONS = 5, 9
DRAWS = 60_000
CHANCES = pytest.mark.parametrize(
    ("sigma", "exploration"),
    [
        ([0.5, 0.25, 0.125, 0.0625, 0.0625], 0.0),
        ([0.0, 0.7, 0.0, 0.3, 0.0], 0.0),
        ([0.0, 0.7, 0.0, 0.3, 0.0], 0.3),
        ([1.0, 0.0, 0.0], 0.5),
        ([0.2, 0.3, 0.5], 1.0),
        ([1.0], 0.0),
    ],
)


@kernel
def match_all(outputs, actions, legal, uniform_fallback, bits, out_sigma, out_fell):
    for row in range(legal.shape[0]):
        fell = policy.match_regrets(outputs, actions, row, legal[row], uniform_fallback, bits[row], out_sigma)
        out_fell[row] = fell


@kernel
def softmax_all(outputs, actions, legal, out_sigma):
    for row in range(legal.shape[0]):
        policy.softmax(outputs, actions, row, legal[row], out_sigma)


@kernel
def cut_all(sigma, legal, floor, bits):
    for row in range(legal.shape[0]):
        policy.cut(sigma, row, legal[row], floor, bits[row])


@kernel
def sample_all(sigma, exploration, legal, bits, out_slot):
    """Draw as often as there are bits from each row of sigma."""
    for row in range(legal.shape[0]):
        for k in range(bits.shape[0]):
            out_slot[row, k] = policy.sample(sigma, row, legal[row], exploration, bits[k])


@kernel
def random_bits(out_bits):
    for k in range(out_bits.shape[0]):
        out_bits[k] = rng.draw(np.uint64(5), 0, k, 0, rng.ACTION)


@kernel
def list_all(rules, games, out_actions, out_legal):
    for i in range(out_legal.shape[0]):
        out_legal[i] = game_rules.list_legal(rules, games, i, out_actions, i)


def bits_of(count):
    bits = np.zeros(count, np.uint64)
    random_bits(bits)
    return bits


def rows_of(outputs):
    """Each row of outputs (a list, by slot) at actions that ascend, and an enormous output everywhere else."""
    legal = np.array([len(row) for row in outputs])
    table = np.full((len(outputs), ACTIONS), 1e30, np.float32)
    actions = np.full((len(outputs), SLOTS), NO_ACTION, np.uint8)
    generator = np.random.default_rng(1)
    for k, row in enumerate(outputs):
        actions[k, : legal[k]] = np.sort(generator.permutation(ACTIONS)[: legal[k]])
        table[k, actions[k, : legal[k]]] = row
    return table, actions, legal


def matched(outputs, bits=None, uniform=False):
    """What the kernel says: sigma by row, as long as the row, and whether it fell back."""
    table, actions, legal = rows_of(outputs)
    sigma, fell = np.zeros((len(outputs), SLOTS)), np.zeros(len(outputs), np.bool_)
    bits = bits_of(len(outputs)) if bits is None else np.array(bits, np.uint64)
    match_all(table, actions, legal, uniform, bits, sigma, fell)
    return [row[:n] for row, n in zip(sigma, legal, strict=True)], fell


def random_outputs(count, low, high):
    generator = np.random.default_rng(2)
    return [generator.uniform(low, high, generator.integers(1, SLOTS + 1)).astype(np.float32) for _ in range(count)]


def test_positive_regrets_are_matched():
    outputs = random_outputs(2000, -1, 1)
    sigmas, fell = matched(outputs)
    some = 0
    for row, sigma, fallback in zip(outputs, sigmas, fell, strict=True):
        positive = [max(float(output), 0.0) for output in row]
        assert fallback == (sum(positive) == 0)
        if not fallback:
            some += 1
            assert sigma.tolist() == pytest.approx([each / sum(positive) for each in positive], abs=1e-15)
    assert 1000 < some < 2000


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize(("low", "high"), [(-1, 1), (-3e38, 3e38), (-1e-44, 1e-44), (-9, -1)])
def test_a_policy_sums_to_one(low, high, uniform):
    """Also where regrets are as large or as small as a f4 can be."""
    sigmas, _ = matched(random_outputs(500, low, high), uniform=uniform)
    assert max(abs(sum(sigma) - 1) for sigma in sigmas) < 1e-12
    assert min(min(sigma) for sigma in sigmas) >= 0


def test_without_a_positive_regret_the_best_is_followed():
    outputs = random_outputs(500, -9, -1)
    sigmas, fell = matched(outputs)
    assert fell.all()
    for row, sigma in zip(outputs, sigmas, strict=True):
        assert sigma.tolist() == (np.arange(len(row)) == np.argmax(row)).tolist()


def test_without_a_positive_regret_play_is_uniform_where_that_is_wanted():
    sigmas, fell = matched([[-1.0, -2.0, -3.0], [0.0, -0.0], [-5.0]], uniform=True)
    assert fell.all()
    assert [sigma.tolist() for sigma in sigmas] == [[1 / 3] * 3, [0.5] * 2, [1.0]]


def test_the_smallest_positive_regret_is_no_fallback():
    sigmas, fell = matched([[1e-45, -1.0, -0.0]])
    assert (sigmas[0].tolist(), fell[0]) == ([1.0, 0.0, 0.0], False)


@pytest.mark.parametrize(
    ("row", "equals"),
    [
        ([-2.0, -1.0, -3.0, -1.0, -1.0], [1, 3, 4]),
        ([-7.0] * 5, [0, 1, 2, 3, 4]),
        ([-1.0, -0.0, 0.0], [1, 2]),
        ([0.0, -1.0, -0.0, -1e-45], [0, 2]),
        ([-1.0, -1.0], [0, 1]),
    ],
)
def test_equals_are_drawn_evenly(row, equals):
    sigmas, fell = matched([row] * 20_000)
    times = np.sum(sigmas, axis=0)
    assert fell.all()
    assert np.flatnonzero(times).tolist() == equals
    assert set(np.unique(sigmas)) == {0.0, 1.0}
    assert stats.chisquare(times[equals]).pvalue > 1e-3


def test_extreme_bits_choose_the_first_and_the_last_of_equals():
    sigmas, _ = matched([[-2.0, -1.0, -1.0, -1.0, -2.0]] * 2, bits=[0, MOST_BITS])
    assert [int(np.argmax(sigma)) for sigma in sigmas] == [1, 3]


def softmaxed(outputs):
    table, actions, legal = rows_of(outputs)
    sigma = np.zeros((len(outputs), SLOTS))
    softmax_all(table, actions, legal, sigma)
    return [row[:n] for row, n in zip(sigma, legal, strict=True)]


def test_softmax_equals_the_twin():
    outputs = random_outputs(500, -20, 20)
    for row, sigma in zip(outputs, softmaxed(outputs), strict=True):
        weights = np.exp(row.astype(np.float64))
        assert sigma.tolist() == pytest.approx((weights / weights.sum()).tolist(), rel=1e-12)
        assert abs(sigma.sum() - 1) < 1e-12


def test_softmax_of_huge_logits_is_finite():
    sigmas = softmaxed([[3e38, -3e38], [-3e38, -3e38, -3e38], [1e4, 1e4 - 1]])
    assert sigmas[0].tolist() == [1.0, 0.0]
    assert sigmas[1].tolist() == pytest.approx([1 / 3] * 3, abs=1e-15)
    assert sigmas[2][0] == pytest.approx(1 / (1 + np.exp(-1)), abs=1e-12)


def cut(sigmas, floor, bits=None):
    """What is left of policies (lists) below a floor."""
    table, legal = np.full((len(sigmas), SLOTS), 0.75, np.float32), np.array(list(map(len, sigmas)))
    for k, sigma in enumerate(sigmas):
        table[k, : len(sigma)] = sigma
    bits = bits_of(len(sigmas)) if bits is None else np.array(bits, np.uint64)
    cut_all(table, legal, np.float32(floor), bits)
    assert (table[np.arange(SLOTS) >= legal[:, None]] == 0.75).all()
    return [row[:n].tolist() for row, n in zip(table, legal, strict=True)]


def random_policies(count):
    weights = [np.random.default_rng(k).exponential(size=1 + k % SLOTS) for k in range(count)]
    return [(each / each.sum()).astype(np.float32) for each in weights]


@pytest.mark.parametrize("floor", [0.01, 0.1, 0.3, 0.6, 1.0, 2.0])
def test_what_is_below_the_floor_is_dropped_and_the_rest_scaled(floor):
    sigmas = random_policies(500)
    for sigma, found in zip(sigmas, cut(sigmas, floor), strict=True):
        kept = [float(each) if each >= np.float32(floor) else 0.0 for each in sigma]
        twin = [each / sum(kept) for each in kept] if any(kept) else np.float64(sigma == sigma.max()).tolist()
        assert found == pytest.approx(twin, abs=1e-7)
        assert sum(found) == pytest.approx(1, abs=1e-6)


def test_a_probability_that_is_the_floor_is_kept():
    assert cut([[0.7, 0.3], [0.1, 0.9]], 0.3) == [[np.float32(0.7), np.float32(0.3)], [0.0, 1.0]]
    assert cut([[0.3, 0.7]], 0.7) == [[0.0, 1.0]]


@pytest.mark.parametrize(("row", "equals"), [([0.2] * 5, [0, 1, 2, 3, 4]), ([0.25, 0.125, 0.375, 0.25, 0.0], [2])])
def test_the_likeliest_is_kept_and_drawn_from_equals(row, equals):
    times = np.sum(cut([row] * 20_000, 2.0), axis=0)
    assert np.flatnonzero(times).tolist() == equals
    assert times.sum() == 20_000
    assert len(equals) == 1 or stats.chisquare(times[equals]).pvalue > 1e-3


def test_extreme_bits_keep_the_first_and_the_last_of_equals():
    found = cut([[0.1, 0.3, 0.3, 0.3]] * 2, 2.0, bits=[0, MOST_BITS])
    assert [int(np.argmax(sigma)) for sigma in found] == [1, 3]


def explored(sigma, exploration):
    return np.array([policy.explored(np.float32(each), exploration, len(sigma)) for each in sigma])


def drawn(sigma, exploration, bits):
    """i8 [bits]: the slots drawn from one policy."""
    row, slots = np.array([sigma], np.float32), np.zeros((1, len(bits)), np.int64)
    sample_all(row, exploration, np.array([len(sigma)]), bits, slots)
    return slots[0]


@CHANCES
def test_exploration_mixes_uniform_play_in(sigma, exploration):
    twin = [(1 - exploration) * np.float64(np.float32(each)) + exploration / len(sigma) for each in sigma]
    xi = explored(sigma, exploration)
    assert xi.tolist() == pytest.approx(twin, abs=1e-15)
    assert abs(xi.sum() - 1) < 1e-7  # a policy is kept in f4


@CHANCES
def test_actions_are_drawn_as_often_as_they_should(sigma, exploration):
    times = np.bincount(drawn(sigma, exploration, bits_of(DRAWS)), minlength=len(sigma))
    xi = explored(sigma, exploration)
    possible = xi > 0
    assert (times[~possible] == 0).all()
    if possible.sum() > 1:
        share = xi[possible] / xi[possible].sum()
        assert stats.chisquare(times[possible], DRAWS * share).pvalue > 1e-3


def test_extreme_bits_choose_the_first_and_the_last_possible_action():
    generator = np.random.default_rng(3)
    weights = generator.uniform(0, 1, (3000, SLOTS)) * (generator.uniform(0, 1, (3000, SLOTS)) < 0.5)
    weights = weights[weights.any(axis=1)]
    sigma = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    slots = np.zeros((len(sigma), 2), np.int64)
    sample_all(sigma, 0.0, np.full(len(sigma), SLOTS), np.array([0, MOST_BITS], np.uint64), slots)
    assert (slots[:, 0] == (sigma > 0).argmax(axis=1)).all()
    assert (slots[:, 1] == SLOTS - 1 - (sigma[:, ::-1] > 0).argmax(axis=1)).all()


def test_a_unit_is_at_least_zero_and_below_one():
    assert policy.unit(np.uint64(0)) == 0
    assert policy.unit(MOST_BITS) == 1 - 2.0**-53
    assert policy.unit(np.uint64(2**63)) == 0.5


@pytest.mark.parametrize("name", list(RULE_SETS))
def test_lists_of_legal_actions_are_the_masks_of_them(name):
    """In many positions of random rounds, the finished ones at their end included."""
    game = LostCities(RULE_SETS[name])
    most, lanes = game_rules.most_legal(game.parameters), game.lanes(200)
    lanes.deal(seed=4)
    listed, counts = np.zeros((200, most), np.uint8), np.zeros(200, np.int64)
    seen = 0
    for _ in range(160):
        mask = lanes.legal()
        list_all(game.parameters, lanes.games, listed, counts)
        assert (counts == mask.sum(axis=1)).all()
        rows, actions = np.nonzero(mask)
        is_action = listed != NO_ACTION
        assert (np.nonzero(is_action)[0] == rows).all()
        assert (listed[is_action] == actions).all()
        assert (is_action == (np.arange(most) < counts[:, None])).all()
        seen = max(seen, int(counts.max()))
        lanes.act(lanes.bot_actions(np.zeros(200, np.int64), seed=4))
    assert seen == most
