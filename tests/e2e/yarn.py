"""YARN: a ResourceManager and one NodeManager, run from the jars of HDFS's daemons, with files on an HDFS."""

import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from harness.base.http_request import Request
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import LOCALHOST, Launch
from harness.minicluster.hadoop import answer_of, java_command, java_program, write_properties
from harness.minicluster.jar import Artifact, fetched
from harness.submit.local_spark import spark_environment, spark_home
from harness.submit.spark_configuration import write_spark_configuration

SERVER = "org.apache.hadoop.yarn.server"
RESOURCEMANAGER = f"{SERVER}.resourcemanager.ResourceManager"
NODEMANAGER = f"{SERVER}.nodemanager.NodeManager"
MEMORY_MB = 8192
"""What a NodeManager offers. YARN does not check it: no memory is set aside."""
# A cryptographic library that YARN needs.
BOUNCY_CASTLE = tuple(
    Artifact("org.bouncycastle", f"{name}-jdk18on", "1.78.1", sha256)
    for name, sha256 in (
        ("bcprov", "add5915e6acfc6ab5836e1fd8a5e21c6488536a8c1f21f386eeb3bf280b702d7"),
        ("bcutil", "d9fa56f97b0f761ce3bc8d9d74c5d7137a987bf5bd3abfe1003f9bafa45a1d2f"),
        ("bcpkix", "4b48ea084e5232b9d79ebca1887b9de037b124931807cd60710748c2aee08cc9"),
    )
)


def node_name() -> str:
    """Return what YARN calls this machine."""
    try:
        return socket.gethostbyaddr(LOCALHOST)[0]  # as Java does for a NodeManager
    except OSError:
        return LOCALHOST


@dataclass(frozen=True)
class YarnCluster:
    """YARN, beside the HDFS `files`, which its clients have as their default file system."""

    scheme: ClassVar[str] = "yarn"
    title: ClassVar[str] = "YARN"
    server: ClassVar[str] = "NodeManager"
    files: Cluster

    def port_count(self, servers: int) -> int:
        """Return 5, all of the ResourceManager; the NodeManager chooses and reports its own."""
        return 5

    def prepare(self, cluster: Cluster) -> None:
        """Write the configuration of the daemons, and of Spark."""
        conf = cluster.conf_directory
        write_spark_configuration(conf, _spark_properties())
        write_properties(conf / "core-site.xml", {"fs.defaultFS": self.files.uri})
        write_properties(conf / "hdfs-site.xml", {"dfs.replication": str(self.files.servers)})
        write_properties(conf / "yarn-site.xml", _site(cluster))
        write_properties(conf / "capacity-scheduler.xml", _SCHEDULER)

    def launches(self, cluster: Cluster) -> Iterator[Launch]:
        """Yield both together: the NodeManager retries until the ResourceManager answers."""
        environment = {
            "JAVA_HOME": str(java_program().resolve().parents[1]),
            "HADOOP_CONF_DIR": str(cluster.conf_directory),
        }
        yield Launch("resourcemanager", _command(cluster, "512m", RESOURCEMANAGER), environment)
        # What containers print is beside their files.
        own = [
            f"yarn.nodemanager.{kind}-dirs={cluster.directory / kind}" for kind in ("local", "log")
        ]
        options = [word for each in own for word in ("-D", each)]
        command = [*_command(cluster, "256m", NODEMANAGER), *options]
        yield Launch("nodemanager", command, environment)

    def live_servers(self, cluster: Cluster) -> int | None:
        """Return what the ResourceManager's web server reports."""
        url = f"http://{LOCALHOST}:{cluster.ports[-1]}"
        match answer_of(Request(url, "/ws/v1/cluster/metrics")):
            case {"clusterMetrics": {"activeNodes": int(live)}}:
                return live
            case _:
                return None

    def client_environment(self, cluster: Cluster) -> Mapping[str, str]:
        """Return where Hadoop's and Spark's configuration is."""
        conf = str(cluster.conf_directory)
        return {"HADOOP_CONF_DIR": conf, "YARN_CONF_DIR": conf, "SPARK_CONF_DIR": conf}


def _command(cluster: Cluster, heap: str, main: str) -> list[str]:
    """Return the command line of a daemon, whose class path has the jars that YARN needs, too."""
    command = java_command(cluster, heap, main)
    class_path = command.index("-cp") + 1
    command[class_path] = ":".join(
        [command[class_path], *map(str, fetched(BOUNCY_CASTLE, "10 MB"))]
    )
    return command


def _spark_properties() -> dict[str, str]:
    """Return what suits nodes that are this machine."""
    path = spark_environment().get("PATH", os.defpath)
    python = os.environ.get("PYSPARK_PYTHON") or shutil.which("python3", path=path) or "python3"
    return {
        # Otherwise each application would store Spark's jars on HDFS.
        "spark.yarn.jars": f"local:{spark_home()}/jars/*",
        # Containers have the PATH that bash starts with, and not that of their NodeManager.
        "spark.pyspark.python": python,
    }


def _site(cluster: Cluster) -> dict[str, str]:
    services = ("address", "scheduler.address", "resource-tracker.address", "admin.address")
    names = [f"yarn.resourcemanager.{service}" for service in (*services, "webapp.address")]
    any_port = f"{LOCALHOST}:0"
    return {
        "yarn.resourcemanager.hostname": LOCALHOST,
        **{name: f"{LOCALHOST}:{port}" for name, port in zip(names, cluster.ports, strict=True)},
        "yarn.nodemanager.hostname": LOCALHOST,
        "yarn.nodemanager.address": any_port,
        "yarn.nodemanager.localizer.address": any_port,
        "yarn.nodemanager.webapp.address": any_port,
        "yarn.nodemanager.env-whitelist": "JAVA_HOME,HADOOP_CONF_DIR,SPARK_LOCAL_IP,LANG,LC_ALL,TZ",
        "yarn.nodemanager.resource.memory-mb": str(MEMORY_MB),
        "yarn.nodemanager.resource.cpu-vcores": str(os.cpu_count() or 1),
        "yarn.scheduler.maximum-allocation-mb": str(MEMORY_MB),
        "yarn.scheduler.minimum-allocation-mb": "128",
        "yarn.nodemanager.pmem-check-enabled": "false",
        "yarn.nodemanager.vmem-check-enabled": "false",
        # By default, a node whose disk is nearly full would accept no work.
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "100",
        "hadoop.tmp.dir": str(cluster.directory / "tmp"),
    }


_SCHEDULER = {
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": "100",
    # By default, drivers and application masters get a tenth of the memory.
    "yarn.scheduler.capacity.maximum-am-resource-percent": "1",
}
