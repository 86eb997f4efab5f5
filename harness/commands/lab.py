"""`clusterlift lab`: a cluster of containers, and its links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from harness.analysis.comparison import compare
from harness.analysis.configuration import find_configuration
from harness.experiments.experiment import read_experiment
from harness.experiments.runs import run_experiment
from harness.lab import racks, status
from harness.lab.cluster import Lab, Node, running_lab
from harness.lab.compose import Shape, results_directory
from harness.lab.lifecycle import down, up
from harness.lab.links import read_link, read_links, set_links
from harness.lab.submit import spark_submit, with_facts
from harness.lab.verify import LinkCheck, render
from harness.lab.verify import verify as findings_of
from harness.model.errors import BadInput, ClusterliftError
from harness.model.link import MAX_MTU, MIN_MTU, Link, parse_rate
from harness.present import markdown, text
from harness.probes.transports.host import expand_names
from harness.runtime.interrupt import interruptible
from harness.terminal import say

MOST_WORKERS = 64
DEFAULT_UPLINK = "1gbit"

passed_on = click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="ARGS...")
conf_option = click.option(
    "--conf",
    multiple=True,
    metavar="KEY=VALUE",
    help="A property of Spark's, as spark-submit takes it; repeatable.",
)
as_they_are = {"ignore_unknown_options": True, "help_option_names": []}


@click.group()
def lab() -> None:
    """A cluster of containers on this machine, whose links are as fast as you say."""


@lab.command("up")
@click.option(
    "--nodes",
    type=click.IntRange(1, MOST_WORKERS),
    default=4,
    show_default=True,
    metavar="N",
    help="How many workers, besides the master.",
)
@click.option(
    "--cpus",
    type=click.FloatRange(0.1, 1024),
    default=0.5,
    show_default=True,
    metavar="X",
    help="Processors of each worker; the environment's CORES is how many tasks it runs at once.",
)
@click.option(
    "--storage",
    type=click.Choice(["hdfs", "qfs"]),
    default="hdfs",
    show_default=True,
    help="The file system; QFS needs QFS_TARBALL (a URL or a file) or QFS_HOME.",
)
@click.option(
    "--racks",
    "rack_count",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="Two share the workers, with an uplink between them.",
)
@click.option(
    "--uplink", metavar="RATE", help=f"How fast that is.  [default: {DEFAULT_UPLINK}, with 2 racks]"
)
def up_command(nodes: int, cpus: float, storage: str, rack_count: int, uplink: str | None) -> None:
    """Bring the lab up and wait until it is ready. Its links are not shaped, their MTU is 1500."""
    shape = Shape(nodes, cpus, storage, _uplink(nodes, rack_count, uplink))
    with interruptible():
        started = up(shape)
    click.echo(status.render(running_lab()) if started else "this lab is up already")


@lab.command("down")
def down_command() -> None:
    """Remove the lab with everything that it stores."""
    down()


@lab.command("status")
def status_command() -> None:
    """Show the lab's nodes and their links."""
    click.echo(status.render(running_lab()))


@lab.command("link")
@click.option("--rate", metavar="RATE", help="Such as 100mbit or 2.5gbit.  [default: as it is]")
@click.option("--unshaped", is_flag=True, help="Take the limit away.")
@click.option(
    "--mtu",
    type=click.IntRange(MIN_MTU, MAX_MTU),
    metavar="BYTES",
    help="Bytes of a packet, such as 1500 or 9000.  [default: as it is]",
)
@click.option(
    "--nodes",
    "names",
    metavar="NAMES",
    help="Such as worker-[1-4].  [default: all, and the master]",
)
def link_command(rate: str | None, unshaped: bool, mtu: int | None, names: str | None) -> None:  # noqa: FBT001  click's way
    """Change the nodes' links, in both directions and while everything runs."""
    if (rate is None and mtu is None and not unshaped) or (rate is not None and unshaped):
        raise BadInput("name one of --rate and --unshaped, or --mtu, or --mtu with one of them")
    bit_s = None if rate is None else parse_rate("--rate", rate)

    def change(link: Link) -> Link:
        kept = None if unshaped else link.rate_bit_s
        return Link(bit_s or kept, mtu or link.mtu)

    there = running_lab()
    nodes = there.linked if names is None else there.select(expand_names("--nodes", names))
    if any(node == there.router for node in nodes):
        raise BadInput("--nodes: the router's links are the uplink, which `lab up` sets")
    uplink = _current_uplink(there)
    for node, link in zip(nodes, set_links(nodes, change), strict=True):
        click.echo(f"{node.name}: {link}")
    if there.router is not None and uplink is not None and mtu is not None:
        racks.set_uplink(there.router, uplink, mtu)


