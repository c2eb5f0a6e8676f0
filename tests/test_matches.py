"""Matches of several rounds: a twin that plays them one by one, who starts, what is exact, and the commands."""

import json
import subprocess
import sys
from dataclasses import asdict
from functools import cache

import numpy as np
import pytest

from lostcfr import InputError, LostCities
from lostcfr.agents import bot
from lostcfr.arena import match, sequential
from lostcfr.arena.match import Pairs, play_pairs
from lostcfr.arena.rounds import play_matches, play_rounds
from lostcfr.arena.sequential import duel
from lostcfr.arena.stats import result_of, summary
from lostcfr.arena.tournament import round_robin
from lostcfr.cli.evaluate import MOST_SAVED
from lostcfr.errors import EXIT_USAGE
from lostcfr.record import read_rounds
from lostcfr.rules import next_starter
from lostcfr.traverse.lockstep import Lockstep
from made_up import fresh
from rule_sets import CLASSIC, MINI, ONE_COLOUR, TINY
from small_runs import command

PAIRS, SEED, ROUNDS = 12, 3, 3
GAME = LostCities(MINI)
MIXTURE, NETWORK = fresh(MINI, weights=(1.0, 2.0, 3.0)), fresh(MINI, "current", floor=0.3)
SMALL = [word for name, value in asdict(MINI).items() for word in ("--rule", f"{name}={value}")]
CASES = {
    "planners": (CLASSIC, bot("balanced"), bot("selective")),
    "chance": (MINI, bot("noisy"), bot("random")),
    "ties": (TINY, bot("discard-only"), bot("discard-only")),
    "one-colour": (ONE_COLOUR, bot("cautious"), bot("random")),
    "networks": (MINI, MIXTURE, NETWORK),
    "network-and-bot": (TINY, bot("balanced"), fresh(TINY)),
}


@cache
def twin_round(name, deal, starter):
    """Points of the agent and its opponent in one round, and its turns."""
    rules, *players = CASES[name]
    (found,) = play_rounds(LostCities(rules), (players[starter], players[1 - starter]), SEED, first=deal)
    scores = found.lanes().scores()[0].tolist()
    return scores[starter], scores[1 - starter], len(found.actions) // 2


def twin_match(name, pair, starter, rounds):
    """The starters of a match that is played as the rules have it, and its points and turns."""
    mine = theirs = turns = 0
    starters = []
    for number in range(rounds):
        if number > 0:
            if mine > theirs:
                starter = 0
            elif mine < theirs:
                starter = 1
            else:
                starter = 1 - starter
        starters.append(starter)
        own, other, length = twin_round(name, pair * rounds + number, starter)
        mine, theirs, turns = mine + own, theirs + other, turns + length
    return starters, (mine, theirs, turns)


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("name", CASES)
def test_matches_are_those_of_the_twin(name, rounds):
    rules, agent, opponent = CASES[name]
    pairs = play_pairs(LostCities(rules), agent, opponent, PAIRS, SEED, rounds=rounds, threads=1)
    found = np.stack([pairs.score, pairs.opponent_score, pairs.turns], axis=-1).tolist()
    assert found == [[list(twin_match(name, pair, m, rounds)[1]) for m in range(2)] for pair in range(PAIRS)]
    assert (pairs.rounds == rounds).all()


def test_the_cases_have_starters_of_every_kind():
    starters = {tuple(twin_match(name, pair, m, 3)[0]) for name in CASES for pair in range(PAIRS) for m in range(2)}
    assert starters == {(a, b, c) for a in range(2) for b in range(2) for c in range(2)}
    assert [twin_match("ties", 0, m, 3)[0] for m in range(2)] == [[0, 1, 0], [1, 0, 1]]


STARTERS = [(5, 0, 0), (5, 1, 0), (-1, 0, 1), (-1, 1, 1), (0, 0, 1), (0, 1, 0)]  # lead, last, next


def test_who_starts_the_next_round():
    for lead, last, expected in STARTERS:
        assert (next_starter(lead, last), type(next_starter(lead, last))) == (expected, int)
    lead, last, expected = np.array(STARTERS).T
    assert next_starter(lead, last).tolist() == expected.tolist()
    assert (next_starter(-lead, 1 - last) == 1 - expected).all()


