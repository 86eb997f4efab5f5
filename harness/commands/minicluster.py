"""`clusterlift hdfs` and `qfs`, which have the same subcommands, `clusterlift yarn` and `s3`."""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import click
from click.core import ParameterSource

from harness.commands.command import group
from harness.commands.options import Decorator, converted
from harness.minicluster.ceph import CephCluster
from harness.minicluster.cluster import Cluster, find, find_all
from harness.minicluster.guard import NOTHING_TO_CLEAN_UP, guarded
from harness.minicluster.hdfs import HdfsCluster
from harness.minicluster.jar import bouncy_castle_jars, minicluster_jar
from harness.minicluster.lifecycle import Service, down, running, up
from harness.minicluster.minio import MinioCluster
from harness.minicluster.own_network import NoOwnNetwork, enter_own_network, is_in_another_network
from harness.minicluster.qfs import QfsCluster
from harness.minicluster.qfs_home import qfs_home
from harness.minicluster.spark_configuration import properties_text
from harness.minicluster.yarn import YarnCluster, hdfs_properties
from harness.model.errors import BadInput, ClusterliftError
from harness.model.layout import Layout
from harness.option_types import WholeNumber
from harness.runtime.interrupt import deferred_signals, interruptible, signal_handlers
from harness.terminal import say, show
from harness.words import count_of, visible

MAX_SERVERS = 64
FEWEST_OSDS = 3
STORES = {"ceph": "replicated:2", "minio": "rs:4+2"}
"""The object stores, each with the layout that it has unless others are named."""
RUN_PROGRAMS = "run programs as you"
OWN, SHARED = "own", "shared"

name_option = click.option(
    "--name",
    default="default",
    show_default=True,
    help="The cluster's name; clusters with different names can be up at the same time.",
)


def _number_of(
    service: Service | type[YarnCluster | CephCluster],
    default: int | None,
    name: str,
    more: str = "",
) -> Decorator:
    """Return the option of a service's number of servers; `more` ends its help."""
    return click.option(
        f"--{service.servers_option}",
        name,
        type=WholeNumber(1, MAX_SERVERS),
        default=default,
        show_default=True,
        metavar="N",
        help=f"Number of {service.server}s.{more}",
    )


def commands(
    system: Service, servers: int, fetch: Callable[[], object] = lambda: None
) -> click.Group:
    """Return the command group of a file system; `servers` is the default number of servers.

    `fetch` brings what the daemons need and this machine has not.
    """
    title = system.title
    servers_option = _number_of(system, servers, "servers")

    @group(system.scheme, help=f"Start and stop a small, real {title} on this machine.")
    def subcommands() -> None:
        pass

    @subcommands.command(
        "up",
        help=f"Start {title} and print the environment that its clients need, for a shell to eval. "
        "It listens on 127.0.0.1 only.",
    )
    @name_option
    @servers_option
    @click.option(
        "--port", type=WholeNumber(1, 65535), help="The port of its URI.  [default: a free one]"
    )
    def up_command(name: str, servers: int, port: int | None) -> None:
        with interruptible(once=True):
            cluster = up(system, name, servers, port)
        show(_exports(cluster, system.client_environment(cluster)))

    @subcommands.command("status", help=f"Show each {title} that is up, and its daemons.")
    @click.option("--name", help="Show only the one of this name.  [default: all]")
    def status_command(name: str | None) -> None:
        clusters = find_all(system.scheme) if name is None else [find(system.scheme, name)]
        if not clusters:
            show(f"no {title} is up")
        for cluster in clusters:
            show(_visible_lines(_status(system, cluster)))

    @subcommands.command("down", help=f"Stop {title} and remove everything that it stores.")
    @name_option
    def down_command(name: str) -> None:
        down(find(system.scheme, name))

    @subcommands.command(
        "run",
        help=f"Start {title}, run COMMAND with CLUSTERLIFT_FS set to its URI, stop {title} and remove "
        "its data. The exit code is the command's.",
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    )
    @servers_option
    @_network_option(SHARED, danger := f"read and write what {title} stores")
    @click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
    def run(servers: int, network: str, command: Sequence[str]) -> int:
        _check_program(command)
        if network == OWN:
            fetch()
            _isolate(danger)
        with interruptible(once=True), running(system, servers) as cluster:
            environment = {**system.client_environment(cluster), "CLUSTERLIFT_FS": cluster.uri}
            return _run_beside([cluster], command, environment)

    return subcommands


