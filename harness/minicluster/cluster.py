"""A cluster of daemons on this machine, and the state file by which later commands find it."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from harness.minicluster.daemon import LOCALHOST, Daemon
from harness.model.errors import BadInput
from harness.records.directories import cache_directory, kept_in
from harness.terminal import say

STATE_FILE = "cluster.json"


@dataclass(frozen=True)
class Cluster:
    """A cluster as its state file describes it; `servers` does not count the head."""

    scheme: str
    name: str
    ports: Annotated[tuple[int, ...], msgspec.Meta(min_length=1)]
    servers: int
    daemons: tuple[Daemon, ...] = ()

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

    def dead(self) -> list[Daemon]:
        """Return the daemons that have ended."""
        return [daemon for daemon in self.daemons if not daemon.is_alive()]


def root() -> Path:
    """Return the directory that keeps all clusters of this user."""
    return cache_directory() / "minicluster"


def claim_name(cluster: Cluster) -> None:
    """Reserve the cluster's name by its state file.

    Raises BadInput if another cluster has the name, or if the cache cannot be written, and OSError if the
    disk is full.
    """
    with kept_in(root(), "a cluster"):
        cluster.directory.mkdir(exist_ok=True)
    written = _written(cluster)
    try:
        os.link(written, cluster.directory / STATE_FILE)
    except FileExistsError:
        raise BadInput(
            f"--name: {cluster.scheme} {cluster.name!r} is up already; use it, choose another name, "
            f"or stop it: clusterlift local {cluster.scheme} down --name {cluster.name}"
        ) from None
    finally:
        written.unlink()


def save(cluster: Cluster) -> None:
    """Replace the state file as a whole."""
    _written(cluster).replace(cluster.directory / STATE_FILE)


def _written(cluster: Cluster) -> Path:
    """Return a new file with the cluster's state."""
    file = cluster.directory / f".{os.getpid()}-{STATE_FILE}"
    try:
        file.write_bytes(msgspec.json.format(msgspec.json.encode(cluster), indent=1))
    except OSError:
        file.unlink(missing_ok=True)
        raise
    return file


def find(scheme: str, name: str) -> Cluster:
    """Return the cluster of this name. Raises BadInput if there is none."""
    file = root() / f"{scheme}-{name}" / STATE_FILE
    if not file.exists():
        existing = ", ".join(cluster.name for cluster in find_all(scheme)) or "none"
        raise BadInput(f"--name: no {scheme} is called {name!r} (existing: {existing})")
    return read_state(file)


def find_all(scheme: str) -> list[Cluster]:
    """Return all clusters of a service that are up, or were up when the machine went down."""
    found = []
    for file in state_files(scheme):
        try:
            found.append(read_state(file))
        except BadInput as error:  # a damaged state file does not hide the other clusters
            say(str(error))
    return found


def state_files(scheme: str) -> list[Path]:
    """Return the state files of all clusters of a service."""
    return sorted(root().glob(f"{scheme}-*/{STATE_FILE}"))


def read_state(file: Path) -> Cluster:
    """Return the cluster of a state file. Raises BadInput if the file is damaged, or of another cluster."""
    try:
        cluster = msgspec.json.decode(file.read_bytes(), type=Cluster)
        if cluster.directory != file.parent:
            raise msgspec.ValidationError(f"it describes {cluster.directory}")
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise BadInput(
            f"{file} is not a state file of this clusterlift ({error}); "
            f"end its processes yourself and remove {file.parent}"
        ) from error
    return cluster


def remove(cluster: Cluster) -> None:
    """Remove everything that it stores; the state file last, so that a removal can be repeated."""
    for entry in cluster.directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != STATE_FILE:
            entry.unlink()
    shutil.rmtree(cluster.directory)
