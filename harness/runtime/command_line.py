"""What the entry scripts' command lines share. Standard library only."""

from __future__ import annotations

import argparse
import logging
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar

from harness.model.errors import BadInput, ClusterliftError
from harness.terminal import visible

T = TypeVar("T")


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

    def error(self, message: str) -> NoReturn:
        """Without the usage, which would push the one line that matters off the screen."""
        self.exit(2, f"{self.prog}: error: {visible(message)}; see --help\n")


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers within bounds; `10_000`, `10,000` and `1e6` are understood."""

    def read(text: str) -> int:
        try:
            value = int(text.replace(",", ""))
        except ValueError:
            try:
                real = float(text)
                value = int(real)
            except (ValueError, OverflowError):
                raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
            if value != real:
                raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
        if value < least or (most is not None and value > most):
            bounds = f"{least:,} or more" if most is None else f"from {least:,} to {most:,}"
            raise argparse.ArgumentTypeError(f"{value:,} is out of range: it must be {bounds}")
        return value

    return read


def readable(read: Callable[[str], T]) -> Callable[[str], T]:
    """Makes a function that raises ValueError or one of our errors a reader of an option."""

    def option(text: str) -> T:
        try:
            return read(text)
        except (ValueError, ClusterliftError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return option


def guarded(prog: str, main: Callable[[], int]) -> NoReturn:
    """Run a script's main; an error of ours becomes one line and its exit code."""
    # pyspark and py4j would log a whole Java stack for what is said here in a line.
    logging.disable(logging.CRITICAL)
    try:
        code = main()
    except ClusterliftError as error:
        print(f"{prog}: error: {visible(str(error))}", file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        print(f"{prog}: interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)


# MERGED from harness.record.units: 'What people write with its unit on a command line: `2%`, `30m`.'
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|m|h)\s*")


def parse_share(text: str) -> float:
    """`2%` or `0.02` as 0.02. Raises ValueError unless it is more than 0% and less than 100%."""
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        raise ValueError(f"'{text}' is not a percentage; write for example 2%") from None
    if not 0 < share < 1:
        raise ValueError(f"{text} is out of range: it must be more than 0% and less than 100%")
    return share


def parse_time(text: str) -> float:
    """`30m`, `90 s` or `1h30m` in seconds. Raises ValueError unless it is more than 0 s."""
    amounts = _AMOUNT.findall(text)
    if not amounts or _AMOUNT.sub("", text.strip()):
        raise ValueError(f"'{text}' is not a time; write for example 90s, 30m or 1h30m")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in amounts)
    if seconds <= 0:
        raise ValueError(f"{text} is out of range: it must be more than 0 s")
    return seconds


# MERGED from harness.record.facts: 'Facts that a user declares: `--fact KEY=VALUE`.'
def parse_fact(text: str) -> tuple[str, str]:
    """Key and value of `KEY=VALUE`, without the blanks around them; the value may be empty.

    Raises BadInput where there is no key or no `=`.
    """
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key:
        missing = "a key before the '='" if equals else "an '='"
        raise BadInput(
            f"--fact {text!r} lacks {missing}; write KEY=VALUE, for example --fact nic=RTL8156B"
        )
    return key, value


def parse_facts(texts: Iterable[str]) -> dict[str, str]:
    """All of a command line's facts, in order. Raises BadInput where a key is given twice."""
    facts: dict[str, str] = {}
    for text in texts:
        key, value = parse_fact(text)
        if key in facts:
            raise BadInput(f"--fact {key!r} is given twice; give each fact once")
        facts[key] = value
    return facts
