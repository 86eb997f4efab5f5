"""The command lines of the entry scripts: parser, option types, and errors in one line."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from harness.base.errors import INTERRUPTED, ClusterliftError
from harness.base.interrupt import end_at_ctrl_c, raise_at_ctrl_c
from harness.base.redaction import redacted_command
from harness.base.terminal import OutputLost, say, say_error, show
from harness.base.words import first_line, shorten

_MAX_COMMAND = 10_000


class _HelpFormatter(argparse.ArgumentDefaultsHelpFormatter):
    """Shows the default of each option that has one."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        has_default = action.default is not None and action.default is not False
        if has_default:
            return super()._get_help_string(action)
        return action.help


class Parser(argparse.ArgumentParser):
    """Reports a wrong option in one line, with exit code 2. `--help` shows the defaults."""

    def __init__(self, prog: str, description: str = "", *, add_help: bool = True) -> None:
        super().__init__(
            prog=prog,
            description=description,
            formatter_class=_HelpFormatter,
            allow_abbrev=False,
            add_help=add_help,
        )

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        # For `--option=--`, argparse of Python 3.11 would return an empty list.
        if arg_strings == ["--"]:
            raise argparse.ArgumentError(action, "expected a value, not '--'")
        return super()._get_values(action, arg_strings)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        # argparse would replace the message of a ValueError.
        read = action.type if callable(action.type) else str
        try:
            return read(arg_string)
        except (ValueError, ClusterliftError) as error:
            raise argparse.ArgumentError(action, str(error)) from error

    def print_help(self, file: object = None) -> None:
        """Print the help to standard output, whatever `file` is. Raise OutputLost like `show`."""
        show(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Exit without printing the usage, which would hide the error message."""
        say_error(self.prog, f"{message}; see --help")
        sys.exit(2)


def run_main(prog: str, main: Callable[[], int]) -> NoReturn:
    """Run a script's main function and exit with its code; print a ClusterliftError in one line."""
    # pyspark and py4j would also log the whole Java stack of an error.
    logging.disable(logging.CRITICAL)
    raise_at_ctrl_c()
    try:
        code = main()
    except (ClusterliftError, OutputLost) as error:
        if message := str(error):
            say_error(prog, message)
        code = error.exit_code
    except (MemoryError, OSError) as error:  # the machine refuses
        say_error(prog, f"cannot continue: {first_line(str(error), 'out of memory')}")
        code = 1
    except KeyboardInterrupt:
        end_at_ctrl_c()  # or another one would end this line with a stack trace
        say(f"{prog}: interrupted")
        code = INTERRUPTED
    end_at_ctrl_c()
    sys.exit(code)


def given_command(*program: str) -> str:
    """Return how this process was started, for a shell; credentials are hidden, and a long text is cut."""
    return shorten(redacted_command([*program, *sys.argv[1:]]), _MAX_COMMAND)
