"""The cache of compiled kernels: reuse, races, damage, folders that cannot be written, uncompiled play."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from lostcfr import LostCities, Rules
from lostcfr.agents import BOTS
from lostcfr.kernels import jit

ROOT = Path(__file__).parents[1]
CLASSIC = Rules()
MINI = Rules(n_colors=2, n_ranks=3, n_wagers=1, hand_size=2)
SEED = 1

# Deals, which takes few kernels; prints the state, and how many kernels were compiled for it.
DEAL = f"""
import json
from numba.core import event
from lostcfr import LostCities, Rules
with event.install_recorder("numba:compile") as recorder:
    lanes = LostCities(Rules()).lanes(4)
    lanes.deal(seed={SEED})
compiled = sum(happened.is_start for _, happened in recorder.buffer)
print(json.dumps([[array.tolist() for array in lanes.games], compiled]))
"""
DIGEST = "import json; from lostcfr.kernels import jit; print(json.dumps(jit.sources_digest()))"
# Changes one source after the other in the folder it is told; prints the digest before and after each change.
DIGESTS = """
import json, pathlib, sys
from lostcfr.kernels import jit
digests = [jit.sources_digest()]
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.py")):
    path.write_text(path.read_text() + "# changed\\n")
    jit.sources_digest.cache_clear()
    digests.append(jit.sources_digest())
print(json.dumps(digests))
"""
SHUFFLE_NOTHING = """

@leaf
def shuffle(rules, games, i, seed, iteration, trajectory):
    for k in range(deck_size(rules)):
        games.deck[i, k] = k
"""


def start(program, *words, cache, cwd=ROOT, **variables):
    """A Python process with a cache folder of its own."""
    environment = {**os.environ, jit.CACHE_VARIABLE: str(cache), **variables}
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program, *map(str, words)],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """What the process printed as JSON, and its lines on standard error."""
    printed, complaints = process.communicate(timeout=300)
    assert process.returncode == 0, complaints
    return json.loads(printed), complaints.splitlines()


def run(program, *words, **options):
    return finish(start(program, *words, **options))


def entries(cache):
    """Contents of each file below a cache folder."""
    return {path.relative_to(cache): path.read_bytes() for path in cache.rglob("*") if path.is_file()}


def is_whole(entry):
    """Whether an entry's checksum is right."""
    return hashlib.sha256(entry[jit.DIGEST_BYTES :]).digest() == entry[: jit.DIGEST_BYTES]


def flipped(entry):
    """One bit of the machine code changed."""
    middle = len(entry) // 2
    return entry[:middle] + bytes([entry[middle] ^ 1]) + entry[middle + 1 :]


