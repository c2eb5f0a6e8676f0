"""Losses at the end of a round against exhaustive search, and the command that reports them."""

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

import naive
from lostcfr import InputError, LostCities, Rules
from lostcfr.agents import BOTS, bot
from lostcfr.arena.endgame import check, losses, positions
from lostcfr.errors import EXIT_CONFIGURATION, EXIT_USAGE
from rule_sets import CLASSIC, MINI, RULE_SETS, SIX_COLOURS
from small_runs import command, configuration, train

EVALUATION = Path(__file__).parents[1] / "docs" / "evaluation.md"
DECK = -1  # the action with the highest id


class Whim:
    """Prefers every action by a fixed weight of its own, so that all are taken, with many probabilities."""

    name = "whim"

    def policy(self, lanes, seed=0):
        return self.weigh(lanes.legal())

    def weigh(self, legal):
        weights = legal * (1 + np.arange(legal.shape[-1]) % 7)
        return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


class Perfect:
    """Plays what adds most to its score, else discards, and draws the deck; it tries all actions on copies."""

    name = "perfect"

    def policy(self, lanes, seed=0):
        out = np.zeros((len(lanes), lanes.game.num_actions), np.float32)
        for lane, legal in enumerate(lanes.legal()):
            out[lane, self.choice(lanes, lane, np.flatnonzero(legal))] = 1
        return out

    def choice(self, lanes, lane, actions):
        if lanes.drawing[lane]:
            return DECK
        tried = lanes.select(np.full(len(actions), lane))
        tried.act(actions)
        return actions[tried.scores()[:, lanes.to_move[lane]].argmax()]


def random_positions(rules, n, seed=3):
    """Card decisions with one card left in the deck, as naive rounds and as lanes."""
    generator, found = random.Random(seed), []
    while len(found) < n:
        deck = list(range(rules.deck_size))
        generator.shuffle(deck)
        game, played = naive.NaiveRound(rules, deck), []
        while not game.finished and (len(game.deck) > 1 or game.drawing):
            played.append(generator.choice(game.legal()))
            game.act(played[-1])
        if not game.finished:
            found.append((deck, played, game))
    lanes = LostCities(rules).lanes(n)
    lanes.deal(decks=[deck for deck, _, _ in found])
    for step in range(max(len(played) for _, played, _ in found)):
        lanes.act([played[step] if step < len(played) else -1 for _, played, _ in found])
    return [game for _, _, game in found], lanes


def naive_loss(game, agent, actions):
    """By minimax of the whole rest after each of the agent's two decisions."""

    def each(position):
        legal = np.zeros(actions, bool)
        legal[position.legal()] = True
        for action, probability in enumerate(agent.weigh(legal)):
            if probability:
                after = position.copy()
                after.act(action)
                yield float(probability), after

    player = game.to_move
    kept = 0.0
    for of_card, drawing in each(game):
        for of_draw, after in each(drawing):
            ahead = after.scores()[player] - after.scores()[1 - player]
            kept += of_card * of_draw * (ahead - (0 if after.finished else naive.remainder_value(after)))
    return game.scores()[player] - game.scores()[1 - player] + naive.remainder_value(game) - kept


@pytest.mark.parametrize(
    ("rules", "n"),
    [(CLASSIC, 12), (MINI, 60), (RULE_SETS["one-colour"], 60), (SIX_COLOURS, 6)],
    ids=["classic", "mini", "one-colour", "six-colours"],
)
def test_losses_are_those_of_an_exhaustive_search(rules, n):
    games, lanes = random_positions(rules, n)
    found = losses(lanes, Whim())
    expected = [naive_loss(game, Whim(), lanes.game.num_actions) for game in games]
    assert found.total == pytest.approx(expected, abs=1e-5)
    assert found.total.max() > 0
    assert found.value.tolist() == [naive.best_single_play_gain(game) for game in games]


@pytest.mark.parametrize("rules", [CLASSIC, MINI], ids=["classic", "mini"])
def test_a_perfect_player_loses_exactly_nothing(rules):
    (row,) = check(LostCities(rules), [Perfect()], 60, seed=1)
    assert (row["loss"], row["ci95"], row["lossy"], row["worst"]) == (0.0, [0.0, 0.0], 0.0, 0.0)
    assert row["value"] > 0


def test_a_card_kept_back_and_a_pile_drawn_are_told_apart():
    """Who always discards and draws the deck loses by cards alone; who plays best and draws piles by draws alone."""

    class DrawsPiles(Perfect):
        def choice(self, lanes, lane, actions):
            return actions[0] if lanes.drawing[lane] else super().choice(lanes, lane, actions)

    discarding, drawing = check(LostCities(CLASSIC), [bot("discard-only"), DrawsPiles()], 200, seed=1)
    assert (discarding["draw_loss"], discarding["card_loss"]) == (0.0, discarding["loss"])
    assert (drawing["card_loss"], drawing["draw_loss"]) == (0.0, drawing["loss"])
    assert discarding["loss"] == discarding["value"]
    assert drawing["loss"] > 0


