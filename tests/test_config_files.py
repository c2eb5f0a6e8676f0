"""Configurations in full: the round trip, the schema, the page, the shipped files and the commands."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from lostcfr import Rules
from lostcfr.agents import BOTS
from lostcfr.cli import main
from lostcfr.config import Configuration, NetworkConfig, TraversalConfig, unread
from lostcfr.config_file import load, parse, to_yaml
from lostcfr.config_reference import allowed, reference, schema, sections
from lostcfr.errors import EXIT_CONFIGURATION
from lostcfr.rules import ALLOWED

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "configs").glob("*.yaml"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "averaging: {strategy_network: false}\nevaluation: {view: current}\ntraversal: {opponent: noisy}",
        "traversal: {exploration: 1e-7, exploring_decisions: one}\nadvantage: {weighting: dcfr, alpha: 2}",
        "averaging: {snapshots: 0}\nstrategy: {weighting: dcfr, gamma: .3}\nlimits: {minutes: 3}",
        "rules: {stall_limit: 0, bonus: 0}\ntraversal: {sampling: external}",
        *(path.read_text() for path in FILES),
    ],
)
def test_the_full_text_makes_an_equal_configuration(text):
    configuration = parse(text, "x")
    full = to_yaml(configuration)
    assert parse(full, "full") == configuration
    assert to_yaml(parse(full, "full")) == full


def test_the_full_text_holds_every_setting_that_is_read():
    configuration = Configuration()
    written = re.findall(r"^  (\w+):", to_yaml(configuration), re.MULTILINE)
    every = [f"{head}.{name}" for head, about in sections().items() for name in about.get("properties", ())]
    assert written == [key.split(".")[1] for key in every if key not in unread(configuration)]
    others = {key for key, cause in unread(configuration).items() if cause != "method"}
    assert others == {"strategy.gamma", "advantage.alpha", "traversal.exploring_decisions"}


def test_a_configuration_is_frozen_and_sound_in_python_too():
    with pytest.raises(ValidationError, match="frozen"):
        Configuration().seed = 2
    with pytest.raises(ValidationError, match="less than or equal"):
        NetworkConfig(hidden=10**6)
    with pytest.raises(ValidationError, match="the strategy network learns"):
        Configuration(traversal=TraversalConfig(opponent="noisy"))
    with pytest.raises(ValidationError, match=r"rules\.bonus is -1"):
        Configuration(rules={"bonus": -1})


def test_every_setting_has_a_range_a_default_and_a_meaning():
    settings = {
        f"{head}.{name}": each
        for head, about in sections().items()
        for name, each in about.get("properties", {"": about}).items()
    }
    assert len(settings) > 45
    assert [key for key, about in settings.items() if not about["description"].endswith(".")] == []
    assert [key for key, about in settings.items() if not allowed(about)] == []
    assert [key for key, about in settings.items() if "default" not in about] == []


def test_the_schema_has_the_rules():
    rules = schema()["properties"]["rules"]
    assert list(rules["properties"]) == list(ALLOWED)
    assert parse(json.dumps({"rules": schema()["properties"]["rules"]["default"]}), "x") == Configuration()


def test_the_agents_are_known():
    enum = sections()["evaluation"]["properties"]["opponents"]["items"]["enum"]
    assert enum == list(BOTS)


def test_the_reference_is_the_page():
    assert (ROOT / "docs" / "configuration.md").read_text() == reference(), "run: lostcfr config reference"


def test_the_shipped_files():
    names = ["deep_cfr", "default", "large", "mini", "policy_gradient", "quick", "smoke"]
    assert [path.stem for path in FILES] == names
    found = {path.stem: load(path) for path in FILES}
    assert {name for name, each in found.items() if each.rules == Rules()} == set(found) - {"mini"}
    assert {name for name, each in found.items() if each.traversal.sampling == "external"} == {"mini"}
    assert found["default"].network == NetworkConfig(one_per_seat=True)
    assert found["smoke"].limits.iterations == found["smoke"].evaluation.every == 3
    assert found["default"].evaluation.every == 5
    for each in found.values():
        often, seldom = each.evaluation, each.extended_evaluation
        assert seldom.every == 0 or (seldom.every % often.every == 0 and seldom.pairs > often.pairs)
    assert [name for name, each in found.items() if each.extended_evaluation.every] == ["default", "large"]
    assert all(path.read_text().startswith("# ") for path in FILES)


def command(monkeypatch, capsys, *arguments):
    """Exit code and what is printed on both streams by the command line in this process."""
    monkeypatch.setattr(sys, "argv", ["lostcfr", "config", *map(str, arguments)])
    try:
        main()
        code = 0
    except SystemExit as stop:
        code = stop.code
    return code, *capsys.readouterr()


def test_show_prints_the_full_text(monkeypatch, capsys):
    path = ROOT / "configs" / "mini.yaml"
    printed = command(monkeypatch, capsys, "show", path, "--set", "seed=9", "--set", "network.layers=1")
    assert printed == (0, to_yaml(load(path, ["seed=9", "network.layers=1"])), "")


def test_show_says_what_is_wrong(monkeypatch, capsys):
    code, printed, errors = command(monkeypatch, capsys, "show", ROOT / "configs" / "mini.yaml", "--set", "seed=x")
    assert (code, printed) == (EXIT_CONFIGURATION, "")
    assert errors.startswith("Error: override seed=x: seed is x, but must be a whole number")


def test_validate_checks_every_file(monkeypatch, capsys, tmp_path):
    for name, text in {"a": "sed: 1\nnetwork: 3", "b": "", "c": "seed: x"}.items():
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in "abc"]
    code, printed, errors = command(monkeypatch, capsys, "validate", *files)
    assert (code, printed) == (EXIT_CONFIGURATION, f"{files[1]}: valid\n")
    places = [f"{files[0]}:1: ", f"{files[0]}:2: ", f"{files[2]}:1: "]
    for line, place in zip(errors.splitlines(), places, strict=True):
        assert line.startswith(place)
    assert command(monkeypatch, capsys, "validate", files[1]) == (0, f"{files[1]}: valid\n", "")


def test_schema_and_reference_are_printed(monkeypatch, capsys):
    code, printed, _ = command(monkeypatch, capsys, "schema")
    assert (code, json.loads(printed)) == (0, schema())
    assert command(monkeypatch, capsys, "reference") == (0, reference(), "")


def test_configurations_need_neither_numba_nor_torch():
    program = "import sys, lostcfr.config_file; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "lostcfr.config" in loaded
    assert not {"numba", "torch", "click"} & set(loaded)
    program = "import sys, lostcfr; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pydantic", "yaml"} & set(loaded)
