"""Memories: the slow twin, uniformity, independence of how rows arrive, changes that come back, sentences."""

import collections
import itertools
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies
from scipy import stats

import naive_memory
from lostcfr import InputError, LostCities
from lostcfr.errors import CheckpointError, ResourceError
from lostcfr.kernels import reservoir as kernels, rng
from lostcfr.memory import GIB, Batch, Reservoir, available_bytes, bytes_needed, check_budget
from lostcfr.threads import Workers

FEATURES, SLOTS = 7, 3


def memory(capacity=20, seed=5, number=0, **options):
    return Reservoir(capacity, FEATURES, SLOTS, seed, number, **options)


def rows(n, first=0):
    """Rows that tell their number: in four of the features as bytes, and in every slot."""
    numbers = np.arange(first, first + n, dtype=np.uint32)
    features = np.zeros((n, FEATURES), np.uint8)
    features[:, :4] = numbers.view(np.uint8).reshape(n, 4)
    features[:, 4:] = features[:, :3]
    actions = np.repeat(features[:, :1], SLOTS, axis=1)
    return features, actions, (numbers[:, None] + np.arange(SLOTS) / 4).astype(np.float32)


def offer(reservoir, n, iteration=1, first=None):
    reservoir.insert(*rows(n, reservoir.seen if first is None else first), iteration)


def numbers_in(arrays):
    """The numbers of stored rows; every column has to agree."""
    arrays = arrays._asdict() if isinstance(arrays, Batch) else arrays
    numbers = arrays["features"][:, :4].copy().view(np.uint32)[:, 0]
    for column, expected in zip(("features", "actions", "values"), _rows_of(numbers), strict=True):
        assert (arrays[column] == expected).all()
    return numbers.tolist()


def _rows_of(numbers):
    parts = [rows(1, number) for number in numbers]
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def same(one, other):
    return one.keys() == other.keys() and all((one[name] == other[name]).all() for name in one)


@pytest.mark.parametrize(("seed", "number", "capacity", "n"), [(5, 0, 20, 400), (2**64 - 1, 7, 1, 90), (0, 3, 50, 49)])
def test_contents_equal_the_twin(seed, number, capacity, n):
    reservoir = memory(capacity, seed, number)
    offer(reservoir, n)
    assert (reservoir.seen, reservoir.size, len(reservoir)) == (n, min(n, capacity), min(n, capacity))
    assert numbers_in(reservoir.all_rows()) == naive_memory.contents(seed, number, list(range(n)), capacity)


def test_places_equal_the_twin_far_beyond_the_numbers_of_32_bits():
    generator = random.Random(8)
    found = collections.Counter()
    for _ in range(400):
        seed, number = np.uint64(generator.getrandbits(64)), generator.randrange(8)
        capacity = generator.randrange(2**29, 2**31)
        r = generator.randrange(2 ** generator.choice([32, 33, 34, 62]))
        expected = naive_memory.place(int(seed), number, r, capacity)
        assert kernels.place(seed, number, r, capacity) == (kernels.NOWHERE if expected is None else expected)
        found[expected is None] += 1
    assert min(found.values()) > 50


def test_the_purposes_of_chance_are_those_of_the_twin():
    assert (rng.RESERVOIR, rng.MINIBATCH) == (naive_memory.RESERVOIR, naive_memory.MINIBATCH)


def subsets_p_value(kept, capacity, n):
    """Chi-square over which rows were kept: every subset of the n has to be equally likely."""
    counts = collections.Counter(map(frozenset, kept))
    every = list(itertools.combinations(range(n), capacity))
    assert set(counts) <= set(map(frozenset, every))
    return stats.chisquare([counts[frozenset(subset)] for subset in every]).pvalue


def test_every_subset_of_the_rows_is_equally_likely_to_be_kept():
    kept = []
    for seed in range(5000):
        reservoir = memory(3, seed)
        offer(reservoir, 7)
        kept.append(numbers_in(reservoir.all_rows()) if seed < 50 else reservoir.all_rows()["features"][:, 0].tolist())
    assert 0.001 < subsets_p_value(kept, 3, 7) < 0.999


@pytest.mark.parametrize(("off_by", "low", "high"), [(0, 0.001, 1), (-1, 0, 1e-6), (1, 0, 1e-6)])
def test_a_wrong_range_of_places_would_be_noticed(off_by, low, high):
    kept = [naive_memory.contents(seed, 0, list(range(7)), 3, off_by) for seed in range(5000)]
    assert low <= subsets_p_value(kept, 3, 7) < high


