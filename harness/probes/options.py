"""Options of probes: the hosts that are named, and options that several probes share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from harness.base.checked import count
from harness.base.errors import BadInput
from harness.base.option_types import WholeNumber, converted
from harness.base.option_values import parse_time
from harness.hosts.parallelism import MAX_PAIRS
from harness.hosts.transports.host import Host, Transport, parse_hosts
from harness.model.link import MAX_MTU, MIN_MTU
from harness.probes.traffic import FIRST_PORT

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class NamedHosts:
    """The hosts that `--hosts` names, and the transport that reaches them.

    - `nodes`: in a lab, the hosts that need not be named; `facts`: that it is emulated, and how.
    - `directory`: the directory of the results.
    - `local_dirs`: Spark's directories in the lab or on this machine, with commas between them. None for
      other hosts, which may be somebody else's.
    """

    names: str | None
    transport: Transport
    nodes: Sequence[Host] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    directory: Path = Path("results")
    local_dirs: str | None = None

    def hosts(self) -> list[Host]:
        """Return the named hosts, or else the nodes of the lab. Raise BadInput if there are none."""
        if self.names is not None:
            return parse_hosts("--hosts", self.names, self.transport)
        if not self.nodes:
            raise BadInput("name the hosts, such as --hosts node[1-4], or use the lab's: --lab")
        return list(self.nodes)


def integer_option(
    name: str, values: WholeNumber, default: int, text: str
) -> Callable[[Command], Command]:
    """Return an option that takes a whole number. Its help shows the default."""
    return click.option(name, type=values, default=default, show_default=True, help=text)


def time_option(name: str, parameter: str, default: str, text: str) -> Callable[[Command], Command]:
    """Return an option that takes a length of time. Its help shows the default."""
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
    sizes: list[int] = []
    if not text:
        return sizes
    for part in text.split(","):
        size = count(part.strip(), MAX_MTU)
        if size is None or size < MIN_MTU:
            raise BadInput(
                f"--sizes: {part!r} is not from {MIN_MTU} to {MAX_MTU}; write 1500,3000,9000"
            )
        sizes.append(size)
    return sorted(set(sizes))
