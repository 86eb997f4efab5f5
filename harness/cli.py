"""`clusterlift`: runs one command and turns its errors into one line and an exit code."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from harness import __version__
from harness.model.errors import ClusterliftError
from harness.terminal import visible

COMMANDS = {
    "compare": "compare:compare_command",
    "explain": "explain:explain_command",
    "export": "export:export_command",
    "gate": "gate:gate_command",
    "hdfs": "minicluster:hdfs",
    "import": "import_original:import_command",
    "lab": "lab:lab",
    "layout": "layout:layout_command",
    "plan": "plan:plan_command",
    "probe": "probe:probe_group",
    "qfs": "minicluster:qfs",
    "ready": "ready:ready_command",
    "report": "report:report_command",
    "show": "show:show_command",
}
"""Each command's module in `harness.commands`, and its name there."""


class LazyGroup(click.Group):
    """A group that imports a command when it is called: SciPy alone takes longer than `show`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands' names, sorted."""
        return sorted({*COMMANDS, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name; None if there is none."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"harness.commands.{module}"), name)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def clusterlift() -> None:
    """Tell what a network or storage upgrade buys a Spark cluster."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (the process's own by default) and return its exit code."""
    _never_fail_to_print()
    try:
        code: int | None = clusterlift.main(
            arguments, prog_name="clusterlift", standalone_mode=False
        )
    except ClusterliftError as error:
        return _complain(str(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        return _complain(error.format_message(), error.exit_code)
    except click.Abort:
        return _complain("interrupted", 130)
    return code or 0


def _complain(message: str, exit_code: int) -> int:
    click.echo(f"clusterlift: error: {visible(message)}", err=True)
    return exit_code


def _never_fail_to_print() -> None:
    """Print an escape where the terminal's encoding has no `±`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
