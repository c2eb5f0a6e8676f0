"""Configurations as text: read with every problem named, and written out in full."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import yaml
from pydantic import ValidationError

from lostcfr import yaml_text
from lostcfr.config import Configuration, Fault, unread
from lostcfr.config_reference import allowed, sections
from lostcfr.errors import ConfigurationError, did_you_mean, nearest
from lostcfr.yaml_text import LEFT_OUT, Document, Place, Problem, shown

OVERRIDE = "override "  # what a message about an override begins with
OVERRIDE_FORM = "an override is written as section.key=value, such as traversal.width=512"


def load(path: str | Path, overrides: Sequence[str] = ()) -> Configuration:
    """Read the configuration in a file; ``overrides`` are texts such as ``traversal.width=512``, which come last.

    ConfigurationError holds one sentence a line for each problem, in the order of the file.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        near = did_you_mean(path.name, [each.name for each in path.parent.glob("*.yaml")])
        raise ConfigurationError(f"{path}: there is no such file{near}") from None
    except IsADirectoryError:
        raise ConfigurationError(f"{path}: this is a directory, but a YAML file is needed") from None
    except OSError as error:
        raise ConfigurationError(f"{path}: this cannot be read ({error.strerror})") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(f"{path}:{line}: this is not UTF-8: save the file in that encoding") from None
    return parse(text, str(path), overrides)


def parse(text: str, source: str, overrides: Sequence[str] = ()) -> Configuration:
    """The configuration in a text, as ``load`` reads it; ``source`` is what problems name in place of a path."""
    document = yaml_text.read(text, source)
    if document.values is LEFT_OUT:
        _refuse(document.problems)
    values = {} if document.values is None else document.values
    if not isinstance(values, dict):
        sentence = f"this is {shown(values)}, but must be settings such as seed: 1"
        _refuse([*document.problems, Problem(document.places[()], sentence)])
    document = Document(values, document.places, document.problems)
    for number, override in enumerate(overrides):
        _apply(override, document, Place(text.count("\n") + 2 + number, f"{OVERRIDE}{override}"))
    for name, about in sections().items():
        if about["type"] == "object" and values.get(name, 0) is None:
            del values[name]  # an empty section has its defaults
    configuration, faults = _validated(values)
    faults += _hidden(document, faults)
    problems = [Problem(_place(keys, document, source), sentence) for keys, sentence in faults]
    if configuration is None or document.problems:
        _refuse([*document.problems, *problems])
    return configuration


def to_yaml(configuration: Configuration) -> str:
    """All settings that are read, as YAML; ``parse`` makes an equal configuration of it.

    Settings that nothing reads in this configuration are left out, for naming them would be an error.
    """
    values = configuration.model_dump(mode="json")
    for key in unread(configuration):
        section, _, name = key.partition(".")
        del values[section][name]
    text: str = yaml.safe_dump({name: value for name, value in values.items() if value != {}}, sort_keys=False)
    return text


def _refuse(problems: list[Problem]) -> NoReturn:
    ordered = sorted(problems, key=lambda problem: problem.place.order)
    lines = dict.fromkeys(" ".join(f"{place.text}: {sentence}".split()) for place, sentence in ordered)
    raise ConfigurationError("\n".join(lines))


def _apply(override: str, document: Document, place: Place) -> None:
    """Put the value of an override into the document, or a problem."""
    key, equals, text = override.partition("=")
    path = tuple(name.strip() for name in key.split(".", 1))
    unusable = _unusable(path, document) if equals and all(path) else OVERRIDE_FORM
    if unusable:
        document.problems.append(Problem(place, unusable))
        return
    read = yaml_text.read(text, "")
    document.problems.extend(Problem(place, problem.sentence) for problem in read.problems)
    document.places[path] = place
    document.places.setdefault(path[:1], place)
    section = document.values
    if len(path) == 2:
        if section.get(path[0]) is None:
            section[path[0]] = {}
        section = section[path[0]]
    if isinstance(section, dict) and read.values is not LEFT_OUT:  # another kind of section is a problem already
        section[path[-1]] = read.values


def _unusable(path: tuple[str, ...], document: Document) -> str | None:
    """Why nothing can be put at a path."""
    head, key = path[0], ".".join(path)
    is_section = sections().get(head, {"type": "object"})["type"] == "object"
    if len(path) == 2 and not is_section:
        return f"{key} is no setting: {head} has none of its own"
    if len(path) == 1 and is_section and head in sections():
        first = next(iter(sections()[head]["properties"]))
        return f"{head} is a section: name one of its settings, such as {head}.{first}"
    if path in document.places and document.places[path].text.startswith(OVERRIDE):
        return f"{key} is overridden twice"
    return None


def _validated(values: dict[str, Any]) -> tuple[Configuration | None, list[Fault]]:
    try:
        return Configuration.model_validate(values), []
    except ValidationError as error:
        return None, list(_faults(error, values))


def _faults(error: ValidationError, values: dict[str, Any]) -> Iterator[Fault]:
    """The findings of pydantic in our words."""
    known, said = sections(), set()
    for found in error.errors():
        path = [str(name) for name in found["loc"][:2]]  # what is wrong inside a list is said of the list
        key, context = ".".join(path), found.get("ctx", {})
        names, place = (known, values) if len(path) < 2 else (known[path[0]]["properties"], values[path[0]])
        if found["type"] == "faults":
            yield from context["faults"]
        elif found["type"] == "extra_forbidden":
            yield (key,), f"{key} is no setting{nearest(path[-1], names)}"
        elif found["type"] == "value_error":
            yield (key,), f"{key}: {context['error']}"
        elif key not in said:  # a list is short for want of its faulty entries
            yield (key,), f"{key} is {shown(place[path[-1]])}, but must be {allowed(names[path[-1]])}"
        said.add(key)


def _hidden(document: Document, faults: list[Fault]) -> list[Fault]:
    """Contradictions that pydantic did not come to because of other faults.

    They are looked for without the settings at fault, and reported only where no setting in doubt takes part: one
    that was written but not kept, or one left out where a name was not understood.
    """
    at_fault = {tuple(key.split(".", 1)) for keys, _ in faults for key in keys}
    heads = {path[0] for path in at_fault}
    all_in_doubt = document.problems or any(len(path) == 1 for path in at_fault)
    kept: dict[str, Any] = {}
    for head, value in document.values.items():
        if (head,) in at_fault or head == "rules":
            continue
        whole = not isinstance(value, dict)
        kept[head] = value if whole else {name: each for name, each in value.items() if (head, name) not in at_fault}

    def sound(key: str) -> bool:
        head, _, name = key.partition(".")
        if not name:
            return (head,) not in at_fault
        if (head, name) in document.places:
            return name in kept.get(head, {})
        return not all_in_doubt and head not in heads

    said = {sentence for _, sentence in faults}
    return [fault for fault in _validated(kept)[1] if all(map(sound, fault[0])) and fault[1] not in said]


def _place(keys: tuple[str, ...], document: Document, source: str) -> Place:
    """Where the first of the settings stands that is written at all, else its section, else the file."""
    paths = [tuple(key.split(".", 1)) for key in keys]
    names_with_dots = [(key,) for key in keys]
    for path in [*paths, *names_with_dots, *(path[:1] for path in paths)]:
        if path in document.places:
            return document.places[path]
    return Place(0, source)
