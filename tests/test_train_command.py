"""``lostcfr train`` as a person or a scheduler meets it: killed, interrupted, refused, watched."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
import types

import pytest
import torch

from lostcfr.cli import training_reports
from lostcfr.errors import EXIT_CHECKPOINT, EXIT_CONFIGURATION, EXIT_DIVERGED, EXIT_RESOURCES, EXIT_USAGE
from lostcfr.memory import Reservoir
from lostcfr.run.checkpoint import Checkpoints
from lostcfr.run.directory import RunDirectory
from lostcfr.run.metrics import read_rows
from numbered_runs import start
from small_runs import RICH, RULES, command, configuration, contents, differences, restored, train, written

MAIN = "from lostcfr.cli import main; main()"
# The same, killed at the call of a number that brings a file to the disk: in the midst of a checkpoint.
KILLED = f"""
import os, signal, sys
left, fsync = [int(sys.argv.pop(1))], os.fsync
def killing(descriptor):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    fsync(descriptor)
os.fsync = killing
{MAIN}
"""
LONG = "limits.iterations=100000"  # a run that lasts until it is stopped
STOPS_WITHIN = 5  # seconds
PATIENCE = 300  # seconds: a machine may be busy with other things


def begin(*arguments, program=MAIN, **options):
    return start(program, *arguments, stdin=subprocess.DEVNULL, **({"stderr": subprocess.PIPE} | options))


def wait_for(process, condition):
    """Until something is true of a process that goes on."""
    while not condition():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.0005)


def rows(folder):
    return len(read_rows(folder / "metrics.jsonl"))


def whole(folder, *overrides):
    """All that a run in this process comes to that nobody stops."""
    assert train(folder, configuration(*overrides)) == 0
    return contents(folder)


@pytest.mark.parametrize(("overrides", "number"), [((), 3), (RICH, 20)], ids=["plain", "rich"])
def test_a_run_killed_at_any_moment_and_resumed_is_the_same(tmp_path, overrides, number):
    """While playing or fitting, while a checkpoint is written aside, and before a chosen file reaches the disk."""
    iterations = "limits.iterations=20"
    config, folder = written(tmp_path, *overrides, iterations), tmp_path / "run"
    go_on, checkpoints = ("train", "--run", folder, "--resume", "--threads", 1), folder / "checkpoints"
    with begin("train", config, "--run", folder, "--threads", 1) as process:
        wait_for(process, lambda: rows(folder) >= 3)
        process.kill()
    with begin(*go_on) as process:
        wait_for(process, lambda: rows(folder) >= 6 and list(checkpoints.glob(".*.part-*")))
        process.kill()
    with begin(number, *go_on, program=KILLED) as process:
        assert process.wait(PATIENCE) == -signal.SIGKILL
    assert 4 < rows(folder) < 20
    with begin(*go_on) as process:
        assert process.wait(PATIENCE) == 0, process.stderr.read()
    assert differences(contents(folder), whole(tmp_path / "whole", *overrides, iterations)) == []


def interrupt(process, number, folder):
    """Exit code of a run that is sent a signal, and the seconds that it took to end."""
    wait_for(process, lambda: rows(folder) >= 2)
    process.send_signal(number)
    sent = time.monotonic()
    return process.wait(PATIENCE), time.monotonic() - sent


def finished_as_if_never_stopped(folder, *overrides):
    """Whether a run that was stopped comes to what one comes to that was not; two iterations more are enough."""
    iterations = f"limits.iterations={restored(folder).iteration + 2}"
    assert command("train", "--run", folder, "--resume", "--set", iterations, "--threads", 1)[0] == 0
    return differences(contents(folder), whole(folder.parent / "whole", *overrides, iterations)) == []


def test_sigterm_stops_with_a_checkpoint_of_that_moment_and_the_way_on(tmp_path):
    folder = tmp_path / "run"
    with begin("train", written(tmp_path, *RICH, LONG), "--run", folder, "--threads", 1) as process:
        code, seconds = interrupt(process, signal.SIGTERM, folder)
        complaints = process.stderr.read()
    assert (code, seconds < STOPS_WITHIN) == (143, True)
    assert complaints.splitlines()[-1] == f"stopped; go on with: lostcfr train --run {folder} --resume"
    assert rows(folder) == restored(folder).iteration or restored(folder).iteration == rows(folder) + 1
    assert finished_as_if_never_stopped(folder, *RICH)


def test_ctrl_c_on_a_terminal_that_showed_a_bar_with_the_time_left(tmp_path):
    folder = tmp_path / "run"
    ours, theirs = pty.openpty()
    arguments = ("train", written(tmp_path, "limits.iterations=2000"), "--run", folder, "--threads", 2)
    with begin(*arguments, stderr=theirs) as process:
        os.close(theirs)
        shown = ""
        bar = r"iteration \d+/2000 \S+ +\d+%.*━.* \d+% .*\d:\d\d:\d\d"
        while not (re.search(bar, shown) and re.search(r"iteration \d+: [+-]\d+\.\d points against random", shown)):
            shown += os.read(ours, 4096).decode(errors="replace")
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        while f"--run {folder} --resume" not in shown.replace("\r\n", ""):
            shown += os.read(ours, 4096).decode(errors="replace")
        code = process.wait(PATIENCE)
    os.close(ours)
    assert code == 130
    assert time.monotonic() - sent < STOPS_WITHIN
    assert finished_as_if_never_stopped(folder)


def test_a_second_signal_ends_a_run_at_once(tmp_path):
    """Here an update takes a minute, so only the second signal can have ended it."""
    slow = f"""
