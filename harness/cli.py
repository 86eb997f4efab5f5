"""The `clusterlift` command: runs a subcommand, and turns each error into one line and an exit code."""

import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import chain

import click

from harness import __version__
from harness.commands.command import Group, group
from harness.model.errors import BadInput, ClusterliftError
from harness.terminal import OutputLost, first_line, hold_standard_descriptors, say, say_error, show

GROUPS = {
    "Measure a configuration": ("doctor", "bench", "run", "program", "experiment"),
    "Compare configurations": (
        "compare",
        "explain",
        "scaling",
        "report",
        "show",
        "export",
        "import",
    ),
    "Prepare a comparison": ("power", "ready", "noise", "layout"),
    "Predict an upgrade": ("predict", "score"),
    "Measure the network": ("probe", "packets", "gate"),
    "Run a test cluster on this machine": ("hdfs", "qfs", "s3", "yarn", "lab"),
}
"""The commands by the heading that `--help` lists them under."""

MODULES = {
    "import": "import_published",
    **dict.fromkeys(("power", "ready", "noise"), "preparation"),
    **dict.fromkeys(("predict", "score"), "prediction"),
    **dict.fromkeys(("hdfs", "qfs", "s3", "yarn"), "minicluster"),
}
"""The modules of harness.commands that have another name than their command."""

ALIASES = {"plan": "power", "aa": "noise"}
"""Former names of commands, which still work."""

PROG = "clusterlift"
COMMANDS = tuple(chain.from_iterable(GROUPS.values()))
INTERRUPTED = 130
_SUMMARY_WIDTH = 200
"""Wider than any summary, so that the help wraps summaries instead of cutting them."""


class LazyGroup(Group):
    """A group that imports a command only when it is called: importing SciPy takes longer than `show`."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = ALIASES.get(cmd_name, cmd_name)
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default the process's own, and return its exit code."""
    hold_standard_descriptors()
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if any("\0" in argument for argument in given):
            raise BadInput("an argument contains the character NUL; leave it out")
        # click's own main() would print by itself, and leave by sys.exit() if nobody reads.
        with clusterlift.make_context(PROG, given) as context:
            return clusterlift.invoke(context) or 0
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        for line in error.format_message().splitlines():
            say(line)
        return error.exit_code
    except click.ClickException as error:
        message, code = error.format_message(), error.exit_code
    except (ClusterliftError, OutputLost) as error:
        message, code = str(error), error.exit_code
    except (click.Abort, KeyboardInterrupt):
        message, code = "interrupted", INTERRUPTED
    except (ImportError, MemoryError, OSError) as error:  # the machine refuses
        message, code = f"cannot continue: {first_line(str(error), 'out of memory')}", 1
    if message:
        say_error(PROG, message)
    return code
