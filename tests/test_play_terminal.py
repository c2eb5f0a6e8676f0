"""``lostcfr play`` as a person meets it: whole rounds in a pseudo-terminal and by a script, and every way to stop."""

import io
import os
import pty
import re
import select
import signal
import subprocess
import sys

import click
import pytest
from rich.console import Console

from lostcfr import LostCities, Rules
from lostcfr.agents import bot
from lostcfr.cli.play import at_table, command, plain_or_colored
from lostcfr.errors import LostCFRError
from lostcfr.narration import words
from lostcfr.play.advice import differences, hint
from lostcfr.play.keep import NAME
from lostcfr.play.match import Match, Player
from lostcfr.play.session import Session, deal
from lostcfr.play.terminal import COMMANDS, Setting
from lostcfr.record import read_rounds
from rule_sets import MINI
from scripts import advance, begin, script

MAIN = "from lostcfr.cli import main; main()"
# The program's own controlling terminal, and Ctrl-C heard even where whoever runs the tests ignores it.
AT_TERMINAL = f"""
import fcntl, signal, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)
{MAIN}
"""
RULES = [f"--rule={name}={getattr(MINI, name)}" for name in ("n_colors", "n_ranks", "n_wagers", "hand_size")]
RULES += [f"--rule={name}={getattr(MINI, name)}" for name in ("expedition_cost", "bonus_threshold", "bonus")]
SHORT = LostCities(Rules(n_colors=3, n_ranks=5, n_wagers=1, hand_size=3, expedition_cost=-6))
INTERRUPT = b"\x03"
STOPS_WITHIN = 5  # seconds
COLOUR = r"\x1b\[[\d;]*m"


class Person:
    """The other end of the terminal of ``lostcfr play``."""

    def __init__(self, folder, *options, **variables):
        self.terminal, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", AT_TERMINAL, "play", *options],
            cwd=folder,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24", **variables},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)

    def sees(self, pattern):
        """All that is shown up to a text, as it is read with colours; ``in_colour`` says whether there were any."""
        shown = plain = ""
        while not re.search(pattern, plain):
            shown += os.read(self.terminal, 4096).decode()
            plain = re.sub(COLOUR, "", shown).replace("\r\n", "\n")
        self.in_colour = re.search(COLOUR, shown) is not None
        return plain

    def types(self, line, answer=r"(card|draw)> $"):
        """Type a line; returns what is shown up to the next prompt."""
        os.write(self.terminal, f"{line}\n".encode())
        return self.sees(answer)

    def interrupts(self):
        """Press Ctrl-C until it is heard: between showing the prompt and waiting for a line Python may miss one."""
        shown = ""
        os.write(self.terminal, INTERRUPT)
        while "interrupted" not in shown:
            if select.select([self.terminal], [], [], STOPS_WITHIN)[0]:
                shown += os.read(self.terminal, 4096).decode()
            else:
                os.write(self.terminal, INTERRUPT)
        return shown + self.rest()

    def runs(self):
        """Whether the program still runs a moment from now."""
        try:
            self.process.wait(0.5)
        except subprocess.TimeoutExpired:
            return True
        return False

    def rest(self):
        """What is shown until the program ends."""
        shown = b""
        try:
            while part := os.read(self.terminal, 4096):
                shown += part
        except OSError:  # the other end is closed
            pass
        return shown.decode()


