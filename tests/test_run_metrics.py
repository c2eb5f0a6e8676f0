"""Rows of a run and its folder: what is added, cut back and refused, and who holds the run."""

import os
import resource

import pytest

from lostcfr.errors import CheckpointError, DivergedError, ResourceError
from lostcfr.run.directory import RunDirectory
from lostcfr.run.metrics import RowLog, read_rows
from numbered_runs import start

ROWS = [{"iteration": 1, "loss": 0.1}, {"name": "größer", "values": [1, 1e-300, 2**60], "seats": {"0": None}}]


@pytest.fixture
def log(tmp_path):
    log = RowLog(tmp_path / "rows.jsonl")
    yield log
    log.close()


@pytest.fixture
def run(tmp_path):
    with RunDirectory.create(tmp_path / "run", "seed: 1\n") as run:
        yield run


def test_rows_come_back_equal_and_in_order(log):
    for row in ROWS:
        log.append(row)
    assert read_rows(log.path) == ROWS
    assert [list(row) for row in read_rows(log.path)] == [list(row) for row in ROWS]
    assert log.length == log.path.stat().st_size == log.sync()


def test_a_missing_file_has_no_rows(tmp_path):
    assert read_rows(tmp_path / "none") == []


@pytest.mark.parametrize("row", [{"loss": float("nan")}, {"values": [1.0, float("inf")]}])
def test_a_number_that_is_not_finite_is_refused(log, row):
    log.append(ROWS[0])
    with pytest.raises(DivergedError, match="a number of this row is not finite"):
        log.append(row)
    assert read_rows(log.path) == ROWS[:1]


