"""The command line. ``--help`` must be quick, so a command's module is imported when it is called."""

import importlib
import sys

import click

from lostcfr import __version__
from lostcfr.errors import EXIT_BUG, EXIT_RESOURCES, LostCFRError, nearest

EXIT_INTERRUPTED = 130
COMMANDS = {
    "arena": "Play every agent against every other, and rate them.",
    "bench": "Measure how fast this machine plays, traverses and trains.",
    "check": "Check agents against what is known exactly.",
    "config": "Check configuration files and show what they mean.",
    "doctor": "Show versions, cores, the kernel cache and what is missing.",
    "evaluate": "Play mirrored pairs against other agents and report points.",
    "play": "Play against an agent, or another person, in this terminal.",
    "replay": "Tell one round between two agents in words.",
    "report": "Draw a page of HTML about a run.",
    "train": "Train a player by a configuration, or go on with a run.",
}


class LazyGroup(click.Group):
    """A group whose commands live in modules of their own name."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"lostcfr.cli.{name}").command
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            raise click.UsageError(f"there is no command {args[0]!r}{nearest(args[0], COMMANDS)}", context)
        return super().resolve_command(context, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="lostcfr")
def group() -> None:
    """Train players of Lost Cities, and play, measure and replay matches between them."""


def main() -> None:
    """Entry point: errors become one sentence on standard error and an exit code."""
    try:
        group(standalone_mode=False)
        if sys.stdout is not None:  # None where the caller has closed it
            sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except LostCFRError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(error.exit_code)
    except MemoryError as error:
        click.echo(f"Error: there is not enough memory ({error}); ask for less at a time", err=True)
        sys.exit(EXIT_RESOURCES)
    except OSError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(EXIT_RESOURCES)
    except Exception:
        click.echo("lostcfr: this is a bug; please report what follows", err=True)
        sys.excepthook(*sys.exc_info())
        sys.exit(EXIT_BUG)
