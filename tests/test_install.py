"""The package as a user gets it: from a wheel, from ``pip install .`` and editable, run from another folder.

Each way has a fresh environment. Only the dependencies come from the environment of the tests, by a path file:
what is shown here is that this package is complete, not that an index answers.
"""

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.install

ROOT = Path(__file__).parents[1]
PROGRAM = """
import sys, lostcfr, lostcfr.kernels.dense
from lostcfr import LostCities
lanes = LostCities().lanes(2)
lanes.deal(seed=7)
print(lostcfr.__file__)
print(lanes.observe().sum(), lanes.games.deck[0, :3].tolist())
"""


def run(*command, cwd):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A clean copy of what git tracks, or would track, as a fresh clone has it."""
    folder = tmp_path_factory.mktemp("source")
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).splitlines()
    for name in listed:
        path, copy = ROOT / name, folder / name
        if path.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink():
                copy.symlink_to(path.readlink())
            else:
                copy.write_bytes(path.read_bytes())
    return folder


@pytest.fixture
def python(tmp_path):
    """A fresh environment that sees the dependencies of this one, but not this one's lostcfr."""
    run(sys.executable, "-m", "venv", tmp_path / "env", cwd=tmp_path)
    fresh = tmp_path / "env" / "bin" / "python"
    # A new environment of Python 3.11 brings a setuptools that is too old and would come first.
    run(fresh, "-m", "pip", "uninstall", "--yes", "setuptools", cwd=tmp_path)
    packages = Path(run(fresh, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return fresh


def install(python, *what, cwd):
    """Install without dependencies; the wheel shows that the declared build requirements are enough."""
    flags = ("--no-deps", "--no-build-isolation", "--ignore-installed")
    run(python, "-m", "pip", "install", *flags, *what, cwd=cwd)


def works(python, tmp_path):
    """The path of the package and what a round shows, from a folder that is not the source."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    where, shown = run(python, "-c", PROGRAM, cwd=elsewhere).splitlines()
    run(python.parent / "lostcfr", "--help", cwd=elsewhere)
    assert run(python.parent / "lostcfr", "replay", "--seed", "7", cwd=elsewhere).count("\n") > 44
    assert shown == run(sys.executable, "-c", PROGRAM, cwd=elsewhere).splitlines()[1]
    return Path(where)


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, source, cwd=folder)
    return next(folder.glob("lostcfr-*.whl"))


def test_a_wheel(python, wheel, tmp_path):
    install(python, wheel, cwd=tmp_path)
    assert (tmp_path / "env") in works(python, tmp_path).parents


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"lostcfr"}
    assert any(name.startswith("lostcfr/kernels/dense.") and name.endswith(".so") for name in names)
    assert "lostcfr/kernels/rules.py" in names
    assert not [name for name in names if name.endswith((".c", ".pyx", ".nbc", ".nbi"))]


def test_pip_install(python, source, tmp_path):
    install(python, source, cwd=tmp_path)
    assert (tmp_path / "env") in works(python, tmp_path).parents


def test_editable(python, source, tmp_path):
    install(python, "--editable", source, cwd=tmp_path)
    assert source in works(python, tmp_path).parents


def test_a_read_only_install_without_a_home(python, wheel, tmp_path):
    """Nothing beside the sources can be written and there is no cache folder: it still runs, and says one line."""
    install(python, wheel, cwd=tmp_path)
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = subprocess.run(
        [python, "-c", PROGRAM],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        env={
            "LOSTCFR_CACHE_DIR": str(blocked / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": "/usr/bin:/bin",
        },
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "LOSTCFR_CACHE_DIR" in done.stderr