@pytest.mark.parametrize("agent", [bot("balanced"), bot("noisy"), bot("random"), MIXTURE, NETWORK])
@pytest.mark.parametrize("rounds", [2, 3, 4])
def test_an_agent_is_exactly_level_with_itself(agent, rounds):
    """The two matches of a pair are the same one with the names of the players exchanged, starters included."""
    pairs = play_pairs(GAME, agent, agent, 50, SEED, rounds=rounds, threads=2)
    assert (pairs.score == pairs.opponent_score[:, ::-1]).all()
    assert (pairs.turns[:, 0] == pairs.turns[:, 1]).all()
    assert (pairs.score != pairs.opponent_score).any()
    row = summary("a", "a", pairs)
    assert (row["mean"], row["ci95"]) == (0, [0, 0])


@pytest.mark.parametrize(("agent", "opponent"), [(bot("noisy"), bot("balanced")), (MIXTURE, NETWORK)])
def test_swapping_the_agents_negates_the_result(agent, opponent):
    one = play_pairs(GAME, agent, opponent, 50, SEED, rounds=ROUNDS, threads=2)
    other = play_pairs(GAME, opponent, agent, 50, SEED, rounds=ROUNDS, threads=1)
    assert (one.score == other.opponent_score[:, ::-1]).all()
    assert (one.opponent_score == other.score[:, ::-1]).all()


def equal(one, other):
    return all((mine == theirs).all() for mine, theirs in zip(one, other, strict=True))


def test_width_threads_blocks_and_parts_change_nothing(monkeypatch):
    expected = play_pairs(GAME, MIXTURE, "noisy", 30, SEED, rounds=ROUNDS, threads=1)
    assert equal(expected, play_pairs(GAME, MIXTURE, "noisy", 30, SEED, rounds=ROUNDS, threads=1, width=3))
    assert equal(expected, play_pairs(GAME, MIXTURE, "noisy", 30, SEED, rounds=ROUNDS, threads=2, width=17))
    part = play_pairs(GAME, MIXTURE, "noisy", 10, SEED, rounds=ROUNDS, first=20, threads=2)
    assert equal([column[20:] for column in expected], part)
    for block in (1, 20):  # a pair at a time, and six
        monkeypatch.setattr(match, "BLOCK", block)
        assert equal(expected, play_pairs(GAME, MIXTURE, "noisy", 30, SEED, rounds=ROUNDS, threads=1))


