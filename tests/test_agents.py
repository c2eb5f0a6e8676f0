"""A name at the table: rule-based players, runs, checkpoints and their views; and what wrong names are told."""

import re

import numpy as np
import pytest

from lostcfr import InputError, LostCities, Rules
from lostcfr.agents import BOTS
from lostcfr.arena.match import play_pairs
from lostcfr.errors import CheckpointError, ConfigurationError
from lostcfr.kernels import trajectory as codes
from lostcfr.names import PLAY_ALL, PLAY_LIKELIEST
from lostcfr.run.agent_names import load_agent, rules_of_match
from lostcfr.solvers.averaging import kept_snapshots, snapshot_weights
from lostcfr.traverse.samples import Player
from rule_sets import MINI
from small_runs import configuration, restored, train

GAME = LostCities(MINI)
NEWEST, BEST = "checkpoints/00000004-0-000000000", "checkpoints/best"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agents") / "run"
    train(folder, configuration("traversal.all_negative=uniform", "averaging.exponent=2", "network.one_per_seat=true"))
    return folder


@pytest.mark.parametrize("name", list(BOTS))
def test_a_rule_based_player(name):
    agent = load_agent(name)
    assert (agent.name, agent.modules, agent.rules) == (name, (), None)
    assert agent.player.networks.tolist() == [[-1 - BOTS[name]] * 2]


def test_a_rule_based_player_is_not_mistaken_for_a_folder_of_its_name(tmp_path, monkeypatch):
    (tmp_path / "balanced").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_agent("balanced").player.networks.tolist() == [[-1 - BOTS["balanced"]] * 2]
    with pytest.raises(CheckpointError, match="balanced holds no checkpoint"):
        load_agent("./balanced")


def parameters(agent):
    return [[each.detach().numpy().tobytes() for each in module.parameters()] for module in agent.modules]


@pytest.mark.parametrize("view", ["mixture", "average", "current"])
def test_a_view_is_the_one_that_the_run_itself_evaluates(run, view):
    found, expected = load_agent(f"{run}:{view}"), restored(run).agent(view)
    assert parameters(found) == parameters(expected)
    assert (found.player.networks == expected.player.networks).all()
    assert (found.player.weights == expected.player.weights).all()
    assert (found.rules, list(found.outputs)) == (MINI, list(expected.outputs))
    pairs = [play_pairs(GAME, agent, "balanced", 20, 1, threads=1) for agent in (found, expected)]
    assert all((one == other).all() for one, other in zip(*pairs, strict=True))


def test_what_a_view_consists_of(run):
    kept = kept_snapshots(5, 3)  # four iterations, and the one that comes next
    mixture, average, current = (load_agent(f"{run}:{view}") for view in ("mixture", "average", "current"))
    assert mixture.player.networks.tolist() == [[2 * k, 2 * k + 1] for k in range(len(kept))]
    assert mixture.player.weights.tolist() == snapshot_weights(kept, 2.0).tolist()
    assert set(mixture.outputs) == set(current.outputs) == {codes.REGRETS_OR_UNIFORM}
    assert (average.player.networks.tolist(), average.outputs) == ([[0, 0]], [codes.LOGITS])
    assert current.player.networks.tolist() == [[0, 1]]
    assert parameters(mixture)[-2:] == parameters(current)


def test_a_run_stands_for_its_newest_checkpoint_and_the_view_it_evaluates(run):
    expected = parameters(load_agent(f"{run}:average"))
    assert parameters(load_agent(str(run))) == expected
    assert parameters(load_agent(f"{run}/{NEWEST}")) == expected
    assert load_agent(f"{run}/").name == f"{run}/"


def test_a_checkpoint_may_be_where_one_is(run, monkeypatch):
    monkeypatch.chdir(run / NEWEST)
    assert parameters(load_agent(".")) == parameters(load_agent(str(run)))


@pytest.mark.parametrize("view", ["", ":mixture", ":average", ":current"])
def test_the_best_checkpoint_plays(run, view):
    agent = load_agent(f"{run}/{BEST}{view}")
    pairs = play_pairs(GAME, agent, load_agent(f"{run}:current"), 10, 1, threads=1)
    assert pairs.score.shape == (10, 2)


@pytest.mark.parametrize("view", ["mixture", "average", "current"])
def test_an_agent_is_level_with_itself(run, view):
    agent = load_agent(f"{run}:{view}")
    pairs = play_pairs(GAME, agent, agent, 100, 1, threads=2)
    assert ((pairs.score - pairs.opponent_score).sum(axis=1) == 0).all()


