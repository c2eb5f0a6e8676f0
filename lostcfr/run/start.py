"""Starting a run, and going on with one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lostcfr.config import Configuration
from lostcfr.config_file import load, to_yaml
from lostcfr.errors import CheckpointError, InputError
from lostcfr.run.directory import RunDirectory

# Sections that may differ when a run goes on: they say how long and how closely watched, not what is computed.
FREE_TO_CHANGE = ("limits", "evaluation", "extended_evaluation", "checkpoint")


@contextmanager
def opened(
    config: Path | None, folder: Path, overrides: list[str], *, resume: bool
) -> Iterator[tuple[Configuration, RunDirectory]]:
    """The configuration and the locked folder of a run that is started or, with ``resume``, gone on with.

    ``config`` None stands for the configuration of the run that goes on; ``overrides`` are then on top of that.
    """
    if not resume:
        if config is None:
            raise InputError("a new run needs a configuration file, such as configs/quick.yaml; or add --resume")
        configuration = load(config, overrides)
        with RunDirectory.create(folder, to_yaml(configuration)) as directory:
            yield configuration, directory
        return
    with RunDirectory.resume(folder) as directory:
        stored = load(directory.config)
        configuration = load(config or directory.config, overrides)
        check_same_run(stored, configuration, folder)
        if configuration != stored:
            directory.rewrite_config(to_yaml(configuration))
        yield configuration, directory


def check_same_run(stored: Configuration, wanted: Configuration, folder: Path) -> None:
    """CheckpointError unless the two differ only in what may change when a run goes on."""
    before, now = stored.model_dump(), wanted.model_dump()
    for section, value in before.items():
        if section in FREE_TO_CHANGE or value == now[section]:
            continue
        name, old, new = section, value, now[section]
        if isinstance(value, dict):
            key = next(key for key in value if value[key] != new[key])
            name, old, new = f"{section}.{key}", value[key], new[key]
        raise CheckpointError(
            f"{folder} was started with {name}: {old}, but {name} is now {new}; a run goes on only with the same "
            f"settings ({', '.join(FREE_TO_CHANGE)} may change): set it back, or start a run in another folder"
        )
