"""The configuration of a run: one frozen tree of settings, each with a range, a default and a meaning.

A ``Configuration`` that exists is sound: it holds no unknown name, no value out of range, and no two settings that
contradict each other. ``lostcfr.config_file`` reads one from text and says what is wrong in sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from lostcfr.errors import RulesError, nearest
from lostcfr.names import BOT_NAMES, bot_name
from lostcfr.rules import ALLOWED, Rules
from lostcfr.yaml_text import shown

MOST_ROWS = 2**31 - 1
MOST_STEPS = 1_000_000_000
OWN_OPPONENTS = ("current", "average")

Fault = tuple[tuple[str, ...], str]  # the settings that are at fault, and a sentence
Opponent = Annotated[
    str,
    AfterValidator(lambda name: bot_name(name, also=OWN_OPPONENTS)),
    WithJsonSchema({"enum": [*OWN_OPPONENTS, *BOT_NAMES]}),
]
Bot = Annotated[str, AfterValidator(bot_name), WithJsonSchema({"enum": list(BOT_NAMES)})]
Weighting = Literal["none", "linear", "dcfr"]


def faulty(faults: list[Fault]) -> PydanticCustomError:
    """What a validator raises to name several settings at once."""
    return PydanticCustomError("faults", "{text}", {"text": "; ".join(text for _, text in faults), "faults": faults})


def _different(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("an agent is named twice")
    return names


def _as_rules(value: object) -> Rules:
    """Rules from a mapping, or as they are."""
    if isinstance(value, Rules):
        return value
    if not isinstance(value, dict):
        raise faulty([(("rules",), f"rules is {shown(value)}, but must be a section with {', '.join(ALLOWED)}")])
    faults: list[Fault] = []
    for name, setting in value.items():
        try:
            if name not in ALLOWED:
                raise RulesError(f"{name} is no setting{nearest(name, ALLOWED)}")
            Rules.checked(name, setting)
        except RulesError as error:
            faults.append(((f"rules.{name}",), f"rules.{error}"))
    if faults:
        raise faulty(faults)
    try:
        return Rules(**value)
    except RulesError as error:
        named = tuple(f"rules.{name}" for name in ALLOWED if name in str(error))
        raise faulty([(named, f"rules.{error}")]) from None


def _rules_schema() -> dict[str, Any]:
    """JSON schema of the rules."""
    properties = {}
    for each in fields(Rules):
        low, high = ALLOWED[each.name]
        number = {"type": "integer", "minimum": low, "maximum": high}
        about = each.metadata["meaning"] + (" Training needs a number." if each.name == "stall_limit" else "")
        properties[each.name] = number | {"default": each.default, "description": about}
    about = "The rules of the game; docs/rules.md tells them."
    return {"type": "object", "description": about, "additionalProperties": False, "properties": properties}


class Section(BaseModel):
    """What all sections share: nothing unknown, no conversion of types, no change afterwards."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class NetworkConfig(Section):
    """The networks: features in, one number for each action out."""

    kind: Literal["mlp", "colour_equivariant"] = Field(
        default="mlp", description="Plain layers, or layers that treat all colours alike."
    )
    hidden: int = Field(default=512, ge=1, le=16384, description="Units of a hidden layer.")
    layers: int = Field(default=3, ge=1, le=64, description="Hidden layers.")
    activation: Literal["relu", "gelu", "silu", "tanh"] = Field(
        default="relu", description="The function after each hidden layer."
    )
    one_per_seat: bool = Field(
        default=False, description="Whether each seat has an advantage network and memory of its own."
    )


class TraversalConfig(Section):
    """How games are sampled."""

    sampling: Literal["outcome", "external"] = Field(
        default="outcome", description="Whether a traverser follows one action or all of them."
    )
    scheduler: Literal["interleaved", "recursive"] = Field(
        default="interleaved", description="Many games side by side, or one after the other; the samples are the same."
    )
    per_player: int = Field(
        default=280, ge=1, le=10_000_000, description="Trajectories that each player traverses in an iteration."
    )
    width: int = Field(default=256, ge=1, le=65536, description="Games side by side in each thread.")
    tile: int = Field(
        default=256, ge=8, le=65536, multiple_of=8, description="Rows that a network answers in one forward pass."
    )
    opponent: Opponent = Field(
        default="current", description="Who plays the other seat: a player being trained, or a rule-based one."
    )
    exploration: float = Field(
        default=0.0, ge=0, le=1, description="Probability that a traverser's decision is drawn uniformly."
    )
    exploring_decisions: Literal["every", "one"] = Field(
        default="every",
        description="Whether every decision of a trajectory may explore, or the first that does is the only one.",
    )
    all_negative: Literal["argmax", "uniform"] = Field(
        default="argmax", description="The policy where no action has a positive advantage."
    )


