"""The training loop: stopped, killed or let run, on any threads, it comes to the same bytes."""

import errno
import importlib
import os
import pkgutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import lostcfr.kernels
from lostcfr.config_file import load, to_yaml
from lostcfr.errors import CheckpointError, DivergedError, ResourceError
from lostcfr.memory import Reservoir
from lostcfr.run import loop, state
from lostcfr.run.checkpoint import Checkpoints
from lostcfr.run.loop import Training
from lostcfr.run.metrics import read_rows
from lostcfr.traverse import lockstep
from small_runs import ACCUMULATED, GRADIENT, REMEMBERED, RICH, configuration, contents, differences, restored, train

KINDS = {"plain": (), "rich": RICH, "accumulated": ACCUMULATED, "remembered": REMEMBERED, "gradient": GRADIENT}


@pytest.fixture(scope="module", autouse=True)
def watched_closely():
    """Traversals report after every tick, so that they can be stopped there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lockstep, "WATCH_SECONDS", 0.0)
        yield


@pytest.fixture(scope="module", params=list(KINDS))
def finished(request, tmp_path_factory, watched_closely):
    """The settings of a run that was never stopped, what it reported, and all it came to."""
    folder, reports = tmp_path_factory.mktemp("runs") / "whole", []
    assert train(folder, configuration(*KINDS[request.param]), report=reports.append) == 0
    return KINDS[request.param], reports, contents(folder)


class StopAt:
    """Says to stop at the report of a number, counted from 0."""

    def __init__(self, number):
        self.left = number

    def __call__(self, progress):
        self.left -= 1
        return self.left < 0


def test_the_runs_here_have_full_memories_and_drop_snapshots(finished):
    _, _, found = finished
    seen = {name: number for name, number in found.items() if name.endswith(" seen") and isinstance(number, int)}
    assert min(seen.values()) > 2 * 60
    assert "strategy seen" in seen
    assert {name.split()[1] for name in found if name.startswith("snapshot")} == {"2", "4", "5"}
    assert [row["iteration"] for row in found["metrics"]] == [1, 2, 3, 4]


def test_a_run_stopped_anywhere_and_resumed_is_the_same(finished, tmp_path):
    """In every phase of the second iteration: before each update, and every few ticks of play."""
    overrides, reports, expected = finished
    phases = {number: each.phase for number, each in enumerate(reports) if each.iteration == 2 and each.row is None}
    learned = list(expected["metrics"][0]["loss"])
    chosen = [number for number, phase in phases.items() if phase in learned or number % 12 == 0]
    assert list(dict.fromkeys(phases[number] for number in chosen)) == ["collect", *learned, "evaluate"]
    for number in chosen:
        folder = tmp_path / str(number)
        assert train(folder, configuration(*overrides), stop=StopAt(number)) == 130
        assert train(folder) == 0
        assert differences(contents(folder), expected) == [], reports[number]


def test_a_run_stopped_again_and_again_is_the_same(finished, tmp_path):
    """Each time it gets a little further than the longest traversal, which would else never end."""
    overrides, reports, expected = finished
    codes = [train(tmp_path / "run", configuration(*overrides), stop=StopAt(0))]
    for stops in range(len(reports)):
        if codes[-1] == 130:
            codes.append(train(tmp_path / "run", stop=StopAt(70 + stops)))
    assert codes[-1] == 0
    assert len(codes) > 3
    assert differences(contents(tmp_path / "run"), expected) == []


def test_memories_whose_parts_were_put_together_are_the_same(finished, tmp_path, monkeypatch):
    overrides, _, expected = finished
    monkeypatch.setattr(state, "MOST_PARTS", 2)
    compacted = []
    all_rows = Reservoir.all_rows
    monkeypatch.setattr(Reservoir, "all_rows", lambda memory: compacted.append(memory) or all_rows(memory))
    settings = configuration(*overrides)
    train(tmp_path / "run", settings, stop=lambda progress: progress.iteration == 4)
    parts = Checkpoints(tmp_path / "run" / "checkpoints").latest().state["memories"]
    assert compacted
    # One memory at a time, so the others may wait for their turn.
    assert all(len(memory["parts"]) <= 2 + len(parts) for memory in parts.values())
    train(tmp_path / "run")
    assert differences(contents(tmp_path / "run"), expected) == []


@pytest.mark.parametrize(
    ("threads", "overrides"),
    [
        (2, ()),
        (1, ("traversal.width=1",)),
        (1, ("traversal.width=64",)),
        (1, ("traversal.tile=64",)),
        (2, ("traversal.width=5", "traversal.tile=24")),
        (1, ("traversal.scheduler=recursive",)),
        (1, ("memory.mapped=true",)),
    ],
)
def test_threads_width_and_tile_leave_no_trace(finished, tmp_path, threads, overrides):
    kind, _, expected = finished
    train(tmp_path / "run", configuration(*kind, *overrides), threads=threads)
    assert differences(contents(tmp_path / "run"), expected) == []


def test_another_seed_is_another_run(finished, tmp_path):
    kind, _, expected = finished
    train(tmp_path / "run", configuration(*kind, "seed=2"))
    other = contents(tmp_path / "run")
    assert {"metrics", "evaluations", "strategy values"} <= set(differences(other, expected))


def test_progress_only_grows_and_ends_at_the_whole(finished):
    _, reports, _ = finished
    shares = [each.share for each in reports]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert [each.row["iteration"] for each in reports if each.row] == [1, 2, 3, 4]
    assert max(each.done for each in reports if each.phase == "evaluate") == 1.0
    assert max(each.done for each in reports) == 1.0


def evaluated(folder):
    """Iteration, schedule, opponent and pairs of each evaluation of a run."""
    rows = read_rows(folder / "evaluations.jsonl")
    return [(row["iteration"], row["schedule"], row["opponent"], row["pairs"]) for row in rows]


def test_each_schedule_has_its_iterations_opponents_and_pairs(tmp_path):
    reports, extended = [], "extended_evaluation"
    settings = configuration(f"{extended}.every=3", f"{extended}.opponents=[noisy]", f"{extended}.pairs=5")
    train(tmp_path / "run", settings, report=reports.append)
    small = [(n, "regular", opponent, 8) for n in (2, 4) for opponent in ("random", "balanced")]
    assert evaluated(tmp_path / "run") == [*small[:2], (3, "extended", "noisy", 5), *small[2:]]
    assert [len(each.evaluations) for each in reports if each.row] == [0, 2, 1, 2]


def test_a_regular_evaluation_is_the_same_beside_an_extended_one(tmp_path):
    for folder, every in ("one", 0), ("other", 2):
        train(tmp_path / folder, configuration(f"extended_evaluation.every={every}", "extended_evaluation.pairs=5"))
    one, other = (read_rows(tmp_path / folder / "evaluations.jsonl") for folder in ("one", "other"))
    assert one == [row for row in other if row["schedule"] == "regular"]
    assert len(other) == len(one) + 2 * 7


def means(folder, schedule):
    """The mean over the opponents of each evaluation of a schedule, by iteration."""
    rows = [row for row in read_rows(folder / "evaluations.jsonl") if row["schedule"] == schedule]
    found = {row["iteration"]: [each["mean"] for each in rows if each["iteration"] == row["iteration"]] for row in rows}
    return {iteration: np.mean(each) for iteration, each in found.items()}


def test_the_extended_schedule_decides_on_the_best(tmp_path):
    """Of a run whose regular evaluations would choose another iteration."""
    extended = ["extended_evaluation.every=2", "extended_evaluation.pairs=40"]
    settings = configuration("evaluation.every=1", "evaluation.pairs=2", "limits.iterations=6", *extended)
    train(tmp_path / "run", settings)
    by_regular, by_extended = (means(tmp_path / "run", schedule) for schedule in ("regular", "extended"))
    best = max(by_extended, key=by_extended.get)
    assert max(by_regular, key=by_regular.get) != best
    checkpoint = Checkpoints(tmp_path / "run" / "checkpoints").best()
    assert checkpoint.name == f"{best:08d}-0-000000000"
    assert checkpoint.state["place"]["best"] == pytest.approx(by_extended[best])


@pytest.mark.parametrize(
    "change", ["pairs=9", "opponents=[selective]", "view=current"], ids=["pairs", "opponents", "view"]
)
def test_a_best_by_another_measure_does_not_stand_in_the_way(tmp_path, change):
    """As a run goes on, the first evaluation of another kind is the best so far, though its mean is lower."""
    train(tmp_path / "run", configuration("limits.iterations=2", "evaluation.opponents=[random]"))
    path = tmp_path / "run" / "config.yaml"
    settings = load(path, ["limits.iterations=4", f"evaluation.{change}"])
    path.write_text(to_yaml(settings))
    before = Checkpoints(tmp_path / "run" / "checkpoints").best().state["place"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "mean_points", lambda rows: before["best"] - 1)
        train(tmp_path / "run")
    assert Checkpoints(tmp_path / "run" / "checkpoints").best().name.startswith("00000004")


def test_the_last_checkpoints_and_the_best_are_kept(tmp_path):
    """The best is the first of those with the highest mean over all opponents."""
    train(tmp_path / "run", configuration("evaluation.every=1", "limits.iterations=6"))
    checkpoints = Checkpoints(tmp_path / "run" / "checkpoints")
    assert checkpoints.names() == [f"0000000{n}-0-000000000" for n in (4, 5, 6)]
    rows = read_rows(tmp_path / "run" / "evaluations.jsonl")
    scores = [np.mean([row["mean"] for row in rows if row["iteration"] == n]) for n in range(1, 7)]
    assert len(set(scores)) > 1
    best = checkpoints.best()
    assert best.name == f"0000000{1 + int(np.argmax(scores))}-0-000000000"
    assert best.state["place"]["best"] == max(scores)


def test_a_run_killed_before_its_best_was_copied_has_it_after_all(finished, tmp_path, monkeypatch):
    kind, _, expected = finished
    with monkeypatch.context() as patch:
        patch.setattr(state.Store, "mark_best", lambda store: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path / "run", configuration(*kind))
    assert Checkpoints(tmp_path / "run" / "checkpoints").best() is None
    train(tmp_path / "run", stop=lambda progress: True)
    assert Checkpoints(tmp_path / "run" / "checkpoints").best().name == "00000002-0-000000000"
    train(tmp_path / "run")
    assert differences(contents(tmp_path / "run"), expected) == []


@pytest.mark.parametrize("every", [2, 3, 10])
def test_the_last_iteration_is_always_in_a_checkpoint(tmp_path, every):
    train(tmp_path / "run", configuration(f"checkpoint.every={every}", "evaluation.every=0"))
    assert restored(tmp_path / "run").iteration == 4


@pytest.mark.parametrize("late", [0, 1, 2, 3, 4])
def test_a_run_that_ends_by_the_clock_has_its_last_iteration_in_a_checkpoint(tmp_path, monkeypatch, late):
    """However late after the second iteration a look at the clock says so."""
    looks = []

    def seconds(training):
        looks.append(training.place.iteration)
        return 1e6 if looks.count(3) > late else 0.0

    monkeypatch.setattr(Training, "seconds", property(seconds))
    train(tmp_path / "run", configuration("checkpoint.every=10", "evaluation.every=0", "limits.minutes=1"))
    assert len(read_rows(tmp_path / "run" / "metrics.jsonl")) == restored(tmp_path / "run").iteration in (2, 3)


def test_a_full_disk_leaves_the_checkpoint_before(finished, tmp_path, monkeypatch):
    kind, _, expected = finished
    fsync = os.fsync

    def full(descriptor):
        if len(Checkpoints(tmp_path / "run" / "checkpoints").names()) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(ResourceError, match=r"No space left on device|free there"):
            train(tmp_path / "run", configuration(*kind))
    assert restored(tmp_path / "run").iteration == 2
    train(tmp_path / "run")
    assert differences(contents(tmp_path / "run"), expected) == []


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_numbers_that_are_not_finite_end_the_run_and_spare_the_checkpoint(finished, tmp_path, monkeypatch, value):
    kind, _, expected = finished
    insert, fit = Reservoir.insert, "strategy" if kind in (ACCUMULATED, GRADIENT) else "regret"

    def spoiled(memory, features, actions, values, iteration):
        insert(memory, features, actions, values + np.float32(value if iteration == 3 else 0), iteration)

    with monkeypatch.context() as patch:
        patch.setattr(Reservoir, "insert", spoiled)
        with pytest.raises(
            DivergedError, match=rf"step \d+ of the {fit} fit has loss (inf|nan) .* lower learning_rate"
        ):
            train(tmp_path / "run", configuration(*kind))
    assert restored(tmp_path / "run").iteration == 2
    train(tmp_path / "run")
    assert differences(contents(tmp_path / "run"), expected) == []


def test_a_run_stopped_with_a_row_that_is_not_finite_spares_the_checkpoint(finished, tmp_path, monkeypatch):
    kind, _, expected = finished
    first = next(iter(expected["metrics"][0]["loss"]))
    with monkeypatch.context() as patch:
        patch.setattr(loop, "describe", lambda played: {"entropy": np.nan})
        with pytest.raises(DivergedError, match="a number of the state is not finite"):
            train(tmp_path / "run", configuration(*kind), stop=lambda progress: progress.phase == first)
    train(tmp_path / "run")
    assert differences(contents(tmp_path / "run"), expected) == []


@pytest.mark.parametrize("view", ["mixture", "average", "current"])
def test_every_view_can_be_evaluated(tmp_path, view):
    train(tmp_path / "run", configuration(f"evaluation.view={view}", "limits.iterations=2"))
    rows = read_rows(tmp_path / "run" / "evaluations.jsonl")
    assert [(row["agent"], row["opponent"]) for row in rows] == [(view, "random"), (view, "balanced")]


@pytest.mark.parametrize("opponent", ["average", "balanced"])
def test_other_opponents_than_the_current_player(tmp_path, opponent):
    """Without decisions of the current player as opponent there is nothing for a strategy network to learn."""
    settings = configuration(f"traversal.opponent={opponent}", "evaluation.view=mixture", strategy=False)
    train(tmp_path / "run", settings)
    rows = read_rows(tmp_path / "run" / "metrics.jsonl")
    assert [list(row["loss"]) for row in rows] == [["advantage-0"]] * 4
    assert {row["strategy_rows"] for row in rows} == {0}


def test_external_sampling_trains_and_is_the_same_on_two_threads(tmp_path):
    settings = configuration("traversal.sampling=external", "traversal.per_player=2", "limits.iterations=2")
    for threads in 1, 2:
        train(tmp_path / str(threads), settings, threads=threads)
    assert differences(contents(tmp_path / "1"), contents(tmp_path / "2")) == []


def kernels():
    """Every compiled kernel with the number of its compiled versions."""
    names = [each.name for each in pkgutil.iter_modules(lostcfr.kernels.__path__)]
    modules = [importlib.import_module(f"lostcfr.kernels.{name}") for name in names]
    found = {f"{module.__name__}.{name}": each for module in modules for name, each in vars(module).items()}
    return {name: len(each.signatures) for name, each in found.items() if hasattr(each, "signatures")}


def test_nothing_is_compiled_and_no_process_started_after_the_first_iteration(tmp_path, monkeypatch):
    versions = []

    def refuse(*arguments, **keywords):
        raise AssertionError("a process was started")

    def report(progress):
        if progress.row and progress.iteration == 1:
            versions.append(kernels())
            for module, name in (os, "fork"), (os, "posix_spawn"), (os, "system"), (subprocess, "Popen"):
                monkeypatch.setattr(module, name, refuse)

    train(tmp_path / "run", configuration("evaluation.every=1"), threads=2, report=report)
    assert sum(versions[0].values()) > 5
    assert versions == [kernels()]


def test_memory_does_not_grow(tmp_path):
    """Resident megabytes after 50 and after 200 iterations, with full memories and as many snapshots as are kept."""
    resident = {}

    def report(progress):
        if progress.row:
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            resident[progress.row["iteration"]] = pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    train(tmp_path / "run", configuration("limits.iterations=200", "evaluation.every=10"), report=report)
    assert resident[200] - resident[50] < 5


def test_a_run_of_other_settings_is_not_gone_on_with(finished, tmp_path):
    """Where the folder's configuration was changed by hand, the arrays tell."""
    train(tmp_path / "run", configuration("limits.iterations=1"))
    path = tmp_path / "run" / "config.yaml"
    path.write_text(path.read_text().replace("hidden: 16", "hidden: 8"))
    with pytest.raises(CheckpointError, match="the arrays belong to a network of another kind, size or game"):
        train(tmp_path / "run")
