"""What ``lostcfr bench`` measures, the engine's functional signature, and that the suites of bench/ run."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from lostcfr import LostCities, nets
from lostcfr.bench import engine, evaluate, train, traversal
from lostcfr.cli.bench import command
from lostcfr.config import NetworkConfig
from lostcfr.kernels.rules import NO_ACTION
from lostcfr.threads import Workers

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden" / "signature.txt"
NETWORK = NetworkConfig(hidden=8, layers=1)
SIZES = {
    traversal: {"WIDTH": 8, "TILE": 8, "ROWS": 16, "PASSES": 1, "TRAJECTORIES": 32, "REPEATS": 1},
    train: {"BATCH": 32, "ROWS": 100, "TURNS": 1, "STEPS": 1},
    evaluate: {"PAIRS": 4, "REPEATS": 1},
}


@pytest.fixture
def small(monkeypatch):
    """The benchmarks of networks at sizes that take no time."""
    for module, sizes in SIZES.items():
        for name, value in (sizes | {"NETWORK": NETWORK}).items():
            monkeypatch.setattr(module, name, value)


def test_the_signature_is_the_committed_one():
    """On purpose only: a changed rule, feature, bot or random stream changes results that users have kept."""
    assert engine.signature() == int(GOLDEN.read_text())


def test_the_signature_sees_rules_features_bots_and_chance(monkeypatch):
    known = int(GOLDEN.read_text())
    with monkeypatch.context() as patch:
        patch.setattr(engine, "SIGNATURE_RULES", engine.SIGNATURE_RULES[::-1])
        assert engine.signature() != known
    with monkeypatch.context() as patch:
        patch.setattr(engine, "SEED", 8)
        assert engine.signature() != known
    with monkeypatch.context() as patch:
        observe = engine.Lanes.observe
        patch.setattr(engine.Lanes, "observe", lambda lanes: np.where(observe(lanes) == 3, 2, observe(lanes)))
        assert engine.signature() != known


def test_features_are_measured_on_rounds_at_every_stage_and_none_is_over():
    lanes = engine.Gathering(LostCities(), 1, 256).lanes
    assert not lanes.finished.any()
    assert sorted(set(lanes.turns.tolist())) == [0, 10, 20, 30, 40, 50, 60, 70]
    assert lanes.gather()[1].any(axis=1).all()


def test_a_traversal_is_set_beside_bare_forwards_of_the_same_run(small):
    steps = []
    figures = traversal.run(1, progress=steps.append)
    rates = figures["nodes_per_second"], figures["forward_rows_per_second"]
    assert figures["ratio"] == pytest.approx(rates[0] / rates[1])
    assert figures["occupancy"] == pytest.approx(figures["mean_batch"] / traversal.WIDTH)
    assert 0 < figures["occupancy"] <= 1
    assert figures["threads"] == 1
    assert steps == ["warm-up", "piece 1 of 1"]


def test_a_bare_forward_has_the_shapes_of_the_network():
    game = LostCities()
    plain, network = traversal.plain_layers(game), nets.build(traversal.NETWORK, game, 0, 0)
    shapes = [[tuple(each.shape) for each in module.parameters()] for module in (plain, network)]
    assert shapes[0] == shapes[1]


def test_an_update_is_set_beside_its_forward_backward_and_optimiser(small):
    figures = train.run(1)
    assert figures["outside"] == pytest.approx(1 - figures["bare_ms"] / figures["step_ms"])
    assert figures["rows_per_second"] == pytest.approx(train.BATCH / figures["step_ms"] * 1000)
    assert figures["outside"] < 1
    assert figures["threads"] == 1


def test_a_match_is_timed_with_a_network_and_without(small):
    steps = []
    figures = evaluate.run(1, progress=steps.append)
    assert steps == ["warm-up", "bots", "a network"]
    decisions = figures["decisions_per_second"] * figures["network_seconds"]
    assert decisions == pytest.approx(round(decisions))
    assert decisions >= 8 * 44  # two decisions a turn, half of the turns, and at least 44 of them
    assert (figures["pairs"], figures["threads"]) == (4, 1)


def test_the_memory_of_the_benchmark_is_full_and_half_of_the_slots_are_legal(small):
    """ROWS is no multiple of BATCH, so that what is filled is counted, not what was asked for."""
    memory = train.filled_memory(LostCities(), Workers(1))
    rows = memory.all_rows()
    assert len(memory) == train.ROWS // train.BATCH * train.BATCH
    assert ((rows["actions"] == NO_ACTION).sum(axis=1) == memory.slots // 2).all()
    assert (rows["values"][rows["actions"] == NO_ACTION] == 0).all()


@pytest.mark.parametrize("name", ["traversal", "train", "evaluate"])
def test_the_commands_show_every_figure(small, name):
    table = CliRunner().invoke(command, [name, "--threads", "1"], catch_exceptions=False).stdout
    figures = json.loads(CliRunner().invoke(command, [name, "--threads", "1", "--json"]).stdout)
    assert len(table.splitlines()) == len(figures)
    assert all(each > 0 for name, each in figures.items() if name != "outside")


def test_comparing_with_the_baseline(tmp_path):
    """A result that equals the baseline passes; one that is twice as slow fails and is named."""
    baseline = json.loads((ROOT / "bench" / "baseline.json").read_text())
    for factor, code in ((1, 0), (2, 1)):
        rows = [
            {
                "name": name,
                "stats": {"median": 1e-6 * row["ratio"] * (factor if name == "test_deals" else 1)},
                "extra_info": {"units": 1, "calibration_seconds": 1.0},
            }
            for name, row in baseline.items()
        ]
        path = tmp_path / "result.json"
        path.write_text(json.dumps({"benchmarks": rows}))
        done = subprocess.run(
            [sys.executable, ROOT / "bench" / "compare.py", path], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == code, done.stderr
        assert json.loads(done.stdout.splitlines()[-1])["slower"] == (["test_deals"] if code else [])


def test_the_suites_collect_and_run_once():
    """One pass of some of the engine's and of training's, without timing."""
    suites = ["bench/bench_engine.py", "bench/bench_training.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *suites, "-q", "-k", "selective or deals or public or kernel or one_tile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert "8 passed" in done.stdout
