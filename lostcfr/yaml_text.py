"""A small part of YAML, read strictly: names and their plain values, each with the place where it is written.

PyYAML finds the structure. What a plain word means is decided here, because YAML 1.1 takes ``1e-3`` for text and
``on`` for true. Anchors, aliases, tags and names given twice are problems, and so nothing is hidden in a file.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
WORDS |= {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
DEEPEST = 8  # levels of nesting, which bounds the recursion
LEFT_OUT = object()  # stands for a value that is a problem already
SHOWN = 80  # characters of a value that a message repeats

Path = tuple[str | int, ...]


class Place(NamedTuple):
    """Where something is written; places sort by ``order``."""

    order: int  # the line, from 1; 0 for a file as a whole
    text: str  # what a message begins with, such as "configs/quick.yaml:12"


class Problem(NamedTuple):
    place: Place
    sentence: str


class Document(NamedTuple):
    """What was read, as far as it could be."""

    values: Any  # None, or a dict of dicts, lists, text, numbers, bools and None
    places: dict[Path, Place]  # of each value, by the names and indices that lead to it
    problems: list[Problem]


def read(text: str, source: str) -> Document:
    """Read one YAML document; problems begin with ``source`` and the line. Nothing is raised for bad text."""
    reader = _Reader(source)
    try:
        values = reader.document(yaml.parse(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reader.complain(mark.line + 1 if mark else 1, f"this is not YAML: {error.problem or error.context}")
        values = LEFT_OUT
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        reader.complain(line, f"this is not YAML: character number {error.character} is not allowed in text")
        values = LEFT_OUT
    return Document(values, reader.places, reader.problems)


def shown(value: object) -> str:
    """A value as YAML writes it on one line, shortened where it is long."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), allow_unicode=True)
    text = text.removesuffix("...\n").strip()
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def plain(word: str) -> object:
    """What a word without quotes means: nothing, true or false, a number, or itself."""
    if word in WORDS:
        return WORDS[word]
    if word.isascii() and any(digit.isdigit() for digit in word):
        for number in int, float:
            try:
                return number(word)
            except ValueError:
                pass
    return word


class _Reader:
    """Turns the parser's events into values, one method for a kind of value."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.places: dict[Path, Place] = {}
        self.problems: list[Problem] = []

    def place(self, line: int) -> Place:
        return Place(line, f"{self.source}:{line}")

    def complain(self, line: int, sentence: str) -> None:
        self.problems.append(Problem(self.place(line), sentence))

    def document(self, events: Iterator[Any]) -> Any:
        """The value of the first document; a second one is a problem."""
        values = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if () in self.places:
                    self.complain(_line(event), "a second document starts here, but a file holds one: remove the ---")
                    break
                self.places[()] = self.place(_line(event))
                values = self.value(next(events), events, ())
        return values

    def value(self, event: Any, events: Iterator[Any], path: Path) -> Any:
        """The value that starts with ``event``, read to its end."""
        if len(path) > DEEPEST:
            raise yaml.MarkedYAMLError(problem="it is nested too deeply", problem_mark=event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            self.complain(_line(event), f"the alias *{event.anchor} is not allowed: write the value itself")
            return LEFT_OUT
        if event.anchor:
            self.complain(_line(event), f"the anchor &{event.anchor} is not allowed: remove it")
        if event.tag:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self.complain(_line(event), f"the tag {tag} is not allowed: remove it")
        if isinstance(event, yaml.MappingStartEvent):
            found: Any = self.mapping(events, path)
        elif isinstance(event, yaml.SequenceStartEvent):
            found = self.sequence(events, path)
        else:
            found = event.value if event.style else plain(event.value)
        return LEFT_OUT if event.tag else found

    def mapping(self, events: Iterator[Any], path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            is_name = isinstance(event, yaml.ScalarEvent)
            name = event.value if is_name else "?"
            inner = (*path, name)
            self.value(event, events, inner)  # complains of what no name may have
            if isinstance(event, yaml.CollectionStartEvent):
                self.complain(_line(event), "a list or mapping stands where a name is expected")
            first = is_name and self.is_first(inner, _line(event))
            value = self.value(next(events), events, inner)
            if first and value is not LEFT_OUT:
                found[name] = value
        return found

    def is_first(self, path: Path, line: int) -> bool:
        """Note the place of a name; a second one is a problem."""
        first = self.places.get(path)
        if first:
            self.complain(line, f"{'.'.join(map(str, path))} is given twice, first in line {first.order}")
        else:
            self.places[path] = self.place(line)
        return first is None

    def sequence(self, events: Iterator[Any], path: Path) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            value = self.value(event, events, (*path, len(found)))
            if value is not LEFT_OUT:
                found.append(value)
        return found


def _line(event: Any) -> int:
    line: int = event.start_mark.line + 1
    return line
