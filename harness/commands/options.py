"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path

import click

from harness.record.units import parse_share

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
        return parse_share(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
