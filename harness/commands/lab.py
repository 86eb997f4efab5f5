"""`clusterlift lab`: a cluster of containers on this machine, and its links."""

from collections.abc import Sequence
from os.path import normpath
from pathlib import Path

import click
from tabulate import tabulate

from harness.commands.command import group
from harness.commands.options import converted, mtu_option
from harness.hosts.transports.host import expand_names
from harness.lab import racks
from harness.lab.cluster import Lab, lab_lock, running_lab
from harness.lab.compose import MAX_WORKERS, LabSpec, check_cpus, shape_of
from harness.lab.lifecycle import down, up
from harness.lab.links import at_rate, read_links, set_links
from harness.lab.storages import LAYOUTS
from harness.lab.submit import CHECKOUT, facts, spark_submit, with_facts
from harness.lab.verify import LinkCheck, verify
from harness.local_spark import BENCHMARK, GENERATE
from harness.model.errors import BadInput
from harness.model.link import Link, parse_rate
from harness.option_types import WholeNumber
from harness.runtime.interrupt import interruptible
from harness.runtime.shared_options import read_shared_options
from harness.terminal import say, show

DEFAULT_UPLINK = "1gbit"

script_arguments = click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="ARGS...")
conf_option = click.option(
    "--conf",
    multiple=True,
    metavar="KEY=VALUE",
    help="A Spark property for spark-submit; repeatable.",
)
without_own_options = {"ignore_unknown_options": True, "help_option_names": []}


def _storages(text: str) -> tuple[str, ...]:
    """Split the names of file systems. Raise ValueError for an unknown or repeated one."""
    names = tuple(text.split(","))
    if not set(names) <= set(LAYOUTS) or len(set(names)) < len(names):
        raise ValueError(
            f"{text!r}: name one of {', '.join(LAYOUTS)}, or several with commas between them"
        )
    return names


@group()
def lab() -> None:
    """Run a cluster of containers with links of the rate that you choose."""


@lab.command("up")
@click.option(
    "--nodes",
    type=WholeNumber(1, MAX_WORKERS),
    default=4,
    show_default=True,
    metavar="N",
    help="Number of workers; there is a master, too.",
)
@click.option(
    "--cpus",
    type=float,
    callback=converted(check_cpus),
    default=0.5,
    show_default=True,
    metavar="X",
    help="Processors of each worker during trials and probes. Set the environment variable "
    "CORES to choose how many tasks each worker runs at the same time.",
)
@click.option(
    "--storage",
    "storages",
    callback=converted(_storages),
    default="hdfs",
    show_default=True,
    metavar="NAMES",
    help=f"One or more file systems of {', '.join(LAYOUTS)}, with commas between them; the first is Spark's "
    "default. QFS needs QFS_TARBALL (a URL or a file) or QFS_HOME.",
)
@click.option(
    "--racks",
    "rack_count",
    type=WholeNumber(1, 2),
    default=1,
    show_default=True,
    help="With two racks, each has half of the workers, and an uplink connects them.",
)
@click.option(
    "--uplink",
    metavar="RATE",
    help=f"Rate of the uplink.  [default: {DEFAULT_UPLINK}, with 2 racks]",
)
def up_command(
    nodes: int, cpus: float, storages: tuple[str, ...], rack_count: int, uplink: str | None
) -> None:
    """Start the lab and wait until it is ready. Its links are not shaped, and their MTU is 1500."""
    shape = LabSpec(nodes, cpus, storages, _uplink(nodes, rack_count, uplink))
    with lab_lock(), interruptible():
        started = up(shape)
    show(status_text(running_lab()) if started else "this lab is up already")


@lab.command("down")
def down_command() -> None:
    """Remove the lab and everything that it stores."""
    down()


@lab.command("status")
def status_command() -> None:
    """Show the lab's nodes and their links."""
    show(status_text(running_lab()))


@lab.command("link")
@click.option("--rate", metavar="RATE", help="Such as 100mbit or 2.5gbit.  [default: unchanged]")
@click.option("--unshaped", is_flag=True, help="Remove the limit.")
@mtu_option("Largest packet, such as 1500 or 9000.  [default: unchanged]")
@click.option(
    "--nodes",
    "names",
    metavar="NAMES",
    help="Such as worker-[1-4].  [default: all workers and the master]",
)
def link_command(rate: str | None, unshaped: bool, mtu: int | None, names: str | None) -> None:  # noqa: FBT001  a flag of click
    """Change the nodes' links in both directions, while everything runs."""
    if (rate is None and mtu is None and not unshaped) or (rate is not None and unshaped):
        raise BadInput("use --rate or --unshaped, or --mtu, or --mtu with one of the two")
    bit_s = None if rate is None else parse_rate("--rate", rate)

    def change(link: Link) -> Link:
        kept = None if unshaped else link.rate_bit_s
        return Link(bit_s or kept, mtu or link.mtu)

    current = running_lab()
    nodes = current.linked if names is None else current.select(expand_names("--nodes", names))
    if any(node == current.router for node in nodes):
        raise BadInput("--nodes: the router's links are the uplink, which `lab up` sets")
    uplink = shape_of(current).uplink_bit_s
    for node, link in zip(nodes, set_links(nodes, change), strict=True):
        show(f"{node.name}: {link}")
    if current.router is not None and uplink is not None and mtu is not None:
        racks.set_uplink(current.router, uplink, mtu)


