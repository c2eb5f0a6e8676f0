"""The feature encoder: equal to its slow twin, blind to hidden cards, and complete in what it shows."""

import random
from fnmatch import fnmatch

import numpy as np
import pytest

import naive
import naive_features
from lostcfr import LostCities, Rules
from lostcfr.kernels import state
from rule_sets import MANY_WAGERS, MINI, ONE_COLOUR, RULE_SETS

CASES = {name: RULE_SETS[name] for name in RULE_SETS if name not in ("six-colours", "official")}
CASES["six-without-limit"] = Rules(n_colors=6, stall_limit=None)
CASES["no-wagers"] = Rules(n_colors=3, n_wagers=0, hand_size=4)
every_case = pytest.mark.parametrize("name", CASES)

DECISIONS = 2000  # compared in each case
POSITIONS = 100
KINDS = ["play", "discard", "draw", "draw deck"]
IMPOSSIBLE = {  # columns that stay 0 in any play by these rules
    "tiny": ["*_wagers", "*.known_*", "stall"],  # no wagers, and with a stall limit of 0 no draw from a pile
    "no-wagers": ["*_wagers"],
    "six-without-limit": ["stalled"],
    "many-wagers": ["*_gain"],  # 2 + 3 + 4 is less than the cost, and a bonus takes five wagers
}


def play(lanes, seed, decisions, stops=None):
    """Random decisions, yielded once made (int [n]); a lane waits after its own number of them in ``stops``."""
    generator = random.Random(seed)
    names = map(lanes.game.action_name, range(lanes.game.num_actions))
    kinds = [name if name in KINDS else name.split()[0] for name in names]
    tastes = [{kind: generator.choice([0.03, 0.3, 1, 3]) for kind in KINDS} for _ in range(lanes.n)]
    for step in range(decisions):
        actions = np.full(lanes.n, -1)
        for lane, row in enumerate(lanes.legal()):
            waits = stops is not None and step >= stops[lane]
            if allowed := [] if waits else row.nonzero()[0].tolist():
                weights = [tastes[lane][kinds[action]] for action in allowed]
                actions[lane] = generator.choices(allowed, weights)[0]
        if (actions < 0).all():
            return
        lanes.act(actions)
        yield actions


@every_case
def test_every_column_after_every_action(name):
    game, seed, compared = LostCities(CASES[name]), 0, 0
    while compared < DECISIONS:
        lanes = game.lanes(10)
        lanes.deal(seed=seed)
        rounds = [naive.NaiveRound(game.rules, deck) for deck in lanes.games.deck.tolist()]
        compare(lanes, rounds, range(lanes.n))
        for actions in play(lanes, seed, decisions=120):
            moved = np.flatnonzero(actions >= 0)
            for lane in moved:
                rounds[lane].act(int(actions[lane]))
            compare(lanes, rounds, moved)
            compared += len(moved)
        seed += 1


def compare(lanes, rounds, moved):
    rules, rows, history = lanes.game.rules, lanes.observe().tolist(), lanes.observe_history().tolist()
    names, history_names = lanes.game.feature_names(), lanes.game.history_feature_names()
    for lane in moved:
        wanted = naive_features.features(rounds[lane], rules)
        assert dict(zip(names, rows[lane], strict=True)) == wanted
        wanted = naive_features.history_features(rounds[lane], rules)
        assert dict(zip(history_names, history[lane], strict=True)) == wanted


@every_case
def test_columns_are_named_scaled_and_used(name):
    game = LostCities(CASES[name])
    names, history_names, scales = game.feature_names(), game.history_feature_names(), game.feature_scales()
    twin = naive.NaiveRound(game.rules, list(range(game.deck_size)))
    assert names == list(naive_features.features(twin, game.rules))
    assert history_names == list(naive_features.history_features(twin, game.rules))
    assert len(set(names + history_names)) == game.num_features + game.num_history_features
    assert len(scales) == game.num_features
    assert ((scales > 0) & np.isfinite(scales)).all()
    impossible = [any(fnmatch(column, pattern) for pattern in IMPOSSIBLE.get(name, [])) for column in names]
    lanes, most = game.lanes(60), 0
    for seed in range(20):
        lanes.deal(seed=seed)
        for _ in play(lanes, seed, decisions=150):
            most = np.maximum(most, lanes.observe().max(axis=0))
        if ((most == 0) == impossible).all():
            break
    assert [c for c, value in zip(names, most, strict=True) if not value] == list(np.array(names)[impossible])
    assert (most * scales).max() < 4


def test_columns_stop_at_a_byte():
    game = LostCities(MANY_WAGERS)
    lanes = game.lanes(1)
    lanes.deal(seed=0)
    lanes.games.table[0, 0] = (1 << MANY_WAGERS.n_wagers) - 1
    lanes.games.status[0, state.STALL] = 256
    seen = dict(zip(game.feature_names(), lanes.observe()[0].tolist(), strict=True))
    assert [seen[column] for column in ("red.mine_loss", "mine_behind", "stall")] == [255, 255, 255]
    assert [seen[column] for column in ("red.mine_gain", "mine_ahead", "stalled")] == [0, 0, 1]


