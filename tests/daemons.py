"""The daemons of miniclusters: which there are, and how they die as by a power cut."""

from harness.minicluster.cluster import STATE_FILE, Cluster, find, root
from harness.minicluster.daemon import end


def find_all(scheme: str) -> list[Cluster]:
    """Return the clusters of a service that are up."""
    files = sorted(root().glob(f"{scheme}-*/{STATE_FILE}"))
    return [find(scheme, file.parent.name.removeprefix(f"{scheme}-")) for file in files]


def kill(cluster: Cluster, name: str) -> None:
    """End the daemon of this name with SIGKILL."""
    [daemon] = [daemon for daemon in cluster.daemons if daemon.name == name]
    end([daemon])
