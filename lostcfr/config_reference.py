"""What settings there are, in words. Everything is taken from the JSON schema of the configuration."""

from typing import Any

from lostcfr.config import Configuration
from lostcfr.yaml_text import shown

INTRODUCTION = """\
# Configuration

A run is described by one YAML file. What it leaves out has its default; what it names wrongly, or what contradicts
something else, is refused with the line. `lostcfr config reference` prints this page.

```console
$ lostcfr config validate configs/smoke.yaml configs/quick.yaml
$ lostcfr config show configs/quick.yaml --set network.hidden=512 --set limits.minutes=null
$ lostcfr config schema
```

`show` prints every setting that is read, with its value. `schema` prints a JSON schema for editors. Numbers may be
written as `1e-3`, `.5` or `2_000_000`; anchors, aliases and tags are not allowed. An empty section has its defaults.
"""


def schema() -> dict[str, Any]:
    """The JSON schema of a configuration file."""
    return Configuration.model_json_schema()


def sections() -> dict[str, dict[str, Any]]:
    """The schemas of the settings on the top level; a section's own settings are in its ``properties``."""
    whole = schema()
    return {
        name: about | (whole["$defs"][about["$ref"].rsplit("/", 1)[1]] if "$ref" in about else {})
        for name, about in whole["properties"].items()
    }


def allowed(about: dict[str, Any]) -> str:
    """What a setting may be, in words, by its schema."""
    if "anyOf" in about:
        return ", or ".join(allowed(each) for each in about["anyOf"])
    if "enum" in about:
        *most, last = about["enum"]
        return f"{', '.join(most)} or {last}"
    kind = about["type"]
    if kind == "object":
        return f"a section with {', '.join(about['properties'])}"
    if kind == "array":
        return f"a list of {allowed(about['items'])}, one or more"
    if kind in ("integer", "number"):
        return _numbers(about)
    return {"boolean": "true or false", "null": "null"}[kind]


def _numbers(about: dict[str, Any]) -> str:
    kind = "a whole number" if about["type"] == "integer" else "a number"
    if "multipleOf" in about:
        kind = f"a multiple of {about['multipleOf']}"
    high = int(about["maximum"])
    if "exclusiveMinimum" in about:
        return f"{kind} above {int(about['exclusiveMinimum'])} and at most {high}"
    return f"{kind} from {int(about['minimum'])} to {high}"


def reference() -> str:
    """The page docs/configuration.md: a table for each section."""
    found = sections()
    plain = {name: about for name, about in found.items() if about["type"] != "object"}
    parts = [INTRODUCTION, _table(plain)]
    for name, about in found.items():
        if name not in plain:
            parts += [f"## {name}\n\n{about['description']}\n", _table(about["properties"])]
    return "\n".join(parts)


def _table(settings: dict[str, Any]) -> str:
    lines = ["| key | allowed | default | meaning |", "|---|---|---|---|"]
    for name, about in settings.items():
        lines.append(f"| `{name}` | {allowed(about)} | `{shown(about['default'])}` | {about['description']} |")
    return "\n".join(lines) + "\n"