def test_a_mixture_draws_its_networks_by_their_weights(run):
    """One that always draws the last snapshot plays as the current network does."""
    mixture, current = load_agent(f"{run}:mixture"), load_agent(f"{run}:current")
    weights = np.zeros(len(mixture.player.weights))
    weights[-1] = 1
    last = type(mixture)("last", Player(mixture.player.networks, weights), mixture.modules, mixture.outputs)
    played = [play_pairs(GAME, agent, "noisy", 200, 1, threads=1).score for agent in (mixture, last, current)]
    assert (played[1] == played[2]).all()
    assert (played[0] != played[2]).any()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("balancd", r"there is no agent 'balancd' \(did you mean 'balanced'\?\); an agent is a rule-based player"),
        ("quark", r"there is no agent 'quark'; an agent is a rule-based player \(random, .*\) or the folder of a run"),
        ("runs/none", "runs/none is no folder of a run or checkpoint, so 'runs/none' names no agent"),
        ("balancd:greedy", r"balancd is no folder of a run or checkpoint \(did you mean 'balanced'\?\), so"),
        (
            "balanced:mixture",
            r"'balanced:mixture': a rule-based player takes no suffix; write balanced \(./balanced:mix",
        ),
        ("Discard_Only:sample:", "a rule-based player takes no suffix; write Discard_Only"),
        ("", "there is no agent ''"),
    ],
)
def test_wrong_names(name, message):
    with pytest.raises(InputError, match=message):
        load_agent(name)


KNOWN = "known: mixture, average, current, sample, greedy, threshold=0.1"


@pytest.mark.parametrize(
    ("suffixes", "message"),
    [
        ("mixtur", rf"an agent has no suffix 'mixtur' \(did you mean 'mixture'\?\); {KNOWN}"),
        ("average:gredy", rf"no suffix 'gredy' \(did you mean 'greedy'\?\); {KNOWN}"),
        ("threshold", rf"no suffix 'threshold' \(did you mean 'threshold=0.1'\?\); {KNOWN}"),
        ("best", f"no suffix 'best'; {KNOWN}"),
        ("", f"no suffix ''; {KNOWN}"),
        ("threshold=", "'threshold=' must give a probability from 0 to 1, such as threshold=0.1"),
        ("threshold=1.5", "'threshold=1.5' must give a probability from 0 to 1"),
        ("threshold=nan", "'threshold=nan' must give a probability"),
        ("mixture:greedy:current", "names 2 views; it may have one of mixture, average, current"),
        ("average:average", "names 2 views"),
        ("greedy:sample", "names 2 ways to choose an action; it may have one of sample, greedy and threshold=0.1"),
        ("threshold=0.1:mixture:threshold=0.2:greedy", "names 3 ways to choose an action"),
    ],
)
def test_wrong_suffixes_are_told_which_there_are(run, suffixes, message):
    with pytest.raises(InputError, match=message) as error:
        load_agent(f"{run}:{suffixes}")
    assert str(error.value).startswith(f"'{run}:{suffixes}'")


@pytest.mark.parametrize(
    ("suffixes", "view", "floor"),
    [
        (":greedy", "average", PLAY_LIKELIEST),
        (":sample", "average", PLAY_ALL),
        (":mixture:threshold=0.25", "mixture", 0.25),
        (":threshold=1:current", "current", 1.0),
        (":greedy:mixture", "mixture", PLAY_LIKELIEST),
        (":current:sample", "current", PLAY_ALL),
    ],
)
def test_suffixes_stand_in_any_order(run, suffixes, view, floor):
    agent = load_agent(f"{run}{suffixes}")
    assert parameters(agent) == parameters(load_agent(f"{run}:{view}"))
    assert (agent.name, agent.floor) == (f"{run}{suffixes}", floor)
    assert agent.floors == [floor] * len(agent.modules)


def test_ways_to_choose_an_action_differ_in_a_match_and_sample_is_meant_without_one(run):
    ways = ["", ":sample", ":greedy", ":threshold=0.4"]
    plain, sample, greedy, threshold = (
        play_pairs(GAME, load_agent(f"{run}:average{way}"), "balanced", 60, 1, threads=1) for way in ways
    )
    assert all((one == other).all() for one, other in zip(plain, sample, strict=True))
    entropies = [int(pairs.entropy.sum()) for pairs in (plain, threshold, greedy)]
    assert entropies == sorted(entropies, reverse=True)
    assert entropies[-1] == 0 < entropies[0]


