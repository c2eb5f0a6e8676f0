"""Configurations as text: what is understood, and what bad files and overrides say, and where."""

import re

import pytest
from hypothesis import given, settings, strategies as st

from lostcfr import Rules
from lostcfr.config import Configuration
from lostcfr.config_file import load, parse
from lostcfr.errors import ConfigurationError

NO_NETWORK = "averaging: {strategy_network: false}\nevaluation: {view: current}\n"


def complaints(text, overrides=()):
    """The lines of the error for a text, without the name of the source."""
    with pytest.raises(ConfigurationError) as error:
        parse(text, "x.yaml", overrides)
    return [line.removeprefix("x.yaml:") for line in str(error.value).splitlines()]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        # names
        (
            "seed: 1\ntraversal:\n  widht: 3",
            "3: traversal.widht is no setting (did you mean 'width'?); known: sampling,",
        ),
        ("sead: 1", "1: sead is no setting (did you mean 'seed'?); known: method, seed, rules, network,"),
        ("network:\n  frobnicate: 1", "2: network.frobnicate is no setting; known: kind, hidden, layers,"),
        (
            "seed: 1\ntraversal.width: 3",
            "2: traversal.width is no setting (did you mean 'traversal'?); known: method, seed",
        ),
        ("1: 2", "1: 1 is no setting; known: method, seed"),
        ("<<: {seed: 1}", "1: << is no setting; known: method, seed"),
        ("seed: 1\n\nseed: 2", "3: seed is given twice, first in line 1"),
        ("network: {hidden: 64, hidden: 64}", "1: network.hidden is given twice, first in line 1"),
        ("network: {}\nnetwork: {}", "2: network is given twice, first in line 1"),
        ("? [a]\n: 1", "1: a list or mapping stands where a name is expected"),
        # types
        ('traversal:\n  width: "12"', "2: traversal.width is '12', but must be a whole number from 1 to 65536"),
        ("traversal: {width: 1.5}", "1: traversal.width is 1.5, but must be a whole number"),
        ("traversal: {width: 64.0}", "1: traversal.width is 64.0, but must be a whole number"),
        ("traversal: {width: true}", "1: traversal.width is true, but must be a whole number"),
        ("traversal: {width: }", "1: traversal.width is null, but must be a whole number"),
        ("traversal: {width: [1]}", "1: traversal.width is [1], but must be a whole number"),
        ("traversal: {width: {a: 1}}", "1: traversal.width is {a: 1}, but must be a whole number"),
        ("traversal: {width: 0x10}", "1: traversal.width is '0x10', but must be a whole number"),
        ("traversal: {width: 1__0}", "1: traversal.width is '1__0', but must be a whole number"),
        ("traversal: {exploration: false}", "1: traversal.exploration is false, but must be a number from 0 to 1"),
        ("memory: {mapped: yes}", "1: memory.mapped is 'yes', but must be true or false"),
        ("memory: {mapped: 1}", "1: memory.mapped is 1, but must be true or false"),
        ("network: 5", "1: network is 5, but must be a section with kind, hidden, layers,"),
        ("network: [5]", "1: network is [5], but must be a section with kind"),
        ("rules: classic", "1: rules is classic, but must be a section with n_colors"),
        ("seed: {a: 1}", "1: seed is {a: 1}, but must be a whole number"),
        # ranges
        ("seed: -1", "1: seed is -1, but must be a whole number from 0 to 18446744073709551615"),
        ("seed: 18446744073709551616", "1: seed is 18446744073709551616, but must be"),
        ("traversal: {width: 0}", "1: traversal.width is 0, but must be a whole number from 1"),
        ("traversal: {tile: 4}", "1: traversal.tile is 4, but must be a multiple of 8 from 8 to"),
        ("traversal: {tile: 12}", "1: traversal.tile is 12, but must be a multiple of 8 from 8 to"),
        ("traversal: {exploration: 1.01}", "1: traversal.exploration is 1.01, but must be a number from 0 to 1"),
        ("traversal: {sampling: outcom}", "1: traversal.sampling is outcom, but must be outcome or external"),
        (
            "advantage: {learning_rate: 0}",
            "1: advantage.learning_rate is 0, but must be a number above 0 and at most 1",
        ),
        ("advantage: {learning_rate: .nan}", "1: advantage.learning_rate is '.nan', but must be"),
        ("advantage: {learning_rate: nan}", "1: advantage.learning_rate is nan, but must be"),
        ("advantage: {clip: .inf}", "1: advantage.clip is '.inf', but must be"),
        ("advantage: {clip: 1e999}", "1: advantage.clip is .inf, but must be"),
        (f"advantage: {{clip: {'9' * 4000}}}", f"1: advantage.clip is {'9' * 80}..., but must be"),
        (f"advantage: {{clip: {'9' * 5000}}}", "1: advantage.clip is .inf, but must be"),
        ("strategy: {batch: 1000001}", "1: strategy.batch is 1000001, but must be a whole number from 1 to 1000000"),
        ("memory: {advantage_rows: 2147483648}", "1: memory.advantage_rows is 2147483648, but must be"),
        ("limits: {minutes: 0}", "1: limits.minutes is 0, but must be a number above 0 and at most 1000000, or null"),
        ("evaluation: {opponents: []}", "1: evaluation.opponents is [], but must be a list of random,"),
        ("evaluation: {opponents: random}", "1: evaluation.opponents is random, but must be a list of random,"),
        ("evaluation: {opponents: [random, Random]}", "1: evaluation.opponents: an agent is named twice"),
        (
            "evaluation:\n  opponents:\n  - balancd",
            "2: evaluation.opponents: there is no agent 'balancd' (did you mean 'balanced'?); known: random,",
        ),
        (
            "traversal: {opponent: curent}",
            "1: traversal.opponent: there is no agent 'curent' (did you mean 'current'?); known: current, average,",
        ),
        # rules
        ("rules:\n  n_color: 5", "2: rules.n_color is no setting (did you mean 'n_colors'?); known: n_colors, n_ranks"),
        ("rules:\n  n_colors: 7", "2: rules.n_colors is 7, but must be a whole number from 1 to 6"),
        ("rules:\n  bonus: 1\n  n_ranks: 14", "3: rules.n_wagers + n_ranks is 17, but a colour has at most 16 cards"),
        ("rules:\n  hand_size: 30", "2: rules.hand_size is 30, but two hands must leave a card"),
        ("rules:\n  n_colors: 1", "1: rules.hand_size is 8, but two hands must leave a card"),
        (
            "rules: {stall_limit: null}",
            "1: rules.stall_limit is null, but training needs rounds that end by themselves: set it to a number",
        ),
        (
            "rules: {stall_limit: none}",
            "1: rules.stall_limit is 'none', but must be a whole number from 0 to 255 or None",
        ),
        # what is no plain YAML
        ("seed: 1\nnetwork: {hidden: 3", "2: this is not YAML: "),
        ("seed: 1\n\tnetwork: 2", "2: this is not YAML: "),
        ("seed: 1\nnetwork: a: b", "2: this is not YAML: mapping values are not allowed here"),
        ("seed: 1\n# \0", "2: this is not YAML: character number 0 is not allowed in text"),
        ("[" * 100_000, "1: this is not YAML: it is nested too deeply"),
        ("seed: 1\n---\nseed: 2", "2: a second document starts here, but a file holds one: remove the ---"),
        ("- seed", "1: this is [seed], but must be settings such as seed: 1"),
        ("\nseed", "2: this is seed, but must be settings such as seed: 1"),
        ("seed: &a 1", "1: the anchor &a is not allowed: remove it"),
        ("seed: *a", "1: the alias *a is not allowed: write the value itself"),
        ("network:\n  hidden: !!int 3", "2: the tag !!int is not allowed: remove it"),
        ("seed: !!python/object/apply:os.system [ls]", "1: the tag !!python/object/apply:os.system is not allowed"),
        ("seed: !mine 3", "1: the tag !mine is not allowed"),
    ],
)
def test_bad_text_is_one_sentence_with_its_line(text, sentence):
    (line,) = complaints(text)
    assert line.startswith(sentence)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "advantage:\n  alpha: 1.5",
            "2: advantage.alpha is set, but nothing reads it while advantage.weighting is linear: "
            "remove alpha or change advantage.weighting",
        ),
        ("strategy:\n  gamma: 2", "2: strategy.gamma is set, but nothing reads it while strategy.weighting is linear"),
        (
            f"{NO_NETWORK}strategy: {{steps: 3}}",
            "3: strategy.steps is set, but nothing reads it while averaging.strategy_network is false",
        ),
        (
            f"{NO_NETWORK}memory: {{strategy_rows: 3}}",
            "3: memory.strategy_rows is set, but nothing reads it while averaging.strategy_network is false",
        ),
        (
            "traversal: {exploring_decisions: one}",
            "1: traversal.exploring_decisions is set, but nothing reads it while traversal.exploration is 0.0",
        ),
        (
            "averaging: {exponent: 2, snapshots: 0}",
            "1: averaging.exponent is set, but nothing reads it while averaging.snapshots is 0",
        ),
        (
            "traversal:\n  sampling: external\n  exploration: 0.1",
            "3: traversal.exploration is 0.1, but external sampling follows every action anyway",
        ),
        (
            f"{NO_NETWORK}traversal:\n  opponent: average\n\n".replace("false", "false, snapshots: 0"),
            "4: traversal.opponent is average, which is the mixture of snapshots, but averaging.snapshots is 0",
        ),
        (
            "traversal: {opponent: balanced}",
            "1: traversal.opponent is balanced, but the strategy network learns from the current player's decisions",
        ),
        (
            "averaging:\n  strategy_network: false",
            "2: evaluation.view is average, but averaging.strategy_network is false: "
            "set averaging.strategy_network to true or choose another view",
        ),
        (
            "averaging: {snapshots: 0}\nevaluation: {view: mixture}",
            "2: evaluation.view is mixture, but averaging.snapshots is 0: set averaging.snapshots to more than 0",
        ),
    ],
)
def test_contradictions_name_both_settings(text, sentence):
    (line,) = complaints(text)
    assert line.startswith(sentence)