@lab.command("verify")
@click.option(
    "--rate",
    "rates",
    multiple=True,
    metavar="RATE",
    help="Verify at this rate, then restore the links; repeatable.  [default: unchanged]",
)
@click.option(
    "--seconds",
    type=WholeNumber(1, 3600),
    default=5,
    show_default=True,
    help="Duration of each measurement, in seconds.",
)
def verify_command(rates: Sequence[str], seconds: int) -> int:
    """Measure the links and compare them with theory.

    It measures one flow, two opposite flows, three flows into one node, and flows across the uplink if there
    is one. The exit code is 1 if a result deviates by more than 3 % (across the uplink: 5 %).
    """
    checks: list[LinkCheck] = []
    try:
        with lab_lock(), interruptible():
            current = running_lab()
            for bit_s in [parse_rate("--rate", rate) for rate in rates]:
                say(f"verifying at {bit_s / 1e6:g} Mbit/s")
                with at_rate(current.linked, bit_s):
                    checks += verify(current, seconds)
            if not rates:
                checks += verify(current, seconds)
    finally:  # whatever ended the measurements
        if checks:
            show(checks_table(checks))
    return int(not all(check.is_within_tolerance for check in checks))


@lab.command("generate", context_settings=without_own_options)
@conf_option
@script_arguments
def generate_command(conf: Sequence[str], arguments: Sequence[str]) -> int:
    """Run datagen/generate.py in the lab; ARGS are that script's arguments."""
    with lab_lock():
        return spark_submit(running_lab(), GENERATE, arguments, conf)


@lab.command("benchmark", context_settings=without_own_options)
@conf_option
@script_arguments
def benchmark_command(conf: Sequence[str], arguments: Sequence[str]) -> int:
    """Run jobs/benchmark.py in the lab; ARGS are that script's arguments.

    Its results record that the cluster was emulated, and which links it had.
    """
    _check_is_kept(read_shared_options(arguments).results)
    with lab_lock():
        current = running_lab()
        return spark_submit(current, BENCHMARK, with_facts(arguments, facts(current)), conf)


def _check_is_kept(results: Path) -> None:
    """Raise BadInput unless the master writes these results to a directory of this machine."""
    kept = Path(CHECKOUT, "results")
    if not Path(normpath(Path(CHECKOUT, results))).is_relative_to(kept):
        raise BadInput(
            f"--results {results} would be in the lab, and removed with it: give results, or a directory in "
            "it; where that is on this machine, the environment variable RESULTS says when the lab starts"
        )


def _uplink(nodes: int, rack_count: int, uplink: str | None) -> int | None:
    if rack_count == 1:
        if uplink is not None:
            raise BadInput("--uplink is between racks; add --racks 2")
        return None
    if nodes < rack_count:
        raise BadInput(f"--racks {rack_count} needs a worker in each; add --nodes")
    return parse_rate("--uplink", DEFAULT_UPLINK if uplink is None else uplink)


def status_text(current: Lab) -> str:
    """Return two lines about the lab, and a table with one line for each node."""
    links = dict(
        zip((node.name for node in current.linked), read_links(current.linked), strict=True)
    )
    rows = [(node.name, node.state, links.get(node.name, "")) for node in current.nodes]
    reason = current.why_not_ready()
    return "\n".join(
        [
            f"{shape_of(current)}: {' '.join(map(current.uri, current.storages))}",
            f"not ready: {reason}" if reason else "ready",
            "",
            tabulate(rows, ("node", "state", "link")),
        ]
    )


def checks_table(checks: Sequence[LinkCheck]) -> str:
    """Return a table with one line for each direction of a pattern; rates are goodput in Mbit/s."""
    rows = [
        (
            check.link,
            check.direction,
            f"{check.measured_bit_s / 1e6:.1f}",
            f"{check.expected_bit_s / 1e6:.1f}",
            f"{check.deviation:+.1%}",
            "ok" if check.is_within_tolerance else f"not within {check.tolerance:.0%}",
        )
        for check in checks
    ]
    headers = ("link", "flows", "measured Mbit/s", "theory Mbit/s", "off", "")
    align = ("left", "left", "right", "right", "right", "left")
    return tabulate(rows, headers, colalign=align, disable_numparse=True)
