"""Rounds as text: written and read they are the same round, and every fault is told with its line."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lostcfr import InputError, LostCities
from lostcfr.agents import bot
from lostcfr.arena.match import play_pairs
from lostcfr.arena.rounds import play_rounds
from lostcfr.record import read_rounds, write_rounds
from made_up import fresh
from rule_sets import MINI, RULE_SETS

GOLDEN = Path(__file__).parent / "golden" / "rounds.txt"
BALANCED, RANDOM = bot("balanced"), bot("random")


def golden_rounds():
    """What the golden file holds: a classic round, one of other rules and players, and one that was broken off."""
    classic = play_rounds(LostCities(), (BALANCED, bot("cautious")), 7)
    mini = play_rounds(LostCities(MINI), (RANDOM, bot("selective")), 3, first=5)
    return [*classic, *mini, *play_rounds(LostCities(MINI), (RANDOM, RANDOM), 0, max_decisions=9)]


def test_the_golden_file_is_what_is_written(tmp_path):
    write_rounds(tmp_path / "rounds.txt", golden_rounds())
    assert (tmp_path / "rounds.txt").read_text() == GOLDEN.read_text()


def test_the_golden_file_is_read_back():
    for found, played in zip(read_rounds(GOLDEN), golden_rounds(), strict=True):
        assert replace(found, deck=()) == replace(played, deck=())
        assert (found.lanes().games.status == played.lanes().games.status).all()
        assert (found.lanes().scores() == played.lanes().scores()).all()


@pytest.mark.parametrize("name", RULE_SETS)
def test_a_round_is_the_same_when_it_is_read_again(name, tmp_path):
    game, path = LostCities(RULE_SETS[name]), tmp_path / "rounds.txt"
    rounds = play_rounds(game, (RANDOM, bot("noisy")), 11, 4, max_decisions=400)
    write_rounds(path, rounds)
    found = read_rounds(path)
    assert [each.text() for each in found] == [each.text() for each in rounds]
    for one, other in zip(found, rounds, strict=True):
        assert [game.card_name(card) for card in one.deck] == [game.card_name(card) for card in other.deck]
        assert (one.lanes().observe() == other.lanes().observe()).all()
        assert (one.lanes().scores() == other.lanes().scores()).all()


@pytest.mark.parametrize("agent", [BALANCED, RANDOM, fresh(MINI), fresh(MINI, weights=(1.0, 2.0, 3.0))])
@pytest.mark.parametrize("opponent", [fresh(MINI, "current", floor=0.3), bot("noisy")])
def test_rounds_are_those_of_a_match(agent, opponent):
    """Move for move, so with the same points; snapshots and chance are drawn alike."""
    game, first, deals = LostCities(MINI), 4, 20
    pairs = play_pairs(game, agent, opponent, deals, 9, first=first, threads=1)
    for seat, agents in enumerate([(agent, opponent), (opponent, agent)]):
        rounds = play_rounds(game, agents, 9, deals, first=first)
        scores = np.array([each.lanes().scores()[0] for each in rounds])
        assert [each.deal for each in rounds] == list(range(first, first + deals))
        assert (scores[:, seat] == pairs.score[:, seat]).all()
        assert (scores[:, 1 - seat] == pairs.opponent_score[:, seat]).all()
        assert ([len(each.actions) // 2 for each in rounds] == pairs.turns[:, seat]).all()


def test_the_state_after_any_number_of_decisions():
    played = golden_rounds()[0]
    lanes = played.lanes(0)
    for number, action in enumerate(played.actions):
        assert (played.lanes(number).observe() == lanes.observe()).all()
        lanes.act([action])
    assert lanes.finished[0]


def edited(old, new, count=1):
    text = GOLDEN.read_text()
    assert old in text
    return text.replace(old, new, count)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no round: each begins with the line 'lostcfr round 1'"),
        ("play r7, draw deck\n", ":1: a round begins with the line 'lostcfr round 1', not with 'play r7, draw deck'"),
        ("lostcfr round 2\n", ":1: 'lostcfr round 2' is another format than this version's"),
        ("lostcfr round 1\n", ": the round ends here, but a line must follow that begins with 'rules'"),
        ("lostcfr round 1\nrules n_colors=9\n", ":2: n_colors is 9, but must be a whole number from 1 to 6"),
        ("lostcfr round 1\nrules n_colors=2\n", ":2: the round ends here, but a line must follow that begins with 'pl"),
        ("lostcfr round 1\nplayer 0 random\n", ":2: this line must begin with 'rules', but is 'player 0 random'"),
        (edited("seed=7", "seed=x"), ":5: the chance is written as seed=7 deal=0, but is 'seed=x deal=0'"),
        (edited("deal=0", "deal=4294967296"), ":5: seed must be below 2^64, and deal below 2^32"),
        (edited("deck gw r5", "deck gw"), ":6: the deck has 59 cards of 60; r5 is missing"),
        (edited("deck gw r5", "deck gw r5 r5"), ":6: the deck has 'r5' too often"),
        (edited("deck gw r5", "deck gw q7"), ":6: the deck has 'q7' but the game has not"),
        (edited("play b6, draw deck", "play b6"), ":7: a turn is written as 'play r7, draw deck', but this line is"),
        (edited("play b6, draw deck", "play b5, draw deck"), ":7: 'play b5' is illegal here: the player does not hold"),
        (edited("play b6, draw deck", "plya b6, draw deck"), ":7: 'plya b6' is no action of this game"),
    ],
)
def test_faults_are_told_with_their_line(tmp_path, text, message):
    path = tmp_path / "rounds.txt"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_rounds(path)
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))


def test_comments_and_empty_lines_are_left_out(tmp_path):
    path = tmp_path / "rounds.txt"
    path.write_text(edited("play b6, draw deck", "\n  # the first turn\nplay blue 6,  DRAW deck # opens\n"))
    assert [each.text() for each in read_rounds(path)] == [each.text() for each in read_rounds(GOLDEN)]


def test_a_picture_is_no_file_of_rounds(tmp_path):
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(InputError, match="is no text, so no file of rounds"):
        read_rounds(path)


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "rounds.txt"
    write_rounds(path, golden_rounds())

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_rounds(path, [])
    assert path.read_text() == GOLDEN.read_text()
    assert [each.name for each in tmp_path.iterdir()] == ["rounds.txt"]
