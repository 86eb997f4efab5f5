"""`clusterlift lab`: a cluster of containers on this machine, and its links."""

from collections.abc import Sequence
from os.path import normpath
from pathlib import Path

import click

from harness.base.errors import BadInput
from harness.base.interrupt import interruptible
from harness.base.option_types import RealNumber, WholeNumber, converted
from harness.base.terminal import show
from harness.commands.command import group
from harness.commands.options import mtu_option, spark_lines_option
from harness.hosts.transports.host import expand_names
from harness.lab.cluster import Lab, LabSpec, lab_lock, running_lab
from harness.lab.compose import MAX_CPUS, MAX_WORKERS, MIN_CPUS
from harness.lab.lifecycle import down, up
from harness.lab.links import read_links, set_links
from harness.lab.storages import LAYOUTS
from harness.lab.submit import CHECKOUT, facts, spark_submit
from harness.model.link import Link, parse_rate
from harness.present import text
from harness.present.blocks import Document
from harness.present.lab_page import lab_page
from harness.submit.script import BENCHMARK, GENERATE
from harness.work.script_options import read_script_options

script_arguments = click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="ARGS...")
conf_option = click.option(
    "--conf",
    multiple=True,
    metavar="KEY=VALUE",
    help="A Spark property for spark-submit; repeatable.",
)
without_own_options = {"ignore_unknown_options": True, "help_option_names": []}


def _storages(listed: str) -> tuple[str, ...]:
    """Split the names of file systems. Raise ValueError for an unknown or repeated one."""
    names = tuple(listed.split(","))
    if not set(names) <= set(LAYOUTS) or len(set(names)) < len(names):
        raise ValueError(
            f"{listed!r}: name one of {', '.join(LAYOUTS)}, or several with commas between them"
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
    help="Number of workers besides the master.",
)
@click.option(
    "--cpus",
    type=RealNumber(MIN_CPUS, MAX_CPUS),
    default=0.5,
    show_default=True,
    metavar="X",
    help="Processors of each worker. Set the environment variable "
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
    "default. QFS needs QFS_HOME: the directory of an unpacked binary tarball of QFS.",
)
def up_command(nodes: int, cpus: float, storages: tuple[str, ...]) -> None:
    """Start the lab and wait until it is ready. Its links are not shaped, and their MTU is 1500."""
    shape = LabSpec(nodes, cpus, storages)
    with lab_lock(), interruptible():
        is_started = up(shape)
    if is_started:
        show(text.render(_status_page(running_lab())))
    else:
        show("this lab is up already")


@lab.command("down")
def down_command() -> None:
    """Remove the lab and everything that it stores."""
    down()


@lab.command("status")
def status_command() -> None:
    """Show the lab's nodes and their links."""
    show(text.render(_status_page(running_lab())))


@lab.command("link")
@click.option(
    "--rate",
    metavar="RATE",
    help="Rate of each link, such as 100mbit or 2.5gbit.  [default: unchanged]",
)
@click.option("--unshaped", is_flag=True, help="Remove the limit of the rate.")
@mtu_option("Largest packet, such as 1500 or 9000.  [default: unchanged]")
@click.option(
    "--nodes",
    "names",
    metavar="NAMES",
    help="Nodes whose links change, such as worker-[1-4].  [default: all workers and the master]",
)
def link_command(rate: str | None, unshaped: bool, mtu: int | None, names: str | None) -> None:  # noqa: FBT001  a flag of click
    """Change the nodes' links in both directions, while everything runs."""
    if (rate is None and mtu is None and not unshaped) or (rate is not None and unshaped):
        raise BadInput("use --rate or --unshaped, or --mtu, or --mtu with one of the two")
    bit_s = None if rate is None else parse_rate("--rate", rate)
    current = running_lab()
    hosts = current.hosts
    if names is not None:
        hosts = [current.node(name).host for name in expand_names("--nodes", names)]
    wanted = {}
    for host, link in zip(hosts, read_links(hosts), strict=True):
        kept_bit_s = None if unshaped else link.rate_bit_s
        wanted[host] = Link(bit_s or kept_bit_s, mtu or link.mtu)
    set_links(wanted)
    for host, link in wanted.items():
        show(f"{host}: {link}")


@lab.command("generate", context_settings=without_own_options)
@conf_option
@spark_lines_option
@script_arguments
def generate_command(conf: Sequence[str], arguments: Sequence[str], *, spark_lines: bool) -> int:
    """Run datagen/generate.py in the lab. ARGS are that script's arguments."""
    with lab_lock():
        current = running_lab()
        return spark_submit(current, GENERATE, arguments, conf, shows_usual_lines=spark_lines)


@lab.command("benchmark", context_settings=without_own_options)
@conf_option
@spark_lines_option
@script_arguments
def benchmark_command(conf: Sequence[str], arguments: Sequence[str], *, spark_lines: bool) -> int:
    """Run jobs/benchmark.py in the lab. ARGS are that script's arguments.

    Its results record that the cluster was emulated, and which links it had.
    """
    given = read_script_options(arguments)
    _check_is_kept(given.results)
    with lab_lock():
        current = running_lab()
        observed = facts(current).items()
        added = [f"--fact={key}={value}" for key, value in observed if key not in given.facts]
        given_and_observed = [*arguments, *added]
        return spark_submit(
            current, BENCHMARK, given_and_observed, conf, shows_usual_lines=spark_lines
        )


def _check_is_kept(results: Path) -> None:
    """Raise BadInput unless the master writes these results to a directory of this machine."""
    kept = Path(CHECKOUT, "results")
    if not Path(normpath(Path(CHECKOUT, results))).is_relative_to(kept):
        raise BadInput(
            f"--results {results} would be in the lab, and removed with it: give results, or a directory in "
            "it (the environment variable RESULTS says where that is on this machine when the lab starts)"
        )


def _status_page(current: Lab) -> Document:
    """Return what is shown of the lab. The links are those that its nodes have now."""
    hosts = current.hosts
    links = dict(zip(map(str, hosts), map(str, read_links(hosts)), strict=True))
    nodes = [(node.name, node.state, links.get(node.name, "")) for node in current.nodes]
    uris = " ".join(current.uri(storage) for storage in current.storages)
    return lab_page(f"{current.shape}: {uris}", current.why_not_ready(), nodes)
