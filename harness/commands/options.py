"""Options and checks that several commands share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from harness.model.errors import BadInput
from harness.runtime.option_values import parse_fraction

T = TypeVar("T")

results_option = click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    metavar="DIR",
    help="Directory of the results; each configuration has a directory in it.",
)

adjust_option = click.option(
    "--adjust",
    type=click.Choice(["controls", "none"]),
    help="controls: show each change relative to that of the control workloads, which network and storage "
    "cannot affect. none: show times as measured, also where the speed of the processors explains at least "
    "half of how the trials of a run differ.",
)

different_data_option = click.option(
    "--allow-different-data",
    is_flag=True,
    help="Compare runs even if the contents of their datasets differ.",
)

hour_option = click.option(
    "--hour",
    metavar="MONEY",
    help="Value of one hour of the cluster's time, such as 20USD; needs a cost. It shows after how many "
    "rounds, of all workloads once, a change has paid for itself.",
)

fact_option = click.option(
    "--fact",
    "facts",
    multiple=True,
    metavar="KEY=VALUE",
    help="A fact about the configuration, such as mtu=1500. Repeatable.",
)


def cost_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option --cost with this help."""
    return click.option("--cost", "costs", multiple=True, metavar="COST", help=text)


def converted(parse: Callable[[Any], T]) -> Callable[..., T | None]:
    """Return an option's callback: `parse`, whose ValueError becomes an error that names the option."""

    def convert(_: click.Context, __: click.Parameter, value: Any) -> T | None:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return convert


as_fraction = converted(parse_fraction)
"""Convert `5%` or `0.05` to 0.05; an option's callback."""


@contextmanager
def optional_import(command: str, extra: str) -> Iterator[None]:
    """Raise BadInput if an import in the block fails because a package of `extra` is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "harness").startswith("harness"):
            raise
        raise BadInput(
            f"clusterlift {command} needs {error.name}, which is not installed: "
            f"in the checkout, pip install '.[{extra}]'"
        ) from error
