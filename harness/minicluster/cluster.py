"""A cluster of daemons on this machine, and where it stores its files."""

from dataclasses import dataclass, field
from pathlib import Path

from harness.minicluster.daemon import LOCALHOST, Daemon
from harness.records.directories import cache_directory


@dataclass(frozen=True)
class Cluster:
    """A cluster while it runs. `servers` does not count the head."""

    scheme: str
    name: str
    ports: tuple[int, ...]
    servers: int
    daemons: list[Daemon] = field(default_factory=list)

    @property
    def uri(self) -> str:
        """The URI of the service, without a path: `hdfs://127.0.0.1:PORT`."""
        return f"{self.scheme}://{LOCALHOST}:{self.ports[0]}"

    @property
    def directory(self) -> Path:
        """The directory of everything that the cluster stores."""
        return root() / f"{self.scheme}-{self.name}"

    @property
    def conf_directory(self) -> Path:
        """The directory of its daemons' or its clients' configuration."""
        return self.directory / "conf"

    @property
    def logs(self) -> Path:
        """The directory with one log for each daemon. It is kept after a start that failed."""
        return root() / "logs" / self.directory.name

    def wait(self) -> None:
        """Wait for the end of all daemons."""
        for daemon in self.daemons:
            daemon.process.wait()

    def dead(self) -> list[Daemon]:
        """Return the daemons that have ended."""
        return [daemon for daemon in self.daemons if not daemon.is_alive()]


def root() -> Path:
    """Return the directory that keeps all clusters of this user."""
    return cache_directory() / "minicluster"
