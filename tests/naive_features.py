"""The slow, obvious twin of the feature encoder: each column by name, from lists and sets of cards.

Columns come colour by colour and then for the whole round. "mine" is the player to move, "theirs" the
opponent. Where the round is finished every column is 0.
"""

from __future__ import annotations

from typing import Any

from naive import NaiveRound, score_expedition

COLOURS = ("red", "green", "white", "blue", "yellow", "purple")
MOST = 255  # a column holds no more


def features(game: NaiveRound, rules: Any) -> dict[str, int]:
    """What the player to move knows, in the order of the encoder's columns."""
    columns = {}
    for colour in range(rules.n_colors):
        for name, value in colour_features(game, rules, colour).items():
            columns[f"{COLOURS[colour]}.{name}"] = value
    columns |= global_features(game, rules)
    return dict.fromkeys(columns, 0) if game.finished else columns


def history_features(game: NaiveRound, rules: Any) -> dict[str, int]:
    """The hand of the opponent of the player to move."""
    columns = {}
    theirs = 1 - game.to_move
    for colour in range(rules.n_colors):
        hand = of_colour(game, colour, game.hands[theirs])
        for name, value in card_columns(game, rules, "hand_theirs", hand).items():
            columns[f"{COLOURS[colour]}.{name}"] = value
    return dict.fromkeys(columns, 0) if game.finished else columns


def information(game: NaiveRound) -> tuple[Any, ...]:
    """All that the player to move knows, in card types instead of columns."""

    def types(cards: Any) -> tuple[tuple[int, int], ...]:
        return tuple((game.colour(card), game.type_of(card)) for card in cards)

    mine, theirs = game.to_move, 1 - game.to_move
    places: list[Any] = [game.hands[mine], game.known[mine], game.known[theirs]]
    places += game.expeditions[mine] + game.expeditions[theirs]
    cards = [tuple(sorted(types(place))) for place in places] + [types(pile) for pile in game.piles]
    return *cards, game.drawing, game.banned, len(game.deck), game.stall


def colour_features(game: NaiveRound, rules: Any, colour: int) -> dict[str, int]:
    """The columns of one colour: cards in each place, the pile, both expeditions, own chances."""
    mine, theirs = game.to_move, 1 - game.to_move
    hand = of_colour(game, colour, game.hands[mine])
    pile = game.piles[colour]
    columns = {
        **card_columns(game, rules, "hand", hand),
        **card_columns(game, rules, "known_mine", of_colour(game, colour, game.known[mine])),
        **card_columns(game, rules, "known_theirs", of_colour(game, colour, game.known[theirs])),
        **card_columns(game, rules, "mine", game.expeditions[mine][colour]),
        **card_columns(game, rules, "theirs", game.expeditions[theirs][colour]),
        **depth_columns(game, rules, pile),
        **card_columns(game, rules, "pile", pile),
        **card_columns(game, rules, "top", pile[-1:]),
        **side_columns(game, rules, "mine", mine, colour),
        **side_columns(game, rules, "theirs", theirs, colour),
    }
    columns["hand_playable_sum"] = capped(sum(game.face(card) for card in hand if game.playable(mine, card)))
    columns["banned"] = int(game.banned == colour)
    return columns


def global_features(game: NaiveRound, rules: Any) -> dict[str, int]:
    """The columns of the whole round."""
    mine, theirs = game.to_move, 1 - game.to_move
    lead = game.scores()[mine] - game.scores()[theirs]
    return {
        "drawing": int(game.drawing),
        "deck_left": capped(len(game.deck)),
        "stall": capped(game.stall),
        "stalled": int(rules.stall_limit is not None and game.stall >= rules.stall_limit),
        "mine_ahead": capped(lead),
        "mine_behind": capped(-lead),
        "mine_opened": sum(1 for cards in game.expeditions[mine] if cards),
        "theirs_opened": sum(1 for cards in game.expeditions[theirs] if cards),
    }


def card_columns(game: NaiveRound, rules: Any, place: str, cards: Any) -> dict[str, int]:
    """How many wagers the place holds, and which numbers."""
    held = [game.face(card) for card in cards]  # 0 for a wager
    columns = {f"{place}_wagers": held.count(0)}
    for face in faces(rules):
        columns[f"{place}_{face}"] = held.count(face)
    return columns


def depth_columns(game: NaiveRound, rules: Any, pile: list[int]) -> dict[str, int]:
    """Position of each card from the top of the pile, 1 at the top; wagers counted from the top."""
    wager_depths = []
    face_depths = {}
    for depth, card in enumerate(reversed(pile), start=1):
        if game.is_wager(card):
            wager_depths.append(depth)
        else:
            face_depths[game.face(card)] = depth
    columns = {}
    for k in range(rules.n_wagers):
        columns[f"depth_wager{k + 1}"] = wager_depths[k] if k < len(wager_depths) else 0
    for face in faces(rules):
        columns[f"depth_{face}"] = face_depths.get(face, 0)
    return columns


def side_columns(game: NaiveRound, rules: Any, side: str, player: int, colour: int) -> dict[str, int]:
    """One expedition: its last number, its points, whether it would take the top of the pile."""
    expedition = game.expeditions[player][colour]
    pile = game.piles[colour]
    points = score_expedition(rules, expedition)
    return {
        f"{side}_last": max((game.face(card) for card in expedition), default=0),
        f"{side}_gain": capped(points),
        f"{side}_loss": capped(-points),
        f"{side}_takes_top": int(bool(pile) and game.playable(player, pile[-1])),
    }


def of_colour(game: NaiveRound, colour: int, cards: Any) -> list[int]:
    return [card for card in cards if game.colour(card) == colour]


def faces(rules: Any) -> range:
    return range(rules.min_rank, rules.min_rank + rules.n_ranks)


def capped(value: int) -> int:
    return min(max(value, 0), MOST)
