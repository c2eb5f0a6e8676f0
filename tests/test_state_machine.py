"""Any order of public calls keeps the batch in step with the slow twin."""

import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import naive
from lostcfr import IllegalAction, LostCities
from lostcfr.kernels import state
from rule_sets import RULE_SETS

N = 3


class LanesMachine(RuleBasedStateMachine):
    """A batch of three lanes: deals, legal and illegal actions, waiting, copies."""

    @initialize(name=st.sampled_from(sorted(RULE_SETS)), seed=st.integers(0, 2**64 - 1))
    def start(self, name, seed):
        self.game = LostCities(RULE_SETS[name])
        self.lanes = self.game.lanes(N, threads=1)
        self.deal_from_seed(seed)

    @rule(seed=st.integers(0, 2**64 - 1))
    def deal_from_seed(self, seed):
        self.lanes.deal(seed=seed)
        decks = self.lanes.games.deck.tolist()
        self.twins = [naive.NaiveRound(self.game.rules, deck) for deck in decks]

    @rule(data=st.data())
    def deal_from_decks(self, data):
        cards = list(range(self.game.deck_size))
        decks = [data.draw(st.permutations(cards)) for _ in range(N)]
        self.lanes.deal(decks=decks)
        self.twins = [naive.NaiveRound(self.game.rules, deck) for deck in decks]

    @rule(choices=st.lists(st.integers(0, 10**6), min_size=N, max_size=N))
    def act(self, choices):
        actions = []
        for twin, choice in zip(self.twins, choices, strict=True):
            options = [-1, *twin.legal(), *twin.legal(), *twin.legal()]
            actions.append(options[choice % len(options)])
            if actions[-1] >= 0:
                twin.act(actions[-1])
        self.lanes.act(actions)

    @rule(lane=st.integers(0, N - 1), action=st.integers(-3, 400))
    def try_anything(self, lane, action):
        actions = np.full(N, -1)
        actions[lane] = action
        if action == -1 or action in self.twins[lane].legal():
            self.lanes.act(actions)
            if action >= 0:
                self.twins[lane].act(action)
        else:
            with pytest.raises(IllegalAction):
                self.lanes.act(actions)

    @precondition(lambda self: hasattr(self, "twins"))
    @rule(source=st.integers(0, N - 1), to=st.integers(0, N - 1))
    def copy(self, source, to):
        self.lanes.copy_lane(source, to)
        self.twins[to] = self.twins[source].copy()

    @invariant()
    def agrees_with_the_twin(self):
        if not hasattr(self, "twins"):
            return
        legal = self.lanes.legal()
        for lane, twin in enumerate(self.twins):
            assert np.flatnonzero(legal[lane]).tolist() == twin.legal()
            assert self.lanes.scores()[lane].tolist() == twin.scores()
            assert self.lanes.deck_left[lane] == len(twin.deck)
            assert self.lanes.stall[lane] == twin.stall
            assert state.cards_conserved(self.game.parameters, self.lanes.games, lane)


TestLanes = LanesMachine.TestCase
TestLanes.settings = settings(max_examples=40, stateful_step_count=60, deadline=None, derandomize=True)
