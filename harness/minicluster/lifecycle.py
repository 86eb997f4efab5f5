"""A cluster is started as a whole or not at all, and stopped without a rest."""

from __future__ import annotations

import errno
import re
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from harness.minicluster.cluster import Cluster, FileSystem, count
from harness.minicluster.daemon import LOCALHOST, Daemon, Launch, end, start
from harness.minicluster.state import find, lock_directory, remove, save
from harness.model.errors import BadInput, ClusterliftError
from harness.runtime.interrupt import deferred_signals
from harness.terminal import say

ATTEMPTS = 3
READY_S = 120.0
POLL_S = 0.1


@contextmanager
def running(system: FileSystem, servers: int, *, keep_logs: bool = False) -> Iterator[Cluster]:
    """A cluster of its own, which is stopped, and its data removed, on leaving.

    With `keep_logs`, the logs stay if a daemon has died.
    """
    name = f"run-{secrets.token_hex(4)}"
    try:
        yield up(system, name, servers)
    finally:
        # By its name: a signal may come when it is up and nobody has been told yet.
        with suppress(BadInput):
            cluster = find(system.scheme, name)
            down(cluster, keep_logs=keep_logs and bool(cluster.dead()))


def up(system: FileSystem, name: str, servers: int, port: int | None = None) -> Cluster:
    """Start a cluster and wait until all its servers are live.

    Raises BadInput if the name or the port is taken, ClusterliftError if a daemon does not start;
    then nothing of it is left but the logs.
    """
    with _told(f"{system.title} cannot be started"):
        for _ in range(ATTEMPTS - 1):
            with suppress(_PortLost):
                return _up_once(system, name, servers, port)
        return _up_once(system, name, servers, port)


def down(cluster: Cluster, *, keep_logs: bool = False) -> None:
    """Kill a cluster's daemons and remove its data. Signals are only felt when that is done.

    Raises ClusterliftError if that is not possible; then it can be tried again.
    """
    with deferred_signals(), _told(f"{cluster.scheme} {cluster.name!r} cannot be stopped"):
        # There is nothing to flush: the data goes too.
        end(cluster.daemons)
        remove(cluster)
        if not keep_logs:
            shutil.rmtree(cluster.logs, ignore_errors=True)


class _PortLost(ClusterliftError):
    """Somebody took a port between our choosing it and the daemon's opening it."""


@contextmanager
def _told(what: str) -> Iterator[None]:
    """A full disk, a directory that belongs to somebody else, in one line."""
    try:
        yield
    except OSError as error:
        # shutil's own error has no number, and lists what went wrong.
        said = f"{error.strerror}: {error.filename}" if error.errno else str(error)
        raise ClusterliftError(f"{what}: {said}") from error


def _up_once(system: FileSystem, name: str, servers: int, port: int | None) -> Cluster:
    cluster = _planned(system, name, servers, port)
    lock_directory(cluster)  # and nothing else: what fails from here on is undone
    try:
        shutil.rmtree(cluster.logs, ignore_errors=True)
        cluster.logs.mkdir(parents=True)
        system.prepare(cluster)
        say(f"starting {system.title}: {system.head}, {count(servers, system.server)}")
        for launch in system.launches(cluster):
            with deferred_signals():
                cluster = _with_daemon(cluster, launch)
        _await_servers(system, cluster)
    except BaseException:
        down(cluster, keep_logs=cluster.logs.is_dir() and any(cluster.logs.iterdir()))
        raise
    return cluster


def _planned(system: FileSystem, name: str, servers: int, port: int | None) -> Cluster:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise BadInput(f"--name {name!r}: use letters, digits, dots, dashes and underscores")
    ports = free_ports(system.port_count(servers))
    if port is not None:
        check_free(port)
        ports = (port, *ports[1:])
    return Cluster(system.scheme, name, ports, servers)


def _with_daemon(cluster: Cluster, launch: Launch) -> Cluster:
    daemon = start(launch, cluster.logs / f"{launch.name}.log", cluster.directory)
    changed = replace(cluster, daemons=(*cluster.daemons, daemon))
    save(changed)
    return changed


def _await_servers(system: FileSystem, cluster: Cluster) -> None:
    deadline = time.monotonic() + READY_S
    while True:
        live = system.live_servers(cluster) or 0
        for daemon in cluster.dead():
            raise _died(system, daemon)
        if live >= cluster.servers:
            return
        if time.monotonic() > deadline:
            raise _late(system, cluster, live)
        time.sleep(POLL_S)


def _late(system: FileSystem, cluster: Cluster, live: int) -> ClusterliftError:
    head = cluster.daemons[0]
    return ClusterliftError(
        f"{system.title} is not ready after {READY_S:.0f} s: "
        f"{live} of {count(cluster.servers, system.server)} live; "
        f"{head.name} says: {head.complaint()}; its log is {head.log}"
    )


def _died(system: FileSystem, daemon: Daemon) -> ClusterliftError:
    kind = _PortLost if "Address already in use" in _text(daemon.log) else ClusterliftError
    return kind(
        f"{system.title} did not start: {daemon.name} died and said: {daemon.complaint()}; "
        f"its log is {daemon.log}"
    )


def _text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8", errors="replace")


# MERGED from harness.loopback.ports: 'Free ports of 127.0.0.1.'
def free_ports(count: int) -> tuple[int, ...]:
    """So many different ports that nobody listens on now."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((LOCALHOST, 0))
        return tuple(int(each.getsockname()[1]) for each in sockets)


def check_free(port: int) -> None:
    """Raise BadInput if --port cannot be had."""
    with socket.socket() as probe:
        # As the daemons do: connections that were closed a minute ago are not in the way.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOCALHOST, port))
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            reason = "is taken" if taken else f"cannot be had: {error.strerror}"
            raise BadInput(
                f"--port {port} {reason} on {LOCALHOST}; name another, or none to get a free one"
            ) from error
