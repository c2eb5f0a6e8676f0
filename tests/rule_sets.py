"""Rules that the tests play by: the two editions, small games, and the corners of what is allowed."""

from lostcfr import Rules

CLASSIC = Rules()
SIX_COLOURS = Rules(n_colors=6)
OFFICIAL = Rules(stall_limit=None)
MINI = Rules(n_colors=2, n_ranks=4, n_wagers=1, hand_size=3, expedition_cost=-4, bonus_threshold=4, bonus=3)
TINY = Rules(n_colors=2, n_ranks=3, n_wagers=0, hand_size=2, expedition_cost=-3, stall_limit=0)
ONE_COLOUR = Rules(n_colors=1, n_ranks=9, n_wagers=2, hand_size=2, stall_limit=3)
FULL_MASK = Rules(n_colors=3, n_ranks=15, n_wagers=1, min_rank=1, hand_size=5, stall_limit=5)
MANY_WAGERS = Rules(n_colors=4, n_ranks=3, n_wagers=13, hand_size=6, stall_limit=4)

# Games that tests solve exactly.
SOLVED_ONE_COLOUR = Rules(
    n_colors=1,
    n_ranks=4,
    n_wagers=1,
    hand_size=1,
    min_rank=2,
    expedition_cost=-6,
    bonus_threshold=2,
    bonus=8,
    stall_limit=1,
)
SOLVED_TWO_COLOURS = Rules(
    n_colors=2,
    n_ranks=3,
    n_wagers=0,
    hand_size=2,
    min_rank=2,
    expedition_cost=-4,
    bonus_threshold=2,
    bonus=3,
    stall_limit=1,
)
# With stall_limit=1 the value of the game is the same, but there are ten times as many histories.
SOLVED_FOUR_TURNS = Rules(
    n_colors=2,
    n_ranks=3,
    n_wagers=0,
    hand_size=1,
    min_rank=2,
    expedition_cost=-4,
    bonus_threshold=2,
    bonus=3,
    stall_limit=0,
)

RULE_SETS = {
    "classic": CLASSIC,
    "six-colours": SIX_COLOURS,
    "official": OFFICIAL,
    "mini": MINI,
    "tiny": TINY,
    "one-colour": ONE_COLOUR,
    "full-mask": FULL_MASK,
    "many-wagers": MANY_WAGERS,
}
