"""What the entry scripts' command lines share. Standard library only."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable
from typing import NoReturn, TypeVar

from harness.errors import ClusterliftError

T = TypeVar("T")


class Parser(argparse.ArgumentParser):
    """Tells a wrong option in one line, with exit code 2; `--help` shows the defaults."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(
            prog=prog,
            description=description,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Without the usage, which would push the one line that matters off the screen."""
        self.exit(2, f"{self.prog}: error: {message}; see --help\n")


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
        print(f"{prog}: error: {error}", file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        print(f"{prog}: interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)
