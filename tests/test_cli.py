"""The commands as a user runs them: what they print, how they fail, and how they stop."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from importlib import metadata
from itertools import cycle

import pytest

from lostcfr import LostCities, Rules
from lostcfr.agents import BOTS, bot
from lostcfr.arena.rounds import play_rounds
from lostcfr.bench.engine import signature
from lostcfr.cli.evaluate import show
from lostcfr.errors import EXIT_CONFIGURATION, EXIT_RESOURCES, EXIT_USAGE
from lostcfr.kernels import dense, jit
from lostcfr.narration import words
from lostcfr.record import read_rounds, write_rounds
from lostcfr.threads import budget

MAIN = "from lostcfr.cli import main; main()"
EXIT_INTERRUPTED = 130
STOPS_WITHIN = 5  # seconds
PAIRS = 60
POINTS = r"[+-]\d+\.\d\d"
COMMANDS = ["arena", "bench", "check", "config", "doctor", "evaluate", "play", "replay", "report", "train"]
FIGURES = ["agent", "opponent", "pairs", "rounds", "mean", "ci95", "win", "draw", "loss", "score", "opponent_score"]
FIGURES += ["turns", "stalled", "opened", "unfinished", "decisions", "forced_decisions", "pile_draws", "cards"]
FIGURES += ["positive", "negative", "bonus", "good_openings", "bad_openings", "entropy", "support"]
FIGURES += ["seed", "rules", "max_decisions"]


def start(*arguments, program=MAIN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **variables):
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, **variables},
        stdout=stdout,
        stderr=stderr,
        text=True,
    )


def finish(process):
    """Exit code, standard output, standard error."""
    printed, complaints = process.communicate(timeout=300)
    return process.returncode, printed, complaints


def output(*arguments):
    """What a command prints that does its work."""
    code, printed, complaints = finish(start(*arguments))
    assert code == 0, complaints
    return printed


def test_help_names_every_command():
    text = output("--help")
    assert re.findall(r"^  ([a-z]+)  +[A-Z].*\.$", text, re.MULTILINE) == COMMANDS
    assert text == output("-h")


@pytest.mark.parametrize(
    "command",
    [
        *COMMANDS,
        "bench engine",
        "check endgame",
        *(f"config {name}" for name in ("show", "validate", "schema", "reference")),
    ],
)
def test_every_command_explains_itself(command):
    text = output(*command.split(), "--help")
    assert f" {command} [OPTIONS]" in text.splitlines()[0]
    assert "--help" in text


def test_help_is_quick():
    """Neither numba nor torch is loaded, which would take a second or more."""
    program = f"import sys; {MAIN}; print(*sys.modules)"
    code, printed, _ = finish(start("--help", program=program))
    loaded = printed.splitlines()[-1].split()
    assert code == 0
    assert {"lostcfr", "click"} <= set(loaded)
    assert not {"numba", "llvmlite", "torch", "scipy"} & set(loaded)


def test_a_match_of_rule_based_players_does_not_wait_for_torch():
    program = f"import atexit, sys; atexit.register(lambda: print(*sys.modules)); {MAIN}"
    code, printed, _ = finish(start("evaluate", "balanced", "--against", "random", "--pairs", "2", program=program))
    loaded = printed.splitlines()[-1].split()
    assert code == 0
    assert "numba" in loaded
    assert "torch" not in loaded


def test_doctor_knows_this_installation():
    lines = output("doctor").splitlines()
    found = dict(re.split(r"  +", line, maxsplit=1) for line in lines)
    assert found["Python"].startswith(sys.version.split()[0])
    for package in ("lostcfr", "numpy", "numba", "llvmlite", "scipy", "torch", "click"):
        assert found[package] == metadata.version(package)
    assert f"{os.cpu_count()} in the machine" in found["cores"]
    assert found["threads"].startswith(f"{budget()} for lanes")
    assert re.match(r"\d+ \(.+\)|unknown", found["numpy threads"])
    assert str(jit.cache_directory()) in found["kernel cache"]
    assert found["extension"] == dense.__file__
    assert re.match(r"not available|.+ device\(s\)", found["CUDA"])


def test_bench_engine():
    figures = json.loads(output("bench", "engine", "--json", "--threads", 2))
    assert list(figures["bots"]) == list(BOTS)
    assert len(BOTS) == 7
    assert figures["decisions_per_second"] == figures["bots"]["random"]
    for rate in (figures["feature_rows_per_second"], *figures["bots"].values()):
        assert 1e3 < rate < 1e10
    assert figures["bots"]["random"] > figures["bots"]["balanced"]
    assert figures["threads"] == 2
    assert figures["warm_up_seconds"] > 0
    assert figures["signature"] == signature(1) > 0


def play_round(game, agents):
    return play_rounds(game, (bot(agents[0]), bot(agents[1])), 11)[0]


def told(played):
    return "".join(f"{line}\n" for line in words(played))


def test_replay_tells_a_round_turn_by_turn():
    agents = ("selective", "noisy")
    text = output("replay", "--seed", 11, "--agents", *agents)
    lines = text.splitlines()
    assert text == told(play_round(LostCities(), agents))
    turns = [match for line in lines if (match := re.match(r" *(\d+)\. (\S+ \(\d\))", line))]
    assert [int(turn[1]) for turn in turns] == list(range(1, len(turns) + 1))
    assert len(turns) >= 44
    for turn, name in zip(turns, cycle(["selective (0)", "noisy (1)"]), strict=False):
        assert turn[2] == name
    assert len(lines) == 2 + 1 + len(turns) + 1 + 3
    own, theirs = (int(re.search(r": (-?\d+) points$", line)[1]) for line in lines[-3:-1])
    winner = "selective (0)" if own > theirs else "noisy (1)"
    assert lines[-1] == (f"{winner} wins by {abs(own - theirs)}" if own != theirs else "a draw")


def test_replay_takes_rules():
    text = output("replay", "--seed", 11, "--rule", "n_colors=6", "--rule", "stall_limit=2")
    game = LostCities(Rules(n_colors=6, stall_limit=2))
    assert text == told(play_round(game, ("balanced", "cautious")))
    assert "purple" in text


def test_replay_tells_a_file_of_rounds(tmp_path):
    path = tmp_path / "rounds.txt"
    one = output("replay", "--seed", 11, "--deal", 3, "--agents", "random", "noisy", "--save", path)
    assert output("replay", path) == one
    rounds = [*read_rounds(path), play_round(LostCities(Rules(n_colors=6)), ("balanced", "cautious"))]
    write_rounds(path, rounds)
    assert output("replay", path) == one + "\n" + told(rounds[1])
    assert output("replay", path, "--deal", 1) == told(rounds[1])
    faults = {
        ("--deal", 2): "holds 2 rounds, numbered from 0, so none has the number 2",
        ("--seed", 1): "either a file of rounds or --seed, one of the two",
        ("--agents", "random", "random"): "--agents and --rule are for --seed",
    }
    for options, message in faults.items():
        code, printed, complaints = finish(start("replay", path, *options))
        assert (code, printed) == (EXIT_USAGE, "")
        assert message in complaints


@pytest.fixture(scope="module")
def evaluated():
    """Rows of a match from both sides and with other threads, and of a match of a bot with itself."""
    shared = ("--pairs", PAIRS, "--seed", 5, "--json", "--threads")
    commands = [
        ("evaluate", "balanced", "--against", "cautious,balanced", *shared, 1),
        ("evaluate", "balanced", "--against", "cautious,balanced", *shared, 2),
        ("evaluate", "cautious", "--against", "balanced", *shared, 2),
    ]
    finished = [finish(process) for process in [start(*command) for command in commands]]
    assert [code for code, _, _ in finished] == [0, 0, 0], finished
    return [json.loads(printed) for _, printed, _ in finished]


def test_evaluate_reports_every_figure(evaluated):
    rows = evaluated[0]
    assert [row["opponent"] for row in rows] == ["cautious", "balanced"]
    for row in rows:
        assert row["agent"] == "balanced"
        low, high = row["ci95"]
        assert list(row) == FIGURES
        assert row["pairs"] == PAIRS
        assert row["win"] + row["draw"] + row["loss"] == pytest.approx(1, abs=1e-12)
        assert low <= row["mean"] <= high
        assert row["mean"] == pytest.approx(row["score"] - row["opponent_score"], abs=1e-9)
        assert row["turns"] >= 44
        assert 0 <= row["stalled"] < 1
        assert 0 < row["opened"] <= 5
        assert row["good_openings"] + row["bad_openings"] == pytest.approx(1, abs=1e-12)
        assert row["entropy"] is row["support"] is None
    assert rows[0]["ci95"][0] < rows[0]["ci95"][1]


def test_evaluate_is_the_same_with_other_threads(evaluated):
    assert evaluated[0] == evaluated[1]


def test_evaluate_is_antisymmetric(evaluated):
    here, there = evaluated[0][0], evaluated[2][0]
    assert here["mean"] == -there["mean"] != 0
    assert (here["win"], here["draw"], here["loss"]) == (there["loss"], there["draw"], there["win"])
    assert (here["score"], here["opponent_score"]) == (there["opponent_score"], there["score"])
    assert here["turns"] == there["turns"]


def test_a_bot_is_exactly_level_with_itself(evaluated):
    mirror = evaluated[0][1]
    assert (mirror["mean"], mirror["ci95"]) == (0, [0, 0])
    assert mirror["win"] == mirror["loss"] > 0


def test_evaluate_shows_a_table(evaluated, capsys):
    show(evaluated[0])
    results, play = (part.splitlines() for part in capsys.readouterr().out.split("\n\n"))
    first, header, *rows = results
    assert first.startswith(f"{PAIRS} mirrored pairs; points a round for balanced")
    assert header.split()[:6] == ["opponent", "points", "interval", "win", "draw", "loss"]
    for row, name in zip(rows, ["cautious", "balanced"], strict=True):
        assert re.fullmatch(rf"{name} +{POINTS} +{POINTS} \.\. {POINTS}( +-?[\d.]+%?){{8}}", row)
    for row, name in zip(play[2:], ["cautious", "balanced"], strict=True):
        assert re.fullmatch(rf"{name}( +[\d.]+%?){{9}} +- +-", row)


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("evalute", EXIT_USAGE, "did you mean 'evaluate'"),
        ("frobnicate", EXIT_USAGE, "known: arena, bench, check, config, doctor, evaluate, play, replay, report, train"),
        ("bench engin", EXIT_USAGE, "engine"),
        ("evaluate balancd --against cautious", EXIT_USAGE, "'balancd' (did you mean 'balanced'?)"),
        ("replay --seed 7 --agents random selectiv", EXIT_USAGE, "'selectiv' (did you mean 'selective'?)"),
        ("evaluate balanced", EXIT_USAGE, "--against"),
        ("evaluate balanced --against cautious --pairs 1", EXIT_USAGE, "--pairs"),
        ("evaluate balanced --against cautious --seed -1", EXIT_USAGE, "--seed"),
        ("evaluate balanced --against cautious --max-decisions 0", EXIT_USAGE, "--max-decisions"),
        ("replay --seed -1", EXIT_USAGE, "-1 is not in the range"),
        ("replay --seed seven", EXIT_USAGE, "seven"),
        ("bench engine --threads 0", EXIT_USAGE, "--threads"),
        ("replay --seed 7 --rule n_color=6", EXIT_CONFIGURATION, "'n_color' (did you mean 'n_colors'?)"),
        ("replay --seed 7 --rule n_colors=7", EXIT_CONFIGURATION, "n_colors is 7, but must be a whole number"),
        ("replay --seed 7 --rule n_colors=six", EXIT_CONFIGURATION, "n_colors is 'six'"),
        ("replay --seed 7 --rule n_colors", EXIT_CONFIGURATION, "name=value"),
        ("replay --seed 7 --rule bonus=1 --rule bonus=2", EXIT_CONFIGURATION, "bonus is given twice"),
        ("replay --seed 7 --rule hand_size=30", EXIT_CONFIGURATION, "it is at most 29"),
        ("replay --seed 7 --rule n_ranks=14", EXIT_CONFIGURATION, "lower n_wagers or n_ranks"),
    ],
)
def test_bad_input_is_explained_in_one_line(command, code, message):
    exit_code, printed, complaints = finish(start(*command.split()))
    assert (exit_code, printed) == (code, "")
    (line,) = [line for line in complaints.splitlines() if line.startswith("Error:")]
    assert complaints.splitlines()[-1] == line
    assert message in line
    assert "Traceback" not in complaints


@pytest.mark.parametrize("command", ["--help", "replay --seed 7"])
def test_a_reader_that_has_gone_is_no_error(command):
    """The read end of the pipe is closed before the first line, so that no chance decides who is first."""
    reader, writer = os.pipe()
    os.close(reader)
    with start(*command.split(), stdout=writer) as process:
        os.close(writer)
        code, _, complaints = finish(process)
    assert (code, complaints) == (1, "")


def read_until(terminal, pattern):
    """What a terminal shows up to the pattern; OSError if the other end closes before."""
    shown = ""
    while not re.search(pattern, shown):
        shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def test_an_interrupt_stops_a_long_evaluation():
    """The signal comes when the progress on the terminal shows that rounds are being played."""
    listening = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {MAIN}"
    command = ("evaluate", "balanced", "--against", "cautious", "--pairs", 200_000)
    ours, theirs = pty.openpty()
    with start(*command, program=listening, stderr=theirs, TERM="xterm", COLUMNS="120") as process:
        os.close(theirs)
        try:
            read_until(ours, r"balanced - cautious .*\b[1-9][\d,]*/400,000")
            process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            shown = read_until(ours, "interrupted")
            code = process.wait(STOPS_WITHIN)
        finally:
            process.kill()
            os.close(ours)
        assert time.monotonic() - sent < STOPS_WITHIN
        assert (code, process.stdout.read()) == (EXIT_INTERRUPTED, "")
    assert "Traceback" not in shown


def test_output_that_cannot_be_written_is_one_sentence():
    with open("/dev/full", "w") as full:
        code, _, complaints = finish(start("replay", "--seed", "7", stdout=full))
    assert code == EXIT_RESOURCES
    assert complaints.splitlines()[-1].startswith("Error: ")
    assert "Traceback" not in complaints


def test_help_names_every_agent():
    for command in ("evaluate", "replay"):
        text = " ".join(output(command, "--help").split())
        assert [name for name in BOTS if name not in text] == []
