"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from harness.model.errors import BadInput
from harness.runtime.command_line import parse_fraction

results_option = click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    metavar="DIR",
    help="Where runs are kept, a directory for each configuration.",
)


def as_share(_: click.Context, __: click.Parameter, value: str) -> float:
    """A callback: `5%` or `0.05` as 0.05. Raises BadParameter, which names the option."""
    try:
        return parse_fraction(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


# MERGED from harness.commands.extra: 'Libraries that only some commands need: without them there is a line, not a traceback.'
@contextmanager
def needs_extra(command: str, extra: str) -> Iterator[None]:
    """While imports are tried. Raises BadInput that says what is missing, and how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "harness").startswith("harness"):
            raise
        raise BadInput(
            f"clusterlift {command} needs {error.name}, which is not installed: "
            f"in the checkout, pip install '.[{extra}]'"
        ) from error
