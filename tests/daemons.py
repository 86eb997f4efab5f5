"""The daemons of a minicluster die, as by a power cut."""

from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import end


def kill(cluster: Cluster, name: str) -> None:
    """End the daemon of this name with SIGKILL."""
    [daemon] = [daemon for daemon in cluster.daemons if daemon.name == name]
    end([daemon])
