"""The engine's functional signature, and that the regression suites of bench/ run."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from lostcfr import LostCities
from lostcfr.bench import engine

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden" / "signature.txt"


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
    """One pass of the engine's suite without timing."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "bench/bench_engine.py", "-q", "-k", "selective or deals or tick"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout
