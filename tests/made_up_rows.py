"""Rows of runs that were never made: what a run writes, with figures that follow from the iteration."""

import json

from small_runs import written

OPPONENTS = ("random", "discard-only")


def metrics(iteration):
    """A row of an iteration."""
    times = {"nodes_per_second": 4000.0 + iteration, "mean_batch": 20.0, "occupancy": 0.5}
    phases = {"collect": 6.0, "advantage-0": 3.0, "strategy": 2.0, "evaluate": 1.0}
    depths = [{"turn": 10 * k, "rows": 9 - k, "mean": -0.5, "sd": 20.0 / iteration, "zero": 0.1} for k in range(4)]
    counts = {"rounds": 32, "nodes": 900, "regret_rows": 400, "strategy_rows": 410, "forced": 3}
    play = {"score": -20.0, "opponent_score": -21.0, "turns": 40.0, "opened": 3.5, "fallback": 0.2, "entropy": 0.9}
    found = {"targets": depths, "loss": {"advantage-0": 900.0 + iteration, "strategy": 1.1}}
    return {"iteration": iteration, "times": times | phases, **counts, **play, **found}


def evaluation(iteration, opponent, mean, agent="average", **others):
    """A row of an evaluation."""
    shares = {"win": 0.625, "draw": 0.125, "loss": 0.25}
    play = {
        "score": mean - 10,
        "opponent_score": -10.0,
        "turns": 44.0,
        "stalled": 0.05,
        "opened": 3.25,
        "entropy": None,
    }
    found = {"pairs": 1234, "mean": mean, "ci95": [mean - 1.5, mean + 1.5]}
    names = {"iteration": iteration, "schedule": "regular", "agent": agent, "opponent": opponent}
    return {**names, **found, **shares, **play, **others}


def write_rows(folder, rows, evaluations=(), overrides=()):
    """A folder as a run has it, without a checkpoint."""
    folder.mkdir(exist_ok=True)
    written(folder, *overrides).rename(folder / "config.yaml")
    for name, each in (("metrics", rows), ("evaluations", evaluations)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in each))
    return folder
