"""Runs whose checkpoint n holds arrays that follow from n, and processes that write such runs and die."""

import os
import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path

import numpy as np

from lostcfr.run.checkpoint import Checkpoints

TESTS = Path(__file__).parent
STEPS = ("fsync", "rename", "replace", "unlink", "mkdir", "rmdir")  # what changes the disk


def weights(n):
    return {"net": {"w": np.full((50, 7), n, np.float32), "b": np.arange(n, dtype=np.uint8)}}


def rows(n):
    return {"x": np.arange(1000, dtype=np.int64) * n}


def write(checkpoints, n, best=True, keep=2):
    """Checkpoint n: weights, one part of each checkpoint so far, and a state."""
    parts = [f"rows-{i}" for i in range(1, n)]
    checkpoints.write(f"{n:04}", {"iteration": n}, weights(n), parts, {f"rows-{n}": rows(n)}, keep=keep)
    if best:
        checkpoints.mark_best(f"{n:04}", ["net"], [f"rows-{n}"])


def write_run(folder, length, **options):
    checkpoints = Checkpoints(folder)
    for n in range(1, length + 1):
        write(checkpoints, n, **options)
    return checkpoints


def same(found, expected):
    return sorted(found) == sorted(expected) and all((found[key] == expected[key]).all() for key in expected)


def is_whole(checkpoint, parts=None):
    """Whether a checkpoint is exactly what ``write`` wrote for its number."""
    n = checkpoint.state["iteration"]
    parts = parts or [f"rows-{i}" for i in range(1, n + 1)]
    intact = all(same(checkpoint.part(name), rows(int(name.removeprefix("rows-")))) for name in parts)
    named = (checkpoint.name, checkpoint.parts) == (f"{n:04}", parts)
    return named and intact and same(checkpoint.arrays("net"), weights(n)["net"])


def write_forever(folder):
    """Go on from the newest checkpoint until killed, saying the number of each."""
    checkpoints = Checkpoints(Path(folder))
    latest = checkpoints.latest()
    for n in count(latest.state["iteration"] + 1 if latest else 1):
        write(checkpoints, n)
        sys.stdout.write(f"{n}\n")
        sys.stdout.flush()


def die_at_every_step(folder):
    """Write checkpoints 3 and 4 in processes that die before step 0, 1, 2, ...; look at what each leaves.

    A death is a process's end without any clean-up. Forks, so that it costs milliseconds.
    """
    source, target = Path(folder), Path(folder + "-copy")
    for steps in count():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
        child = os.fork()
        if child == 0:
            _write_and_die(target, steps)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        _check_remains(target, steps)
        if status == 0:
            sys.stdout.write(f"{steps}\n")
            return
        assert status == 9, steps


def _write_and_die(folder, steps):
    left = count(steps, -1)

    def dying(function):
        return lambda *arguments, **keywords: function(*arguments, **keywords) if next(left) > 0 else os._exit(9)

    for name in STEPS:
        setattr(os, name, dying(getattr(os, name)))
    for n in (3, 4):
        write(Checkpoints(folder), n)
    os._exit(0)


def _check_remains(folder, steps):
    """All checkpoints and the best are whole, and the next write removes everything else."""
    checkpoints = Checkpoints(folder)
    latest, best = checkpoints.latest(), checkpoints.best()
    n = latest.state["iteration"]
    assert all(is_whole(checkpoints.load(name)) for name in checkpoints.names()), steps
    assert is_whole(best, [f"rows-{best.state['iteration']}"]), steps
    assert n - best.state["iteration"] in (0, 1), steps
    write(checkpoints, n + 1)
    assert is_whole(checkpoints.latest()), steps
    assert len(list((folder / "parts").iterdir())) == n + 1, steps
    assert sorted(path.name for path in folder.iterdir()) == [*checkpoints.names(), "best", "parts"], steps


def start(program, *arguments, **options):
    """A fresh Python process that can import this module; its output is piped, as text."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, **options)
