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
Method = Literal["deep_cfr", "critic_cfr", "policy_gradient"]


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
    league: float = Field(
        default=0.0, ge=0, le=1, description="Share of rounds in which a snapshot plays the other seat."
    )


class MemoryConfig(Section):
    """The reservoirs of training rows."""

    advantage_rows: int = Field(default=2_000_000, ge=1, le=MOST_ROWS, description="Rows each advantage memory keeps.")
    strategy_rows: int = Field(default=2_000_000, ge=1, le=MOST_ROWS, description="Rows the strategy memory keeps.")
    budget_gib: float = Field(
        default=4.0, gt=0, le=65536, description="GiB that all memories together may take; more is refused."
    )
    mapped: bool = Field(default=False, description="Whether the memories lie in files instead of main memory.")


class UpdatesConfig(Section):
    """How a network is fitted, once an iteration."""

    steps: int = Field(default=512, ge=1, le=MOST_STEPS, description="Updates of a fit.")
    batch: int = Field(default=1024, ge=1, le=1_000_000, description="Rows of an update.")
    learning_rate: float = Field(default=0.001, gt=0, le=1, description="Step size of Adam.")
    clip: float = Field(default=1.0, gt=0, le=1_000_000, description="Largest norm of an update's gradient.")


class FitConfig(UpdatesConfig):
    """How a network is fitted to its memory, once an iteration."""

    restart: bool = Field(default=False, description="Whether a fit starts from new weights instead of the last ones.")
    weighting: Weighting = Field(default="linear", description="How the weight of a row grows with its iteration.")


class AdvantageConfig(FitConfig):
    """How an advantage network is fitted, once an iteration."""

    alpha: float = Field(default=1.5, ge=0, le=10, description="Exponent of the weights of DCFR.")
    accumulation: Literal["bootstrapped", "reservoir"] = Field(
        default="bootstrapped",
        description="Whether regrets add to what the network said before, or are remembered and fitted together.",
    )
    policy: Literal["regret_matching", "softmax"] = Field(
        default="regret_matching", description="How a policy follows from cumulative regrets."
    )
    decay: float = Field(
        default=1.0, ge=0, le=1, description="What is left of cumulative regrets an iteration, beside the weighting."
    )
    temperature: float = Field(
        default=10.0, gt=0, le=100_000, description="Points of cumulative regret that make an action e times likelier."
    )


class CriticConfig(UpdatesConfig):
    """The critic, a network of the kind of the others that sees both hands, and what is made of its values."""

    hidden: int = Field(default=128, ge=1, le=16384, description="Units of a hidden layer.")
    layers: int = Field(default=2, ge=1, le=64, description="Hidden layers.")
    window: int = Field(default=4, ge=1, le=10_000, description="Iterations whose rounds it learns from.")
    trace: float = Field(
        default=0.9, ge=0, le=1, description="Lambda of its returns; 0: the next value, 1: the end of the round."
    )
    correction: float = Field(
        default=0.0, ge=0, le=1, description="Beta, the share of a sampled error that corrects an action's value."
    )
    most_ratio: float | None = Field(
        default=None, ge=1, le=1_000_000, description="Largest 1 / probability in that correction; null: no limit."
    )


class PolicyConfig(UpdatesConfig):
    """How the policy network is improved, once an iteration."""

    ratio_clip: float = Field(
        default=0.2, gt=0, le=100, description="How far an action's probability may go from the one it was played with."
    )
    entropy: float = Field(default=0.02, ge=0, le=100, description="Weight of the policy's entropy, at first.")
    last_entropy: float = Field(
        default=0.005, ge=0, le=100, description="The same at the end of the schedule and from then on."
    )
    magnet: float = Field(
        default=0.0, ge=0, le=100, description="Weight of the divergence from the magnet, a copy of the policy."
    )
    magnet_every: int = Field(default=20, ge=1, le=MOST_STEPS, description="Iterations between copies.")


class ScheduleConfig(Section):
    """What changes in the course of a run."""

    iterations: int | None = Field(
        default=None, ge=1, le=MOST_STEPS, description="Iterations that the change takes; null: those of the run."
    )
    learning_rate: float = Field(
        default=0.1, gt=0, le=1, description="Share of each learning rate that is left at the end of them."
    )


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


class MatchesConfig(Section):
    """Matches that are played again and again during training."""

    every: Period
    opponents: Bots
    pairs: Pairs


class EvaluationConfig(MatchesConfig):
    """Matches against rule-based players during training."""

    every: Period = 5
    opponents: Bots = ("random", "discard-only", "balanced")
    pairs: Pairs = 500
    view: Literal["average", "mixture", "current"] = Field(
        default="average", description="Who plays: the strategy network, the mixture of snapshots, or the last iterate."
    )


