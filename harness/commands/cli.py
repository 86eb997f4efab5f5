"""The `clusterlift` command: runs a subcommand, and turns each error into one line and an exit code."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import chain

import click
from click.shell_completion import shell_complete

from harness import __version__
from harness.base.errors import INTERRUPTED, BadInput, ClusterliftError
from harness.base.terminal import OutputLost, say, say_error, show
from harness.base.words import first_line
from harness.commands.command import Group, group

GROUPS = {
    "Measure a configuration": {
        "doctor": "Find faults of the machines before the first trial, and how to mend them.",
        "bench": "Generate a dataset, run the workloads on it, and print a table.",
        "run": "Run jobs/benchmark.py several times, each time as an application of its own.",
        "program": "Run programs of MPI as workloads: HPC Challenge with HPL, and PHOLD.",
        "experiment": "Run the experiment that FILE.toml defines, and compare its configurations.",
    },
    "Compare configurations": {
        "compare": "Compare the times of workloads in two or more configurations.",
        "explain": "Show where the time went before and after a change.",
        "scaling": "Show how performance grows with the number of nodes, for each CONFIGURATION.",
        "report": "Write a comparison with charts, probes and costs to one HTML file.",
        "show": "Show one run: its environment, its trials and a summary.",
        "import": "Import results that others have published.",
    },
    "Prepare a comparison": {
        "ready": "Check that a baseline has all that a comparison needs.",
        "layout": "Show how the files in a directory are stored: layout, nodes, bytes.",
    },
    "Predict an upgrade": {
        "predict": "Predict the times of BASELINE's workloads with faster links or disks, and save the "
        "prediction."
    },
    "Measure the network": {
        "probe": "Measure the network between hosts that ssh reaches, or in the lab.",
        "gate": "List the faults of a probed network and its disks, for example after an upgrade.",
    },
    "Run a test cluster on this machine": {
        "local": "Run a small, real HDFS, QFS or Ceph on this machine.",
        "lab": "Run a cluster of containers with links of the rate that you choose.",
    },
}
"""The commands by the heading that `--help` lists them under, each with the first sentence of its own help.

It is here, too, so that a list of all commands does not import them all, which takes half a second.
"""

MODULES = {"import": "import_published", "scaling": "compare"}
"""The modules of harness.commands that have another name than their command."""

PROG = "clusterlift"
COMPLETE = "_CLUSTERLIFT_COMPLETE"
"""The variable by which a shell asks for the words that may follow."""

SUMMARIES = dict(chain.from_iterable(group_.items() for group_ in GROUPS.values()))


class LazyGroup(Group):
    """A group that imports a command only when it is called: importing SciPy takes longer than `show`."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUMMARIES:
            return None
        module = import_module(f"harness.commands.{MODULES.get(cmd_name, cmd_name)}")
        commands = (value for value in vars(module).values() if isinstance(value, click.Command))
        return next(command for command in commands if command.name == cmd_name)

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, SUMMARIES))
        for heading, summaries in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{width}}", text) for name, text in summaries.items()])


def _show_version(ctx: click.Context, _: click.Parameter, value: object) -> None:
    if value and not ctx.resilient_parsing:
        show(f"{PROG} {__version__}")
        ctx.exit()


@group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def clusterlift() -> None:
    """Measure what a network or storage upgrade buys a Spark cluster."""


clusterlift.commands = dict.fromkeys(SUMMARIES, clusterlift)  # where click looks for similar names


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default the process's own, and return its exit code."""
    try:
        return _run(list(sys.argv[1:] if arguments is None else arguments))
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        for line in error.format_message().splitlines():
            say(line)
        return error.exit_code
    except click.ClickException as error:
        message = error.format_message()
        code = error.exit_code
    except (ClusterliftError, OutputLost) as error:
        message = str(error)
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        message = "interrupted"
        code = INTERRUPTED
    except (ImportError, MemoryError, OSError) as error:  # the machine refuses
        message = f"cannot continue: {first_line(str(error), 'out of memory')}"
        code = 1
    if message:
        say_error(PROG, message)
    return code


def _run(given: list[str]) -> int:
    """Run a command, or print the words that may follow for a shell that asks, and return the exit code."""
    for number, word in enumerate(given, 1):
        if "\0" in word:
            raise BadInput(
                f"argument {number}, {word!r}, has a NUL, which no name can have; remove it"
            )
    asked = os.environ.get(COMPLETE)
    if asked:
        return shell_complete(clusterlift, {}, PROG, COMPLETE, asked)
    # click's own main() would print by itself, and leave by sys.exit() if its reader has gone.
    with clusterlift.make_context(PROG, given) as context:
        return clusterlift.invoke(context) or 0
