"""``lostcfr config``: what a configuration file says, and what it may say."""

import click

from lostcfr.cli.options import print_json
from lostcfr.errors import EXIT_CONFIGURATION, ConfigurationError


@click.group(name="config")
def command() -> None:
    """Check configuration files and show what they mean."""


@command.command()
@click.argument("file")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a setting, such as seed=2.")
def show(file: str, overrides: tuple[str, ...]) -> None:
    """Print every setting of FILE that is read, defaults included, as YAML."""
    from lostcfr.config_file import load, to_yaml

    click.echo(to_yaml(load(file, overrides)), nl=False)


@command.command()
@click.argument("files", nargs=-1, required=True)
def validate(files: tuple[str, ...]) -> None:
    """Say of each of FILES that it is valid, or what is wrong with it."""
    from lostcfr.config_file import load

    wrong = False
    for file in files:
        try:
            load(file)
            click.echo(f"{file}: valid")
        except ConfigurationError as error:
            wrong = True
            click.echo(error, err=True)
    if wrong:
        raise SystemExit(EXIT_CONFIGURATION)


@command.command()
def schema() -> None:
    """Print the JSON schema of configuration files."""
    from lostcfr.config_reference import schema

    print_json(schema())


@command.command()
def reference() -> None:
    """Print every setting with its range, default and meaning: the page docs/configuration.md."""
    from lostcfr.config_reference import reference

    click.echo(reference(), nl=False)
