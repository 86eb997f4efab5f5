"""`clusterlift hdfs` and `clusterlift qfs`: the same commands for both."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

import click

from harness.minicluster.cluster import Cluster, FileSystem, count
from harness.minicluster.foreground import check_command, run_command
from harness.minicluster.hdfs import HdfsCluster
from harness.minicluster.lifecycle import down, running, up
from harness.minicluster.qfs import QfsCluster, spark_properties
from harness.minicluster.qfs_home import qfs_home
from harness.minicluster.spark_conf import rendered
from harness.minicluster.state import find, find_all
from harness.runtime.interrupt import interruptible
from harness.terminal import say, visible

MOST_SERVERS = 64

name_option = click.option(
    "--name", default="default", show_default=True, help="Several can be up side by side."
)


def commands(system: FileSystem, servers: int) -> click.Group:
    """The group of one file system; `servers` is how many it has by default."""
    title = system.title
    servers_option = click.option(
        f"--{system.servers_option}",
        "servers",
        type=click.IntRange(1, MOST_SERVERS),
        default=servers,
        show_default=True,
        metavar="N",
        help=f"How many {system.server}s.",
    )

    @click.group(
        system.scheme, help=f"A small, real {title} on this machine, for as long as needed."
    )
    def group() -> None:
        pass

    @group.command(
        "up",
        help=f"Start {title} and print how to use it, so that a shell can eval it. It listens on "
        "127.0.0.1 alone.",
    )
    @name_option
    @servers_option
    @click.option(
        "--port", type=click.IntRange(1, 65535), help="The port of its URI.  [default: a free one]"
    )
    def up_command(name: str, servers: int, port: int | None) -> None:
        with interruptible(once=True):
            cluster = up(system, name, servers, port)
        click.echo(_how_to_use(cluster, system.client_environment(cluster)))

    @group.command("status", help=f"Show the {title}s that are up, and each of their daemons.")
    @click.option("--name", help="Show this one.  [default: all]")
    def status_command(name: str | None) -> None:
        clusters = find_all(system.scheme) if name is None else [find(system.scheme, name)]
        if not clusters:
            click.echo(f"no {title} is up")
        for cluster in clusters:
            click.echo(visible_lines(_status(system, cluster)))

    @group.command("down", help=f"Stop {title} and remove everything that it stores.")
    @name_option
    def down_command(name: str) -> None:
        down(find(system.scheme, name))

    @group.command(
        "run",
        help=f"Start {title}, run COMMAND with CLUSTERLIFT_FS set to its URI, stop it and remove its "
        "data. The exit code is the command's.",
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    )
    @servers_option
    @click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
    def run(servers: int, command: Sequence[str]) -> int:
        check_command(command)
        return _run(system, servers, command)

    return group


def _run(system: FileSystem, servers: int, command: Sequence[str]) -> int:
    with interruptible(once=True), running(system, servers, keep_logs=True) as cluster:
        environment = {**system.client_environment(cluster), "CLUSTERLIFT_FS": cluster.uri}
        code = run_command(command, environment)
        dead = cluster.dead()
    for daemon in dead:
        say(f"{daemon.name} died meanwhile and said: {daemon.complaint()}; its log is {daemon.log}")
    return code


def _how_to_use(cluster: Cluster, environment: Mapping[str, str]) -> str:
    """For people, and for `eval`."""
    variables = {**environment, "CLUSTERLIFT_FS": cluster.uri}
    return visible_lines(
        [
            *(f"export {key}={shlex.quote(value)}" for key, value in variables.items()),
            f"# logs: {cluster.logs}",
            f"# stop: clusterlift {cluster.scheme} down --name {cluster.name}",
        ]
    )


def _status(system: FileSystem, cluster: Cluster) -> list[str]:
    live = system.live_servers(cluster)
    servers = count(cluster.servers, system.server)
    said = f"the {system.head} does not answer" if live is None else f"{live} of {servers} live"
    width = max((len(daemon.name) for daemon in cluster.daemons), default=0)
    return [
        f"{cluster.name}  {cluster.uri}  {said}",
        *(
            f"  {daemon.name:{width}}  {'alive' if daemon.is_alive() else 'dead '}  "
            f"pid {daemon.pid}"
            for daemon in cluster.daemons
        ),
        f"  data: {cluster.directory}",
        f"  logs: {cluster.logs}",
    ]


def visible_lines(lines: Sequence[str]) -> str:
    """Lines for a terminal: paths can hold anything."""
    return "\n".join(map(visible, lines))


hdfs = commands(HdfsCluster(), servers=3)
qfs = commands(QfsCluster(), servers=4)


@qfs.command("conf")
def conf() -> None:
    """Print what Spark must be started with to use a QFS, for --properties-file."""
    click.echo(rendered(spark_properties(qfs_home())), nl=False)
