"""Runs that train in a moment, and all that must be the same in two runs that are equal."""

import contextlib
import io
import sys
from dataclasses import asdict
from pathlib import Path
from unittest import mock

from lostcfr.cli import main
from lostcfr.config_file import load, parse, to_yaml
from lostcfr.run.checkpoint import Checkpoints
from lostcfr.run.directory import RunDirectory
from lostcfr.run.loop import Training
from lostcfr.run.metrics import read_rows
from lostcfr.run.state import Store
from lostcfr.solvers.methods import new_solver
from rule_sets import MINI

# The memories overflow in the second iteration; snapshots are dropped from the fourth on.
PLAIN = f"""
rules: {asdict(MINI)}
network: {{hidden: 16, layers: 1}}
traversal: {{per_player: 16, width: 8, tile: 8}}
memory: {{advantage_rows: 60, strategy_rows: 60, budget_gib: 0.1}}
advantage: {{steps: 4, batch: 16}}
strategy: {{steps: 3, batch: 16}}
averaging: {{snapshots: 3}}
evaluation: {{every: 2, pairs: 8, opponents: [random, balanced]}}
limits: {{iterations: 4}}
"""
# Everything else that a checkpoint may have to carry.
RICH = (
    "network.one_per_seat=true",
    "traversal.exploration=0.3",
    "traversal.exploring_decisions=one",
    "advantage.weighting=dcfr",
    "advantage.restart=true",
    "strategy.weighting=dcfr",
    "evaluation.view=mixture",
    "extended_evaluation.every=2",
    "extended_evaluation.pairs=12",
    "extended_evaluation.opponents=[cautious]",
)
# The methods with a critic, with all that their checkpoints may hold.
CRITIC = (
    "method=critic_cfr",
    "critic.hidden=8",
    "critic.steps=4",
    "critic.batch=16",
    "critic.window=2",
    "critic.correction=0.5",
    "traversal.exploration=0.3",
    "traversal.exploring_decisions=one",
)
ACCUMULATED = (*CRITIC, "advantage.weighting=dcfr")
REMEMBERED = (*CRITIC, "advantage.accumulation=reservoir")
GRADIENT = (
    "method=policy_gradient",
    *CRITIC[1:5],
    "policy.steps=4",
    "policy.batch=16",
    "policy.magnet=0.1",
    "policy.magnet_every=2",
    "traversal.league=0.3",
)
RULES = [text for name, value in asdict(MINI).items() for text in ("--rule", f"{name}={value}")]


def configuration(*overrides, strategy=True):
    """The plain settings with some changed, as on the command line; or without a strategy network."""
    text = PLAIN if strategy else PLAIN.replace(", strategy_rows: 60", "").replace("strategy: {", "strategy: {} # ")
    if overrides[:1] == GRADIENT[:1]:
        text = text.replace("advantage: {", "advantage: {} # ").replace("advantage_rows: 60, ", "")
    elif overrides[:1] == CRITIC[:1] and "advantage.accumulation=reservoir" not in overrides:
        text = text.replace("advantage_rows: 60, ", "")
    return parse(text, "small", overrides if strategy else ("averaging.strategy_network=false", *overrides))


def train(folder, settings=None, *, stop=None, **options):
    """Start a run, or go on with the one there, to its end or until ``stop`` says so of a report; its exit code."""
    fresh = settings is not None
    with RunDirectory.create(folder, to_yaml(settings)) if fresh else RunDirectory.resume(folder) as directory:
        training = Training(settings or load(directory.config), directory, **{"threads": 1} | options)
        if stop is not None:
            training.report = lambda progress: setattr(training.interruption, "signal", 2 if stop(progress) else None)
        if not fresh:
            training.resume()
        return training.run()


def restored(folder, checkpoint=None):
    """A solver as a checkpoint of a run has it, by default the newest one."""
    checkpoints = Checkpoints(folder / "checkpoints")
    solver = new_solver(load(folder / "config.yaml"), folder, threads=1)
    Store(checkpoints, solver).read(checkpoint or checkpoints.latest())
    return solver


def contents(folder):
    """All that a run has come to, by name and as bytes or plain numbers; times are left out."""
    checkpoints, solver = Checkpoints(folder / "checkpoints"), restored(folder)
    newest, best = checkpoints.latest(), checkpoints.best()
    found = {"name": newest.name, "iteration": solver.iteration}
    parts = {learner.name: learner.fit.arrays() for learner in solver.learners} | solver.more_arrays()
    for name, memory in solver.memories.items():
        parts[name] |= memory.all_rows()
        found[f"{name} seen"] = memory.seen
    for iteration, rollout in (solver.window.rollouts if solver.window else {}).items():
        parts[f"rollout {iteration}"] = rollout._asdict()
    found |= {f"{part} {name}": array.tobytes() for part, arrays in parts.items() for name, array in arrays.items()}
    for iteration, networks in solver.snapshots.items():
        for number, arrays in enumerate(networks):
            found |= {f"snapshot {iteration} {number} {name}": array.tobytes() for name, array in arrays.items()}
    found["place"] = timeless(newest.state["place"])
    if best is not None:
        found["best"] = best.name, {name: entry["sha256"] for name, entry in best.manifest["files"].items()}
    found["metrics"] = [timeless(row) for row in read_rows(folder / "metrics.jsonl")]
    found["evaluations"] = (folder / "evaluations.jsonl").read_bytes()
    return found


def timeless(row):
    """A row or a place without its times."""
    row = {name: timeless(value) if isinstance(value, dict) else value for name, value in row.items()}
    return {name: value for name, value in row.items() if name not in ("times", "seconds")}


def differences(one, other):
    """Names of what is not the same in two ``contents``."""
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


def command(*arguments):
    """Exit code, standard output and standard error of a command that is run in this process."""
    printed, complaints, code = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", ["lostcfr", *map(str, arguments)]),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(complaints),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    return code, printed.getvalue(), complaints.getvalue()


def written(folder, *overrides):
    """The path of a file with the plain settings, some of them changed."""
    path = Path(folder) / "small.yaml"
    path.write_text(to_yaml(configuration(*overrides)))
    return path
