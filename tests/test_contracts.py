"""Rules of style that can be checked: what compiles, who imports whom, how long a file may be."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import lostcfr
from lostcfr import LostCities
from lostcfr.kernels import state
from lostcfr.rules import MASK_BITS

ROOT = Path(__file__).parents[1]
MOST_LINES = 500
MOST_PARAMETERS = 8
SUFFIXES = (".py", ".pyx")
FOLDERS = ("lostcfr", "kernels", "tests", "bench")
# Files by their place in the project; what stands behind the link lostcfr/kernels is seen once.
SOURCES = {
    str(path.relative_to(ROOT)): path.read_text()
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in SUFFIXES and (ROOT / "lostcfr" / "kernels") not in path.parents
}
TREES = {name: ast.parse(text) for name, text in SOURCES.items() if name.endswith(".py")}
PACKAGE = {name: tree for name, tree in TREES.items() if name.startswith(("lostcfr/", "kernels/"))}
KERNELS = {
    name.removeprefix("kernels/").removesuffix(".py"): tree
    for name, tree in PACKAGE.items()
    if name.startswith("kernels/") and name not in ("kernels/__init__.py", "kernels/jit.py")
}

# Functions of the kernels that work on no arrays, or allocate them, and so need no compiler.
PLAIN = {"infoset.color_columns", "infoset.global_columns", "state.alloc"}
# The machine instructions of ``bits``, each with a Python body and an overload that is the instruction.
INSTRUCTIONS = {"count", "lowest", "highest", "store8"}
COMPILERS = re.compile(r"\b(njit|vectorize|guvectorize|jitclass|cfunc|stencil|jit_module)\b|\bjit\(")

# Uses every entry kernel in several ways: threads or none, two games, decks, bots in one seat or both, traversals of
# each kind with or without rows and baseline, and memories plain or mapped, given rows and answers that are read-only
# or not contiguous.
SMOKE = """
import json
from dataclasses import replace
import numpy as np
from lostcfr import LostCities, Rules
from lostcfr.agents import BOTS
from lostcfr.arena.match import play_pairs
from lostcfr.config import Configuration, NetworkConfig
from lostcfr.kernels import lanes as kernels, reservoir, returns, samples, tick, trajectory as codes, values
from lostcfr.memory import Reservoir
from lostcfr.nets import build
from lostcfr.solvers.views import agent_of
from lostcfr.threads import Workers
from lostcfr.traverse.lockstep import Lockstep
from lostcfr.traverse.recursive import Recursive
from lostcfr.traverse.rollout import lambda_returns, leads
from lostcfr.traverse.samples import Player, seating

for threads, rules in (1, Rules()), (2, Rules(n_colors=3, hand_size=4, stall_limit=None)):
    game = LostCities(rules)
    lanes, other = game.lanes(520, threads=threads), game.lanes(520)
    lanes.deal(seed=7)
    other.deal(decks=lanes.games.deck, first=3)
    for batch in lanes, other:
        for _ in range(4):
            features, legal = batch.gather()
            assert (batch.observe(features) == features).all()
            assert (batch.legal(legal) == legal).all()
            batch.observe_history()
            actions = batch.bot_actions(np.resize(list(BOTS.values()), len(batch)), seed=7)
            actions.flags.writeable = False
            batch.act(actions)
        batch.scores()
    play_pairs(game, "cautious", "random", 2, 7, threads=threads)
    play_pairs(game, "noisy", "selective", 2, 7, threads=threads, max_decisions=20)
    network = agent_of("fresh", "average", [[build(NetworkConfig(hidden=8), game, 7, 0)]], np.ones(1), Configuration())
    network = replace(network, rules=rules, floor=0.1 * threads)
    network.policy(lanes)
    lanes.deal(seed=8)
    network.policy(lanes)
    play_pairs(game, network, "random", 2, 7, threads=threads)
def nothing(features, _):
    return np.broadcast_to(np.float32(0), (len(features), game.num_actions))

def strided(features, _):
    return np.ones((len(features), 2 * game.num_actions))[:, ::2]