class MemoryConfig(Section):
    """The reservoirs of training rows."""

    advantage_rows: int = Field(default=2_000_000, ge=1, le=MOST_ROWS, description="Rows each advantage memory keeps.")
    strategy_rows: int = Field(default=2_000_000, ge=1, le=MOST_ROWS, description="Rows the strategy memory keeps.")
    budget_gib: float = Field(
        default=4.0, gt=0, le=65536, description="GiB that all memories together may take; more is refused."
    )
    mapped: bool = Field(default=False, description="Whether the memories lie in files instead of main memory.")


class FitConfig(Section):
    """How a network is fitted to its memory, once an iteration."""

    steps: int = Field(default=512, ge=1, le=MOST_STEPS, description="Updates of a fit.")
    batch: int = Field(default=1024, ge=1, le=1_000_000, description="Rows of an update.")
    learning_rate: float = Field(default=0.001, gt=0, le=1, description="Step size of Adam.")
    clip: float = Field(default=1.0, gt=0, le=1_000_000, description="Largest norm of an update's gradient.")
    restart: bool = Field(default=False, description="Whether a fit starts from new weights instead of the last ones.")
    weighting: Weighting = Field(default="linear", description="How the weight of a row grows with its iteration.")


class AdvantageConfig(FitConfig):
    """How an advantage network is fitted to its memory, once an iteration."""

    alpha: float = Field(default=1.5, ge=0, le=10, description="Exponent of the weights of DCFR.")


class StrategyConfig(FitConfig):
    """How the strategy network is fitted to its memory."""

    gamma: float = Field(default=2.0, ge=0, le=10, description="Exponent of the weights of DCFR.")


class AveragingConfig(Section):
    """How the average of all iterations is kept."""

    strategy_network: bool = Field(default=True, description="Whether a network learns the average strategy.")
    snapshots: int = Field(
        default=256, ge=0, le=1_000_000, description="Most advantage networks that are kept for the mixture; 0: none."
    )
    exponent: float = Field(
        default=1.0, ge=0, le=10, description="A snapshot's weight in the mixture is its iteration to this power."
    )


Period = Annotated[int, Field(ge=0, le=MOST_STEPS, description="Iterations between evaluations; 0: never.")]
Bots = Annotated[
    tuple[Bot, ...],
    Field(strict=False, min_length=1, description="Rule-based players to play against."),  # a list will do, too
    AfterValidator(_different),
]
Pairs = Annotated[int, Field(ge=2, le=10_000_000, description="Deals, each played twice with the seats swapped.")]


class ScheduleConfig(Section):
    """Matches that are played again and again during training."""

    every: Period
    opponents: Bots
    pairs: Pairs


class EvaluationConfig(ScheduleConfig):
    """Matches against rule-based players during training."""

    every: Period = 5
    opponents: Bots = ("random", "discard-only", "balanced")
    pairs: Pairs = 500
    view: Literal["average", "mixture", "current"] = Field(
        default="average", description="Who plays: the strategy network, the mixture of snapshots, or the last iterate."
    )


class ExtendedEvaluationConfig(ScheduleConfig):
    """A second, larger schedule of such matches, with the same view; where it is on, it finds the best checkpoint."""

    every: Period = 0
    opponents: Bots = BOT_NAMES
    pairs: Pairs = 2000


class CheckpointConfig(Section):
    """What is kept on disk."""

    every: int = Field(default=1, ge=1, le=MOST_STEPS, description="Iterations between checkpoints.")
    keep: int = Field(default=3, ge=1, le=1_000_000, description="Newest checkpoints that are kept.")


class LimitsConfig(Section):
    """When a run ends: at the limit that comes first."""

    iterations: int = Field(default=100, ge=1, le=MOST_STEPS, description="Iterations of a run.")
    minutes: float | None = Field(
        default=None, gt=0, le=1_000_000, description="Minutes of a run, checked between iterations; null: no limit."
    )


