"""HDFS: a NameNode and DataNodes, run from one jar and the jars of the installed Spark."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from harness.base.http_request import Request
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import LOCALHOST, Launch
from harness.minicluster.hadoop import answer_of, java_command, write_properties
from harness.submit.spark_configuration import write_spark_configuration

NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
DATANODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
NAMENODE_HEAP = "512m"
DATANODE_HEAP = "256m"
FORMAT_AND_RUN = '"$0" "$@" -format -nonInteractive && exec "$0" "$@"'
USUAL_COPIES = 3
"""How many copies of a file a client asks for, if nothing else is set."""


@dataclass(frozen=True)
class HdfsCluster:
    """HDFS, with the jar of Hadoop's daemons and Spark's own jars."""

    scheme: ClassVar[str] = "hdfs"
    title: ClassVar[str] = "HDFS"
    server: ClassVar[str] = "DataNode"

    def port_count(self, servers: int) -> int:
        """Return 2: a port for clients, and one for the web. DataNodes choose and report their own."""
        return 2

    def prepare(self, cluster: Cluster) -> None:
        """Write the configuration."""
        java_command(cluster, NAMENODE_HEAP, NAMENODE)  # raises an error if something is missing
        cluster.conf_directory.mkdir()
        write_properties(cluster.conf_directory / "hdfs-site.xml", _site(cluster))
        if cluster.servers < USUAL_COPIES:
            copies = {"spark.hadoop.dfs.replication": str(cluster.servers)}
            write_spark_configuration(_spark_configuration(cluster), copies)

    def launches(self, cluster: Cluster) -> Iterator[Launch]:
        """Yield all daemons together: DataNodes retry until the NameNode answers."""
        namenode = java_command(cluster, NAMENODE_HEAP, NAMENODE)
        yield Launch("namenode", ["sh", "-c", FORMAT_AND_RUN, *namenode])
        command = java_command(cluster, DATANODE_HEAP, DATANODE)
        for number in range(1, cluster.servers + 1):
            name = f"datanode-{number}"
            storage = f"dfs.datanode.data.dir={cluster.directory / name}"
            yield Launch(name, [*command, "-D", storage])

    def live_servers(self, cluster: Cluster) -> int | None:
        """Return the number that the NameNode's web page shows, and 0 while the NameNode is in safe mode."""
        bean = {"qry": "Hadoop:service=NameNode,name=FSNamesystemState"}
        match answer_of(Request(f"http://{LOCALHOST}:{cluster.ports[-1]}", "/jmx", bean)):
            case {"beans": [{"NumLiveDataNodes": int(live), "FSState": state}]}:
                return live if state == "Operational" else 0
            case _:
                return None

    def client_environment(self, cluster: Cluster) -> Mapping[str, str]:
        """Return nothing if there are DataNodes for the usual copies: then a client needs only the URI."""
        if cluster.servers < USUAL_COPIES:
            return {"SPARK_CONF_DIR": str(_spark_configuration(cluster))}
        return {}


def _spark_configuration(cluster: Cluster) -> Path:
    """Return the clients' own directory: the daemons' directory would set a client's default file system."""
    return cluster.directory / "spark"


def _site(cluster: Cluster) -> dict[str, str]:
    """Return the properties that daemons need to run and to detect failures quickly."""
    rpc, http = cluster.ports
    any_port = f"{LOCALHOST}:0"
    return {
        "fs.defaultFS": cluster.uri,
        "dfs.namenode.rpc-address": f"{LOCALHOST}:{rpc}",
        "dfs.namenode.http-address": f"{LOCALHOST}:{http}",
        "dfs.namenode.name.dir": str(cluster.directory / "namenode"),
        "dfs.datanode.address": any_port,
        "dfs.datanode.http.address": any_port,
        "dfs.datanode.ipc.address": any_port,
        # Avoid name look-ups, which can take seconds where there is no network.
        "dfs.datanode.hostname": LOCALHOST,
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.replication": str(min(USUAL_COPIES, cluster.servers)),
        # A DataNode counts as dead after 2 recheck intervals (in ms) and 10 heartbeats (in s): 12 s.
        "dfs.namenode.heartbeat.recheck-interval": "1000",
        "dfs.heartbeat.interval": "1",
        "dfs.namenode.redundancy.interval.seconds": "1",
    }