def test_rows_are_kept_alike_long_after_the_memory_is_full():
    """Each of 40 tenths of a long stream has its share: chi-square of a sample without replacement."""
    reservoir = memory(2000)
    offer(reservoir, 40_000)
    numbers = reservoir.all_rows()["values"][:, 0].astype(np.int64)
    assert len(set(numbers.tolist())) == 2000
    counts = np.bincount(numbers // 1000, minlength=40)
    statistic = ((counts - 50) ** 2 / (50 * (1 - 2000 / 40_000))).sum()
    assert 0.001 < stats.chi2.sf(statistic, 39) < 0.999


def test_the_result_does_not_depend_on_how_rows_are_grouped():
    whole, parts = memory(), memory()
    offer(whole, 100)
    for size in (1, 0, 18, 3, 50, 28):
        offer(parts, size)
    assert parts.seen == 100
    assert same(whole.all_rows(), parts.all_rows())


def test_memories_of_one_run_and_runs_of_other_seeds_differ():
    kept = set()
    for seed, number in [(5, 0), (5, 1), (6, 0), (5 + 2**32, 0)]:
        reservoir = memory(seed=seed, number=number)
        offer(reservoir, 200)
        kept.add(tuple(numbers_in(reservoir.all_rows())))
    assert len(kept) == 4


def test_a_mapped_memory_equals_a_plain_one_and_leaves_no_file(tmp_path):
    plain, mapped = memory(), memory(directory=tmp_path)
    for reservoir in (plain, mapped):
        offer(reservoir, 100)
    assert same(plain.all_rows(), mapped.all_rows())
    assert same(plain.take_changes(), mapped.take_changes())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="this system does not list what is mapped")
def test_a_mapped_memory_lies_in_its_directory(tmp_path):
    mapped = memory(directory=tmp_path)
    files = [line for line in Path("/proc/self/maps").read_text().splitlines() if str(tmp_path) in line]
    assert len(files) == len(mapped._memory)


def test_a_directory_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ResourceError, match=r"nowhere.*No such file.*memory.mapped"):
        memory(directory=tmp_path / "nowhere")


def test_changes_are_the_places_written_since_they_were_last_taken():
    reservoir = memory()
    offer(reservoir, 15)
    assert reservoir.take_changes()["places"].tolist() == list(range(15))
    assert reservoir.take_changes()["places"].tolist() == []
    offer(reservoir, 40, iteration=2)
    changes = reservoir.take_changes()
    twin = naive_memory.contents(5, 0, list(range(55)), 20)
    assert changes["places"].tolist() == [j for j, row in enumerate(twin) if row >= 15]
    assert numbers_in(changes) == [row for row in twin if row >= 15]
    assert set(changes["iteration"].tolist()) == {2}


def test_taken_changes_are_copies():
    reservoir = memory(1)
    offer(reservoir, 1)
    changes = reservoir.take_changes()
    offer(reservoir, 60)
    assert numbers_in(changes) == [0]
    assert numbers_in(reservoir.all_rows()) != [0]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(strategies.lists(strategies.integers(0, 30), max_size=8), strategies.integers(0, 8), strategies.booleans())
def test_a_memory_comes_back_from_its_changes(sizes, compacted, used):
    """Byte for byte, also from one file of all rows and the changes after it, and it goes on the same."""
    original, changes = memory(), []
    for k, size in enumerate(sizes):
        offer(original, size, iteration=k)
        last = original.take_changes()
        changes.append(last)
        if k == compacted:
            changes = [{name: array.copy() for name, array in original.all_rows().items()}]
    copy = memory()
    if used:
        offer(copy, 13, iteration=99)
    copy.restore(original.seen, iter(changes))
    assert copy.take_changes()["places"].tolist() == []
    for n in (0, 25):
        for reservoir in (original, copy):
            offer(reservoir, n, iteration=9)
        assert same(original.all_rows(), copy.all_rows())
        assert original.seen == copy.seen
    assert same(original.take_changes(), copy.take_changes())


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"more": np.zeros(3)}, "must be actions, features, iteration, places, values"),
        ({"places": np.arange(20, dtype=np.int32)}, "stored places must be an array int64"),
        ({"places": np.arange(1, 21)}, "ascend within 0 .. 19"),
        ({"places": np.arange(20) - 1}, "ascend within 0 .. 19"),
        ({"places": np.arange(20)[::-1]}, "ascend within 0 .. 19"),
        ({"places": np.repeat(np.arange(10), 2)}, "ascend within 0 .. 19"),
        ({"features": np.zeros((20, FEATURES + 1), np.uint8)}, r"stored features .* uint8 \(20, 7\)"),
        ({"actions": np.zeros((19, SLOTS), np.uint8)}, r"stored actions .* uint8 \(20, 3\)"),
        ({"values": np.zeros((20, SLOTS))}, r"stored values .* float32 \(20, 3\), but is float64"),
        ({"iteration": np.full(20, -1, np.int32)}, "no number below 0"),
    ],
)
def test_changes_of_another_memory_are_refused_and_nothing_is_written(arrays, message):
    other, reservoir = memory(), memory()
    offer(other, 30)
    offer(reservoir, 25, first=100)
    before = {name: array.copy() for name, array in reservoir.all_rows().items()}
    with pytest.raises(CheckpointError, match=message):
        reservoir.apply_changes(other.take_changes() | arrays)
    assert same(reservoir.all_rows(), before)