def _network_option(default: str, danger: str) -> Decorator:
    """Return the option that says who reaches the daemons."""
    return click.option(
        "--network",
        type=click.Choice([OWN, SHARED]),
        default=default,
        show_default=True,
        help=f"{OWN}: the daemons and COMMAND have a network of their own, without any other machine. "
        f"{SHARED}: they use the machine's, where all of its users can {danger} meanwhile.",
    )


def _isolate(danger: str) -> None:
    """Enter a network of our own.

    If the kernel has none for us, raise BadInput if the user is root or asked for it, and else warn.
    """
    try:
        enter_own_network()
    except NoOwnNetwork as error:
        problem = (
            f"the kernel gives this user no network of its own ({error}), and in the machine's, all of its "
            f"users can {danger} meanwhile"
        )
        source = click.get_current_context().get_parameter_source("network")
        if os.geteuid() == 0 or source is not ParameterSource.DEFAULT:
            raise BadInput(
                f"--network {OWN}: {problem}; --network {SHARED} accepts that"
            ) from error
        say(problem)


def _check_program(command: Sequence[str]) -> None:
    if shutil.which(command[0]) is None:
        raise BadInput(f"COMMAND: there is no program {command[0]!r}; name an installed one")


def _run_beside(
    clusters: Sequence[Cluster], command: Sequence[str], environment: Mapping[str, str]
) -> int:
    """Run a command to its end, say which daemons died in the meantime, and return its exit code."""
    code = _run_in_foreground(command, environment)
    for daemon in chain.from_iterable(cluster.dead() for cluster in clusters):
        say(f"{daemon.name} died in the meantime: {daemon.closing_message()}; see {daemon.log}")
    return code


