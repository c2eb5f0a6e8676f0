"""Round robins: the same deals in all matches, standings worked by hand, the picture, and the command."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import types
from dataclasses import asdict

import numpy as np
import pytest

from lostcfr import InputError, LostCities, Rules
from lostcfr.agents import bot
from lostcfr.arena.match import play_pairs
from lostcfr.arena.plot import picture
from lostcfr.arena.tournament import Match, check_names, round_robin, standings
from lostcfr.errors import EXIT_RESOURCES, EXIT_USAGE
from rule_sets import MINI
from small_runs import command

GAME = LostCities(MINI)
NAMES = ["random", "balanced", "selective"]
SMALL = [word for name, value in asdict(MINI).items() for word in ("--rule", f"{name}={value}")]
ARENA = ("arena", *NAMES, "--pairs", 40, "--threads", 1, *SMALL)
INTERRUPTED = 130


@pytest.fixture(scope="module")
def matches():
    return round_robin(GAME, [bot(name) for name in NAMES], 60, 5, threads=2)


def known(first, second, points):
    return Match(first, second, np.array(points), {})


# Three agents and two deals: a beats b by 10 and draws, b loses to c, a and c are level.
KNOWN = [known(0, 1, [[10, 6], [0, 0]]), known(0, 2, [[5, -5], [3, -3]]), known(1, 2, [[-8, 2], [-4, -6]])]


def test_every_match_is_played_on_the_same_deals(matches):
    assert [match[:2] for match in matches] == [(0, 1), (0, 2), (1, 2)]
    for match in matches:
        alone = play_pairs(GAME, NAMES[match.first], NAMES[match.second], 60, 5, threads=1)
        assert (match.points == alone.score - alone.opponent_score).all()
        assert match.figures["mean"] == match.points.mean()


def test_a_match_can_be_played_in_parts():
    whole = play_pairs(GAME, "noisy", "balanced", 50, 8, threads=1)
    part = play_pairs(GAME, "noisy", "balanced", 20, 8, first=30, threads=2)
    assert all((one[30:] == other).all() for one, other in zip(whole, part, strict=True))
    with pytest.raises(InputError, match="first is -1"):
        play_pairs(GAME, "noisy", "balanced", 20, 8, first=-1)


def test_those_who_watch_are_told_of_the_rounds_of_all_matches():
    seen = []
    round_robin(GAME, [bot(name) for name in NAMES], 30, 5, threads=1, watch=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 3 * 60


def test_points_of_known_matches():
    found = standings(["a", "b", "c"], KNOWN, 1)
    assert found.names == ["a", "c", "b"]
    assert found.mean.tolist() == [[0, 0, 4], [0, 0, 4], [-4, -4, 0]]
    assert found.points.tolist() == [2, 2, -4]
    # Pair means 8 and 0: standard error 4, t of one degree of freedom 12.706.
    assert found.half[0, 2] == found.half[2, 0] == pytest.approx(4 * 12.7062, abs=1e-3)
    assert found.half[0, 1] == found.half[0, 0] == 0


def test_ratings_count_rounds_won_and_not_points():
    """a has 3 of 4 rounds against b, b 1 of 4 against c, and a 2 of 4 against c: a and c are level."""
    found = standings(["a", "b", "c"], KNOWN, 1)
    more = standings(["a", "b", "c"], [match._replace(points=match.points * 9) for match in KNOWN], 1)
    assert found.elo[0] == pytest.approx(found.elo[1])
    assert found.elo[2] < 0
    assert (found.elo == more.elo).all()
    assert (found.low <= found.elo).all()
    assert (found.elo <= found.high).all()


def test_the_order_of_the_agents_changes_nothing(matches):
    backwards = round_robin(GAME, [bot(name) for name in NAMES[::-1]], 60, 5, threads=1)
    one, other = standings(NAMES, matches, 5, "random"), standings(NAMES[::-1], backwards, 5, "random")
    assert one.names == other.names
    assert one.names[-1] == "random"
    assert (one.mean == other.mean).all()
    for column in ("elo", "low", "high"):
        assert getattr(one, column) == pytest.approx(getattr(other, column), abs=1e-6)


@pytest.mark.parametrize(
    ("names", "anchor", "message"),
    [
        (["a"], None, "two agents or more, not 1"),
        (["a", "b", "a"], None, "a is named twice"),
        (["runs/x", "./runs/x/"], None, "./runs/x/ is named twice"),
        (["random", "noisy"], "nosy", r"'nosy' is none of the agents \(did you mean 'noisy'"),
    ],
)
def test_agents_that_make_no_tournament(names, anchor, message):
    with pytest.raises(InputError, match=message):
        check_names(names, anchor)


class Recorder:
    """Stands in for a figure or its axes: writes down every call, and the file."""

    def __init__(self, **settings):
        self.calls = []
        self.axes = []

    def subplots(self, rows, columns, **settings):
        self.axes = [Recorder() for _ in range(rows * columns)]
        return self.axes

    def savefig(self, file, **settings):
        file.write(settings["format"].encode())

    def __getattr__(self, name):
        return lambda *given, **named: self.calls.append((name, given, named))

    def called(self, name):
        """Arguments and keywords of all calls of that name."""
        return [call[1:] for call in self.calls if call[0] == name]


@pytest.fixture
def figures(monkeypatch):
    """All figures that are made with a stand-in for matplotlib."""
    made = []
    module = types.ModuleType("matplotlib.figure")
    module.Figure = lambda **settings: made.append(Recorder()) or made[-1]
    package = types.ModuleType("matplotlib")
    package.rcParamsDefault, package.rc_context = {}, contextlib.nullcontext
    monkeypatch.setitem(sys.modules, "matplotlib", package)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", module)
    return made


def test_the_picture_shows_points_and_ratings(figures):
    found = standings(["a", "b", "c"], KNOWN, 1)
    assert picture(found) == b"png"
    points, elo = figures[0].axes
    (((image,), colours),) = points.called("imshow")
    assert (image == found.mean).all()
    assert colours["vmax"] == -colours["vmin"] == 4
    shown = {(row, column): text for (column, row, text), _ in points.called("text")}
    assert shown.keys() == {(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)}
    assert shown[2, 0] == f"-4.0\n± {found.half[2, 0]:.1f}"
    assert points.called("set_yticks")[0][0][1] == ["a  1", "c  2", "b  3"]
    (((middles, rows), bars),) = elo.called("errorbar")
    assert (middles == found.elo).all()
    assert list(rows) == [0, 1, 2]
    assert middles - bars["xerr"][0] == pytest.approx(found.low)
    assert middles + bars["xerr"][1] == pytest.approx(found.high)


def test_the_command_draws_a_picture(figures, tmp_path):
    code, printed, _ = command(*ARENA, "--png", tmp_path / "x.png")
    assert (code, (tmp_path / "x.png").read_bytes(), len(figures)) == (0, b"png", 1)
    assert "Elo" in printed


def test_a_picture_that_cannot_be_made_is_told_before_a_match_is_played(monkeypatch, figures):
    code, _, complaint = command(*ARENA, "--png", "missing/x.png")
    assert (code, "there is no folder missing for x.png" in complaint) == (EXIT_USAGE, True)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, complaint = command(*ARENA, "--png", "x.png")
    assert (code, complaint.splitlines()[-1]) == (
        EXIT_RESOURCES,
        "Error: a picture needs the package matplotlib: pip install 'lostcfr[plots]'",
    )


def test_the_command_reports_standings_and_matches():
    code, printed, complaint = command(*ARENA, "--json", "--anchor", "balanced", "--seed", 4)
    assert code == 0, complaint
    figures = json.loads(printed)
    assert list(figures) == ["seed", "rules", "rounds", "pairs", "anchor", "bounded", "ratings", "matches"]
    assert (figures["seed"], figures["pairs"], Rules(**figures["rules"])) == (4, 40, MINI)
    played = round_robin(GAME, [bot(name) for name in NAMES], 40, 4, threads=2)
    assert figures["matches"] == [match.figures for match in played]
    found = standings(NAMES, played, 4, "balanced")
    assert [row["agent"] for row in figures["ratings"]] == found.names
    assert [row["elo"] for row in figures["ratings"]] == found.elo.tolist()
    assert [row["ci95"] for row in figures["ratings"]] == np.stack([found.low, found.high], axis=1).tolist()
    assert [row["points"] for row in figures["ratings"]] == found.points.tolist()


def test_the_command_shows_two_tables():
    code, printed, complaint = command(*ARENA, "--seed", 4)
    assert code == 0, complaint
    lines = printed.splitlines()
    found = standings(NAMES, round_robin(GAME, [bot(name) for name in NAMES], 40, 4, threads=2), 4)
    assert lines[0] == "40 mirrored pairs for any two agents, all on the deals of seed 4"
    rows = [line for line in lines if re.match(r" [123]  ", line)]
    assert [row.split()[1] for row in rows] == found.names * 2
    assert f"{found.mean[0, 2]:+.2f} ±{found.half[0, 2]:5.2f}" in rows[0]
    assert rows[3].split()[2:] == [
        f"{found.elo[0]:+.0f}",
        f"{found.low[0]:+.0f}",
        "..",
        f"{found.high[0]:+.0f}",
        f"{found.points[0]:+.2f}",
    ]


def test_the_command_says_where_only_the_prior_bounds_a_rating():
    """In classic rules random does not win a round in ten deals."""
    code, printed, _ = command("arena", "random", "selective", "--pairs", 10, "--threads", 1)
    assert (code, "lost no round to any of the others" in printed) == (0, True)


def test_the_command_tests_two_agents():
    test = ("arena", "random", "balanced", "--sprt", -2, "-1.5", "--pairs", 500, "--threads", 1, *SMALL)
    code, printed, complaint = command(*test)
    assert code == 0, complaint
    assert printed.splitlines()[0] == "random against balanced, points a round: -2 or less, not -1.5 or more"
    figures = json.loads(command(*test, "--json")[1])
    assert (figures["low"], figures["high"], figures["decision"]) == (-2, -1.5, "low")
    assert figures["ratio"] <= -figures["bound"]
    assert f"{figures['pairs']:,}" in printed
    assert f"{figures['mean']:+.2f}" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("balanced", "two agents or more"),
        ("balanced Balanced", "balanced is named twice"),
        ("balanced selectiv", "did you mean 'selective'"),
        ("balanced random --anchor noisy", "the anchor 'noisy' is none of the agents"),
        ("balanced random noisy --sprt 0 1", "--sprt tests two agents"),
        ("balanced random --sprt 0 1 --anchor random", "neither --anchor nor --png"),
        ("balanced random --sprt 1 0", "LOW < HIGH"),
        ("balanced random --sprt 0 one", "'one' is not a valid float"),
        ("balanced random --pairs 1", "--pairs"),
    ],
)
def test_bad_input_is_explained(arguments, message):
    code, printed, complaint = command("arena", *arguments.split())
    assert (code, printed, message in complaint) == (EXIT_USAGE, "", True)


def test_an_interrupt_stops_a_tournament():
    """The signal comes when the progress on the terminal shows that rounds are being played."""
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    program += "from lostcfr.cli import main; main()"
    arguments = ["arena", "balanced", "cautious", "noisy", "--pairs", "100000"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    ) as process:
        os.close(theirs)
        shown = ""
        try:
            while not re.search(r"3 matches .*\b[1-9][\d,]*/600,000", shown):
                shown += os.read(ours, 4096).decode(errors="replace")
            process.send_signal(signal.SIGINT)
            while "interrupted" not in shown:
                shown += os.read(ours, 4096).decode(errors="replace")
            assert (process.wait(5), process.stdout.read()) == (INTERRUPTED, b"")
        finally:
            process.kill()
            os.close(ours)
    assert "Traceback" not in shown
