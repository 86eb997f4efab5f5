"""A cluster of daemons on this machine, and the state file by which a guard finds it."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import msgspec

from harness.minicluster.daemon import LOCALHOST, Daemon
from harness.model.errors import BadInput
from harness.records.directories import cache_directory, kept_in

STATE_FILE = "cluster.json"


@dataclass(frozen=True)
class Cluster:
    """A cluster as its state file describes it; `servers` does not count the head."""

    scheme: str
    name: str
    ports: tuple[int, ...]
    servers: int
    daemons: tuple[Daemon, ...] = ()

    @property
    def uri(self) -> str:
        """The URI of the service, without a path: `hdfs://127.0.0.1:PORT`."""
        return f"{self.scheme}://{LOCALHOST}:{self.ports[0]}"

    @property
    def directory(self) -> Path:
        """The directory of everything that the cluster stores."""
        return directory_of(self.scheme, self.name)

    @property
    def conf_directory(self) -> Path:
        """The directory of its daemons' or its clients' configuration."""
        return self.directory / "conf"

    @property
    def logs(self) -> Path:
        """The directory with one log for each daemon. It is kept after a start that failed."""
        return root() / "logs" / self.directory.name

    def dead(self) -> list[Daemon]:
        """Return the daemons that have ended."""
        return [daemon for daemon in self.daemons if not daemon.is_alive()]


def root() -> Path:
    """Return the directory that keeps all clusters of this user."""
    return cache_directory() / "minicluster"


def directory_of(scheme: str, name: str) -> Path:
    """Return the directory of the cluster of this name."""
    return root() / f"{scheme}-{name}"


def make_directory(cluster: Cluster) -> None:
    """Make the cluster's directory. Raises BadInput if the cache cannot be written."""
    with kept_in(root(), "a cluster"):
        cluster.directory.mkdir()


def save(cluster: Cluster) -> None:
    """Write the state file as a whole."""
    file = cluster.directory / f".{os.getpid()}-{STATE_FILE}"
    file.write_bytes(msgspec.json.encode(cluster))
    file.replace(cluster.directory / STATE_FILE)


def find(scheme: str, name: str) -> Cluster:
    """Return the cluster of this name. Raises BadInput if there is none, or if its state is damaged."""
    file = directory_of(scheme, name) / STATE_FILE
    try:
        return msgspec.json.decode(file.read_bytes(), type=Cluster)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(f"{file} is not the state of a cluster: {error}") from error


def remove(cluster: Cluster) -> None:
    """Remove everything that it stores; the state file last, so that a removal can be repeated."""
    for entry in cluster.directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != STATE_FILE:
            entry.unlink()
    shutil.rmtree(cluster.directory)
