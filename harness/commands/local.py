"""`clusterlift local`: a small, real HDFS, QFS, YARN or object store on this machine."""

import os
import shlex
from collections.abc import Sequence

import click
from click.core import ParameterSource

from harness.commands.command import Group, group
from harness.commands.options import Decorator, converted
from harness.minicluster.beside import check_program, run_beside
from harness.minicluster.ceph import CephCluster
from harness.minicluster.cluster import Cluster, find, read_state, state_files
from harness.minicluster.hdfs import HdfsCluster
from harness.minicluster.jar import bouncy_castle_jars, minicluster_jar
from harness.minicluster.lifecycle import Service, down, running, up
from harness.minicluster.minio import MinioCluster
from harness.minicluster.own_network import NoOwnNetwork, enter_own_network
from harness.minicluster.qfs import QfsCluster
from harness.minicluster.qfs_home import qfs_home
from harness.minicluster.spark_configuration import properties_text
from harness.minicluster.yarn import YarnCluster, hdfs_properties
from harness.model.errors import BadInput
from harness.model.layout import Layout
from harness.option_types import WholeNumber
from harness.runtime.interrupt import interruptible
from harness.terminal import say, show
from harness.words import count_of, visible

MAX_SERVERS = 64
STORES = {"ceph": "replicated:2", "minio": "rs:4+2"}
"""The object stores, each with the layout that it has unless others are named."""
OWN, SHARED = "own", "shared"

PASSES_OPTIONS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
command_argument = click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
name_option = click.option(
    "--name",
    default="default",
    show_default=True,
    help="The cluster's name; clusters with different names can be up at the same time.",
)


def servers_option(service: type[Service], default: int, name: str = "servers") -> Decorator:
    """Return the option of a service's number of servers; `name` is that of the parameter."""
    return click.option(
        f"--{service.servers_option}",
        name,
        type=WholeNumber(1, MAX_SERVERS),
        default=default,
        show_default=True,
        metavar="N",
        help=f"Number of {service.server}s.",
    )


@group("local", help="Run a small, real HDFS, QFS, YARN or object store on this machine.")
def local() -> None:
    pass


def file_system(system: Service, servers: int) -> Group:
    """Return the commands of a file system; `servers` is the default number of servers."""
    title = system.title
    option = servers_option(type(system), servers)

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
            return run_beside([cluster], command, environment)

    return commands


local.add_command(file_system(HdfsCluster(), servers=3))
local.add_command(qfs := file_system(QfsCluster(), servers=4))


@qfs.command("conf")
def conf() -> None:
    """Print the properties with which Spark can use QFS, for --properties-file."""
    show(properties_text(qfs_home().spark_properties()))


@local.group("yarn", help="Run a command beside a small, real YARN on this machine.")
def yarn() -> None:
    pass


@yarn.command(
    "run",
    help="Start a new YARN and a new HDFS on this machine; run COMMAND with HADOOP_CONF_DIR and "
    "CLUSTERLIFT_FS set for them; then stop both, and delete the files that they stored. The exit code is "
    "the command's.",
    context_settings=PASSES_OPTIONS_ON,
)
@servers_option(YarnCluster, 2, "nodemanagers")
@servers_option(HdfsCluster, 3, "datanodes")
@click.option(
    "--network",
    type=click.Choice([OWN, SHARED]),
    default=OWN,
    show_default=True,
    help=f"{OWN}: the daemons and COMMAND have a network of their own, without any other machine. "
    f"{SHARED}: they use the machine's, where all of its users can run programs as you meanwhile.",
)
@command_argument
def run_beside_yarn(nodemanagers: int, datanodes: int, network: str, command: Sequence[str]) -> int:
    check_program(command)
    if network == OWN:
        minicluster_jar()  # which may have to be fetched
        bouncy_castle_jars()
        _isolate()
    with (
        interruptible(once=True),
        running(HdfsCluster(hdfs_properties()), datanodes) as files,
        running(system := YarnCluster(files), nodemanagers) as cluster,
    ):
        environment = {**system.client_environment(cluster), "CLUSTERLIFT_FS": files.uri}
        return run_beside([files, cluster], command, environment)


def _isolate() -> None:
    """Enter a network of our own.

    If the kernel has none for us, raise BadInput if the user is root or asked for it, and else warn.
    """
    try:
        enter_own_network()
    except NoOwnNetwork as error:
        problem = (
            f"the kernel gives this user no network of its own ({error}), and in the machine's, all of its "
            "users can run programs as you meanwhile"
        )
        source = click.get_current_context().get_parameter_source("network")
        if os.geteuid() == 0 or source is not ParameterSource.DEFAULT:
            raise BadInput(
                f"--network {OWN}: {problem}; --network {SHARED} accepts that"
            ) from error
        say(problem)


@local.group("s3", help="Run a command beside a small, real object store on this machine.")
def s3() -> None:
    pass


@s3.command(
    "run",
    help="Start a new object store on this machine, with a bucket for each --layout; run COMMAND with "
    "CLUSTERLIFT_FS set to the URI of the first bucket; then stop the store, and delete what it stored. It "
    "listens on 127.0.0.1 only. The exit code is the command's.",
    context_settings=PASSES_OPTIONS_ON,
)
@click.option(
    "--store",
    type=click.Choice(list(STORES)),
    default="ceph",
    show_default=True,
    help="The object store. Its programs have to be on the PATH.",
)
@click.option(
    "--osds",
    type=WholeNumber(1, MAX_SERVERS),
    metavar="N",
    help="Number of Ceph's OSDs.  [default: as many as the largest layout needs, at least 3]",
)
@click.option(
    "--layout",
    "layouts",
    metavar="LAYOUT",
    multiple=True,
    callback=converted(lambda texts: tuple(dict.fromkeys(map(Layout.parse, texts)))),
    help="Layout of a bucket, replicated:N or rs:D+P[:cell]; the bucket of rs:2+1 is s3a://rs-2-1. On Ceph, "
    "repeat the option for more buckets.  "
    f"[default: {', '.join(f'{layout} of {store}' for store, layout in STORES.items())}]",
)
@command_argument
def run_beside_s3(
    store: str, osds: int | None, layouts: Sequence[Layout], command: Sequence[str]
) -> int:
    check_program(command)
    layouts = layouts or (Layout.parse(STORES[store]),)
    system: CephCluster | MinioCluster
    if store == "ceph":
        system = CephCluster(layouts)
        servers = system.servers(osds)
    elif osds is None:
        system = MinioCluster(layouts)
        servers = system.servers()
    else:
        raise BadInput(f"--osds {osds} is only for Ceph; leave it out for {store}")
    with interruptible(once=True), running(system, servers) as cluster:
        system.create_buckets(cluster)
        return run_beside([cluster], command, system.client_environment(cluster))


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