def test_positions_are_those_of_their_deals():
    game = LostCities(CLASSIC)
    lanes, some = positions(game, 7, 0, 120), positions(game, 7, 50, 40, threads=1)
    assert len(lanes) == 120
    assert set(lanes.deck_left) == {1}
    assert not lanes.drawing.any()
    assert (some.observe() == lanes.observe()[50:90]).all()
    assert len(np.unique(lanes.observe(), axis=0)) == 120


def test_all_pairs_of_players_take_part(monkeypatch):
    """Over 49 rounds each ordered pair sits down once."""
    seen = []
    lanes_of = LostCities.lanes

    def watched(game, n, threads=None):
        lanes = lanes_of(game, n, threads)
        choose = lanes.bot_actions
        monkeypatch.setattr(lanes, "bot_actions", lambda bots, seed: seen.append(bots) or choose(bots, seed))
        return lanes

    monkeypatch.setattr(LostCities, "lanes", watched)
    positions(LostCities(CLASSIC), 1, 0, 49)
    pairs = {(int(first), int(second)) for first, second in zip(seen[0], seen[2], strict=True)}
    assert pairs == {(one, other) for one in BOTS.values() for other in BOTS.values()}


def test_figures_do_not_depend_on_threads_or_company():
    game, selective = LostCities(CLASSIC), bot("selective")
    alone = check(game, [selective], 1500, seed=3, threads=1)
    assert check(game, [bot("noisy"), selective], 1500, seed=3, threads=3)[1:] == alone
    assert check(game, [selective], 1500, seed=4) != alone


def test_rounds_that_never_come_so_far_are_told(monkeypatch):
    monkeypatch.setattr(Rules, "decision_cap", 20)
    with pytest.raises(InputError, match="none of 1024 rounds came to its last card within 20 decisions"):
        check(LostCities(CLASSIC), [bot("balanced")], 10, seed=1)


def test_the_figures_of_the_rule_based_players_are_in_the_documentation():
    """Every row of the table is printed again by the command that stands above it."""
    text = EVALUATION.read_text()
    (line,) = re.findall(r"^\$ lostcfr (check endgame random .*)$", text, re.MULTILINE)
    code, printed, complaint = command(*line.split())
    assert code == 0, complaint
    rows = {cells[0]: cells[1:] for cells in (each.split() for each in printed.splitlines()) if cells[0] in BOTS}
    table = {
        name: cells.split(" | ") for name, cells in re.findall(r"^\| `([a-z-]+)` \| (.*%.*) \|$", text, re.MULTILINE)
    }
    assert {name: [cell for each in cells for cell in each.split()] for name, cells in table.items()} == rows
    assert set(rows) == set(BOTS)


def test_a_run_is_checked_by_its_own_rules(tmp_path):
    train(tmp_path / "run", configuration("limits.iterations=2"))
    names = [f"{tmp_path / 'run'}:{view}" for view in ("mixture", "average:greedy")]
    code, printed, complaint = command("check", "endgame", *names, "random", "--positions", 80, "--json")
    assert code == 0, complaint
    rows = json.loads(printed)
    assert [row["agent"] for row in rows] == [*names, "random"]
    for row in rows:
        assert list(row) == (
            ["agent", "positions", "loss", "ci95", "card_loss", "draw_loss", "lossy", "worst", "value", "seed", "rules"]
        )
        assert row["positions"] == 80
        assert 0 <= row["ci95"][0] <= row["loss"] == pytest.approx(row["card_loss"] + row["draw_loss"])
        assert row["rules"]["n_colors"] == MINI.n_colors


@pytest.mark.parametrize(
    ("arguments", "expected", "message"),
    [
        ([], EXIT_USAGE, "Missing argument 'AGENT...'"),
        (["balancd"], EXIT_USAGE, "did you mean 'balanced'?"),
        (["balanced", "--positions", "1"], EXIT_USAGE, "Invalid value for '--positions'"),
        (["human"], EXIT_USAGE, "'human' is a person"),
        (["balanced", "--rule", "bonus=-1"], EXIT_CONFIGURATION, "bonus is -1"),
    ],
)
def test_what_is_wrong_is_said(arguments, expected, message):
    code, printed, complaint = command("check", "endgame", *arguments)
    assert (code, printed) == (expected, "")
    assert message in complaint
