"""Every command and every Python example of README and docs runs as it stands."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
START = "lostcfr train configs/smoke.yaml --run runs/smoke"  # makes the run that other examples use
MEASURED_SMALL = (
    "lostcfr bench traversal",
    "lostcfr bench train",
    "lostcfr bench evaluate",
)  # slow: ``test_bench`` runs them, at other sizes


def blocks(language):
    for page in PAGES:
        for text in re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL):
            yield pytest.param(text, id=f"{page.name}-{text.splitlines()[0][:40]}")


def commands():
    lines = [line for block in blocks("console") for line in block.values[0].splitlines()]
    found = {line.removeprefix("$ ").split("#")[0].strip() for line in lines if line.startswith("$ ")}
    return sorted(found)


OWN = [command for command in commands() if command.startswith("lostcfr ")]


def python(program, *arguments, folder):
    """A fresh process in ``folder`` that finds this package, wherever it is."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=300,
    )


def call(command, folder):
    """What the console does with a command."""
    return python("from lostcfr.cli import main; main()", *shlex.split(command)[1:], folder=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as a user has it after the first command of training: ``configs`` and ``runs/smoke``."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "configs").symlink_to(ROOT / "configs")
    done = call(START, folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_there_is_something_to_check():
    assert len(OWN) >= 12
    assert START in OWN
    assert len(list(blocks("python"))) >= 3


@pytest.mark.parametrize("command", [command for command in OWN if command != START])
def test_commands_run(command, folder):
    """The slow ones are only parsed."""
    done = call(f"{command} --help" if command.startswith(MEASURED_SMALL) else command, folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("command", [command for command in commands() if command not in OWN])
def test_other_commands_are_targets_and_scripts_that_exist(command):
    """``make`` targets and scripts of this tree; running them is the job of the tests and of CI itself."""
    words = shlex.split(command)
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert words[1] in targets
    else:
        assert words[0] == "python"
        assert (ROOT / words[1]).exists()


@pytest.mark.parametrize("example", list(blocks("python")))
def test_python_examples_run(example, folder):
    done = python(example, folder=folder)
    assert done.returncode == 0, done.stderr


def test_links_lead_somewhere():
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#]+?)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_number_of_a_run_is_explained(folder):
    """Each column of the rows, and of what they hold, stands in docs/training.md as a word of code."""
    page = (ROOT / "docs" / "training.md").read_text()
    for name in "metrics.jsonl", "evaluations.jsonl":
        row = json.loads((folder / "runs" / "smoke" / name).read_text().splitlines()[0])
        inner = [*row.get("times", {}), *(key for each in row.get("targets", []) for key in each)]
        assert [key for key in [*row, *inner] if f"`{key}`" not in page] == []
