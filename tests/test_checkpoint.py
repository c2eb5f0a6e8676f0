"""Checkpoints: what was written comes back whole, whatever is killed, filled or damaged in between."""

import errno
import json
import os
import re
import resource
import time

import numpy as np
import pytest
from safetensors.numpy import load_file

from lostcfr.errors import CheckpointError, ResourceError
from lostcfr.run import arrays as array_files, manifest as manifests
from lostcfr.run.checkpoint import Checkpoints
from numbered_runs import is_whole, rows, same, start, weights, write, write_run

DTYPES = ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]


def test_arrays_of_every_type_and_shape_come_back_equal(tmp_path):
    arrays = {f"a{i}": np.ones((3, i), dtype) for i, dtype in enumerate(DTYPES)}
    arrays |= {"scalar": np.array(2.5), "turned": np.arange(12.0).reshape(3, 4).T, "none": np.zeros((0, 4), "i4")}
    written = array_files.write_arrays(tmp_path / "file", arrays)
    found = array_files.read_arrays(tmp_path / "file")
    assert same(found, arrays)
    assert {name: (each.dtype, each.shape) for name, each in found.items()} == {
        name: (each.dtype, each.shape) for name, each in arrays.items()
    }
    assert all(each.flags.aligned and each.flags.writeable for each in found.values())
    assert written == array_files.hashed(tmp_path / "file")


def test_the_safetensors_library_reads_the_files(tmp_path):
    arrays = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "mask": np.array([True, False, True])}
    array_files.write_arrays(tmp_path / "file", arrays)
    assert same(load_file(tmp_path / "file"), arrays)


def test_equal_arrays_give_equal_bytes_and_others_do_not(tmp_path):
    a, b = np.arange(5), np.arange(3, dtype=np.uint8)
    files = [{"a": a, "b": b}, {"b": b, "a": a.copy()}, {"a": a + 1, "b": b}]
    written = [array_files.write_arrays(tmp_path / str(i), arrays) for i, arrays in enumerate(files)]
    assert written[0] == written[1] != written[2]


def test_a_change_of_mapped_arrays_does_not_reach_the_file(tmp_path):
    array_files.write_arrays(tmp_path / "file", {"a": np.zeros(4)})
    array_files.read_arrays(tmp_path / "file")["a"][:] = 1
    assert (array_files.read_arrays(tmp_path / "file")["a"] == 0).all()


def test_a_checkpoint_comes_back(tmp_path):
    checkpoints = write_run(tmp_path, 3)
    assert is_whole(checkpoints.latest())
    assert is_whole(checkpoints.load("0002"))
    assert is_whole(checkpoints.best(), ["rows-3"])


def test_a_folder_without_checkpoints_has_no_latest_and_no_best(tmp_path):
    checkpoints = Checkpoints(tmp_path / "none")
    assert (checkpoints.latest(), checkpoints.best(), checkpoints.names()) == (None, None, [])


def test_the_last_ones_are_kept_and_what_they_need(tmp_path):
    checkpoints = write_run(tmp_path, 3, best=False)
    checkpoints.mark_best("0002", ["net"], ["rows-2"])
    for n in 4, 5, 6:
        needed = [f"rows-{i}" for i in range(4, n)]
        checkpoints.write(f"{n:04}", {"iteration": n}, weights(n), needed, {f"rows-{n}": rows(n)}, keep=2)
    assert checkpoints.names() == ["0005", "0006"]
    assert is_whole(checkpoints.best(), ["rows-2"])
    stored = sorted(path.name.rsplit("-", 1)[0] for path in (tmp_path / "parts").iterdir())
    assert stored == ["rows-2", "rows-4", "rows-5", "rows-6"]
    assert len(list((tmp_path / "best").iterdir())) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0005", "0006", "best", "parts"]