def piped(folder, text, *options):
    """A run with its input from a pipe: exit code, standard output, standard error."""
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "play", *options],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_classic_round_in_a_terminal(tmp_path):
    """With bad input, hint, undo and saves; the saved file tells the round that was played."""
    session = begin(LostCities(), 8)
    first, *lines = script(session)
    with Person(tmp_path, "--seed", "8", "--save", "end.txt") as person:
        start = person.sees("card> $")
        assert "--seed 8 deals the same cards again" in start
        assert person.in_colour
        assert "is no move" in person.types("r77")
        assert "the player does not hold that card" in person.types("play yellow 10")
        assert "Turn 1." not in person.types("")
        assert re.search(r"move +likely +points +behind +error\n.*100%", person.types("hint"))
        assert "Draw: " in person.types(first)
        assert "Turn 1." in person.types("undo")
        assert "nothing to take back" in person.types("undo")
        person.types(first)
        assert "lostcfr play --load begun.txt goes on" in person.types("save begun.txt")
        assert "begun.txt exists already" not in person.types("save begun.txt")
        assert "end.txt cannot" in person.types("save no/end.txt")
        for line in lines[:-1]:
            person.types(line)
        os.write(person.terminal, f"{lines[-1]}\n".encode())
        end = person.rest()
        assert person.process.wait() == 0
    assert "Review by selective, " in end
    (played,) = read_rounds(tmp_path / "end.txt")
    assert played.text() == session.played.text()
    assert read_rounds(tmp_path / "begun.txt")[0].actions == played.actions[:1]
    told = [line.replace(" (0)", "").replace(" (1)", "") for line in words(played)]
    assert told[-1] in end.splitlines()
    replayed = subprocess.run(
        [sys.executable, "-c", MAIN, "replay", "end.txt"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert replayed.stdout == "".join(f"{line}\n" for line in words(session.played))


def test_ctrl_c_keeps_the_round_and_load_goes_on_with_it(tmp_path):
    session = begin(LostCities(MINI), 4, 0, "noisy")
    lines = script(session)
    with Person(tmp_path, "--seed", "4", "--against", "noisy", "--no-color", *RULES) as person:
        person.sees("card> $")
        assert not person.in_colour
        for line in lines[:3]:
            person.types(line)
        end = person.interrupts()
        assert person.process.wait() == 130
    assert f"lostcfr play --load {NAME}.txt goes on with it" in end
    assert end.splitlines()[-1] == "interrupted"
    assert "Traceback" not in end
    (kept,) = read_rounds(tmp_path / f"{NAME}.txt")
    assert kept.actions == session.played.actions[: len(kept.actions)]
    assert len(kept.actions) >= 5
    code, _, complaints = piped(tmp_path, "\n".join(lines[3:]), "--load", f"{NAME}.txt", "--save", "whole.txt")
    assert (code, complaints) == (0, "")
    assert read_rounds(tmp_path / "whole.txt") == [session.played]


@pytest.mark.parametrize("how", ["terminated", "terminal closes"])
def test_a_process_that_is_ended_keeps_the_round(tmp_path, how):
    session = begin(LostCities(MINI), 4, 0, "noisy")
    with Person(tmp_path, "--seed", "4", "--against", "noisy", *RULES) as person:
        person.sees("card> $")
        person.types(script(session)[0], r"draw> $")
        if how == "terminated":
            while person.runs():  # as with Ctrl-C, Python may miss one
                person.process.terminate()
            assert person.process.returncode == 128 + signal.SIGTERM
        else:
            os.close(person.terminal)
            person.terminal = os.open(os.devnull, os.O_RDWR)
            assert person.process.wait(STOPS_WITHIN) != 0
    (kept,) = read_rounds(tmp_path / f"{NAME}.txt")
    assert kept.actions == session.played.actions[:1]


def test_an_end_of_input_keeps_the_round(tmp_path):
    session = begin(LostCities(MINI), 4)
    lines = script(session)
    code, printed, complaints = piped(tmp_path, f"{lines[0]} {lines[1]}\n", "--seed", "4", *RULES)
    assert (code, complaints) == (0, "")
    assert f"the round so far is in {NAME}.txt" in printed
    assert f"card> {lines[0]} {lines[1]}\n" in printed
    assert read_rounds(tmp_path / f"{NAME}.txt")[0].actions == session.played.actions[:4]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("--against selectiv", 2, "did you mean 'selective'?"),
        ("--advisor human", 2, "'human' is a person"),
        ("--load round.txt --seed 3", 2, "--seed is for a new round"),
        ("--save no/round.txt", 2, "there is no folder no"),
        ("--rule n_colors=9", 3, "n_colors is 9"),
        ("--rounds 0", 2, "0 is not in the range"),
    ],
)
def test_wrong_options_are_one_sentence(tmp_path, monkeypatch, options, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "round.txt").write_text("lostcfr round 1\n")
    with pytest.raises((click.UsageError, LostCFRError)) as raised:
        command.main(options.split(), standalone_mode=False)
    assert raised.value.exit_code == code
    assert message in str(raised.value)


