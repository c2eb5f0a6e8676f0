"""A round being played: undo, the agents' chance, files of rounds, and who starts the next round."""

import numpy as np
import pytest

from lostcfr import IllegalAction, InputError, LostCities, load_agent
from lostcfr.agents import bot
from lostcfr.arena.rounds import play_rounds
from lostcfr.play.keep import NAME, keep, unfinished
from lostcfr.play.session import Session, deal
from lostcfr.record import read_rounds, write_rounds
from lostcfr.rules import next_starter
from rule_sets import MINI, TINY
from scripts import advance, begin

CLASSIC, SMALL = LostCities(), LostCities(MINI)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("opponent", ["random", "noisy", "selective"])
def test_a_person_who_decides_as_a_bot_plays_the_match_of_the_bots(seat, opponent):
    agents = ["cautious", "cautious"]
    agents[1 - seat] = opponent
    matched = play_rounds(CLASSIC, tuple(map(bot, agents)), 5)[0]
    session = begin(CLASSIC, 5, seat, opponent)
    advance(session, 1000, "cautious")
    assert session.is_over
    assert (session.played.deck, session.played.actions) == (matched.deck, matched.actions)


@pytest.mark.parametrize("opponent", ["random", "noisy"])
def test_undo_gives_the_same_replies_again(opponent):
    """Agents that use chance: what is taken back and done again meets the same luck."""
    session = begin(CLASSIC, 3, 0, opponent)
    made = advance(session, 9)
    before = session.played
    for _ in range(7):
        session.undo()
    assert session.played.actions[:4] == before.actions[:4]
    assert len(session.played.actions) == 4
    for action in made[2:]:
        session.play([action])
        advance(session, 0)
    assert session.played == before
    assert (session.lanes.observe() == before.lanes().observe()).all()


def test_undo_ends_at_the_first_decision_of_the_person():
    session = begin(CLASSIC, 3, 1)
    advance(session, 0)
    reply = session.played.actions
    assert len(reply) == 2
    advance(session, 3)
    for _ in range(3):
        session.undo()
    assert session.played.actions == reply
    with pytest.raises(InputError, match="nothing to take back"):
        session.undo()


def test_of_two_persons_each_takes_back_only_its_own_turn():
    session = begin(SMALL, 1, opponent="human")
    session.play([session.legal()[0]])
    session.undo()
    assert session.played.actions == ()
    advance(session, 2)
    with pytest.raises(InputError, match="the other person has moved last"):
        session.undo()


def test_a_turn_is_made_whole_or_not_at_all():
    session = begin(SMALL, 1)
    card, pile = session.legal()[0], SMALL.parse_action("draw red")
    with pytest.raises(IllegalAction, match="the pile is empty"):
        session.play([card, pile])
    assert session.played.actions == ()
    assert session.legal()[0] == card
    assert not session.is_drawing


def test_no_agent_replies_for_a_person():
    with pytest.raises(InputError, match="a person is to move"):
        begin(SMALL, 1).reply()


def test_a_saved_round_goes_on_as_it_would_have(tmp_path):
    session = begin(CLASSIC, 2, 1, "noisy")
    advance(session, 23)
    path = tmp_path / "round.txt"
    write_rounds(path, [session.played])
    before, loaded = unfinished(path, None, "human")
    assert (before, loaded.text()) == ([], session.played.text())
    again = Session(loaded, (bot("noisy"), None))
    for each in session, again:
        advance(each, 1000)
    assert session.played.actions == again.played.actions
    assert again.is_over


def test_what_cannot_go_on_is_refused_with_what_to_do(tmp_path):
    path = tmp_path / "round.txt"
    whole = play_rounds(SMALL, (bot("balanced"), bot("cautious")), 1)[0]
    write_rounds(path, [whole])
    with pytest.raises(InputError, match=r"the last round .* is over; lostcfr replay"):
        unfinished(path, None, "human")
    write_rounds(path, [whole, play_rounds(SMALL, (bot("balanced"), bot("cautious")), 1, max_decisions=3)[0]])
    with pytest.raises(InputError, match="played by balanced and cautious: say with --seat 0 or 1"):
        unfinished(path, None, "human")
    before, last = unfinished(path, 1, "human")
    assert before == [whole]
    assert last.agents == ("balanced", "human")


def test_rounds_are_kept_without_overwriting_anything(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    played = deal(LostCities(TINY), ("human", "random"), 1, 0)
    names = [str(keep([played], None)) for _ in range(3)]
    assert names == [f"{NAME}.txt", f"{NAME}-2.txt", f"{NAME}-3.txt"]
    assert read_rounds(tmp_path / names[1]) == [played]
    assert str(keep([played], tmp_path / "no folder" / "round.txt")) == f"{NAME}-4.txt"


def test_who_is_ahead_starts_and_a_draw_changes_the_starter():
    expected = {(5, 0): 0, (5, 1): 0, (-5, 0): 1, (-5, 1): 1, (0, 0): 1, (0, 1): 0}
    assert {key: next_starter(*key) for key in expected} == expected
    leads, last = np.array(list(expected)).T
    assert next_starter(leads, last).tolist() == list(expected.values())


def test_a_person_is_no_agent_elsewhere():
    for name in "human", "Human":
        with pytest.raises(InputError, match="'human' is a person, who plays in lostcfr play"):
            load_agent(name)
    with pytest.raises(InputError, match=r"did you mean 'human'\?"):
        load_agent("humann")