def _run_in_foreground(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end, and let it decide what a signal does: it may be an interactive shell.

    Return its exit code, or 128 + N if signal N ended it. Raise ClusterliftError if it cannot be started.
    """
    child: subprocess.Popen[bytes] | None = None

    def ignore(_number: int, _frame: object) -> None:
        pass

    def forward(number: int, _frame: object) -> None:
        if child is not None:
            child.send_signal(number)

    # A terminal sends SIGINT to the command, too. SIGTERM and SIGHUP reach this process alone.
    with signal_handlers({signal.SIGINT: ignore, signal.SIGTERM: forward, signal.SIGHUP: forward}):
        with deferred_signals():  # a signal that arrives before there is a child would be lost
            try:
                child = subprocess.Popen(command, env={**os.environ, **environment})  # noqa: S603  the user's own command
            except OSError as error:
                raise ClusterliftError(f"cannot run {command[0]}: {error.strerror}") from error
        with guarded("sh", "-c", f"kill {child.pid} || exit {NOTHING_TO_CLEAN_UP}"):
            code = child.wait()
    return 128 - code if code < 0 else code


def _exports(cluster: Cluster, environment: Mapping[str, str]) -> str:
    """Return shell code that exports the variables; its comments tell people what else to know."""
    variables = {**environment, "CLUSTERLIFT_FS": cluster.uri}
    return _visible_lines(
        [
            *(f"export {key}={shlex.quote(value)}" for key, value in variables.items()),
            f"# logs: {cluster.logs}",
            f"# stop: clusterlift {cluster.scheme} down --name {cluster.name}",
        ]
    )


def _status(system: Service, cluster: Cluster) -> list[str]:
    servers = count_of(cluster.servers, system.server)
    if len(cluster.ports) != system.port_count(cluster.servers):
        state = "another version of clusterlift started it"
    elif any(map(is_in_another_network, cluster.daemons)):
        state = f"in a network of its own, of clusterlift {cluster.scheme} run"
    elif (live := system.live_servers(cluster)) is None:
        state = f"the {system.head} does not answer"
    else:
        state = f"{live} of {servers} live"
    width = max((len(daemon.name) for daemon in cluster.daemons), default=0)
    return [
        f"{cluster.name}  {cluster.uri}  {state}",
        *(
            f"  {daemon.name:{width}}  {'alive' if daemon.is_alive() else 'dead '}  "
            f"pid {daemon.pid}"
            for daemon in cluster.daemons
        ),
        f"  data: {cluster.directory}",
        f"  logs: {cluster.logs}",
    ]


def _visible_lines(lines: Sequence[str]) -> str:
    """Join lines for a terminal; paths may contain control characters, which are escaped."""
    return "\n".join(map(visible, lines))


hdfs = commands(HdfsCluster(), servers=3, fetch=minicluster_jar)
qfs = commands(QfsCluster(), servers=4)


@qfs.command("conf")
def conf() -> None:
    """Print the properties with which Spark can use QFS, for --properties-file."""
    show(properties_text(qfs_home().spark_properties()))


@group("yarn", help="Run a command beside a small, real YARN on this machine.")
def yarn() -> None:
    pass


@yarn.command(
    "run",
    help="Start a new YARN and a new HDFS on this machine; run COMMAND with HADOOP_CONF_DIR and "
    "CLUSTERLIFT_FS set for them; then stop both, and delete the files that they stored. The exit code is "
    "the command's.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@_number_of(YarnCluster, 2, "nodemanagers")
@_number_of(HdfsCluster(), 3, "datanodes")
@_network_option(OWN, RUN_PROGRAMS)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run_beside_yarn(nodemanagers: int, datanodes: int, network: str, command: Sequence[str]) -> int:
    _check_program(command)
    if network == OWN:
        minicluster_jar()
        bouncy_castle_jars()
        _isolate(RUN_PROGRAMS)
    with (
        interruptible(once=True),
        running(HdfsCluster(hdfs_properties()), datanodes) as files,
        running(system := YarnCluster(files), nodemanagers) as cluster,
    ):
        environment = {**system.client_environment(cluster), "CLUSTERLIFT_FS": files.uri}
        return _run_beside([files, cluster], command, environment)


@group("s3", help="Run a command beside a small, real object store on this machine.")
def s3() -> None:
    pass


@s3.command(
    "run",
    help="Start a new object store on this machine, with a bucket for each --layout; run COMMAND with "
    "CLUSTERLIFT_FS set to the URI of the first bucket; then stop the store, and delete what it stored. It "
    "listens on 127.0.0.1 only. The exit code is the command's.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option(
    "--store",
    type=click.Choice(list(STORES)),
    default="ceph",
    show_default=True,
    help="The object store. Its programs have to be on the PATH.",
)
@_number_of(
    CephCluster,
    None,
    "osds",
    f"  [default: as many as the largest layout needs, at least {FEWEST_OSDS}]",
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
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run_beside_s3(
    store: str, osds: int | None, layouts: Sequence[Layout], command: Sequence[str]
) -> int:
    _check_program(command)
    layouts = layouts or (Layout.parse(STORES[store]),)
    system: CephCluster | MinioCluster = (
        CephCluster(layouts) if store == "ceph" else MinioCluster(layouts)
    )
    if problem := system.problem():
        raise BadInput(f"--layout {problem}")
    servers = _disks(store, osds, layouts)
    with interruptible(once=True), running(system, servers) as cluster:
        system.create_buckets(cluster)
        return _run_beside([cluster], command, system.client_environment(cluster))


def _disks(store: str, osds: int | None, layouts: Sequence[Layout]) -> int:
    """Return how many OSDs or drives start. Raises BadInput for too few, and for too many."""
    largest = max(layouts, key=lambda layout: layout.nodes)
    if largest.nodes > MAX_SERVERS:
        raise BadInput(
            f"--layout {largest} needs {largest.nodes} servers, of which {MAX_SERVERS} start at most; choose "
            "another layout"
        )
    if store != "ceph":
        if osds is not None:
            raise BadInput(f"--osds {osds} is only for Ceph; leave it out for {store}")
        return largest.nodes
    if osds is not None and osds < largest.nodes:
        raise BadInput(f"--osds {osds}: {largest} needs {largest.nodes}, one for each part of it")
    return osds or max(FEWEST_OSDS, largest.nodes)
