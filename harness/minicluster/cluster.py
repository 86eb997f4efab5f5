"""The words for a cluster of daemons on this machine, whichever file system it makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from harness.minicluster.daemon import LOCALHOST, Daemon, Launch, end
from harness.model.errors import BadInput
from harness.runtime.cache import cache_directory


@dataclass(frozen=True)
class Cluster:
    """Daemons that make one file system. Its state file follows every change of `daemons`."""

    scheme: str
    name: str
    ports: tuple[int, ...]
    servers: int
    daemons: tuple[Daemon, ...] = ()

    @property
    def uri(self) -> str:
        """Where the file system is, without a path: `hdfs://127.0.0.1:PORT`."""
        return f"{self.scheme}://{LOCALHOST}:{self.ports[0]}"

    @property
    def directory(self) -> Path:
        """Everything it stores."""
        return root() / f"{self.scheme}-{self.name}"

    @property
    def conf_directory(self) -> Path:
        """The configuration of its daemons, or for its clients."""
        return self.directory / "conf"

    @property
    def logs(self) -> Path:
        """A log for each daemon. They outlive a start that failed."""
        return root() / "logs" / self.directory.name

    def kill(self, name: str) -> None:
        """End one daemon with SIGKILL, as a power cut would. Raises BadInput if there is no such."""
        named = [daemon for daemon in self.daemons if daemon.name == name]
        if not named:
            there = ", ".join(daemon.name for daemon in self.daemons)
            raise BadInput(f"no daemon is called {name!r} (there: {there})")
        end(named)

    def dead(self) -> list[Daemon]:
        """The daemons that do not run any more."""
        return [daemon for daemon in self.daemons if not daemon.is_alive()]


class FileSystem(Protocol):
    """What one file system does its own way."""

    scheme: ClassVar[str]
    title: ClassVar[str]
    head: ClassVar[str]
    """What its first daemon is called, of which there is one."""
    server: ClassVar[str]
    """What those are called that hold the data."""
    servers_option: ClassVar[str]

    def port_count(self, servers: int) -> int:
        """How many ports must be known before the start; the first is the URI's."""

    def prepare(self, cluster: Cluster) -> None:
        """Find the programs, write the configuration, make the empty file system.

        Raises BadInput or ClusterliftError if something is not there.
        """

    def launches(self, cluster: Cluster) -> Iterable[Launch]:
        """The daemons to start, the head first."""

    def live_servers(self, cluster: Cluster) -> int | None:
        """How many servers the head counts as live; None if it does not answer."""

    def client_environment(self, cluster: Cluster) -> Mapping[str, str]:
        """What a client of this cluster needs in its environment."""


def root() -> Path:
    """Where all clusters of this user are kept."""
    return cache_directory() / "loopback"


def count(number: int, thing: str) -> str:
    """`1 DataNode`, `3 DataNodes`."""
    return f"{number} {thing}" + "s" * (number != 1)