def test_a_part_is_written_once(tmp_path):
    checkpoints = write_run(tmp_path, 1)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "parts").iterdir()}
    write(checkpoints, 2)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_name_used_again_for_another_content_leaves_the_best_alone(tmp_path):
    checkpoints = write_run(tmp_path, 2)
    (tmp_path / "0002").rename(tmp_path.parent / "elsewhere")
    checkpoints.write("0002", {"iteration": 2}, weights(9), ["rows-1"], {"rows-2": rows(9)}, keep=2)
    assert same(checkpoints.latest().part("rows-2"), rows(9))
    assert is_whole(checkpoints.best(), ["rows-2"])


@pytest.mark.parametrize("name", ["0001", "0002"])
def test_a_checkpoint_has_to_come_after_the_newest(tmp_path, name):
    checkpoints = write_run(tmp_path, 2)
    with pytest.raises(CheckpointError, match=f"'{name}' has to come after '0002'"):
        checkpoints.write(name, {}, {}, keep=2)
    assert is_whole(checkpoints.latest())


def test_what_is_not_there_is_named(tmp_path):
    checkpoints = write_run(tmp_path, 1)
    with pytest.raises(CheckpointError, match=r"no checkpoint '0011' .did you mean '0001'"):
        checkpoints.load("0011")
    with pytest.raises(CheckpointError, match=r"no 'nets' among its files .did you mean 'net'"):
        checkpoints.latest().arrays("nets")
    with pytest.raises(CheckpointError, match="no 'rows-7' among its parts"):
        checkpoints.write("0002", {}, {}, ["rows-7"], keep=2)
    with pytest.raises(CheckpointError, match="could be of"):
        Checkpoints(tmp_path / "new").write("0001", {}, {}, ["rows-7"], keep=2)


def cut(path):
    os.truncate(path, path.stat().st_size - 1)


def lengthen(path):
    path.write_bytes(path.read_bytes() + b"x")


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def make_newer(path):
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 2}))


DAMAGE = [
    ("net.safetensors", cut, "bytes, but was written with"),
    ("net.safetensors", lengthen, "bytes, but was written with"),
    ("net.safetensors", flip, "does not match its SHA-256"),
    ("net.safetensors", os.unlink, "is missing"),
    ("../parts/rows-3-*", cut, "bytes, but was written with"),
    ("../parts/rows-3-*", flip, "does not match its SHA-256"),
    ("../parts/rows-3-*", os.unlink, "is missing"),
    ("manifest.json", os.unlink, "No such file"),
    ("manifest.json", lambda path: path.write_text("{"), "is not JSON"),
    ("manifest.json", lambda path: path.write_text("[]"), "is not a JSON object"),
    ("manifest.json", lambda path: path.write_text("{}"), "does not match its own SHA-256"),
    ("manifest.json", make_newer, "has format 2, but this lostcfr reads 1"),
]


@pytest.mark.parametrize(("pattern", "damage", "message"), DAMAGE)
def test_damage_is_named_with_the_way_on(tmp_path, pattern, damage, message):
    checkpoints = write_run(tmp_path, 3, best=False)
    (path,) = (tmp_path / "0003").glob(pattern)
    damage(path)
    with pytest.raises(CheckpointError, match=re.escape(path.name)) as error:
        checkpoints.latest()
    assert message in str(error.value)
    assert str(error.value).endswith(f"; delete {tmp_path / '0003'} to go on from checkpoint 0002")
    assert "\n" not in str(error.value)


def test_the_way_on_passes_over_earlier_damage(tmp_path):
    checkpoints = write_run(tmp_path, 4, keep=4)
    flip(tmp_path / "0004" / "net.safetensors")
    flip(tmp_path / "0003" / "net.safetensors")
    with pytest.raises(CheckpointError) as error:
        checkpoints.latest()
    folders = f"{tmp_path / '0003'} and {tmp_path / '0004'}"
    assert str(error.value).endswith(f"delete {folders} to go on from checkpoint 0002")


def test_damage_of_what_all_share_leaves_no_way_on(tmp_path):
    checkpoints = write_run(tmp_path, 3)
    (path,) = (tmp_path / "parts").glob("rows-1-*")
    flip(path)
    with pytest.raises(CheckpointError, match="no earlier checkpoint is intact, so start a new run"):
        checkpoints.latest()