anyone, bot = Player(np.zeros((1, 2), np.int32), np.ones(1)), Player(np.full((1, 2), -1, np.int32), np.ones(1))
small = {"n_ranks": 3, "n_wagers": 0, "stall_limit": 1}
modes = (0.0, False, False), (0.3, False, False), (0.3, True, False), (0.0, False, True)
for threads, rules in (1, Rules(n_colors=1, hand_size=1, **small)), (2, Rules(n_colors=2, hand_size=2, **small)):
    game = LostCities(rules)
    order, played = np.arange(8), (Lockstep(game, 2, threads, history=True), Recursive(game, history=True))
    order.flags.writeable = False
    for scheduler in played:
        for outputs, opponent in (codes.REGRETS, anyone), (codes.REGRETS_OR_UNIFORM, bot), (codes.LOGITS, anyone):
            for exploration, once, branching in modes:
                table = seating(anyone, opponent, [outputs])
                plain = (np.uint64(7), 1, 0, int(once), rules.decision_cap)
                task = codes.Task(*plain, exploration, once, branching, not once, once, table)
                scheduler.play(task, order, nothing, roots=1)
                if not branching:
                    rounds = scheduler.play(task._replace(rollout=True, first=0), order, nothing)
                    told = np.zeros(len(rounds.samples.ply), np.float32)
                    lambda_returns(rounds.samples, leads(rounds), told, once)
                    told.flags.writeable = False
                    lambda_returns(rounds.samples, leads(rounds), told, exploration)
                scheduler.play(task, order[::-1], strided, baseline=nothing, record=not once)
for threads, directory in (1, None), (2, "."):
    memory = Reservoir(8, features=5, slots=3, seed=2**64 - 1, number=0, directory=directory, workers=Workers(threads))
    rows = np.zeros((9, 5), np.uint8), np.zeros((9, 3), np.uint8), np.zeros((9, 3), np.float32)
    memory.insert(*rows, iteration=1)
    rows[2].flags.writeable = False
    memory.insert(np.zeros((9, 10), np.uint8)[:, ::2], *rows[1:], iteration=np.int32(2))
    for table in np.ones(3, np.float32), np.ones(6, np.float32)[::2]:
        memory.mean_weight(table)
        memory.sample(1, 0, table, memory.new_batch(600))
