"""The command lines of the entry scripts: parser, option types, and errors in one line."""

import argparse
import logging
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar

from harness.model.errors import BadInput, ClusterliftError
from harness.redaction import redacted_command
from harness.runtime.interrupt import end_at_ctrl_c, raise_at_ctrl_c
from harness.terminal import (
    OutputLost,
    first_line,
    hold_standard_descriptors,
    say,
    say_error,
    shorten,
    show,
)

T = TypeVar("T")

_MAX_COMMAND = 10_000
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}
_AMOUNT = re.compile(r"([0-9]{1,9}(?:\.[0-9]+)?)\s*(s|min|m|h)\s*")


class _HelpFormatter(argparse.ArgumentDefaultsHelpFormatter):
    """Shows the default of each option that has one."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        has_default = action.default is not None and action.default is not False
        return super()._get_help_string(action) if has_default else action.help


class Parser(argparse.ArgumentParser):
    """Reports a wrong option in one line, with exit code 2; `--help` shows the defaults."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(
            prog=prog,
            description=description,
            formatter_class=_HelpFormatter,
            allow_abbrev=False,
        )

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        # For `--option=--`, argparse of Python 3.11 would return an empty list.
        if arg_strings == ["--"]:
            raise argparse.ArgumentError(action, "expected a value, not '--'")
        return super()._get_values(action, arg_strings)

    def print_help(self, file: object = None) -> None:
        """Print the help to standard output, whatever `file` is. Raise OutputLost like `show`."""
        show(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Exit without printing the usage, which would hide the error message."""
        say_error(self.prog, f"{message}; see --help")
        sys.exit(2)


def whole_number(minimum: int, maximum: int) -> Callable[[str], int]:
    """Return an option type: whole numbers within bounds, such as `10_000`, `10,000` or `1e6`."""

    def read(text: str) -> int:
        try:
            value = _integer(text.replace(",", ""))
        except ValueError:
            raise ValueError(f"'{text}' is not a whole number") from None
        if not minimum <= value <= maximum:
            raise ValueError(
                f"{value:,} is out of range: it must be from {minimum:,} to {maximum:,}"
            )
        return value

    return option_type(read)


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        if (real := float(text)).is_integer():
            return int(real)
        raise


def option_type(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Return an option type: `parse`, with its ValueError or ClusterliftError as the message."""

    def option(text: str) -> T:
        try:
            return parse(text)
        except (ValueError, ClusterliftError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return option


def run_main(prog: str, main: Callable[[], int]) -> NoReturn:
    """Run a script's main function and exit with its code; print a ClusterliftError in one line."""
    # pyspark and py4j would also log the whole Java stack of an error.
    logging.disable(logging.CRITICAL)
    raise_at_ctrl_c()
    hold_standard_descriptors()
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
        say(f"{prog}: interrupted")
        code = 130
    end_at_ctrl_c()
    sys.exit(code)


def given_command(*program: str) -> str:
    """Return how this process was started, for a shell; credentials are hidden, and a long text is cut."""
    return shorten(redacted_command([*program, *sys.argv[1:]]), _MAX_COMMAND)


def parse_fraction(text: str) -> float:
    """Return 0.02 for `2%` or `0.02`. Raise ValueError unless it is between 0% and 100%."""
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        fraction = float(number) / (100 if percent else 1)
    except ValueError:
        raise ValueError(f"'{text}' is not a percentage; write for example 2%") from None
    if not 0 < fraction < 1:
        raise ValueError(f"{text} is out of range: it must be more than 0% and less than 100%")
    return fraction


def parse_time(text: str) -> float:
    """Return the seconds of `30m`, `90 s` or `1h30m`. Raise ValueError unless they are more than 0."""
    amounts = _AMOUNT.findall(text)
    if not amounts or _AMOUNT.sub("", text.strip()):
        raise ValueError(f"'{text}' is not a time; write for example 90s, 30m or 1h30m")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in amounts)
    if seconds <= 0:
        raise ValueError(f"{text} is out of range: it must be more than 0 s")
    return seconds


def parse_fact(text: str) -> tuple[str, str]:
    """Return key and value of `--fact KEY=VALUE`, stripped; the value may be empty.

    Raise BadInput if there is no key or no `=`.
    """
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key:
        missing = "key before the '='" if equals else "'='"
        raise BadInput(
            f"--fact {text!r} has no {missing}; write KEY=VALUE, for example --fact nic=RTL8156B"
        )
    return key, value


def parse_facts(texts: Iterable[str]) -> dict[str, str]:
    """Return all facts of a command line, in order. Raise BadInput if a key is given twice."""
    facts: dict[str, str] = {}
    for text in texts:
        key, value = parse_fact(text)
        if key in facts:
            raise BadInput(f"--fact {key!r} is given twice; give each fact once")
        facts[key] = value
    return facts