def test_all_problems_are_shown_in_the_order_of_lines():
    text = "\n".join(
        ["rules:", "  bonus: x", "  n_ranks: 0", "network:", "  hiden: 3", "seed: *a", "advantage:"]
        + ["  weighting: none", "  alpha: 2", "  clip: -1", "seed: 1", "limits: 3"]
    )
    found = complaints(text, ["traversal.tile=1", "traversal.foo=1"])
    begins = ["2: rules.bonus", "3: rules.n_ranks", "5: network.hiden", "6: the alias", "9: advantage.alpha"]
    begins += ["10: advantage.clip", "11: seed is given twice", "12: limits is 3"]
    begins += ["override traversal.tile=1: traversal.tile", "override traversal.foo=1: traversal.foo"]
    for line, begin in zip(found, begins, strict=True):
        assert line.startswith(begin)


@pytest.mark.parametrize("averaging", ["averaging: {strategy_netwrk: false}", "averging: {strategy_network: false}"])
def test_no_contradiction_is_made_up_from_a_misspelt_setting(averaging):
    (line,) = complaints(f"{averaging}\ntraversal: {{opponent: balanced}}\nevaluation: {{view: current}}")
    assert "is no setting" in line


@pytest.mark.parametrize(
    ("written", "number"),
    [("1e-3", 1e-3), ("1E-3", 1e-3), (".5", 0.5), ("5.", 5.0), ("1", 1.0), ("+2.5", 2.5), ("1_000.5", 1000.5)],
)
def test_numbers_may_be_written_in_every_usual_way(written, number):
    clip = parse(f"advantage: {{clip: {written}}}", "x").advantage.clip
    assert (clip, type(clip)) == (number, float)