modules = (kernels, reservoir, returns, samples, tick, values)
found = [(module, name, each) for module in modules for name, each in vars(module).items()]
own = [part for part in found if getattr(part[2], "__module__", None) == part[0].__name__ and hasattr(part[2], "stats")]
print(json.dumps({f"{module.__name__}.{name}": len(each.signatures) for module, name, each in own}))
"""
LOADED = "import sys, lostcfr; print(*sys.modules)"


def run(program):
    """What a fresh Python process prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def names_in(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def parts_of(node, *kinds):
    """The parts of a function's body that are of some kinds, by name of the kind."""
    return [type(part).__name__ for line in node.body for part in ast.walk(line) if isinstance(part, kinds)]


def is_instruction(module, node):
    """Whether a function belongs to the machinery of machine instructions in ``bits``."""
    machinery = {name for decorator in node.decorator_list for name in names_in(decorator)}
    return module == "bits" and (node.name in INSTRUCTIONS or bool(machinery & {"intrinsic", "overload"}))


def is_entry(node):
    """Whether a compiled function is one that Python calls, not one that is inlined."""
    return [ast.unparse(each) for each in node.decorator_list] == ["kernel"]


STATEMENTS = [(module, node) for module, tree in KERNELS.items() for node in tree.body]
FUNCTIONS = [(module, node) for module, node in STATEMENTS if isinstance(node, ast.FunctionDef)]
COMPILED = {
    f"{module}.{node.name}": node
    for module, node in FUNCTIONS
    if f"{module}.{node.name}" not in PLAIN and not is_instruction(module, node)
}


def test_the_sources_were_found():
    some = {"kernels/dense.pyx", "kernels/lanes.py", "lostcfr/cli/__init__.py", "bench/compare.py"}
    assert some <= set(SOURCES)
    assert len(PACKAGE) > 25
    assert len(COMPILED) > 100
    known = {f"{module}.{node.name}": node for module, node in FUNCTIONS}
    uncompiled = PLAIN | {f"bits.{name}" for name in INSTRUCTIONS}
    assert [name for name in uncompiled if known[name].decorator_list] == []


def test_files_are_short():
    lengths = {name: len(text.splitlines()) for name, text in SOURCES.items()}
    assert [name for name, lines in lengths.items() if lines > MOST_LINES] == []


def test_nothing_is_left_to_be_done():
    marks = re.compile("|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]))
    patterns = ("*.py", "*.md", "*.toml", "*.txt", "Makefile", "docs/*.md")
    texts = SOURCES | {path.name: path.read_text() for pattern in patterns for path in ROOT.glob(pattern)}
    assert {"README.md", "Makefile", "pyproject.toml"} <= set(texts)
    assert [name for name, text in texts.items() if marks.search(text)] == []


def test_a_kernel_carries_one_of_two_decorators():
    found = {name: list(map(ast.unparse, node.decorator_list)) for name, node in COMPILED.items()}
    assert {name: each for name, each in found.items() if each not in (["kernel"], ["leaf"])} == {}


def test_a_kernel_has_few_and_plain_parameters():
    """A default or an optional argument would make several compiled versions of one kernel."""
    found = {name: node.args for name, node in COMPILED.items()}
    counts = {name: len(each.posonlyargs + each.args) for name, each in found.items()}
    assert [name for name, count in counts.items() if count > MOST_PARAMETERS] == []
    assert [name for name, each in found.items() if each.defaults or each.kwonlyargs] == []
    assert [name for name, each in found.items() if each.vararg or each.kwarg] == []


def test_a_kernel_holds_no_function_and_raises_nothing():
    forbidden = (ast.FunctionDef, ast.Lambda, ast.Raise, ast.Try, ast.With, ast.Assert, ast.Global)
    found = {name: parts_of(node, *forbidden) for name, node in COMPILED.items()}
    assert {name: parts for name, parts in found.items() if parts} == {}


def test_kernel_modules_hold_constants_tuples_and_functions():
    """No method and no function in a branch, which the checks above would not see."""
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.ClassDef, ast.FunctionDef, ast.Expr)
    classes = [(module, node) for module, node in STATEMENTS if isinstance(node, ast.ClassDef)]
    assert [(module, node.lineno) for module, node in STATEMENTS if not isinstance(node, allowed)] == []
    assert [(module, node.name) for module, node in classes if parts_of(node, ast.FunctionDef)] == []
    assert {ast.unparse(base) for _, node in classes for base in node.bases} == {"NamedTuple"}


def test_only_jit_compiles():
    """Neither another decorator nor Numba itself elsewhere, but for the machine instructions of ``bits``."""
    assert [name for name in PACKAGE if COMPILERS.search(SOURCES[name])] == ["kernels/jit.py"]
    users = [name for name, tree in PACKAGE.items() if {"numba", "llvmlite"} & imported(tree)]
    assert users == ["kernels/bits.py", "kernels/jit.py"]


def imported(tree):
    """The first names of the modules that a file imports, wherever it does."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found


def test_no_pickle_is_imported():
    assert [name for name, tree in PACKAGE.items() if any("pickle" in each for each in imported(tree))] == []


def test_only_commands_print():
    printing = [
        (name, node.lineno)
        for name, tree in PACKAGE.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print"
    ]
    assert [place for place in printing if not place[0].startswith("lostcfr/cli/")] == []


def test_imports_run_one_way():
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_importing_the_package_loads_no_compiler():
    loaded = set(run(LOADED).split())
    assert "lostcfr.rules" in loaded
    assert not {"numba", "llvmlite", "torch"} & loaded
    assert callable(lostcfr.load_agent)


def test_every_entry_kernel_has_one_compiled_version():
    versions = json.loads(run(SMOKE))
    modules = ("lanes.", "reservoir.", "returns.", "samples.", "tick.", "values.")
    entries = [name for name, node in COMPILED.items() if name.startswith(modules) and is_entry(node)]
    assert len(entries) > 20
    assert [name for name in entries if versions[f"lostcfr.kernels.{name}"] != 1] == []


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    entries = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert project["version"] == lostcfr.__version__ == entries[0]


def test_masks_have_the_bits_that_rules_count_on():
    games = state.alloc(LostCities().parameters, 1)
    assert {8 * masks.dtype.itemsize for masks in (games.hand, games.known, games.table)} == {MASK_BITS}
    assert games.hand.dtype.kind == "u"