def positions(name, seed):
    """Lanes in pairs: POSITIONS random points of random rounds, then the same again, to be altered."""
    lanes = LostCities(CASES[name]).lanes(2 * POSITIONS)
    lanes.deal(seed=seed)
    generator, most = random.Random(seed), 3 * int(lanes.deck_left[0])
    stops = [generator.randrange(most) for _ in range(POSITIONS)] + [0] * POSITIONS
    list(play(lanes, seed, most, stops))
    for lane in range(POSITIONS):
        lanes.copy_lane(lane, POSITIONS + lane)
    return lanes


def alter(lanes, change, seed):
    """Change the second lane of each pair whose round is not over; b1 [POSITIONS], where it could be."""
    generator, movers, finished = random.Random(seed), lanes.to_move.tolist(), lanes.finished
    done = np.zeros(POSITIONS, bool)
    for lane in range(POSITIONS, lanes.n):
        if not finished[lane]:
            done[lane - POSITIONS] = change(lanes.game.rules, lanes.games, lane, movers[lane], generator)
        assert state.cards_conserved(lanes.game.parameters, lanes.games, lane)
    return done


def differing(rows):
    """Which pairs of lanes have different rows."""
    return (rows[:POSITIONS] != rows[POSITIONS:]).any(axis=1)


def bits_of(mask):
    return [bit for bit in range(16) if int(mask) >> bit & 1]


def cards_of(rules, masks):
    return [c * rules.cards_per_color + bit for c, mask in enumerate(masks) for bit in bits_of(mask)]


