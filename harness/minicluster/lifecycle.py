"""Start a cluster as a whole or not at all, and stop it without leaving anything behind."""

import secrets
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Protocol

from harness.minicluster.cluster import Cluster, find, make_directory, remove, save
from harness.minicluster.daemon import Daemon, Launch, end, free_ports, starting
from harness.minicluster.guard import guarded
from harness.model.errors import BadInput, ClusterliftError
from harness.runtime.interrupt import deferred_signals
from harness.terminal import say
from harness.words import count_of

ATTEMPTS = 3
READY_S = 120.0
POLL_S = 0.1


class Service(Protocol):
    """What differs between HDFS, QFS and Ceph."""

    scheme: ClassVar[str]
    title: ClassVar[str]
    head: ClassVar[str]
    """The kind of its first, single daemon: NameNode, metaserver, gateway."""
    server: ClassVar[str]
    """The kind of its other daemons: DataNode, chunk server, OSD."""
    servers_option: ClassVar[str]

    def port_count(self, servers: int) -> int:
        """Return how many ports must be chosen before the start; the first one is the URI's."""

    def prepare(self, cluster: Cluster) -> None:
        """Find the programs, write the configuration, and format an empty file system.

        Raises BadInput or ClusterliftError if something is missing.
        """

    def launches(self, cluster: Cluster) -> Iterable[Launch]:
        """Return the daemons to start, the head first."""

    def live_servers(self, cluster: Cluster) -> int | None:
        """Return how many servers the head counts as live; None if the head does not answer."""

    def client_environment(self, cluster: Cluster) -> Mapping[str, str]:
        """Return the environment variables that a client of this cluster needs."""


@contextmanager
def running(service: Service, servers: int) -> Iterator[Cluster]:
    """Provide a new cluster while entered; stop it and remove its data afterwards, and if we are killed.

    The logs stay if a daemon has died.
    """
    name = f"run-{secrets.token_hex(4)}"
    with guarded(sys.executable, "-m", __name__, service.scheme, name):
        try:
            yield up(service, name, servers)
        finally:
            # Find it by name: a signal may arrive when it is up but `up` has not returned yet.
            with suppress(BadInput):
                cluster = find(service.scheme, name)
                down(cluster, keep_logs=bool(cluster.dead()))


def up(service: Service, name: str, servers: int) -> Cluster:
    """Start a cluster and wait until all its servers are live.

    Raises BadInput if the cache cannot be written, ClusterliftError if a daemon does not start, OSError if
    the disk is full. After an error, only the logs are left.
    """
    for _ in range(ATTEMPTS - 1):
        with suppress(_PortLost):
            return _up_once(service, name, servers)
    return _up_once(service, name, servers)


def down(cluster: Cluster, *, keep_logs: bool = False) -> None:
    """Kill a cluster's daemons and remove its data. Signals wait until that is done.

    Raises ClusterliftError or OSError if that fails; then it can be tried again.
    """
    with deferred_signals():
        # SIGKILL loses nothing: the data is removed, too.
        end(cluster.daemons)
        remove(cluster)
        if not keep_logs:
            shutil.rmtree(cluster.logs, ignore_errors=True)


class _PortLost(ClusterliftError):
    """Another program took a port after we had chosen it and before the daemon opened it."""


def _up_once(service: Service, name: str, servers: int) -> Cluster:
    cluster = Cluster(service.scheme, name, free_ports(service.port_count(servers)), servers)
    make_directory(cluster)  # outside `try`: if this fails, the directory is not ours to remove
    try:
        save(cluster)
        shutil.rmtree(cluster.logs, ignore_errors=True)
        cluster.logs.mkdir(parents=True)
        service.prepare(cluster)
        say(f"starting {service.title}: {service.head}, {count_of(servers, service.server)}")
        for launch in service.launches(cluster):
            with (
                deferred_signals(),
                starting(launch, cluster.logs / f"{launch.name}.log", cluster.directory) as daemon,
            ):
                cluster = replace(cluster, daemons=(*cluster.daemons, daemon))
                save(cluster)  # before it runs, so that a guard knows of it
        _wait_for_servers(service, cluster)
    except BaseException:
        down(cluster, keep_logs=cluster.logs.is_dir() and any(cluster.logs.iterdir()))
        raise
    return cluster


def _wait_for_servers(service: Service, cluster: Cluster) -> None:
    deadline = time.monotonic() + READY_S
    while True:
        live = service.live_servers(cluster) or 0
        for daemon in cluster.dead():
            raise _died(service, daemon)
        if live >= cluster.servers:
            return
        if time.monotonic() > deadline:
            head = cluster.daemons[0]
            raise ClusterliftError(
                f"{service.title} is not ready after {READY_S:.0f} s: "
                f"{live} of {count_of(cluster.servers, service.server)} live; "
                f"{head.name}: {head.closing_message()}; see {head.log}"
            )
        time.sleep(POLL_S)


def _died(service: Service, daemon: Daemon) -> ClusterliftError:
    log = Path(daemon.log).read_text(encoding="utf-8", errors="replace")
    kind = _PortLost if "already in use" in log else ClusterliftError
    return kind(
        f"{service.title} did not start: {daemon.name} died: {daemon.closing_message()}; "
        f"see {daemon.log}"
    )


if __name__ == "__main__":  # a guard runs this, with scheme and name
    with suppress(BadInput):  # it never came up
        down(find(*sys.argv[1:]))