def test_changes_without_one_of_the_arrays_are_refused():
    with pytest.raises(CheckpointError, match="are places, but must be"):
        memory().apply_changes({"places": np.arange(3)})


@pytest.mark.parametrize(
    ("seen", "places", "message"),
    [(20, 19, "1 of its 20 rows are missing and 0"), (10, 12, "0 of its 10 rows are missing and 2")],
)
def test_a_memory_with_missing_rows_or_too_many_is_refused_and_left_empty(seen, places, message):
    reservoir = memory()
    offer(reservoir, 25)
    arrays = {name: array[:places] for name, array in reservoir.take_changes().items()}
    with pytest.raises(CheckpointError, match=message):
        reservoir.restore(seen, [arrays])
    assert reservoir.size == 0


def filled(capacity=20, n=60, **options):
    """A memory of rows whose number tells their iteration: ten rows an iteration."""
    reservoir = memory(capacity, **options)
    for iteration in range(n // 10):
        offer(reservoir, 10, iteration)
    return reservoir


TABLE = np.array([0.5, 1, 2, 4, 8, 16], np.float32)


@pytest.mark.parametrize(("number", "iteration", "step"), [(0, 1, 0), (7, 2**32 - 1, 2**32 - 1)])
def test_a_minibatch_equals_the_twin(number, iteration, step):
    reservoir = filled(number=number)
    batch = reservoir.new_batch(50)
    reservoir.sample(iteration, step, TABLE, batch)
    held = numbers_in(reservoir.all_rows())
    expected = [held[j] for j in naive_memory.minibatch(5, number, iteration, step, 50, 20)]
    assert numbers_in(batch) == expected
    assert batch.weights.tolist() == [TABLE[row // 10] for row in expected]


def test_a_minibatch_of_a_memory_that_is_not_full_takes_only_what_it_holds():
    reservoir = filled(100, 30)
    batch = reservoir.new_batch(400)
    reservoir.sample(1, 1, TABLE, batch)
    assert set(numbers_in(batch)) == set(range(30))


def test_every_row_is_equally_likely_in_a_minibatch_and_so_is_every_pair():
    reservoir = filled(10, 10)
    first, second = reservoir.new_batch(8000), reservoir.new_batch(8000)
    reservoir.sample(1, 0, TABLE, first)
    reservoir.sample(1, 1, TABLE, second)
    for other in (np.roll(first.features[:, 0], 1), second.features[:, 0]):
        pairs = np.bincount(10 * first.features[:, 0].astype(int) + other, minlength=100)
        assert 0.001 < stats.chisquare(pairs).pvalue < 0.999


def test_a_minibatch_does_not_depend_on_threads():
    batches = []
    for threads in (1, 2, 3):
        reservoir = filled(workers=Workers(threads))
        batches.append(reservoir.new_batch(1000))
        reservoir.sample(3, 4, TABLE, batches[-1])
    for batch in batches[1:]:
        assert all((one == other).all() for one, other in zip(batches[0], batch, strict=True))


def test_the_mean_weight_is_that_of_the_rows_in_the_memory():
    reservoir = filled()
    weights = [float(TABLE[row // 10]) for row in numbers_in(reservoir.all_rows())]
    assert reservoir.mean_weight(TABLE) == sum(weights) / len(weights)


def test_a_table_divided_by_its_mean_gives_weights_of_mean_one():
    reservoir = filled()
    scaled = TABLE / np.float32(reservoir.mean_weight(TABLE))
    assert abs(reservoir.mean_weight(scaled) - 1) < 1e-6


def test_an_empty_memory_refuses_to_be_drawn_from():
    reservoir = memory()
    for use in (lambda: reservoir.sample(1, 0, TABLE, reservoir.new_batch(3)), lambda: reservoir.mean_weight(TABLE)):
        with pytest.raises(InputError, match="empty: insert rows"):
            use()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE[:5], "has 5 entries, but a row is of iteration 5"),
        (TABLE.astype(float), r"float32 \(6,\), but is float64"),
    ],
)
def test_a_table_that_does_not_reach_is_refused(table, message):
    reservoir = filled()
    restored = memory()
    restored.restore(reservoir.seen, [reservoir.take_changes()])
    for each in (reservoir, restored):
        with pytest.raises(InputError, match=message):
            each.mean_weight(table)
        with pytest.raises(InputError, match=message):
            each.sample(1, 0, table, each.new_batch(4))


def test_buffers_that_do_not_fit_are_refused():
    reservoir = filled()
    batch = reservoir.new_batch(4)
    fixed = batch.weights.copy()
    fixed.flags.writeable = False
    for wrong in (
        batch._replace(values=np.zeros((4, SLOTS + 1), np.float32)),
        batch._replace(weights=np.zeros(3, np.float32)),
        batch._replace(actions=np.zeros((4, SLOTS), np.int8)),
        batch._replace(features=np.zeros((4, 2 * FEATURES), np.uint8)[:, ::2]),
        batch._replace(weights=fixed),
    ):
        with pytest.raises(InputError, match="batch"):
            reservoir.sample(1, 0, TABLE, wrong)


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_rows_that_do_not_fit_are_refused_and_not_counted(wrong):
    reservoir = memory()
    arrays = list(rows(4))
    arrays[wrong] = arrays[wrong][:, 1:]
    with pytest.raises(InputError, match=r"\(4, [37]\), but is"):
        reservoir.insert(*arrays, 1)
    assert (reservoir.seen, reservoir.take_changes()["places"].tolist()) == (0, [])


@pytest.mark.parametrize(
    "wrong",
    [{"capacity": 0}, {"capacity": 2**31}, {"number": 8}, {"seed": -1}, {"seed": 2**64}, {"capacity": 2.5}],
)
def test_bad_sizes_and_seeds(wrong):
    with pytest.raises(InputError, match=f"{next(iter(wrong))} is"):
        memory(**wrong)


def test_the_bytes_of_a_memory_are_those_that_were_told():
    assert memory(1000).nbytes == bytes_needed(1000, FEATURES, SLOTS) == 1000 * (FEATURES + SLOTS * 5 + 5)


def test_three_classic_memories_of_two_million_rows_fit_the_usual_budget():
    game = LostCities()
    total = 3 * bytes_needed(2_000_000, game.num_features, 16)
    assert 3 * GIB < total < 3.2 * GIB
    check_budget(total, 4.0, available=4 * GIB)


def test_a_budget_that_is_too_small_says_what_is_needed_and_what_there_is():
    with pytest.raises(ResourceError) as error:
        check_budget(5 * GIB, 4.0, available=7 * GIB)
    message = str(error.value)
    for part in ("need 5.00 GiB", "allows 4 ", "7.00 GiB of memory", "memory.advantage_rows", "budget_gib higher"):
        assert part in message


def test_a_machine_that_is_too_small_says_so(tmp_path):
    with pytest.raises(ResourceError, match=r"need 3.00 GiB, but 1.00 GiB of memory are free.*memory.mapped to true"):
        check_budget(3 * GIB, 4.0, available=GIB)
    with pytest.raises(ResourceError, match=f"but 1.00 GiB on the disk of {tmp_path} are free.*free some space"):
        check_budget(3 * GIB, 4.0, available=GIB, directory=tmp_path)


def test_what_is_free_is_measured_where_the_memories_will_lie(tmp_path):
    assert 0 < available_bytes() < 2**50
    assert 0 < available_bytes(tmp_path) < 2**60
    with pytest.raises(ResourceError, match="of memory are free"):
        check_budget(2**50, 2.0**50)
    with pytest.raises(ResourceError, match="on the disk of"):
        check_budget(2**60, 2.0**50, directory=tmp_path)