class Table:
    """A match in this process: what is shown, and what is typed."""

    def __init__(self, monkeypatch, lines, opponent="selective", **options):
        self.out, lines, self.prompts = io.StringIO(), iter(lines), []
        console = Console(file=self.out, width=80, highlight=False, markup=False)
        agents = (None, None if opponent == "human" else bot(opponent))
        names = ("human", opponent) if agents[1] else ("player 0", "player 1")
        setting = {"advisor": bot("selective"), "hints": False, "review": False} | options
        self.match = Match(Setting(console, **setting), tuple(map(Player, names, agents)), None)
        monkeypatch.setattr("builtins.input", lambda prompt: self.answer(prompt, lines))

    def answer(self, prompt, lines):
        self.prompts.append(prompt)
        self.out.write(prompt)
        for line in lines:
            if isinstance(line, BaseException):
                raise line
            return line
        raise EOFError

    @property
    def shown(self):
        return self.out.getvalue()


def test_a_match_adds_up_and_whoever_is_ahead_starts(monkeypatch):
    lines, starter, totals, started = [], 1, [0, 0], []
    for number in range(4):
        names, agents = [("human", "noisy"), ("noisy", "human")][starter], [None, bot("noisy")]
        session = Session(deal(SHORT, names, 4, number), tuple(agents if starter == 0 else agents[::-1]))
        lines += script(session)
        started.append(names[0])
        scores = session.lanes.scores()[0].tolist()
        for player in range(2):
            totals[player] += scores[player ^ starter]
        starter = (totals[0] < totals[1]) if totals[0] != totals[1] else 1 - starter
    table = Table(monkeypatch, lines, "noisy")
    table.match.play(SHORT, 4, 4, 1)
    assert [played.agents[0] for played in table.match.played] == started
    assert len(set(started)) == 2
    assert table.shown.endswith(f"\nafter round 4 of 4: human {totals[0]}, noisy {totals[1]}\n")


def test_a_second_person_never_sees_the_hand_of_the_first(monkeypatch, tmp_path):
    """The screen is handed over with two prompts; between them nothing is shown."""
    monkeypatch.chdir(tmp_path)
    game = LostCities(MINI)
    session = begin(game, 2, opponent="human")
    lines = [""]
    for _ in range(2):
        lines += [*script_of_turn(session), "", ""]
    table = Table(monkeypatch, lines, "human")
    table.match.play(game, 2, 1, 0)
    parts = re.split(r"player \d: press Enter when you sit here alone\. ", table.shown)
    assert len(parts) == 4
    assert "Your hand" not in parts[0]
    hands = [re.search(r"Your hand  (.*)", part)[1] for part in parts[1:]]
    assert hands[0] != hands[1]
    assert "draws from the deck" in parts[2] or "takes" in parts[2]
    assert hands[0] not in parts[2]
    assert "the round so far is in" in parts[3]


def script_of_turn(session):
    """What is typed for one turn of a person, who plays it as a rule-based player would."""
    from lostcfr.play.moves import Moves

    return [" ".join(map(Moves(session.game).short, advance(session, 2, "discard-only")))]