class ExtendedEvaluationConfig(MatchesConfig):
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

    method: Method = Field(default="deep_cfr", description="What is learned, and how; docs/training.md.")
    seed: int = Field(default=1, ge=0, le=2**64 - 1, description="The seed of every use of chance.")
    rules: RulesSection = Rules()
    network: NetworkConfig = NetworkConfig()
    traversal: TraversalConfig = TraversalConfig()
    memory: MemoryConfig = MemoryConfig()
    critic: CriticConfig = CriticConfig()
    advantage: AdvantageConfig = AdvantageConfig()
    policy: PolicyConfig = PolicyConfig()
    schedule: ScheduleConfig = ScheduleConfig()
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
        """The value of a setting by its full name, such as ``seed`` or ``traversal.width``."""
        section, _, name = key.partition(".")
        return getattr(getattr(self, section), name) if name else getattr(self, section)

    @property
    def plays_softmax(self) -> bool:
        """Whether the network that plays gives logits, not regrets."""
        by_regrets = self.method == "critic_cfr" and self.advantage.policy == "softmax"
        return by_regrets or self.method == "policy_gradient"

    @property
    def remembers_regrets(self) -> bool:
        """Whether regrets go to a reservoir."""
        return self.method == "deep_cfr" or (self.method == "critic_cfr" and self.advantage.accumulation == "reservoir")


def _of_section(section: str, *but: str) -> tuple[str, ...]:
    """The settings of a section by their full names, without some."""
    fields = getattr(Configuration.model_fields[section].annotation, "model_fields", {})
    return tuple(f"{section}.{name}" for name in fields if name not in but)


def _unread_by_method(configuration: Configuration) -> list[str]:
    """Settings that the method does not read, whatever the others are."""
    accumulated = ("advantage.accumulation", "advantage.policy", "advantage.decay", "advantage.temperature")
    sampled = ("traversal.sampling", "network.one_per_seat")
    if configuration.method == "deep_cfr":
        later = (*_of_section("critic"), *_of_section("policy"), *_of_section("schedule"))
        return [*later, *accumulated, "traversal.league"]
    if configuration.method == "critic_cfr":
        return [*_of_section("policy"), *sampled]
    regrets = ("critic.correction", "critic.most_ratio", "memory.advantage_rows", "traversal.all_negative")
    exploring = ("traversal.exploration", "traversal.exploring_decisions")
    return [*_of_section("advantage"), *sampled, *regrets, *exploring]


def unread(configuration: Configuration) -> dict[str, str]:
    """Settings that nothing reads in this configuration, each with the setting that makes it so."""
    advantage, found = configuration.advantage, dict.fromkeys(_unread_by_method(configuration), "method")

    def also(cause: str, *names: str) -> None:
        for name in names:
            found.setdefault(name, cause)

    if not configuration.averaging.strategy_network:
        also("averaging.strategy_network", "memory.strategy_rows", *_of_section("strategy"))
    elif configuration.strategy.weighting != "dcfr":
        also("strategy.weighting", "strategy.gamma")
    if advantage.weighting != "dcfr":
        also("advantage.weighting", "advantage.alpha")
    if configuration.remembers_regrets:
        also("advantage.accumulation", "advantage.decay", "advantage.policy", "advantage.temperature")
    else:
        also("advantage.accumulation", "advantage.restart", "memory.advantage_rows")
    if advantage.policy == "softmax":
        also("advantage.policy", "traversal.all_negative")
    else:
        also("advantage.policy", "advantage.temperature")
    if configuration.critic.correction == 0:
        also("critic.correction", "critic.most_ratio")
    if configuration.policy.magnet == 0:
        also("policy.magnet", "policy.magnet_every")
    if configuration.traversal.exploration == 0:
        also("traversal.exploration", "traversal.exploring_decisions")
    if configuration.averaging.snapshots == 0:
        also("averaging.snapshots", "averaging.exponent")
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
    yield from _contradictions_of_method(configuration)
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


def _contradictions_of_method(configuration: Configuration) -> Iterator[Fault]:
    """The same for methods with a critic."""
    traversal = configuration.traversal
    if configuration.method == "deep_cfr":
        return
    if traversal.exploration > 0 and traversal.exploring_decisions == "every" and configuration.method == "critic_cfr":
        yield (
            ("traversal.exploring_decisions", "traversal.exploration"),
            f"traversal.exploration is {traversal.exploration}, but rounds of critic_cfr explore at one decision at "
            f"most: set traversal.exploring_decisions to one or exploration to 0",
        )
    if traversal.league > 0 and traversal.opponent != "current":
        yield (
            ("traversal.league", "traversal.opponent"),
            f"traversal.league is {traversal.league}, but traversal.opponent is {traversal.opponent}: "
            f"set league to 0 or opponent to current",
        )
    if traversal.league > 0 and configuration.averaging.snapshots == 0:
        yield (
            ("traversal.league", "averaging.snapshots"),
            f"traversal.league is {traversal.league}, but averaging.snapshots is 0: keep some or set league to 0",
        )
