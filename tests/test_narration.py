"""A round in words: a golden text, and that the words and the round agree."""

from pathlib import Path

import pytest

from lostcfr import LostCities, Rules
from lostcfr.agents import bot
from lostcfr.arena.rounds import play_rounds
from lostcfr.narration import words
from rule_sets import RULE_SETS

GOLDEN = Path(__file__).parent / "golden"


def play_round(game, agents, seed):
    return play_rounds(game, (bot(agents[0]), bot(agents[1])), seed)[0]


def test_golden_round():
    """The first deal of seed 7; a change of rules, bots, random numbers or wording shows here."""
    told = "\n".join(words(play_round(LostCities(), ("balanced", "cautious"), 7))) + "\n"
    assert told == (GOLDEN / "round-7.txt").read_text()


@pytest.mark.parametrize("name", RULE_SETS)
def test_words_follow_the_round(name):
    game = LostCities(RULE_SETS[name])
    played = play_round(game, ("random", "selective"), 3)
    told = list(words(played))
    turns = [line for line in told if line[:4].strip(" .").isdigit()]
    assert len(turns) == len(played.actions) // 2
    for k, line in enumerate(turns):
        verb, card = game.action_name(played.actions[2 * k]).split(maxsplit=1)
        assert f"{verb}s {card}" in line
        from_deck = game.action_name(played.actions[2 * k + 1]) == "draw deck"
        assert ("from the deck" in line) == from_deck
    assert "from the deck, 0 left" in turns[-1]
    replayed = game.lanes(1)
    replayed.deal(decks=[list(played.deck)])
    for action in played.actions:
        replayed.act([action])
    scores = replayed.scores()[0].tolist()
    assert replayed.finished[0]
    assert f": {scores[0]} points" in told[-3]
    assert f": {scores[1]} points" in told[-2]
    margin = scores[0] - scores[1]
    winner = "a draw" if margin == 0 else f"{'random (0)' if margin > 0 else 'selective (1)'} wins by {abs(margin)}"
    assert told[-1] == winner


def test_every_drawn_card_is_the_one_named():
    """Hands at the end follow from the words alone."""
    game = LostCities(Rules())
    played = play_round(game, ("random", "random"), 1)
    hands = [[], []]
    for line in words(played):
        if " is dealt " in line:
            hands[int(line.split("(")[1][0])] = line.split(" is dealt ")[1].split(", ")
        elif line[:4].strip(" .").isdigit():
            player = int(line.split("(")[1][0])
            did, drew = line.split(")", 1)[1].split(", ", 1)
            hands[player].remove(did.split(maxsplit=1)[1])
            hands[player].append(" ".join(drew.split()[1:3]))
    lanes = game.lanes(1)
    lanes.deal(decks=[list(played.deck)])
    for action in played.actions:
        lanes.act([action])
    for player in range(2):
        held = [
            game.card_name(color * 12 + bit)
            for color in range(5)
            for bit in range(12)
            if lanes.games.hand[0, player, color] >> bit & 1
        ]
        assert sorted(hands[player]) == sorted(held)
