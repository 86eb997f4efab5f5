"""`clusterlift`: its commands, and what becomes of their errors: one line, and exit code 2."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import click

from harness import __version__
from harness.commands.compare import compare_command
from harness.commands.explain import explain_command
from harness.commands.export import export_command
from harness.commands.gate import gate_command
from harness.commands.import_original import import_command
from harness.commands.layout import layout_command
from harness.commands.plan import plan_command
from harness.commands.probe import probe_group
from harness.commands.ready import ready_command
from harness.commands.report import report_command
from harness.commands.show import show_command
from harness.errors import ClusterliftError
from harness.lab.commands import lab
from harness.loopback import commands as loopback
from harness.present.escape import visible


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def clusterlift() -> None:
    """Tell what a network or storage upgrade buys a Spark cluster."""


for command in (
    compare_command,
    explain_command,
    report_command,
    export_command,
    show_command,
    plan_command,
    ready_command,
    probe_group,
    gate_command,
    import_command,
    layout_command,
    loopback.hdfs,
    loopback.qfs,
    lab,
):
    clusterlift.add_command(command)


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
    """A terminal that has no `±` shows an escape in its place."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