@lab.command("verify")
@click.option(
    "--rate",
    "rates",
    multiple=True,
    metavar="RATE",
    help="Verify at this rate, and set the links back; repeatable.  [default: as they are]",
)
@click.option(
    "--seconds",
    type=click.IntRange(1, 3600),
    default=5,
    show_default=True,
    help="How long each pattern is measured.",
)
def verify_command(rates: Sequence[str], seconds: int) -> int:
    """Measure the links, and hold them against theory.

    One way, both ways, three into one. The exit code is 1 if one is more than 3 % off.
    """
    there = running_lab()
    findings: list[LinkCheck] = []
    with interruptible():
        for bit_s in [parse_rate("--rate", rate) for rate in rates]:
            say(f"verifying at {bit_s / 1e6:g} Mbit/s")
            with _at_rate(there.linked, bit_s):
                findings += findings_of(there, seconds)
        if not rates:
            findings += findings_of(there, seconds)
    click.echo(render(findings))
    return int(not all(finding.holds for finding in findings))


@lab.command("generate", context_settings=as_they_are)
@conf_option
@passed_on
def generate_command(conf: Sequence[str], arguments: Sequence[str]) -> int:
    """Run datagen/generate.py in the lab, with its own arguments."""
    return spark_submit(running_lab(), "datagen/generate.py", arguments, conf)


@lab.command("benchmark", context_settings=as_they_are)
@conf_option
@passed_on
def benchmark_command(conf: Sequence[str], arguments: Sequence[str]) -> int:
    """Run jobs/benchmark.py in the lab, with its own arguments.

    Facts say that it was emulated, and how the links were.
    """
    there = running_lab()
    told = with_facts(arguments, status.facts(there))
    return spark_submit(there, "jobs/benchmark.py", told, conf)


@lab.command("experiment")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
def experiment_command(file: Path) -> int:
    """Run the whole experiment that FILE.toml describes, and compare.

    It brings the lab up, generates every dataset and proves it, and runs the configurations in turn.
    What was interrupted goes on where it was. Results are in results/NAME, the table in comparison.md
    beside them.
    """
    experiment = read_experiment(file)
    results = results_directory() / experiment.name
    with interruptible(once=True):
        outcome = run_experiment(experiment, results)
    if outcome.measured:
        comparison = compare([find_configuration(name, results) for name in outcome.measured])
        table = results / "comparison.md"
        table.write_text(markdown.render(comparison), encoding="utf-8")
        click.echo(text.render(comparison), nl=False)
        click.echo(f"\nresults: {results}, table: {table}")
    if outcome.undone:
        raise ClusterliftError(
            f"not done: {'; '.join(map(str, outcome.undone))}: what went wrong is told above, and the "
            "same command tries again"
        )
    return int(outcome.failed)


def _uplink(nodes: int, rack_count: int, uplink: str | None) -> int | None:
    if rack_count == 1:
        if uplink is not None:
            raise BadInput("--uplink is between racks; add --racks 2")
        return None
    if nodes < rack_count:
        raise BadInput(f"--racks {rack_count} needs a worker in each; add --nodes")
    return parse_rate("--uplink", uplink or DEFAULT_UPLINK)


def _current_uplink(there: Lab) -> int | None:
    if there.router is None:
        return None
    return racks.uplink_bit_s(there.router, read_link(there.master).mtu)


@contextmanager
def _at_rate(nodes: Sequence[Node], bit_s: int) -> Iterator[None]:
    """While entered, all links have this rate."""
    before = read_links(nodes)
    set_links(nodes, lambda link: replace(link, rate_bit_s=bit_s))
    try:
        yield
    finally:
        for node, was in zip(nodes, before, strict=True):
            set_links([node], partial(_returned, was))


def _returned(was: Link, _: Link) -> Link:
    return was
