"""A cluster of daemons on this machine, and the state file by which later commands find it."""

import errno
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import psutil

from harness.minicluster.daemon import LOCALHOST, Daemon
from harness.model.bounds import Meta
from harness.model.errors import BadInput
from harness.records.directories import cache_directory, kept_in
from harness.records.document import decoded
from harness.records.regular_file import regular_file
from harness.terminal import say

STATE_FILE = "cluster.json"
MAX_STATE_BYTES = 10**6
Port = Annotated[int, Meta(ge=1, le=65535)]
UNFINISHED = ".new-"
"""The prefix of a directory that has no name yet; the id of the process that makes it follows."""


@dataclass(frozen=True)
class Cluster:
    """The daemons of one service. Its state file is rewritten whenever `daemons` changes."""

    scheme: str
    name: str
    ports: Annotated[tuple[Port, ...], Meta(min_length=1)]
    servers: Annotated[int, Meta(ge=1, le=10_000)]
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
        """Return the daemons that do not run any more."""
        return [daemon for daemon in self.daemons if not daemon.is_alive()]


def root() -> Path:
    """Return the directory that keeps all clusters of this user."""
    return cache_directory() / "minicluster"


def claim_name(cluster: Cluster) -> None:
    """Reserve the cluster's name by creating its directory, with a state file from the first moment.

    Raises BadInput if another cluster has the name, or if the cache cannot be written, and OSError if the
    disk is full.
    """
    with kept_in(root(), "a cluster"):
        _remove_unfinished()
        directory = Path(tempfile.mkdtemp(prefix=f"{UNFINISHED}{os.getpid()}-", dir=root()))
    try:
        save(cluster, directory)
        directory.rename(cluster.directory)
    except OSError as error:
        if error.errno not in {errno.EEXIST, errno.ENOTEMPTY}:
            raise
        raise BadInput(
            f"--name: {cluster.scheme} {cluster.name!r} is up already; use it, choose another name, "
            f"or stop it: clusterlift local {cluster.scheme} down --name {cluster.name}"
        ) from None
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def save(cluster: Cluster, directory: Path | None = None) -> None:
    """Replace the state file as a whole, by default in the cluster's directory.

    Nobody ever reads half of it.
    """
    file = (directory or cluster.directory) / STATE_FILE
    temporary = file.with_name(f".{STATE_FILE}")
    temporary.write_bytes(msgspec.json.format(msgspec.json.encode(cluster), indent=1))
    temporary.replace(file)


def find(scheme: str, name: str) -> Cluster:
    """Return the cluster of this name. Raises BadInput if there is none."""
    found = _read_state(root() / f"{scheme}-{name}" / STATE_FILE)
    if found is None:
        existing = ", ".join(
            file.parent.name.removeprefix(f"{scheme}-") for file in _state_files(scheme)
        )
        raise BadInput(f"--name: no {scheme} is called {name!r} (existing: {existing or 'none'})")
    return found


def find_all(scheme: str) -> list[Cluster]:
    """Return all clusters of a service that are up, or were up when the machine went down."""
    found = []
    for file in _state_files(scheme):
        try:
            found.append(_read_state(file))
        except BadInput as error:  # a damaged state file does not hide the other clusters
            say(str(error))
    return [cluster for cluster in found if cluster is not None]


def remove(cluster: Cluster) -> None:
    """Remove everything that it stores; the state file last, so that a removal can be repeated."""
    while cluster.directory.exists():
        with suppress(FileNotFoundError):  # another process removes it, too, or its own files
            for entry in cluster.directory.iterdir():
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                elif entry.name != STATE_FILE:
                    entry.unlink()
            (cluster.directory / STATE_FILE).unlink(missing_ok=True)
            cluster.directory.rmdir()


def _remove_unfinished() -> None:
    """Remove the directories of processes that were killed while they claimed a name."""
    for directory in root().glob(f"{UNFINISHED}*"):
        process_id = directory.name.removeprefix(UNFINISHED).partition("-")[0]
        if not (process_id.isdecimal() and psutil.pid_exists(int(process_id))):
            shutil.rmtree(directory, ignore_errors=True)


def _state_files(scheme: str) -> list[Path]:
    return sorted(root().glob(f"{scheme}-*/{STATE_FILE}"))


def _read_state(file: Path) -> Cluster | None:
    """Return the cluster of a state file; None if the file has been removed."""
    if not os.path.lexists(file):
        return None
    try:
        with regular_file(file) as stream:
            cluster = decoded(stream.read(MAX_STATE_BYTES), Cluster)
        if cluster.directory != file.parent:
            raise ValueError("it describes another cluster")
    except ValueError as error:
        raise BadInput(
            f"{file} is not a state file of this clusterlift ({error}); "
            f"end its processes yourself and remove {file.parent}"
        ) from error
    return cluster
