"""What is written down of a cluster: who has its name, and which processes are its own."""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from harness.minicluster.cluster import Cluster, root
from harness.minicluster.daemon import Daemon
from harness.model.errors import BadInput
from harness.terminal import say

STATE = "cluster.json"


def lock_directory(cluster: Cluster) -> None:
    """Take its name by making its directory, which holds the state from its first moment on.

    Raises BadInput if the name is taken, or the cache cannot be written.
    """
    try:
        root().mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=".new-", dir=root()))
    except OSError as error:
        raise BadInput(
            f"cannot keep a cluster in {root()}: {error.strerror}; set XDG_CACHE_HOME"
        ) from error
    try:
        _write(cluster, place)
        place.rename(cluster.directory)
    except OSError:
        raise BadInput(
            f"--name: {cluster.scheme} {cluster.name!r} is up already; use it, take another name, "
            f"or stop it: clusterlift {cluster.scheme} down --name {cluster.name}"
        ) from None
    finally:
        shutil.rmtree(place, ignore_errors=True)


def save(cluster: Cluster) -> None:
    """Write down what it is now."""
    _write(cluster, cluster.directory)


def find(scheme: str, name: str) -> Cluster:
    """The cluster of this name. Raises BadInput if there is none."""
    found = _load(root() / f"{scheme}-{name}" / STATE)
    if found is None:
        there = ", ".join(state.parent.name.removeprefix(f"{scheme}-") for state in _states(scheme))
        raise BadInput(f"--name: no {scheme} is called {name!r} (there: {there or 'none'})")
    return found


def find_all(scheme: str) -> list[Cluster]:
    """All clusters of a file system that are up, or were when the machine went down."""
    found = []
    for state in _states(scheme):
        try:
            found.append(_load(state))
        except BadInput as error:  # one that is damaged does not hide the others
            say(str(error))
    return [cluster for cluster in found if cluster is not None]


def remove(cluster: Cluster) -> None:
    """Remove all that it stores; the state last, so that what is interrupted can be done again."""
    with suppress(FileNotFoundError):
        for entry in cluster.directory.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name != STATE:
                entry.unlink()
        (cluster.directory / STATE).unlink()
        cluster.directory.rmdir()


def _states(scheme: str) -> list[Path]:
    return sorted(root().glob(f"{scheme}-*/{STATE}"))


def _write(cluster: Cluster, directory: Path) -> None:
    """Whoever reads meanwhile sees the state before or after, never half of one."""
    temporary = directory / f".{STATE}"
    temporary.write_text(json.dumps(asdict(cluster), indent=1) + "\n", encoding="utf-8")
    temporary.replace(directory / STATE)


def _load(state: Path) -> Cluster | None:
    """The cluster of a state file; None if it is gone by now."""
    try:
        fields = json.loads(state.read_text(encoding="utf-8"))
        daemons = tuple(Daemon(**daemon) for daemon in fields["daemons"])
        ports = tuple(map(int, fields["ports"]))
        cluster = Cluster(**{**fields, "ports": ports, "daemons": daemons})
        if not ports or cluster.directory != state.parent:
            raise ValueError("it is of another cluster")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadInput(
            f"{state} is not a state file of this clusterlift ({error}); "
            f"end its processes yourself and remove {state.parent}"
        ) from error
    return cluster
