"""Start a cluster as a whole or not at all, and stop it without leaving anything behind."""

import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import ClassVar, Protocol

from harness.base.errors import ClusterliftError
from harness.base.interrupt import deferred_signals
from harness.base.terminal import say
from harness.base.words import count_of
from harness.minicluster.cluster import Cluster, root
from harness.minicluster.daemon import Daemon, Launch, free_ports, guarded, start
from harness.records.directories import kept_in

ATTEMPTS = 3
READY_S = 120.0
POLL_S = 0.1


class Service(Protocol):
    """What differs between HDFS, QFS and Ceph."""

    scheme: ClassVar[str]
    title: ClassVar[str]
    server: ClassVar[str]
    """What its daemons are, except the first one, its head: DataNode, chunk server, OSD."""

    def port_count(self, servers: int) -> int:
        """Return how many ports must be chosen before the start. The first one is the port of the URI."""

    def prepare(self, cluster: Cluster) -> None:
        """Find the programs, write the configuration, and format an empty file system.

        Raise BadInput or ClusterliftError if something is missing.
        """

    def launches(self, cluster: Cluster) -> Iterable[Launch]:
        """Return the daemons to start, the head first."""

    def live_servers(self, cluster: Cluster) -> int | None:
        """Return how many servers the head counts as live; None if the head does not answer."""

    def client_environment(self, cluster: Cluster) -> Mapping[str, str]:
        """Return the environment variables that a client of this cluster needs, besides its URI."""


@contextmanager
def running(service: Service, servers: int) -> Iterator[Cluster]:
    """Provide a new cluster whose servers are live. Stop it and remove its data afterwards, also if killed.

    The logs stay if it did not start, or if a daemon has died. Raise BadInput if the cache cannot be
    written, ClusterliftError if a daemon does not start, OSError if the disk is full.
    """
    with ExitStack() as undo:
        yield _started(service, servers, undo)


def _started(service: Service, servers: int, undo: ExitStack) -> Cluster:
    for _ in range(ATTEMPTS - 1):
        try:
            return _start_once(service, servers, undo)
        except _PortLost:
            undo.close()
    return _start_once(service, servers, undo)


class _PortLost(ClusterliftError):
    """Another program took a port after we had chosen it and before the daemon opened it."""


def _start_once(service: Service, servers: int, undo: ExitStack) -> Cluster:
    ports = free_ports(service.port_count(servers))
    cluster = Cluster(service.scheme, f"run-{secrets.token_hex(4)}", ports, servers)
    undo.callback(cluster.wait)
    with kept_in(root(), "a cluster"):
        group = undo.enter_context(guarded(cluster.directory))
        cluster.directory.mkdir()
    service.prepare(cluster)
    cluster.logs.mkdir(parents=True)
    say(f"starting {service.title} with {count_of(servers, service.server)}")
    for launch in service.launches(cluster):
        with deferred_signals():
            log = cluster.logs / f"{launch.name}.log"
            cluster.daemons.append(start(launch, log, cluster.directory, group))
    _wait_for_servers(service, cluster)
    undo.callback(_remove_logs, cluster)
    return cluster


def _remove_logs(cluster: Cluster) -> None:
    if not cluster.dead():
        shutil.rmtree(cluster.logs, ignore_errors=True)


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
    log = daemon.log.read_text(encoding="utf-8", errors="replace")
    kind = _PortLost if "already in use" in log else ClusterliftError
    return kind(
        f"{service.title} did not start: {daemon.name} died: {daemon.closing_message()}; "
        f"see {daemon.log}"
    )