def test_a_round_that_both_matches_of_a_pair_come_to_is_played_once(monkeypatch):
    orders, play = [], Lockstep.play

    def spied(self, task, order, *arguments, **options):
        orders.append(order)
        return play(self, task, order, *arguments, **options)

    monkeypatch.setattr(Lockstep, "play", spied)
    pairs = play_pairs(GAME, "balanced", "random", 100, SEED, rounds=ROUNDS, threads=1)
    assert [len(set(order)) for order in orders] == [len(order) for order in orders]
    assert len(orders[0]) == 200
    assert 100 <= len(orders[1]) < 180
    assert [set(order // 2 % ROUNDS) for order in orders] == [{0}, {1}, {2}]
    assert (pairs.rounds == ROUNDS).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_those_who_watch_are_told_of_every_round(threads, monkeypatch):
    monkeypatch.setattr(match, "BLOCK", 60)
    seen = []
    play_pairs(GAME, "balanced", "random", 50, SEED, rounds=ROUNDS, threads=threads, watch=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 2 * 50 * ROUNDS


def test_points_are_of_a_match_and_conduct_is_of_a_round():
    """Matches of three rounds that all went alike."""
    single = play_pairs(GAME, MIXTURE, "random", 40, SEED, threads=1, max_decisions=12)
    one, three = summary("a", "b", single), summary("a", "b", Pairs(*(3 * column for column in single)))
    assert 0 < one["unfinished"] < 1
    assert (one.pop("rounds"), three.pop("rounds")) == (1, 3)
    for name in ("mean", "score", "opponent_score", "ci95"):
        assert np.array(three.pop(name)) == pytest.approx(3 * np.array(one.pop(name)))
    assert three == pytest.approx(one)


def test_a_round_robin_and_a_sequential_test_are_of_matches(monkeypatch):
    monkeypatch.setattr(sequential, "BLOCK", 30)
    pairs, seen = play_pairs(GAME, "noisy", "balanced", 60, SEED, rounds=ROUNDS, threads=1), []
    points = pairs.score - pairs.opponent_score
    agents = [bot("noisy"), bot("balanced"), bot("random")]
    games = round_robin(GAME, agents, 60, SEED, rounds=ROUNDS, threads=1, watch=seen.append)
    assert (games[0].points == points).all()
    assert (games[0].figures["rounds"], seen[-1]) == (ROUNDS, 3 * 2 * 60 * ROUNDS)
    verdict = duel(GAME, "noisy", "balanced", 60, SEED, -0.01, 0.01, rounds=ROUNDS, threads=1, watch=seen.append)
    assert (verdict.decision, verdict.pairs, seen[-1]) == ("undecided", 60, 2 * 60 * ROUNDS)
    assert verdict.mean == pytest.approx(points.mean())


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("name", ["chance", "networks", "network-and-bot"])
def test_rounds_of_matches_have_their_scores(name, rounds):
    rules, agent, opponent = CASES[name]
    game = LostCities(rules)
    pairs = play_pairs(game, agent, opponent, 20, SEED, rounds=rounds, threads=1, max_decisions=45)
    played = play_matches(game, agent, opponent, 20, SEED, rounds=rounds, max_decisions=45)
    assert len(played) == 40 * rounds
    assert sums(played, agent.name, rounds) == [pairs.score.ravel().tolist(), pairs.opponent_score.ravel().tolist()]
    turns = np.array([len(each.actions) // 2 for each in played]).reshape(-1, rounds).sum(axis=1)
    assert (turns == pairs.turns.ravel()).all()
    assert [each.deal for each in played] == [
        pair * rounds + number for pair in range(20) for _ in range(2) for number in range(rounds)
    ]


def sums(played, name, rounds):
    """Points of the agent of that name in the matches that these rounds make, and those of its opponent."""
    scores = [each.lanes().scores()[0].tolist()[:: 1 if each.agents[0] == name else -1] for each in played]
    return np.array(scores).reshape(-1, rounds, 2).sum(axis=1).T.tolist()


MATCHES = ("evaluate", "noisy", "--against", "balanced,random", "--pairs", 10, "--rounds", ROUNDS, "--threads", 1)


def test_the_command_plays_matches_and_saves_their_rounds(tmp_path):
    options = *MATCHES, *SMALL, "--seed", SEED, "--json", "--save-rounds", tmp_path / "rounds.txt"
    done = subprocess.run(
        [sys.executable, "-c", "from lostcfr.cli import main; main()", *map(str, options)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    saved = read_rounds(tmp_path / "rounds.txt")
    assert len(saved) == 2 * 2 * 10 * ROUNDS
    for row, played in zip(rows, (saved[:60], saved[60:]), strict=True):
        pairs = play_pairs(GAME, "noisy", row["opponent"], 10, SEED, rounds=ROUNDS, threads=2)
        expected = summary("noisy", row["opponent"], pairs)
        assert (row["rounds"], row["mean"], row["ci95"]) == (ROUNDS, expected["mean"], expected["ci95"])
        assert sums(played, "noisy", ROUNDS) == [pairs.score.ravel().tolist(), pairs.opponent_score.ravel().tolist()]


def test_the_commands_say_that_points_are_of_a_match():
    assert [result_of(rounds) for rounds in (1, 3)] == ["round", "match of 3 rounds"]
    printed = command(*MATCHES, *SMALL)[1]
    assert printed.startswith("10 mirrored pairs; points a match of 3 rounds for noisy")
    arena = ("arena", "noisy", "balanced", "--pairs", 40, "--rounds", 3, "--threads", 1, *SMALL)
    printed = command(*arena)[1]
    assert "Points a match of 3 rounds, row against column" in printed
    assert "Ratings by matches won" in printed
    figures = json.loads(command(*arena, "--json")[1])
    assert figures["rounds"] == figures["matches"][0]["rounds"] == 3
    (game,) = round_robin(GAME, [bot("noisy"), bot("balanced")], 40, 7, rounds=3)
    assert figures["matches"] == [game.figures]
    printed = command(*arena, "--sprt", -1, 1)[1]
    assert printed.startswith("noisy against balanced, points a match of 3 rounds: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rounds", 0), "0 is not in the range 1<=x<=100"),
        (("--save-rounds", "missing/rounds.txt"), "there is no folder missing for rounds.txt: make it first"),
        (
            ("--pairs", MOST_SAVED // 6 + 1, "--rounds", 3, "--save-rounds", "rounds.txt"),
            "--save-rounds would write 100,002 rounds, but a file may hold 100,000: lower --pairs",
        ),
    ],
)
def test_bad_input_is_told_before_a_match_is_played(options, message):
    code, printed, complaint = command("evaluate", "noisy", "--against", "balanced", *options)
    assert (code, printed, message in " ".join(complaint.split())) == (EXIT_USAGE, "", True)


def test_a_match_has_rounds():
    with pytest.raises(InputError, match="rounds is 0"):
        play_pairs(GAME, "random", "random", 10, 1, rounds=0)