def test_each_side_keeps_its_own_way(run):
    """The floors of both go into one table: swapping the sides changes the sign only."""
    one, other = load_agent(f"{run}:mixture:greedy"), load_agent(f"{run}:average:threshold=0.4")
    here, there = play_pairs(GAME, one, other, 60, 1, threads=1), play_pairs(GAME, other, one, 60, 1, threads=1)
    assert (here.score == there.opponent_score[:, ::-1]).all()
    assert (here.entropy.sum(), there.entropy.sum() > 0) == (0, True)


def test_views_that_were_not_trained_are_not_there(tmp_path):
    train(tmp_path / "run", configuration("averaging.snapshots=0", "limits.iterations=1"))
    with pytest.raises(InputError, match="there is no view 'mixture' of this agent; there are: average, current"):
        load_agent(f"{tmp_path / 'run'}:mixture")
    train(tmp_path / "other", configuration("limits.iterations=1", "evaluation.view=current", strategy=False))
    with pytest.raises(InputError, match="there is no view 'average' of this agent; there are: mixture, current"):
        load_agent(f"{tmp_path / 'other'}:average")


def test_a_folder_without_a_run_or_a_checkpoint(tmp_path):
    for place in tmp_path, tmp_path / "run":
        place.mkdir(exist_ok=True)
        with pytest.raises(CheckpointError, match=f"{place} holds no checkpoint of a run: name the folder"):
            load_agent(str(place))
    (tmp_path / "run" / "config.yaml").write_text("seed: 1\n")
    with pytest.raises(CheckpointError, match=r"holds no checkpoint of a run"):
        load_agent(str(tmp_path / "run"))


@pytest.mark.parametrize(
    ("pattern", "view"),
    [
        ("strategy.safetensors", "average"),
        ("advantage-1.safetensors", "current"),
        ("../parts/snapshot-*2-*", "mixture"),
    ],
)
def test_damage_is_named_where_the_view_needs_the_file(tmp_path, pattern, view):
    train(tmp_path / "run", configuration("network.one_per_seat=true"))
    (path,) = (tmp_path / "run" / NEWEST).glob(pattern)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match=f"{re.escape(path.name)} is damaged: its content does not match"):
        load_agent(f"{tmp_path / 'run'}:{view}")
    for other in {"mixture", "average", "current"} - {view}:
        load_agent(f"{tmp_path / 'run'}:{other}")


def test_a_configuration_of_another_network_is_told(tmp_path):
    train(tmp_path / "run", configuration("limits.iterations=1"))
    config = tmp_path / "run" / "config.yaml"
    config.write_text(config.read_text().replace("hidden: 16", "hidden: 8"))
    with pytest.raises(CheckpointError, match="the arrays belong to a network of another kind, size or game"):
        load_agent(str(tmp_path / "run"))
    config.unlink()
    with pytest.raises(ConfigurationError, match=r"config.yaml: there is no such file"):
        load_agent(str(tmp_path / "run" / NEWEST.replace("4", "1", 1)))


def test_rules_must_be_those_of_the_agents(run):
    bot, trained = load_agent("balanced"), load_agent(str(run))
    assert rules_of_match([bot, trained], MINI) == MINI
    assert rules_of_match([bot, trained], None) == MINI
    assert rules_of_match([bot], None) == Rules()
    assert rules_of_match([bot], MINI) == MINI
    with pytest.raises(InputError) as error:
        rules_of_match([bot, trained], Rules(n_colors=2, stall_limit=None))
    theirs = [
        "n_ranks=4",
        "n_wagers=1",
        "hand_size=3",
        "expedition_cost=-4",
        "bonus_threshold=4",
        "bonus=3",
        "stall_limit=10",
    ]
    chosen = [
        "n_ranks=9",
        "n_wagers=3",
        "hand_size=8",
        "expedition_cost=-20",
        "bonus_threshold=8",
        "bonus=20",
        "stall_limit=null",
    ]
    assert str(error.value) == (
        f"{run} was trained with {' and '.join(theirs)}, but the match is to be played with {' and '.join(chosen)}: "
        f"set its rules by {' '.join(f'--rule {each}' for each in theirs)}, or choose another agent"
    )