def test_every_flipped_bit_of_a_manifest_is_found_or_changes_nothing(tmp_path):
    write_run(tmp_path, 1)
    path = tmp_path / "0001" / "manifest.json"
    before, expected = path.read_bytes(), manifests.read_manifest(tmp_path / "0001")
    unnoticed = []
    for bit in range(8 * len(before)):
        data = bytearray(before)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        try:
            unnoticed.append(manifests.read_manifest(tmp_path / "0001") == expected)
        except CheckpointError:
            continue
    assert all(unnoticed)
    assert len(unnoticed) < len(before)  # white space, and nothing else


def test_a_damaged_best_is_named(tmp_path):
    checkpoints = write_run(tmp_path, 2)
    (path,) = (tmp_path / "best").glob("net-*")
    flip(path)
    with pytest.raises(CheckpointError, match=f"delete {tmp_path / 'best'} to go on without"):
        checkpoints.best()


def test_a_damaged_file_does_not_become_the_best(tmp_path):
    checkpoints = write_run(tmp_path, 1)
    write(checkpoints, 2, best=False)
    flip(tmp_path / "0002" / "net.safetensors")
    with pytest.raises(CheckpointError, match=r"0002/net.safetensors is damaged"):
        checkpoints.mark_best("0002", ["net"])
    assert is_whole(checkpoints.best(), ["rows-1"])


def test_parts_stay_while_a_damaged_manifest_may_need_them(tmp_path):
    checkpoints = write_run(tmp_path, 2, best=False)
    flip(tmp_path / "0001" / "manifest.json")
    checkpoints.write("0003", {"iteration": 3}, {}, [], {}, keep=3)
    assert len(list((tmp_path / "parts").iterdir())) == 2


@pytest.fixture
def small_files():
    """Lets the system refuse to make a file longer than 10 kB."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def tree(folder):
    return sorted(str(path) for path in folder.rglob("*"))


def test_a_refused_write_leaves_nothing_behind(tmp_path, small_files):
    checkpoints = write_run(tmp_path, 2)
    before = tree(tmp_path)
    with pytest.raises(ResourceError, match=r"0003 could not be written: File too large; it needs 16002 bytes and \d+"):
        checkpoints.write(
            "0003", {}, {"net": {"b": np.zeros(2, np.uint8)}}, [], {"rows-3": {"x": np.zeros(2000)}}, keep=2
        )
    assert tree(tmp_path) == before
    assert is_whole(checkpoints.latest())


@pytest.mark.parametrize("step", list(range(8)))
def test_a_full_disk_at_any_step_leaves_the_earlier_checkpoint(tmp_path, monkeypatch, step):
    checkpoints = write_run(tmp_path, 2)
    left, fsync = [step], os.fsync

    def full(descriptor):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ResourceError, match="could not be written: No space left on device"):
        write(checkpoints, 3)
    monkeypatch.undo()
    assert not list(tmp_path.glob(".*"))
    assert is_whole(checkpoints.latest())
    assert checkpoints.best().state in ({"iteration": 2}, {"iteration": 3})


def test_a_process_that_dies_at_any_step_leaves_whole_checkpoints(tmp_path):
    write_run(tmp_path / "run", 2)
    with start("import sys, numbered_runs as r; r.die_at_every_step(sys.argv[1])", tmp_path / "run") as process:
        steps = int(process.stdout.read())
    assert process.returncode == 0
    assert steps > 40


def test_a_killed_process_leaves_a_whole_checkpoint(tmp_path):
    for milliseconds in 0.3, 1.1, 2.3, 4.7, 9.1:
        with start("import sys, numbered_runs as r; r.write_forever(sys.argv[1])", tmp_path) as process:
            written = int(process.stdout.readline())
            time.sleep(milliseconds / 1000)
            process.kill()
        latest = Checkpoints(tmp_path).latest()
        assert is_whole(latest)
        assert latest.state["iteration"] >= written