RulesSection = Annotated[Rules, PlainValidator(_as_rules), PlainSerializer(asdict), WithJsonSchema(_rules_schema())]


class Configuration(Section):
    """All settings of a run. Wrong settings raise ``pydantic.ValidationError``, a ``ValueError``."""

    seed: int = Field(default=1, ge=0, le=2**64 - 1, description="The seed of every use of chance.")
    rules: RulesSection = Rules()
    network: NetworkConfig = NetworkConfig()
    traversal: TraversalConfig = TraversalConfig()
    memory: MemoryConfig = MemoryConfig()
    advantage: AdvantageConfig = AdvantageConfig()
    strategy: StrategyConfig = StrategyConfig()
    averaging: AveragingConfig = AveragingConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    extended_evaluation: ExtendedEvaluationConfig = ExtendedEvaluationConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    limits: LimitsConfig = LimitsConfig()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        found = [*idle(self), *contradictions(self)]
        if found:
            raise faulty(found)
        return self

    def value(self, key: str) -> Any:
        """The value of a setting by its full name, such as ``traversal.width``."""
        section, _, name = key.partition(".")
        return getattr(getattr(self, section), name)


def unread(configuration: Configuration) -> dict[str, str]:
    """Settings that nothing reads in this configuration, each with the setting that makes it so."""
    found: dict[str, str] = {}
    if not configuration.averaging.strategy_network:
        names = ["memory.strategy_rows", *(f"strategy.{name}" for name in StrategyConfig.model_fields)]
        found |= dict.fromkeys(names, "averaging.strategy_network")
    elif configuration.strategy.weighting != "dcfr":
        found["strategy.gamma"] = "strategy.weighting"
    if configuration.advantage.weighting != "dcfr":
        found["advantage.alpha"] = "advantage.weighting"
    if configuration.traversal.exploration == 0:
        found["traversal.exploring_decisions"] = "traversal.exploration"
    if configuration.averaging.snapshots == 0:
        found["averaging.exponent"] = "averaging.snapshots"
    return found


def idle(configuration: Configuration) -> Iterator[Fault]:
    """Settings that were given though nothing reads them."""
    for key, cause in unread(configuration).items():
        section, _, name = key.partition(".")
        if name in getattr(configuration, section).model_fields_set:
            why = f"{cause} is {shown(configuration.value(cause))}"
            yield (key, cause), f"{key} is set, but nothing reads it while {why}: remove {name} or change {cause}"


def contradictions(configuration: Configuration) -> Iterator[Fault]:
    """Pairs of settings that cannot both be meant."""
    traversal, averaging = configuration.traversal, configuration.averaging
    if configuration.rules.stall_limit is None:
        yield (
            ("rules.stall_limit",),
            "rules.stall_limit is null, but training needs rounds that end by themselves: set it to a number",
        )
    if traversal.sampling == "external" and traversal.exploration > 0:
        yield (
            ("traversal.exploration", "traversal.sampling"),
            f"traversal.exploration is {traversal.exploration}, but external sampling follows every action anyway: "
            f"set exploration to 0 or traversal.sampling to outcome",
        )
    if traversal.opponent == "average" and averaging.snapshots == 0:
        yield (
            ("traversal.opponent", "averaging.snapshots"),
            "traversal.opponent is average, which is the mixture of snapshots, but averaging.snapshots is 0: "
            "keep some or set opponent to current",
        )
    if traversal.opponent != "current" and averaging.strategy_network:
        yield (
            ("traversal.opponent", "averaging.strategy_network"),
            f"traversal.opponent is {traversal.opponent}, but the strategy network learns from the current player's "
            f"decisions as opponent: set averaging.strategy_network to false or opponent to current",
        )
    view = configuration.evaluation.view
    needed = {"average": ("strategy_network", "true"), "mixture": ("snapshots", "more than 0")}.get(view)
    if needed and not getattr(averaging, needed[0]):
        name, value = needed
        key = f"averaging.{name}"
        yield (
            ("evaluation.view", key),
            f"evaluation.view is {view}, but {key} is {shown(configuration.value(key))}: "
            f"set {key} to {value} or choose another view",
        )