def truncated(entry):
    return entry[: len(entry) // 2]


@pytest.fixture(scope="module")
def dealt():
    """The state that every process must print."""
    lanes = LostCities(CLASSIC).lanes(4)
    lanes.deal(seed=SEED)
    return [array.tolist() for array in lanes.games]


@pytest.fixture(scope="module")
def raced(tmp_path_factory):
    """A cache folder that two processes filled at the same time, and what both printed."""
    cache = tmp_path_factory.mktemp("raced")
    processes = [start(DEAL, cache=cache) for _ in range(2)]
    return cache, [finish(process) for process in processes]


@pytest.fixture
def cache(raced, tmp_path):
    """A filled cache folder of the test's own."""
    return shutil.copytree(raced[0], tmp_path / "cache")


@pytest.fixture
def package(tmp_path):
    """A copy of the package that may be changed."""
    for name in ("lostcfr", "kernels"):
        shutil.copytree(
            ROOT / name, tmp_path / "copy" / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    return tmp_path / "copy"


def test_two_processes_may_compile_at_the_same_time(raced, dealt):
    cache, results = raced
    assert [(state, complaints) for (state, _), complaints in results] == [(dealt, []), (dealt, [])]
    files = entries(cache)
    assert {path.suffix for path in files} == {".bin"}
    assert all(is_whole(entry) for entry in files.values())
    assert 0 < len(files) <= sum(compiled for (_, compiled), _ in results)


def test_a_later_process_compiles_nothing(raced, dealt):
    cache, _ = raced
    before = entries(cache)
    assert run(DEAL, cache=cache) == ([dealt, 0], [])
    assert entries(cache) == before


def test_the_cache_is_private(raced):
    (directory,) = raced[0].iterdir()
    assert directory.name == f"kernels-{jit.sources_digest()}"
    assert directory.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", [truncated, flipped])
def test_a_damaged_entry_is_reported_and_replaced(cache, dealt, damage):
    (path,) = cache.rglob("lostcfr.kernels.lanes.deal-*.bin")
    path.write_bytes(damage(path.read_bytes()))
    assert not is_whole(path.read_bytes())
    (state, compiled), complaints = run(DEAL, cache=cache)
    assert (state, compiled) == (dealt, 1)
    (line,) = complaints
    assert path.name in line
    assert "compiled again" in line
    assert is_whole(path.read_bytes())


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path, dealt):
    """No folder can be made below a file, whoever asks."""
    file = tmp_path / "file"
    file.write_text("not a folder")
    (state, compiled), complaints = run(DEAL, cache=file / "cache")
    assert (state, compiled > 0) == (dealt, True)
    (line,) = complaints
    assert str(file) in line
    assert jit.CACHE_VARIABLE in line
    assert file.read_text() == "not a folder"


def test_a_change_in_any_source_changes_the_digest(package, tmp_path):
    digests, complaints = run(DIGESTS, package / "kernels", cache=tmp_path / "cache", cwd=package)
    assert complaints == []
    assert digests[0] == jit.sources_digest()
    assert len(set(digests)) == len(digests) == 1 + len(list((ROOT / "kernels").glob("*.py")))


def test_a_change_in_a_module_that_is_only_called_is_not_missed(package, cache, dealt):
    """``lanes.deal`` has an entry and stays as it is, but a function it calls in another module is new."""
    with (package / "kernels" / "rules.py").open("a") as source:
        source.write(SHUFFLE_NOTHING)
    before = entries(cache)
    (state, compiled), complaints = run(DEAL, cache=cache, cwd=package)
    assert state[0] == [list(range(CLASSIC.deck_size))] * 4 != dealt[0]
    assert (compiled > 0, complaints) == (True, [])
    assert entries(cache).items() > before.items()


def test_bounds_checks_have_a_digest_of_their_own(tmp_path):
    checked, _ = run(DIGEST, cache=tmp_path, NUMBA_BOUNDSCHECK="1")
    unchecked, _ = run(DIGEST, cache=tmp_path, NUMBA_BOUNDSCHECK="0")
    assert checked != unchecked


@pytest.mark.parametrize("flag", ["BOUNDSCHECK", "OPT", "CPU_NAME", "CPU_FEATURES", "DEBUGINFO_DEFAULT"])
def test_flags_change_the_digest(monkeypatch, flag):
    before = jit.sources_digest()
    monkeypatch.setattr(jit.config, flag, "another value")
    assert jit.sources_digest.__wrapped__() != before


def test_directories_of_old_builds_are_removed(monkeypatch, tmp_path):
    monkeypatch.setenv(jit.CACHE_VARIABLE, str(tmp_path))
    old = "kernels-" + "0" * jit.DIGEST_DIGITS
    ages = {
        old: jit.STALE_SECONDS + 3600,
        "kernels-" + "f" * jit.DIGEST_DIGITS: jit.STALE_SECONDS - 3600,
        "kernels-6.8": jit.STALE_SECONDS + 3600,  # a folder of somebody else
        f"kernels-{jit.sources_digest()}": jit.STALE_SECONDS + 3600,
        "unrelated": jit.STALE_SECONDS + 3600,
    }
    for name, age in ages.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "entry.bin").write_bytes(b"code")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    current = jit.cache_directory.__wrapped__()
    assert current == tmp_path / f"kernels-{jit.sources_digest()}"
    assert {path.name for path in tmp_path.iterdir()} == ages.keys() - {old}
    assert all((path / "entry.bin").exists() for path in tmp_path.iterdir())
    assert time.time() - current.stat().st_mtime < 3600


def test_the_kernels_cannot_be_imported_by_another_name():
    command = [sys.executable, "-c", "import kernels"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert "import them as 'lostcfr.kernels', not as 'kernels'" in last


def mini_rounds():
    """All one can see of mini rounds: decks, what is observed and legal, every bot's choice, scores."""
    lanes = LostCities(MINI).lanes(2 * len(BOTS))
    lanes.deal(seed=SEED)
    seen = [lanes.games.deck]
    playing = np.resize(list(BOTS.values()), len(lanes))
    while not lanes.finished.all():
        seen += [lanes.observe(), lanes.observe_history(), lanes.legal()]
        seen += [lanes.bot_actions(np.full(len(lanes), bot), SEED) for bot in BOTS.values()]
        lanes.act(lanes.bot_actions(playing, SEED))
    return [array.tolist() for array in [*seen, lanes.scores()]]


def test_rounds_without_the_compiler_are_the_same(tmp_path):
    program = "import json, test_jit; print(json.dumps(test_jit.mini_rounds()))"
    paths = {"PYTHONPATH": str(Path(__file__).parent)}
    plain, complaints = run(program, cache=tmp_path / "cache", NUMBA_DISABLE_JIT="1", **paths)
    assert plain == mini_rounds()
    assert complaints == []
    assert entries(tmp_path) == {}


def test_a_folder_that_others_can_write_to_is_not_trusted(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(jit.CACHE_VARIABLE, str(tmp_path))
    folder = tmp_path / f"kernels-{jit.sources_digest()}"
    folder.mkdir()
    folder.chmod(0o777)
    assert jit.cache_directory.__wrapped__() is None
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "can be written by others" in said[0]
