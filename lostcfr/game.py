"""Lost Cities under given rules: sizes, names of cards, actions and features, and new batches of games."""

import dataclasses
import functools

import numpy as np
import numpy.typing as npt

from lostcfr.errors import InputError, InputTypeError, did_you_mean, whole
from lostcfr.kernels import infoset, rules as kernel_rules
from lostcfr.kernels.cards import NO_STALL_LIMIT, RuleParameters
from lostcfr.lanes import Lanes
from lostcfr.rules import COLORS, Rules
from lostcfr.threads import Workers


class LostCities:
    """One game: rules plus everything that follows from them.

    Attributes: ``rules``; ``parameters``, the same for kernels; ``num_actions``; ``num_features`` and
    ``num_history_features``, the columns of ``Lanes.observe`` and ``Lanes.observe_history``; ``deck_size``;
    ``most_legal``, the most legal actions that a decision has.
    """

    def __init__(self, rules: Rules | None = None) -> None:
        if rules is not None and not isinstance(rules, Rules):
            raise InputTypeError(f"rules is {rules!r}, but must be a lostcfr.Rules")
        self.rules = rules or Rules()
        self.parameters = _parameters(self.rules)
        self.deck_size = self.rules.deck_size
        self.num_actions = len(self._action_names)
        self.num_features = len(self._columns)
        self.num_history_features = len(self.history_feature_names())
        self.most_legal: int = kernel_rules.most_legal(self.parameters)

    def __repr__(self) -> str:
        return f"LostCities({self.rules!r})"

    def lanes(self, n: int, threads: int | None = None) -> Lanes:
        """``n`` games side by side, not dealt yet; ``threads`` as in ``lostcfr.threads.budget``."""
        return Lanes(self, whole(n, 1, None, "n"), Workers(threads))

    def card_name(self, card: int) -> str:
        """Name of a card id, such as ``red 7`` or ``red wager``."""
        color, bit = divmod(whole(card, 0, self.deck_size - 1, "card"), self.rules.cards_per_color)
        return f"{COLORS[color]} {self._type_names[max(bit - self.rules.n_wagers + 1, 0)]}"

    def action_name(self, action: int) -> str:
        """Name of an action id, such as ``play red 7``, ``discard red wager``, ``draw red`` or ``draw deck``."""
        return self._action_names[whole(action, 0, self.num_actions - 1, "action")]

    def short_card_name(self, card: int) -> str:
        """Short name of a card id, such as ``r7`` or ``rw``; the wagers of a colour share one."""
        return _short(self.card_name(card))

    def short_action_name(self, action: int) -> str:
        """Short name of an action id, such as ``play r7``, ``discard rw``, ``draw r`` or ``draw deck``."""
        return _shortened(self.action_name(action))

    def parse_action(self, text: str) -> int:
        """The action id of a name, long or short; case and spaces do not matter."""
        if not isinstance(text, str):
            raise InputTypeError(f"an action is a text such as 'discard red 7', not {text!r}")
        name = " ".join(text.lower().split())
        if name not in self._action_ids:
            examples = [*self._action_names[1:3], *self._action_names[-2:]]
            near = did_you_mean(name, self._action_names)
            raise InputError(f"{text!r} is no action of this game{near}; such as: {', '.join(examples)}")
        return self._action_ids[name]

    def feature_names(self) -> list[str]:
        """Name of each column of ``Lanes.observe``: ``red.hand_7``, ..., ``deck_left``, ..."""
        return [name for name, _ in self._columns]

    def feature_scales(self) -> npt.NDArray[np.float32]:
        """f4 [features]: factors that bring each column of ``Lanes.observe`` to a size of about 1."""
        return np.array([1 / min(max(1, size), infoset.BYTE) for _, size in self._columns], np.float32)

    def history_feature_scales(self) -> npt.NDArray[np.float32]:
        """f4 [history features]: the same for the columns of ``Lanes.observe_history``."""
        color = [1 / max(1, self.rules.n_wagers), *[1.0] * self.rules.n_ranks]
        return np.array(color * self.rules.n_colors, np.float32)

    def history_feature_names(self) -> list[str]:
        """Name of each column of ``Lanes.observe_history``, the opponent's hand."""
        return [f"{color}.hand_theirs_{card}" for color in self.colors for card in self._wagers_and_faces]

    @property
    def colors(self) -> tuple[str, ...]:
        """Names of the colours in play."""
        return COLORS[: self.rules.n_colors]

    @functools.cached_property
    def _type_names(self) -> list[str]:
        return ["wager", *(str(self.rules.min_rank + rank) for rank in range(self.rules.n_ranks))]

    @property
    def _wagers_and_faces(self) -> list[str]:
        return ["wagers", *self._type_names[1:]]

    @functools.cached_property
    def _columns(self) -> list[tuple[str, int]]:
        group = infoset.color_columns(self.parameters)
        columns = [(f"{color}.{name}", size) for color in self.colors for name, size in group]
        return columns + [(name, size) for name, size in infoset.global_columns(self.parameters)]

    @functools.cached_property
    def _action_names(self) -> list[str]:
        cards = [f"{color} {name}" for color in self.colors for name in self._type_names]
        piles = [*self.colors, "deck"]
        return (
            [f"play {card}" for card in cards]
            + [f"discard {card}" for card in cards]
            + [f"draw {pile}" for pile in piles]
        )

    @functools.cached_property
    def _action_ids(self) -> dict[str, int]:
        return {name: action for action, long in enumerate(self._action_names) for name in (long, _shortened(long))}


def _short(name: str) -> str:
    """``r7`` from ``red 7``, ``rw`` from ``red wager``, ``r`` from ``red``; the deck stays the deck."""
    color, _, card = name.partition(" ")
    return color if color == "deck" else color[0] + card.replace("wager", "w")


def _shortened(action: str) -> str:
    verb, what = action.split(maxsplit=1)
    return f"{verb} {_short(what)}"


def _parameters(rules: Rules) -> RuleParameters:
    """The rules as kernels take them."""
    values = dataclasses.asdict(rules)
    return RuleParameters(
        **{**values, "stall_limit": NO_STALL_LIMIT if rules.stall_limit is None else rules.stall_limit}
    )