def test_a_whole_number_may_have_underscores():
    assert parse("memory: {advantage_rows: 2_000_000}", "x").memory.advantage_rows == 2_000_000


@pytest.mark.parametrize("text", ["", "# nothing", "{}", "network:", "network:\n  # hidden: 3\nrules:", "---\n..."])
def test_what_is_left_out_or_empty_has_its_default(text):
    assert parse(text, "x") == Configuration()


def test_values_arrive():
    text = "seed: 18446744073709551615\nrules: {n_colors: 6, stall_limit: 3}\ntraversal: {opponent: Discard_Only}\n"
    configuration = parse(f"{text}{NO_NETWORK}limits: {{minutes: ~}}", "x")
    assert configuration.seed == 2**64 - 1
    assert configuration.rules == Rules(n_colors=6, stall_limit=3)
    assert configuration.traversal.opponent == "discard-only"
    assert (configuration.averaging.strategy_network, configuration.evaluation.view) == (False, "current")
    assert configuration.value("network.hidden") == configuration.network.hidden == 512


def test_overrides_come_last():
    overrides = ["seed = 5", "network.hidden=64", "evaluation.opponents=[noisy, random]", "limits.minutes=1e1"]
    configuration = parse("seed: 1\nnetwork: {hidden: wide, layers: 2}", "x", [*overrides, "checkpoint.keep=7"])
    assert (configuration.seed, configuration.network.hidden, configuration.network.layers) == (5, 64, 2)
    assert configuration.evaluation.opponents == ("noisy", "random")
    assert (configuration.limits.minutes, configuration.checkpoint.keep) == (10, 7)


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("traversal.widht=3", "traversal.widht is no setting (did you mean 'width'?); known: sampling"),
        ("travrsal.width=3", "travrsal is no setting (did you mean 'traversal'?); known: method, seed"),
        ("traversal.width.a=3", "traversal.width.a is no setting"),
        ("sed=3", "sed is no setting (did you mean 'seed'?)"),
        ("seed.a=3", "seed.a is no setting: seed has none of its own"),
        ("traversal=3", "traversal is a section: name one of its settings, such as traversal.sampling"),
        ("traversal.width", "an override is written as section.key=value, such as traversal.width=512"),
        (".width=3", "an override is written as section.key=value"),
        ("traversal.width=", "traversal.width is null, but must be a whole number"),
        ("traversal.width='3'", "traversal.width is '3', but must be a whole number"),
        ("traversal.width=[3", "this is not YAML: "),
        ("traversal.width=*a", "the alias *a is not allowed"),
        ("rules.n_colors=9", "rules.n_colors is 9, but must be a whole number from 1 to 6"),
        ("advantage.alpha=2", "advantage.alpha is set, but nothing reads it while advantage.weighting is linear"),
    ],
)
def test_a_bad_override_is_named(override, sentence):
    (line,) = complaints("seed: 1", [override])
    assert line.startswith(f"override {override}: {sentence}")