def redeal_hidden(rules, games, lane, mover, generator):
    """Shuffle the opponent's unknown cards and the undealt deck."""
    drawn = games.status[lane, state.DRAWN]
    hand, known = games.hand[lane, 1 - mover], games.known[lane, 1 - mover]
    unknown = cards_of(rules, hand & ~known)
    hidden = unknown + games.deck[lane, drawn:].tolist()
    generator.shuffle(hidden)
    hand[:] = known
    for card in hidden[: len(unknown)]:
        hand[card // rules.cards_per_color] |= 1 << card % rules.cards_per_color
    games.deck[lane, drawn:] = hidden[len(unknown) :]
    generator.shuffle(games.deck[lane, :drawn])  # the order of the past tells who drew what
    return True


def renumber_wagers(rules, games, lane, mover, generator):
    """Give the wagers of each colour new bits, wherever they lie."""
    for color in range(rules.n_colors):
        wagers, first = list(range(rules.n_wagers)), color * rules.cards_per_color
        new = generator.sample(wagers, len(wagers)) + list(range(rules.n_wagers, rules.cards_per_color))
        for masks in (games.hand, games.known, games.table):
            for player in range(2):
                masks[lane, player, color] = sum(1 << new[bit] for bit in bits_of(masks[lane, player, color]))
        games.pile[lane, color] = [new[bit] for bit in games.pile[lane, color]]
        there = np.flatnonzero(games.deck[lane] // rules.cards_per_color == color)
        games.deck[lane, there] = [first + new[card - first] for card in games.deck[lane, there]]
    return rules.n_wagers > 1


def swap_seats(rules, games, lane, mover, generator):
    for masks in (games.hand, games.known, games.table):
        masks[lane] = masks[lane, ::-1].copy()
    games.status[lane, state.PLY] += 2 if games.status[lane, state.PLY] < 2 else generator.choice([-2, 2])
    return True


def reorder_pile(rules, games, lane, mover, generator):
    """Swap two cards of a pile that are not both wagers."""
    piles, sizes = games.pile[lane], games.pile_size[lane]
    pairs = [
        (color, j, k)
        for color in range(rules.n_colors)
        for k in range(sizes[color])
        for j in range(k)
        if max(piles[color, j], piles[color, k]) >= rules.n_wagers
    ]
    if pairs:
        color, j, k = generator.choice(pairs)
        piles[color, [j, k]] = piles[color, [k, j]]
    return bool(pairs)


def forget_known(rules, games, lane, mover, generator):
    """Make one known card of either hand unknown."""
    known = [(player, card) for player in range(2) for card in cards_of(rules, games.known[lane, player])]
    if known:
        player, card = generator.choice(known)
        games.known[lane, player, card // rules.cards_per_color] -= 1 << card % rules.cards_per_color
    return bool(known)


@every_case
@pytest.mark.parametrize("change", [redeal_hidden, renumber_wagers, swap_seats])
def test_what_leaves_no_trace(name, change):
    lanes = positions(name, seed=1)
    done = alter(lanes, change, seed=1)
    assert not differing(lanes.observe()).any()
    assert not differing(lanes.legal()).any()
    traces = differing(lanes.observe_history()).sum()
    assert traces > POSITIONS / 4 if change is redeal_hidden else traces == 0
    scores = lanes.scores()
    if change is swap_seats:
        scores[POSITIONS:][done] = scores[POSITIONS:][done, ::-1]
    assert not differing(scores).any()
    assert done.sum() > POSITIONS / 4 or (change is renumber_wagers and CASES[name].n_wagers < 2)


@every_case
@pytest.mark.parametrize("change", [reorder_pile, forget_known])
def test_what_shows(name, change):
    lanes = positions(name, seed=2)
    done = alter(lanes, change, seed=2)
    assert (differing(lanes.observe()) == done).all()
    assert not differing(lanes.observe_history()).any()
    assert done.any() or (change is forget_known and CASES[name].stall_limit == 0)


@pytest.mark.parametrize("rules", [MINI, ONE_COLOUR], ids=["mini", "one-colour"])
def test_rows_and_information_correspond_one_to_one(rules):
    lanes = LostCities(rules).lanes(400)
    lanes.deal(seed=3)
    rounds = [naive.NaiveRound(rules, deck) for deck in lanes.games.deck.tolist()]
    rows, informations = {}, {}
    for actions in play(lanes, seed=3, decisions=40):
        seen = lanes.observe()
        for lane in np.flatnonzero(actions >= 0):
            rounds[lane].act(int(actions[lane]))
            if not rounds[lane].finished:
                row, known = seen[lane].tobytes(), naive_features.information(rounds[lane])
                assert rows.setdefault(known, row) == row
                assert informations.setdefault(row, known) == known
    assert len(rows) == len(informations) > 1000


@every_case
def test_a_permutation_of_colours_permutes_columns(name):
    game = LostCities(CASES[name])
    lanes, other = game.lanes(30), game.lanes(30)
    lanes.deal(seed=4)
    new = [*range(1, game.rules.n_colors), 0]
    color, bit = np.divmod(lanes.games.deck, game.rules.cards_per_color)
    other.deal(decks=np.array(new)[color] * game.rules.cards_per_color + bit)
    columns = renamed(game, new, game.feature_names(), ".")
    history_columns = renamed(game, new, game.history_feature_names(), ".")
    actions_there = renamed(game, new, [game.action_name(a) for a in range(game.num_actions)], " ")
    for actions in play(lanes, seed=4, decisions=120):
        other.act(np.where(actions < 0, -1, actions_there[actions]))
        np.testing.assert_array_equal(other.observe()[:, columns], lanes.observe())
        np.testing.assert_array_equal(other.observe_history()[:, history_columns], lanes.observe_history())
        np.testing.assert_array_equal(other.legal()[:, actions_there], lanes.legal())
        np.testing.assert_array_equal(other.scores(), lanes.scores())


def renamed(game, new, names, separator):
    """Where each name stands once colour c is called by the name of colour new[c]."""
    called = {color: game.colors[new[k]] for k, color in enumerate(game.colors)}
    places = {name: k for k, name in enumerate(names)}
    twins = [separator.join(called.get(word, word) for word in name.split(separator)) for name in names]
    return np.array([places[twin] for twin in twins])


@every_case
@pytest.mark.parametrize("what", ["observe", "observe_history", "legal", "gather"])
def test_given_rows_are_filled_and_no_others(name, what):
    lanes = positions(name, seed=5)
    wanted = (lanes.observe(), lanes.legal()) if what == "gather" else (getattr(lanes, what)(),)
    wide = [np.full((lanes.n + 2, rows.shape[1]), 9, rows.dtype) for rows in wanted]
    getattr(lanes, what)(*(rows[1:-1] for rows in wide))
    for rows, there in zip(wide, wanted, strict=True):
        np.testing.assert_array_equal(rows[1:-1], there)
        assert (rows[[0, -1]] == rows.dtype.type(9)).all()


@every_case
def test_rows_do_not_depend_on_the_other_lanes(name):
    """A lane alone, a batch in one thread and the same in three say the same."""
    game, n = LostCities(CASES[name]), 800
    lanes, shared, alone = game.lanes(n, threads=1), game.lanes(n, threads=3), game.lanes(1)
    for batch in (lanes, shared, alone):
        batch.deal(seed=6)
    for actions in play(lanes, 6, 12, [lane % 13 for lane in range(n)]):
        shared.act(actions)
    rows, history = lanes.observe(), lanes.observe_history()
    np.testing.assert_array_equal(shared.observe(), rows)
    np.testing.assert_array_equal(shared.gather()[0], rows)
    for lane in range(0, n, 7):
        state.copy_lane(lanes.games, lane, alone.games, 0)
        np.testing.assert_array_equal(alone.observe()[0], rows[lane])
        np.testing.assert_array_equal(alone.observe_history()[0], history[lane])
