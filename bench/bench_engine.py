"""Regression suite of the engine: random play, features with the legal mask, deals, each bot."""

import pytest

from lostcfr import LostCities
from lostcfr.agents import BOTS
from lostcfr.bench.engine import Gathering, Playing

LANES = 512


@pytest.mark.parametrize("bot", BOTS)
def test_rounds_of_a_bot(measure, bot):
    play = Playing(LostCities(), 1, LANES if bot == "random" else LANES // 4, bot)
    measure(play, units=play())


def test_features_and_legal_mask(measure):
    gathering = Gathering(LostCities(), 1, LANES)
    measure(gathering, units=gathering())


def test_deals(measure):
    lanes = LostCities().lanes(4 * LANES, threads=1)
    measure(lambda: lanes.deal(seed=1), units=len(lanes))


def test_public_tick(measure):
    """Observe, choose, act as a Python user does it: one tick of 1,024 lanes with allocation and checks."""
    lanes = LostCities().lanes(2 * LANES, threads=1)
    codes = [BOTS["random"]] * len(lanes)

    def tick():
        if lanes.finished.all():
            lanes.deal(seed=1)
        lanes.gather()
        lanes.act(lanes.bot_actions(codes, seed=1))

    lanes.deal(seed=1)
    measure(tick, units=len(lanes))