def test_a_row_half_written_is_not_read_and_is_removed_by_the_next_writer(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"a": 2')
    assert read_rows(path) == [{"a": 1}]
    log = RowLog(path)
    log.append({"a": 3})
    log.close()
    assert read_rows(path) == [{"a": 1}, {"a": 3}]


def test_a_first_row_half_written_is_removed(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a"')
    RowLog(path).close()
    assert path.read_text() == ""


def test_a_damaged_row_is_named_by_its_line(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"a": \n{"a": 3}\n')
    with pytest.raises(CheckpointError, match=r"rows.jsonl:2 is not a row of JSON; delete that line"):
        read_rows(path)


def test_rows_that_were_cut_back_can_be_written_again(log):
    log.append(ROWS[0])
    length, whole = log.length, log.path.read_bytes() + b'{"b": 2}\n'
    log.append(ROWS[1])
    log.truncate(length)
    log.append({"b": 2})
    assert log.path.read_bytes() == whole


def test_rows_that_are_missing_are_told(log):
    with pytest.raises(CheckpointError, match="has 0 bytes, but had 10 when the checkpoint was written"):
        log.truncate(10)


def test_a_row_the_disk_refuses_leaves_the_rows_before_it(log):
    log.append(ROWS[0])
    before = log.path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.length + 5, hard))
    try:
        with pytest.raises(ResourceError, match=r"rows.jsonl could not be written: "):
            log.append(ROWS[0])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert log.path.read_bytes() == before


def test_a_new_run_is_a_folder_with_its_files(run):
    names = ["checkpoints", "config.yaml", "evaluations.jsonl", "metrics.jsonl", "run.lock"]
    assert sorted(os.listdir(run.path)) == names
    assert run.config.read_text() == "seed: 1\n"


@pytest.mark.parametrize("holding", ["metrics.jsonl", "evaluations.jsonl", "checkpoints"])
def test_a_run_is_not_started_twice(run, holding):
    if holding == "checkpoints":
        run.checkpoints.write("1", {}, {}, keep=1)
    else:
        (run.path / holding).write_text("{}\n")
    run.close()
    with pytest.raises(CheckpointError, match="already holds a run; add --resume"):
        RunDirectory.create(run.path, "seed: 2\n")
    assert run.config.read_text() == "seed: 1\n"


def test_a_run_under_way_is_not_started_again(run):
    with pytest.raises(CheckpointError, match=f"is in use by process {os.getpid()}"):
        RunDirectory.create(run.path, "seed: 2\n")
    assert run.config.read_text() == "seed: 1\n"


def test_a_run_that_came_to_nothing_can_be_started_again(run):
    (run.path / "tensorboard").mkdir()
    run.close()
    RunDirectory.create(run.path, "seed: 2\n").close()
    assert run.config.read_text() == "seed: 2\n"


def test_a_configuration_that_no_run_wrote_is_left_alone(tmp_path):
    (tmp_path / "config.yaml").write_text("seed: 3\n")
    with pytest.raises(CheckpointError, match=r"holds 'config.yaml' but no run; name a new or an empty folder"):
        RunDirectory.create(tmp_path, "")
    assert (tmp_path / "config.yaml").read_text() == "seed: 3\n"


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(CheckpointError, match=r"holds 'thesis.tex' but no run; name a new or an empty folder"):
        RunDirectory.create(tmp_path, "")
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_a_file_is_no_folder_for_a_run(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="is not a folder"):
        RunDirectory.create(tmp_path / "file", "")
    with pytest.raises(ResourceError, match=r"cannot be used for a run: .*: Not a directory"):
        RunDirectory.create(tmp_path / "file" / "run", "")


def test_a_run_killed_before_its_configuration_was_written_can_be_started_again(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "run.lock").write_text("process 1")
    RunDirectory.create(tmp_path, "seed: 1\n").close()
    assert (tmp_path / "config.yaml").read_text() == "seed: 1\n"


def test_only_a_run_can_be_resumed(tmp_path):
    with pytest.raises(CheckpointError, match=r"holds no run: there is no config.yaml in it; .* leave out --resume"):
        RunDirectory.resume(tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_run_in_use_is_not_resumed(run):
    with pytest.raises(CheckpointError, match=rf"run is in use by process {os.getpid()} since 20\d\d-\d\d-\d\d \d\d:"):
        RunDirectory.resume(run.path)


def test_a_run_is_free_again_after_it_was_closed(run):
    run.close()
    RunDirectory.resume(run.path).close()


def test_a_run_is_free_again_after_its_process_was_killed(tmp_path):
    program = """
import sys, time
from pathlib import Path
from lostcfr.run.directory import RunDirectory
run = RunDirectory.create(Path(sys.argv[1]), "")
print("held", flush=True)
time.sleep(60)
"""
    with start(program, tmp_path / "run") as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(CheckpointError, match=f"in use by process {process.pid} since"):
            RunDirectory.resume(tmp_path / "run")
        process.kill()
    RunDirectory.resume(tmp_path / "run").close()


def test_a_resumed_run_writes_the_same_rows(tmp_path):
    """As one run of four iterations: one that was killed in its fourth, after the checkpoint of its second."""

    def train(run, first, last):
        for n in range(first, last + 1):
            run.metrics.append({"iteration": n})
            run.evaluations.append({"iteration": n, "points": n / 3})

    with RunDirectory.create(tmp_path / "whole", "") as whole:
        train(whole, 1, 4)
    with RunDirectory.create(tmp_path / "run", "") as run:
        train(run, 1, 2)
        run.checkpoints.write("2", {"rows": run.lengths()}, {}, keep=1)
        train(run, 3, 3)
    with (tmp_path / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"iter')
    with RunDirectory.resume(tmp_path / "run") as run:
        run.rewind(run.checkpoints.latest().state["rows"])
        train(run, 3, 4)
    for name in "metrics.jsonl", "evaluations.jsonl":
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_run_without_a_checkpoint_is_rewound_to_its_start(run):
    run.metrics.append({"iteration": 1})
    run.rewind({})
    assert run.lengths() == {"metrics.jsonl": 0, "evaluations.jsonl": 0}
