"""Every command and every Python example of README and docs runs as it stands."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(language):
    for page in PAGES:
        for text in re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL):
            yield pytest.param(text, id=f"{page.name}-{text.splitlines()[0][:40]}")


def commands():
    lines = [line for block in blocks("console") for line in block.values[0].splitlines()]
    found = {line.removeprefix("$ ").split("#")[0].strip() for line in lines if line.startswith("$ ")}
    return sorted(found)


def test_there_is_something_to_check():
    assert len(commands()) >= 6
    assert len(list(blocks("python"))) >= 2


@pytest.mark.parametrize("command", [command for command in commands() if command.startswith("lostcfr ")])
def test_commands_run(command):
    words = shlex.split(command)[1:]
    program = [sys.executable, "-c", "from lostcfr.cli import main; main()", *words]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("command", [command for command in commands() if not command.startswith("lostcfr ")])
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
def test_python_examples_run(example):
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_links_lead_somewhere():
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#]+?)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
