"""Answers to requests: a row's bits depend on the row and its network alone."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from lostcfr.config import NetworkConfig
from lostcfr.errors import ResourceError
from lostcfr.forward import Forward, chosen_device, torch_threads
from lostcfr.game import LostCities
from lostcfr.nets import build
from rule_sets import MINI

TILES = [8, 24, 64, 256]
GAMES = {"mini": LostCities(MINI), "classic": LostCities()}
SETTINGS = [
    NetworkConfig(hidden=16, layers=1),
    NetworkConfig(hidden=67, layers=3, activation="silu"),
    NetworkConfig(kind="colour_equivariant", hidden=24, layers=2, activation="gelu"),
]


def rows(game, n, seed=1):
    return np.random.default_rng(seed).integers(0, 12, (n, game.num_features), np.uint8)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """As lanes are answered: each group of them on a thread of its own."""
    with torch_threads(1):
        yield


@pytest.fixture(scope="module", params=[(name, number) for name in GAMES for number in range(len(SETTINGS))], ids=str)
def asked(request, one_thread):
    """A game, three networks of one kind, 300 rows and the answers of each network to each row on its own."""
    name, number = request.param
    game = GAMES[name]
    modules = [build(SETTINGS[number], game, seed=1, number=k) for k in range(3)]
    features = rows(game, 300)
    alone = [Forward([module], 8) for module in modules]
    zeros = np.zeros(1, np.int32)
    return game, modules, features, np.stack([[each(row[None], zeros)[0].copy() for row in features] for each in alone])


@pytest.mark.parametrize("tile", TILES)
def test_answers_do_not_depend_on_tile_or_number_of_rows(asked, tile):
    _, modules, features, expected = asked
    forward = Forward(modules[:1], tile)
    for n in (1, 7, 8, 9, 25, 100, 300):
        assert (forward(features[:n], np.zeros(n, np.int32)) == expected[0, :n]).all(), n


def test_answers_do_not_depend_on_neighbours(asked):
    game, modules, features, expected = asked
    forward, zeros = Forward(modules[:1], 64), np.zeros(300, np.int32)
    order = np.random.default_rng(2).permutation(300)
    assert (forward(features[order], zeros) == expected[0, order]).all()
    others = rows(game, 300, seed=3)
    others[17] = features[17]
    assert (forward(others, zeros)[17] == expected[0, 17]).all()


@pytest.mark.parametrize("tile", TILES)
def test_each_row_is_answered_by_its_own_network(asked, tile):
    _, modules, features, expected = asked
    network = np.random.default_rng(4).integers(0, 3, 300, np.int32)
    answers = Forward(modules, tile)(features, network)
    assert (answers == expected[network, np.arange(300)]).all()
    only = np.full(300, 2, np.int32)
    assert (Forward(modules, tile)(features, only) == expected[2]).all()


class Counting(torch.nn.Module):
    """Answers with the number of rows that it is asked for at once, if that is what it tells by."""

    def __init__(self, tells):
        super().__init__()
        self.tells, self.asked, self.scales = tells, [], torch.ones(5)

    def answer(self, features, rows, scratch):
        self.asked.append(rows)
        filled = torch.zeros(rows, 5)
        filled[: len(features)] = features
        return filled + (rows if self.tells else 0)


@pytest.mark.parametrize(("tells", "sizes"), [(False, [64, 40]), (True, [64, 64])])
def test_short_tiles_are_used_only_where_they_agree(tells, sizes):
    """A network that answers otherwise in short tiles sees full ones alone, so that its answers agree after all."""
    module = Counting(tells)
    forward = Forward([module], 64)
    features = np.random.default_rng(5).integers(0, 9, (100, 5), np.uint8)
    module.asked.clear()
    answers = forward(features, np.zeros(100, np.int32))
    assert module.asked == sizes
    assert (answers == features.astype(np.float32) + (64 if tells else 0)).all()
    assert (forward(features[:3], np.zeros(3, np.int32)) == answers[:3]).all()


def test_a_new_thread_answers_alike_and_with_one_core(asked):
    _, modules, features, expected = asked
    forward, zeros = Forward(modules[:1], 64), np.zeros(300, np.int32)
    with ThreadPoolExecutor(1) as pool:
        assert (pool.submit(lambda: forward(features, zeros).copy()).result() == expected[0]).all()
        assert pool.submit(torch.get_num_threads).result() == 1


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_play_answers_as_the_network_that_is_trained(settings):
    """``answer`` uses memory again; ``forward`` is what the gradients are of."""
    game = GAMES["classic"]
    module, features = build(settings, game, seed=3, number=0), rows(game, 64)
    with torch.no_grad():
        expected = module(torch.from_numpy(features)).numpy()
    assert (Forward([module], 64)(features, np.zeros(64, np.int32)) == expected).all()


def test_a_device_is_chosen(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert [chosen_device(name) for name in ("auto", "cpu")] == ["cpu", "cpu"]
    with pytest.raises(ResourceError, match="--device cuda: torch finds no GPU"):
        chosen_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert [chosen_device(name) for name in ("auto", "cpu", "cuda")] == ["cuda", "cpu", "cuda"]


def test_the_threads_of_torch_are_put_back_even_after_an_error():
    before, inside = torch.get_num_threads(), []

    def fail():
        with torch_threads(before + 1):
            inside.append(torch.get_num_threads())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (inside, torch.get_num_threads()) == ([before + 1], before)
