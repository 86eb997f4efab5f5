"""The `clusterlift` command: runs a subcommand, and turns each error into one line and an exit code."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import chain

import click

from harness import __version__
from harness.model.errors import ClusterliftError
from harness.terminal import visible

GROUPS = {
    "Compare configurations": ("compare", "explain", "report", "show", "export", "import"),
    "Prepare a comparison": ("plan", "ready", "layout"),
    "Measure the network": ("probe", "gate"),
    "Run a test cluster on this machine": ("hdfs", "qfs", "lab"),
}
"""The commands by the heading that `--help` lists them under."""

MODULES = {"import": "import_original", "hdfs": "minicluster", "qfs": "minicluster"}
"""The modules of harness.commands that have another name than their command."""

COMMANDS = tuple(chain.from_iterable(GROUPS.values()))
_SUMMARY_WIDTH = 200
"""Wider than any summary, so that the help wraps summaries instead of cutting them."""


class LazyGroup(click.Group):
    """A group that imports a command only when it is called: importing SciPy takes longer than `show`."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module = import_module(f"harness.commands.{MODULES.get(cmd_name, cmd_name)}")
        commands = (value for value in vars(module).values() if isinstance(value, click.Command))
        return next(command for command in commands if command.name == cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for heading, names in GROUPS.items():
            commands = filter(None, (self.get_command(ctx, name) for name in names))
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (f"{command.name:{width}}", command.get_short_help_str(_SUMMARY_WIDTH))
                        for command in commands
                    ]
                )


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def clusterlift() -> None:
    """Measure what a network or storage upgrade buys a Spark cluster."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default the process's own, and return its exit code."""
    _escape_unencodable_output()
    try:
        code: int | None = clusterlift.main(
            arguments, prog_name="clusterlift", standalone_mode=False
        )
    except ClusterliftError as error:
        return _fail(str(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except click.Abort:
        return _fail("interrupted", 130)
    return code or 0


def _fail(message: str, exit_code: int) -> int:
    click.echo(f"clusterlift: error: {visible(message)}", err=True)
    return exit_code


def _escape_unencodable_output() -> None:
    """Make output escape characters that the terminal's encoding lacks, such as `±`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