import time
from lostcfr.fit import Fit
from lostcfr.run.signals import Interruption
hear, step = Interruption._hear, Fit.step
def told(*arguments):
    hear(*arguments)
    print("heard", flush=True)
def slow(*arguments):
    print("fitting", flush=True)
    time.sleep(60)
Interruption._hear, Fit.step = told, slow
{MAIN}
"""
    with begin("train", written(tmp_path), "--run", tmp_path / "run", program=slow) as process:
        assert process.stdout.readline() == "fitting\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "heard\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(STOPS_WITHIN) == 130


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a short run that has come to its end."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    train(folder, configuration())
    return folder


def complaint(*arguments):
    """Exit code and the one sentence of a command that is refused."""
    code, printed, complaints = command("train", *arguments)
    (line,) = [line for line in complaints.splitlines() if line.startswith("Error: ")]
    assert complaints.splitlines()[-1] == line
    assert printed == ""
    return code, line


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("rules.n_ranks=5",), "rules.n_ranks: 4, but rules.n_ranks is now 5"),
        (("network.hidden=8",), "network.hidden: 16, but network.hidden is now 8"),
        (("network.one_per_seat=true",), "network.one_per_seat: False"),
        (("seed=2",), "seed: 1, but seed is now 2"),
        (("memory.advantage_rows=61",), "memory.advantage_rows"),
    ],
)
def test_a_run_does_not_go_on_with_other_settings(trained, overrides, message):
    before = (trained / "config.yaml").read_bytes()
    arguments = [text for override in overrides for text in ("--set", override)]
    code, line = complaint("--run", trained, "--resume", *arguments)
    assert code == EXIT_CHECKPOINT
    assert f"{trained} was started with {message}" in line
    assert line.endswith("set it back, or start a run in another folder")
    assert (trained / "config.yaml").read_bytes() == before


def test_limits_may_change_when_a_run_goes_on(tmp_path):
    train(tmp_path / "run", configuration("limits.iterations=2"))
    changes = ("limits.iterations=3", "evaluation.every=1", "checkpoint.keep=1")
    arguments = [text for change in changes for text in ("--set", change)]
    code, printed, _ = command("train", "--run", tmp_path / "run", "--resume", *arguments, "--threads", 1)
    assert (code, printed.startswith("3 iterations in 0.0 minutes; try: lostcfr evaluate")) == (0, True)
    assert rows(tmp_path / "run") == 3
    assert len(Checkpoints(tmp_path / "run" / "checkpoints").names()) == 1
    assert command("train", "--run", tmp_path / "run", "--resume")[0] == 0, "nothing is left to do"


def test_a_run_in_use_is_left_alone(trained):
    with RunDirectory.resume(trained):
        code, line = complaint("--run", trained, "--resume")
    assert code == EXIT_CHECKPOINT
    assert f"{trained} is in use by process {os.getpid()}" in line


def cut(path):
    os.truncate(path, path.stat().st_size - 9)


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [cut, flip])
@pytest.mark.parametrize("file", ["strategy.safetensors", "../parts/advantage-0-rows-00000004-*", "manifest.json"])
def test_a_damaged_checkpoint_is_named_with_the_way_on(tmp_path, damage, file):
    folder = tmp_path / "run"
    train(folder, configuration())
    newest = folder / "checkpoints" / "00000004-0-000000000"
    (path,) = newest.glob(file)
    damage(path)
    code, line = complaint("--run", folder, "--resume")
    assert code == EXIT_CHECKPOINT
    assert path.name in line
    assert line.endswith(f"; delete {newest} to go on from checkpoint 00000003-0-000000000")
    for each in newest.iterdir():
        each.unlink()
    newest.rmdir()
    assert command("train", "--run", folder, "--resume", "--threads", 1)[0] == 0
    assert differences(contents(folder), whole(tmp_path / "whole")) == []


def test_what_is_missing_or_there_already_is_told(tmp_path, trained):
    config = written(tmp_path)
    cases = [
        (("--run", tmp_path / "none", "--resume"), EXIT_CHECKPOINT, "holds no run"),
        ((config, "--run", trained), EXIT_CHECKPOINT, "already holds a run; add --resume"),
        ((tmp_path / "smal.yaml", "--run", tmp_path / "run"), EXIT_CONFIGURATION, "did you mean 'small.yaml'"),
        (("--run", tmp_path / "run"), EXIT_USAGE, "a new run needs a configuration file"),
        ((config, "--run", tmp_path / "run", "--set", "seed=x"), EXIT_CONFIGURATION, "seed"),
        ((config, "--run", config), EXIT_CHECKPOINT, "is not a folder"),
    ]
    for arguments, code, message in cases:
        found, line = complaint(*arguments)
        assert (found, message in line) == (code, True), line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("memory.budget_gib=0.000001",), "memory.budget_gib allows 1e-06"),
        (("memory.advantage_rows=2000000000", "memory.budget_gib=60000"), "memory.mapped to true"),
    ],
)
def test_memories_too_large_are_refused_and_the_run_can_be_started_after_all(tmp_path, overrides, message):
    folder, wrong = tmp_path / "run", written(tmp_path, *overrides)
    code, line = complaint(wrong, "--run", folder)
    assert (code, message in line) == (EXIT_RESOURCES, True), line
    assert command("train", written(tmp_path), "--run", folder, "--threads", 1)[0] == 0


def test_external_sampling_of_a_large_game_is_refused_with_its_size(tmp_path):
    (tmp_path / "large.yaml").write_text("traversal: {sampling: external}\nmemory: {mapped: true}\n")
    code, line = complaint(tmp_path / "large.yaml", "--run", tmp_path / "run")
    nodes = float(re.search(r"would visit about (\S+) decisions a trajectory", line)[1])
    assert (code, nodes > 1e12) == (EXIT_RESOURCES, True), line
    assert "set traversal.sampling to outcome" in line


def test_a_gpu_that_is_not_there_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    code, line = complaint(written(tmp_path), "--run", tmp_path / "run", "--device", "cuda")
    assert (code, "use --device cpu" in line) == (EXIT_RESOURCES, True)
    assert not (tmp_path / "run").exists()


def test_a_run_that_leaves_the_finite_numbers_ends_with_a_code_of_its_own(tmp_path, monkeypatch):
    insert = Reservoir.insert

    def spoiled(memory, features, actions, values, iteration):
        insert(memory, features, actions, values * 1e30 if iteration == 3 else values, iteration)

    monkeypatch.setattr(Reservoir, "insert", spoiled)
    code, line = complaint(written(tmp_path), "--run", tmp_path / "run", "--threads", 1)
    assert code == EXIT_DIVERGED
    assert "lower learning_rate (it is 0.001) or clip (it is 1)" in line
    assert restored(tmp_path / "run").iteration == 2


def test_tensorboard_that_is_not_installed_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    code, line = complaint(written(tmp_path), "--run", tmp_path / "run", "--tensorboard")
    assert (code, "pip install 'lostcfr[tensorboard]'" in line) == (EXIT_RESOURCES, True)
    monkeypatch.undo()
    assert command("train", written(tmp_path), "--run", tmp_path / "run", "--threads", 1)[0] == 0


def test_tensorboard_gets_every_number(tmp_path, monkeypatch):
    scalars = {}

    class SummaryWriter:
        def __init__(self, folder):
            assert folder == str(tmp_path / "run" / "tensorboard")

        def __enter__(self):
            return self

        def __exit__(self, *_):
            scalars["closed"] = True

        def add_scalar(self, name, value, iteration):
            scalars[name, iteration] = value

    fake = types.ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    assert command("train", written(tmp_path), "--run", tmp_path / "run", "--tensorboard", "--threads", 1)[0] == 0
    assert scalars["closed"]
    for row in read_rows(tmp_path / "run" / "metrics.jsonl"):
        n = row["iteration"]
        assert scalars["loss/strategy", n] == row["loss"]["strategy"]
        assert scalars["targets/0/sd", n] == row["targets"][0]["sd"]
        assert scalars["times/collect", n] == row["times"]["collect"]
    for row in read_rows(tmp_path / "run" / "evaluations.jsonl"):
        assert scalars[f"against {row['opponent']}/ci95/1", row["iteration"]] == row["ci95"][1]


def test_without_a_terminal_there_is_a_line_now_and_then_with_the_time_left(tmp_path, monkeypatch):
    config = written(tmp_path)
    _, _, quiet = command("train", config, "--run", tmp_path / "quiet", "--threads", 1)
    assert re.findall(r"^0:00:0\d iteration (\d): .* points against (\S+)", quiet, re.MULTILINE) == [
        (iteration, opponent) for iteration in "24" for opponent in ("random", "balanced")
    ]
    monkeypatch.setattr(training_reports, "LINE_SECONDS", 0.0)
    _, _, told = command("train", config, "--run", tmp_path / "told", "--threads", 1)
    lines = [line for line in told.splitlines() if "points against" not in line]
    assert re.fullmatch(r"0:00:0\d iteration 4/4 evaluate 100%, 0:00:00 left", lines[-1])
    assert any(re.fullmatch(r"0:00:0\d iteration 3/4 advantage-0 25%, 0:00:\d\d left", line) for line in lines)


@pytest.mark.parametrize(
    ("config", "overrides"),
    [
        ("smoke", ("limits.iterations=2", "evaluation.every=1")),
        ("mini", ("limits.iterations=2", "traversal.per_player=20", "evaluation.every=1", "evaluation.pairs=50")),
    ],
)
def test_the_small_configurations_train(tmp_path, config, overrides):
    path = f"{os.path.dirname(__file__)}/../configs/{config}.yaml"
    arguments = [text for override in overrides for text in ("--set", override)]
    code, told, complaints = command("train", path, "--run", tmp_path / "run", *arguments, "--threads", 1)
    assert code == 0, complaints
    _, _, advice = told.strip().partition("try: lostcfr ")
    code, _, complaints = command(*shlex.split(advice), "--pairs", 2)  # with the rules that the run was trained with
    assert code == 0, complaints
    losses = [row["loss"] for row in read_rows(tmp_path / "run" / "metrics.jsonl")]
    assert len(losses) == 2
    assert all(loss > 0 for row in losses for loss in row.values())


def evaluated(agent, opponent):
    """The row of a match with a run's rules."""
    code, printed, complaints = command("evaluate", agent, "--against", opponent, "--pairs", 60, *RULES, "--json")
    assert code == 0, complaints
    (row,) = json.loads(printed)
    return row


def test_a_mixture_is_exactly_level_with_itself(trained):
    row = evaluated(f"{trained}:mixture", f"{trained}:mixture")
    assert (row["mean"], row["ci95"]) == (0.0, [0.0, 0.0])


def test_matches_of_two_views_are_antisymmetric(trained):
    here, there = evaluated(f"{trained}:mixture", trained), evaluated(trained, f"{trained}:mixture")
    assert here["mean"] == -there["mean"] != 0
    assert (here["win"], here["score"]) == (there["loss"], there["opponent_score"])