def test_an_override_given_twice_is_refused():
    assert complaints("", ["seed=1", "seed=2"]) == ["override seed=2: seed is overridden twice"]


@settings(deadline=None, derandomize=True)
@given(st.text(max_size=60) | st.text("seed:netwrk{}[]&*!-#'\"|>\n \t0123,.", max_size=60))
def test_any_text_is_read_or_refused_with_its_place(text):
    try:
        parse(text, "x.yaml")
    except ConfigurationError as error:
        for line in str(error).splitlines():
            assert re.match(r"x\.yaml:\d+: .", line)


@settings(deadline=None, derandomize=True)
@given(st.text(max_size=30) | st.text("seed.network=hi{}[]*&!0123'\n ", max_size=30))
def test_any_override_is_taken_or_refused_in_one_line(override):
    try:
        parse("network: {hidden: 64}", "x.yaml", [override])
    except ConfigurationError as error:
        for line in str(error).split("\n"):
            assert line.startswith("override ")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "quick.yaml").write_bytes(b"seed: 1\n# f\xfcnf")
    cases = {
        "quikc.yaml": "there is no such file (did you mean 'quick.yaml'?)",
        "": "this is a directory, but a YAML file is needed",
        "quick.yaml/x": "this cannot be read (Not a directory)",
    }
    for name, sentence in cases.items():
        with pytest.raises(ConfigurationError) as error:
            load(tmp_path / name)
        assert str(error.value) == f"{tmp_path / name}: {sentence}"
    with pytest.raises(ConfigurationError, match=r"quick\.yaml:2: this is not UTF-8: save the file in that encoding"):
        load(tmp_path / "quick.yaml")


def test_a_byte_order_mark_is_no_problem(tmp_path):
    (tmp_path / "x.yaml").write_text("seed: 3", "utf-8-sig")
    assert load(tmp_path / "x.yaml").seed == 3
