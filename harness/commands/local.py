"""`clusterlift local`: a small, real HDFS, QFS or Ceph on this machine."""

import shlex
from collections.abc import Sequence

import click

from harness.commands.command import Group, group
from harness.commands.options import converted
from harness.minicluster.beside import check_program, run_beside
from harness.minicluster.ceph import CephCluster
from harness.minicluster.cluster import Cluster, find, read_state, state_files
from harness.minicluster.hdfs import HdfsCluster
from harness.minicluster.lifecycle import Service, down, running, up
from harness.minicluster.qfs import QfsCluster
from harness.minicluster.qfs_home import qfs_home
from harness.minicluster.spark_configuration import properties_text
from harness.model.errors import BadInput
from harness.model.layout import Layout
from harness.option_types import WholeNumber
from harness.runtime.interrupt import interruptible
from harness.terminal import say, show
from harness.words import count_of, visible

MAX_SERVERS = 64
DEFAULT_LAYOUT = "replicated:2"
"""The layout of Ceph's bucket unless others are named."""

PASSES_OPTIONS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
command_argument = click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
name_option = click.option(
    "--name",
    default="default",
    show_default=True,
    help="The cluster's name; clusters with different names can be up at the same time.",
)


@group("local", help="Run a small, real HDFS, QFS or Ceph on this machine.")
def local() -> None:
    pass


def file_system(system: Service, servers: int) -> Group:
    """Return the commands of a file system; `servers` is the default number of servers."""
    title = system.title
    option = click.option(
        f"--{system.servers_option}",
        "servers",
        type=WholeNumber(1, MAX_SERVERS),
        default=servers,
        show_default=True,
        metavar="N",
        help=f"Number of {system.server}s.",
    )

    @group(system.scheme, help=f"Start and stop a small, real {title} on this machine.")
    def commands() -> None:
        pass

    @commands.command(
        "up",
        help=f"Start {title} and print the environment that its clients need, for a shell to eval. "
        "It listens on 127.0.0.1 only.",
    )
    @name_option
    @option
    def up_command(name: str, servers: int) -> None:
        with interruptible(once=True):
            cluster = up(system, name, servers)
        variables = {**system.client_environment(cluster), "CLUSTERLIFT_FS": cluster.uri}
        for key, value in variables.items():
            show(visible(f"export {key}={shlex.quote(value)}"))
        show(visible(f"# logs: {cluster.logs}"))
        show(visible(f"# stop: clusterlift local {cluster.scheme} down --name {cluster.name}"))

    @commands.command("status", help=f"Show each {title} that is up, and its daemons.")
    def status_command() -> int:
        files = state_files(system.scheme)
        if not files:
            show(f"no {title} is up")
        exit_code = 0
        for file in files:
            try:
                show_status(system, read_state(file))
            except BadInput as error:  # a damaged state file does not hide the other clusters
                say(str(error))
                exit_code = 2
        return exit_code

    @commands.command("down", help=f"Stop {title} and remove everything that it stores.")
    @name_option
    def down_command(name: str) -> None:
        down(find(system.scheme, name))

    @commands.command(
        "run",
        help=f"Start {title}, run COMMAND with CLUSTERLIFT_FS set to its URI, stop {title} and remove "
        "its data. The exit code is the command's.",
        context_settings=PASSES_OPTIONS_ON,
    )
    @option
    @command_argument
    def run_command(servers: int, command: Sequence[str]) -> int:
        check_program(command)
        with interruptible(once=True), running(system, servers) as cluster:
            environment = {**system.client_environment(cluster), "CLUSTERLIFT_FS": cluster.uri}
            return run_beside(cluster, command, environment)

    return commands


local.add_command(file_system(HdfsCluster(), servers=3))
local.add_command(qfs := file_system(QfsCluster(), servers=4))


@qfs.command("conf")
def conf() -> None:
    """Print the properties with which Spark can use QFS, for --properties-file."""
    show(properties_text(qfs_home().spark_properties()))


@local.group("s3", help="Run a command beside a small, real Ceph on this machine.")
def s3() -> None:
    pass


@s3.command(
    "run",
    help="Start a new Ceph on this machine, with a bucket for each --layout; run COMMAND with "
    "CLUSTERLIFT_FS set to the URI of the first bucket; then stop Ceph, and delete what it stored. It "
    "listens on 127.0.0.1 only, and its programs have to be on the PATH. The exit code is the command's.",
    context_settings=PASSES_OPTIONS_ON,
)
@click.option(
    "--osds",
    type=WholeNumber(1, MAX_SERVERS),
    metavar="N",
    help="Number of OSDs.  [default: as many as the largest layout needs, at least 3]",
)
@click.option(
    "--layout",
    "layouts",
    metavar="LAYOUT",
    multiple=True,
    default=(DEFAULT_LAYOUT,),
    show_default=True,
    callback=converted(lambda texts: tuple(dict.fromkeys(map(Layout.parse, texts)))),
    help="Layout of a bucket, replicated:N or rs:D+P[:cell]; the bucket of rs:2+1 is s3a://rs-2-1. Repeat "
    "the option for more buckets.",
)
@command_argument
def run_beside_s3(osds: int | None, layouts: Sequence[Layout], command: Sequence[str]) -> int:
    check_program(command)
    system = CephCluster(layouts)
    with interruptible(once=True), running(system, system.servers(osds)) as cluster:
        system.create_buckets(cluster)
        return run_beside(cluster, command, system.client_environment(cluster))


def show_status(system: Service, cluster: Cluster) -> None:
    """Print the state of a cluster and of its daemons, and where its files are."""
    live = system.live_servers(cluster)
    state = f"{live} of {count_of(cluster.servers, system.server)} live"
    if live is None:
        state = f"the {system.head} does not answer"
    show(visible(f"{cluster.name}  {cluster.uri}  {state}"))
    width = max((len(daemon.name) for daemon in cluster.daemons), default=0)
    for daemon in cluster.daemons:
        is_alive = "alive" if daemon.is_alive() else "dead "
        show(f"  {daemon.name:{width}}  {is_alive}  pid {daemon.pid}")
    show(visible(f"  data: {cluster.directory}"))
    show(visible(f"  logs: {cluster.logs}"))
