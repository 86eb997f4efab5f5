"""Options and checks that several commands share."""

from collections.abc import Callable
from typing import Any

import click

from harness.base.option_types import WholeNumber, converted
from harness.base.option_values import (
    parse_configuration,
    parse_directory,
    parse_fraction,
    parse_names,
)
from harness.model.link import MAX_MTU, MIN_MTU

Decorator = Callable[[Any], Any]
"""Gives a command an option."""

results_option = click.option(
    "--results",
    type=click.Path(),
    callback=converted(parse_directory),
    default="results",
    show_default=True,
    metavar="DIR",
    help="Directory of the results; each configuration has a directory in it.",
)

adjust_option = click.option(
    "--adjust",
    type=click.Choice(["controls", "none"]),
    help="controls: show each change relative to the change of the control workloads, which network and "
    "storage cannot affect. none: show times as measured.  [default: none]",
)

different_data_option = click.option(
    "--allow-different-data",
    is_flag=True,
    help="Compare runs even if the contents of their datasets differ, or the answers of queries.",
)

different_answers_option = click.option(
    "--allow-different-answers",
    callback=converted(parse_names),
    metavar="QUERY,...",
    help="Compare the times of these queries even if their answers differ.",
)

spark_lines_option = click.option(
    "--spark-lines",
    is_flag=True,
    help="Also show the lines that every start of Spark prints: log4j profile, incubator modules, host "
    "name, native Hadoop.",
)

fact_option = click.option(
    "--fact",
    "facts",
    multiple=True,
    metavar="KEY=VALUE",
    help="A fact about the configuration, such as mtu=1500. Repeatable.",
)


def cost_option(text: str) -> Decorator:
    """Return the option --cost with this help."""
    return click.option("--cost", "costs", multiple=True, metavar="COST", help=text)


def mtu_option(text: str) -> Decorator:
    """Return the option --mtu with this help."""
    return click.option("--mtu", type=WholeNumber(MIN_MTU, MAX_MTU), metavar="BYTES", help=text)


def configuration_option(text: str, **attributes: Any) -> Decorator:
    """Return the option --configuration with this help and these attributes of `click.option`."""
    callback = converted(parse_configuration)
    return click.option(
        "--configuration", callback=callback, metavar="NAME", help=text, **attributes
    )


as_fraction = converted(parse_fraction)
"""Convert `5%` or `0.05` to 0.05; an option's callback."""