def test_quit_keeps_the_round_unless_it_is_saved(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    lines = script(begin(SHORT, 4))
    for number, last in enumerate(["quit", "save mine.txt", "undo"]):
        table = Table(monkeypatch, [*lines[:3], *([last] if last == "quit" else ["save mine.txt", last, "quit"])])
        (tmp_path / "mine.txt").unlink(missing_ok=True)
        table.match.play(SHORT, 4, 1, 0)
        where = [f"{NAME}.txt", "mine.txt", f"{NAME}-2.txt"][number]
        assert f"the round so far is in {where};" in table.shown.splitlines()[-1]
        assert len(read_rounds(tmp_path / where)[0].actions) == (4 if last == "undo" else 5)


@pytest.mark.parametrize("command", ["help", "moves", "table", "piles"])
def test_commands_change_nothing(monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    table = Table(monkeypatch, [command.upper()])
    table.match.play(LostCities(), 1, 1, 0)
    _, answer, end = table.shown.split("card> ")
    assert "nothing was played; --seed 1" in end or command == "help"
    expected = {"help": list(COMMANDS), "moves": ["d "], "table": ["Turn 1."], "piles": ["yellow -"]}
    assert [text for text in expected[command] if text not in answer] == []
    assert max(map(len, table.shown.splitlines())) <= 80


def test_hints_come_with_every_decision_that_is_one(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    lines = script(begin(SHORT, 3, opponent="random"))
    table = Table(monkeypatch, lines, "random", hints=True)
    table.match.play(SHORT, 3, 1, 0)
    session, choices = begin(SHORT, 3, opponent="random"), 0
    for _ in lines:
        choices += len(session.legal()) > 1
        advance(session, 1)
    assert table.shown.count("likely: by selective") == choices > 3


def test_a_hint_names_the_advisors_action_first_and_each_action_once():
    session = begin(LostCities(), 8)
    for _ in range(4):
        found = hint(session.played, bot("selective"))
        actions = found.comparison.actions
        assert actions[0] == bot("selective").actions(session.lanes, session.played.seed)[0]
        assert found.probabilities == [1.0] + [0.0] * (len(actions) - 1)
        assert len(set(actions)) == len(actions) <= 5
        assert set(actions) <= set(session.legal())
        advance(session, 1)


def test_the_review_lists_what_the_advisor_would_have_done():
    session = begin(LostCities(), 5, 1)
    advance(session, 1000, "random")
    played = session.played
    found = list(differences(played, bot("selective"), (1,)))
    mine = [decision for decision in range(len(played.actions)) if decision // 2 % 2 == 1]
    assert len(found) == len(mine)
    for decision, each in zip(mine, found, strict=True):
        would = int(bot("selective").actions(played.lanes(decision), played.seed)[0])
        assert (each is None) == (would == played.actions[decision])
        if each is not None:
            assert (each.decision, each.taken, each.advised) == (decision, played.actions[decision], would)
            assert each.error >= 0
    costs = [each.cost for each in found if each is not None]
    assert len(costs) > 3
    assert sum(costs) > 0  # random play costs


def test_an_interrupted_review_shows_what_is_done(monkeypatch):
    looked = []

    def interrupted(*arguments):
        for each in differences(*arguments):
            if len(looked) == 4:
                raise KeyboardInterrupt
            looked.append(each)
            yield each

    monkeypatch.setattr("lostcfr.play.terminal.differences", interrupted)
    lines = script(begin(SHORT, 5), "random")
    table = Table(monkeypatch, lines, review=True)
    table.match.play(SHORT, 5, 1, 0)
    assert f"Review by selective, 4 of {len(lines)} decisions: " in table.shown
    assert len(table.match.played) == 1


def test_an_agent_of_itself_reviews_without_a_difference(monkeypatch):
    table = Table(monkeypatch, script(begin(SHORT, 5), "selective"), review=True)
    table.match.play(SHORT, 5, 1, 0)
    assert table.shown.endswith("decisions: it would have decided otherwise in 0\n")


def test_who_sits_at_the_table():
    players, adviser, rules = at_table(("human", "cautious"), None, None)
    assert [(player.name, player.recorded) for player in players] == [("human", "human"), ("cautious", "cautious")]
    assert (adviser.name, rules) == ("cautious", Rules())
    players, adviser, _ = at_table(("human", "Human"), "balanced", MINI)
    assert [(player.name, player.recorded) for player in players] == [("player 0", "human"), ("player 1", "human")]
    assert adviser.name == "balanced"


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {}])
def test_colour_can_be_switched_off(monkeypatch, variables):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (plain_or_colored(no_color=False).color_system is None) == bool(variables)
    assert plain_or_colored(no_color=True).color_system is None
