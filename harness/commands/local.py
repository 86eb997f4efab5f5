"""`clusterlift local`: a small, real HDFS, QFS or Ceph on this machine."""

from collections.abc import Sequence

import click

from harness.base.interrupt import interruptible
from harness.base.option_types import WholeNumber, converted
from harness.base.terminal import show
from harness.commands.command import Group, group
from harness.minicluster.beside import check_program, run_beside
from harness.minicluster.ceph import CephCluster
from harness.minicluster.hdfs import HdfsCluster
from harness.minicluster.lifecycle import Service, running
from harness.minicluster.qfs import QfsCluster
from harness.minicluster.qfs_home import qfs_home
from harness.model.layout import Layout
from harness.submit.spark_configuration import properties_text

MAX_SERVERS = 64
DEFAULT_LAYOUT = "replicated:2"
"""The layout of Ceph's bucket unless others are named."""

PASSES_OPTIONS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
command_argument = click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)


@group("local", help="Run a small, real HDFS, QFS or Ceph on this machine.")
def local() -> None:
    pass


def file_system(system: Service, servers: int) -> Group:
    """Return the commands of a file system. `servers` is the default number of servers."""
    title = system.title
    option = click.option(
        f"--{system.server.lower().replace(' ', '-')}s",
        "servers",
        type=WholeNumber(1, MAX_SERVERS),
        default=servers,
        show_default=True,
        metavar="N",
        help=f"Number of {system.server}s.",
    )

    @group(system.scheme, help=f"Run a command beside a small, real {title} on this machine.")
    def commands() -> None:
        pass

    @commands.command(
        "run",
        help=f"Start {title}, run COMMAND with CLUSTERLIFT_FS set to its URI, stop {title} and remove "
        f"its data. {title} listens on 127.0.0.1 only. COMMAND may be a shell. The exit code is that of "
        "COMMAND.",
        context_settings=PASSES_OPTIONS_ON,
    )
    @option
    @command_argument
    def run_command(servers: int, command: Sequence[str]) -> int:
        check_program(command)
        with interruptible(once=True), running(system, servers) as cluster:
            environment = {"CLUSTERLIFT_FS": cluster.uri, **system.client_environment(cluster)}
            return run_beside(cluster, command, environment)

    return commands


qfs = file_system(QfsCluster(), servers=4)
local.add_command(file_system(HdfsCluster(), servers=3))
local.add_command(qfs)


@qfs.command("conf")
def conf() -> None:
    """Print the properties with which Spark can use QFS, for --properties-file."""
    show(properties_text(qfs_home().spark_properties()))


@group("s3", help="Run a command beside a small, real Ceph on this machine.")
def s3() -> None:
    pass


local.add_command(s3)


def _layouts(texts: Sequence[str]) -> tuple[Layout, ...]:
    """Return the layouts that the texts name, each once."""
    return tuple(dict.fromkeys(Layout.parse(text) for text in texts))


@s3.command(
    "run",
    help="Start a new Ceph on this machine, with a bucket for each --layout. Run COMMAND with "
    "CLUSTERLIFT_FS set to the URI of the first bucket. Then stop Ceph, and delete what it stored. Ceph "
    "listens on 127.0.0.1 only, and its programs have to be on the PATH. The exit code is the command's.",
    context_settings=PASSES_OPTIONS_ON,
)
@click.option(
    "--osds",
    type=WholeNumber(1, MAX_SERVERS),
    metavar="N",
    help="Number of OSDs.  [default: the number that the largest layout needs, at least 3]",
)
@click.option(
    "--layout",
    "layouts",
    metavar="LAYOUT",
    multiple=True,
    default=(DEFAULT_LAYOUT,),
    show_default=True,
    callback=converted(_layouts),
    help="Layout of a bucket, replicated:N or rs:D+P[:cell]. The bucket of rs:2+1 is s3a://rs-2-1. Repeat "
    "the option for more buckets.",
)
@command_argument
def run_beside_s3(osds: int | None, layouts: Sequence[Layout], command: Sequence[str]) -> int:
    check_program(command)
    system = CephCluster(layouts)
    with interruptible(once=True), running(system, system.servers(osds)) as cluster:
        system.create_buckets(cluster)
        return run_beside(cluster, command, system.client_environment(cluster))
