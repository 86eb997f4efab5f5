"""Options that several probes share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from harness.base.errors import BadInput
from harness.base.option_types import WholeNumber, converted
from harness.base.option_values import parse_time
from harness.hosts.parallelism import MAX_PAIRS
from harness.model.link import MAX_MTU, MIN_MTU
from harness.node.iproute2 import count
from harness.probes.traffic import FIRST_PORT

Command = TypeVar("Command", bound=Callable[..., Any])


def integer_option(
    name: str, values: WholeNumber, default: int, text: str
) -> Callable[[Command], Command]:
    """Return an option that takes a whole number; its help shows the default."""
    return click.option(name, type=values, default=default, show_default=True, help=text)


def time_option(name: str, parameter: str, default: str, text: str) -> Callable[[Command], Command]:
    """Return an option that takes a length of time; its help shows the default."""
    return click.option(
        name,
        parameter,
        callback=converted(parse_time),
        default=default,
        show_default=True,
        metavar="TIME",
        help=text,
    )


seconds_option = integer_option(
    "--seconds", WholeNumber(1, 3600), 10, "Duration of each transfer, in seconds."
)
streams_option = integer_option(
    "--streams", WholeNumber(1, 128), 1, "TCP streams in each transfer."
)
port_option = integer_option(
    "--port",
    WholeNumber(1024, 60000),
    FIRST_PORT,
    "The first port for servers; concurrent transfers use consecutive ports.",
)
both_ways_option = click.option(
    "--bidir", "both_ways", is_flag=True, help="Also measure both directions at the same time."
)
seed_option = integer_option("--seed", WholeNumber(), 1, "Seed of the random choices.")
at_once_option = integer_option(
    "--pairs-at-once",
    WholeNumber(1, 2048),
    MAX_PAIRS,
    "Pairs that are measured at the same time; each takes four processes on this machine.",
)
sizes_option = click.option(
    "--sizes",
    metavar="BYTES,...",
    help="Also measure packets of these sizes, such as 1500,3000,9000.",
)


def packet_sizes(text: str | None) -> list[int]:
    """Return packet sizes in bytes, in ascending order. Raise BadInput that quotes the wrong one."""
    sizes = []
    for part in text.split(",") if text else ():
        size = count(part.strip(), MAX_MTU)
        if size is None or size < MIN_MTU:
            raise BadInput(
                f"--sizes: {part!r} is not from {MIN_MTU} to {MAX_MTU}; write 1500,3000,9000"
            )
        sizes.append(size)
    return sorted(set(sizes))
