"""HDFS: a NameNode and DataNodes, run from one jar and the jars of the installed Spark."""

from __future__ import annotations

import json
import os
import shutil
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from urllib.error import URLError
from xml.sax.saxutils import escape

from harness.local_spark import closing_message, spark_home
from harness.minicluster import lifecycle
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import LOCALHOST, Launch
from harness.minicluster.jar import minicluster_jar
from harness.model.errors import BadInput, ClusterliftError
from harness.probes.remote_process import run_all
from harness.probes.transports.host import HostError, by_local

NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
DATANODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
NAMENODE_HEAP = "512m"
DATANODE_HEAP = "256m"
ANSWER_S = 5.0
FORMAT_S = 120.0

LOG4J = """\
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %p %c{1}: %m%n
"""


@dataclass(frozen=True)
class HdfsCluster:
    """HDFS. `properties` are the caller's Hadoop properties; they override ours."""

    scheme: ClassVar[str] = "hdfs"
    title: ClassVar[str] = "HDFS"
    head: ClassVar[str] = "NameNode"
    server: ClassVar[str] = "DataNode"
    servers_option: ClassVar[str] = "datanodes"
    properties: Mapping[str, str] = field(default_factory=dict)

    def port_count(self, servers: int) -> int:
        """Return 2, for clients and for the web; DataNodes choose and report their own ports."""
        return 2

    def prepare(self, cluster: Cluster) -> None:
        """Write the configuration and format the NameNode."""
        command = _java(cluster, NAMENODE_HEAP, NAMENODE)
        for name in ("conf", "tmp"):
            (cluster.directory / name).mkdir()
        _write_site(cluster, {**_site(cluster), **self.properties})
        (cluster.conf_directory / "log4j2.properties").write_text(LOG4J, encoding="utf-8")
        log = cluster.logs / "format.log"
        in_directory = ("sh", "-c", 'cd "$0" && exec "$@"', str(cluster.directory))
        format_ = [*in_directory, *command, "-format", "-nonInteractive"]
        # A remote process of this machine: it ends if we are killed, so nothing writes here afterwards.
        [done] = run_all([(by_local("localhost"), format_)], FORMAT_S)
        if isinstance(done, HostError):
            raise done
        log.write_text(f"{done.output}\n{done.errors}", encoding="utf-8", errors="replace")
        if done.code != 0:
            reason = closing_message(f"{done.output}\n{done.errors}")
            raise ClusterliftError(f"the NameNode cannot be formatted: {reason}; see {log}")

    def launches(self, cluster: Cluster) -> Iterator[Launch]:
        """Yield all daemons together: DataNodes retry until the NameNode answers."""
        yield Launch("namenode", _java(cluster, NAMENODE_HEAP, NAMENODE))
        command = _java(cluster, DATANODE_HEAP, DATANODE)
        for number in range(1, cluster.servers + 1):
            name = f"datanode-{number}"
            storage = f"dfs.datanode.data.dir={cluster.directory / name}"
            yield Launch(name, [*command, "-D", storage])

    def live_servers(self, cluster: Cluster) -> int | None:
        """Return what the NameNode's web page shows; 0 while the NameNode is in safe mode."""
        query = "jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
        # A proxy that the user has configured cannot reach this machine's 127.0.0.1.
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(f"{web_address(cluster)}/{query}", timeout=ANSWER_S) as answer:
                [state] = json.load(answer)["beans"]
        except (URLError, OSError, ValueError):
            return None
        return int(state["NumLiveDataNodes"]) if state["FSState"] == "Operational" else 0

    def client_environment(self, cluster: Cluster) -> Mapping[str, str]:
        """Return nothing: Spark's Hadoop client needs only the URI."""
        return {}


def running(
    datanodes: int = 3, *, properties: Mapping[str, str] | None = None
) -> AbstractContextManager[Cluster]:
    """Provide a new HDFS while entered; `properties` are Hadoop's, for all its daemons.

    Raises BadInput or ClusterliftError if it does not start.
    """
    return lifecycle.running(HdfsCluster(properties or {}), datanodes)


def web_address(cluster: Cluster) -> str:
    """Return the URL of the NameNode's web server, which reports its state as JSON under `/jmx`."""
    return f"http://{LOCALHOST}:{cluster.ports[1]}"


def _java(cluster: Cluster, heap: str, main: str) -> list[str]:
    """Return the command line that runs a Java class. Raises BadInput if there is no Java."""
    return [
        _java_program(),
        f"-Xmx{heap}",
        "-XX:+UseSerialGC",
        "-Djava.net.preferIPv4Stack=true",
        f"-Djava.io.tmpdir={cluster.directory / 'tmp'}",
        *("-cp", f"{cluster.conf_directory}:{minicluster_jar()}:{spark_home()}/jars/*"),
        main,
    ]


def _java_program() -> str:
    if home := os.environ.get("JAVA_HOME"):
        program = Path(home) / "bin/java"
        if not os.access(program, os.X_OK):
            raise BadInput(f"JAVA_HOME is {home}, which has no bin/java; set it to a JDK or JRE")
        return str(program)
    if found := shutil.which("java"):
        return found
    raise BadInput("HDFS needs Java, and no 'java' is on the PATH: install it, or set JAVA_HOME")


def _site(cluster: Cluster) -> dict[str, str]:
    """Return the properties that the daemons need, and those that make them detect failures quickly."""
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
        "dfs.replication": str(min(3, cluster.servers)),
        # A DataNode counts as dead after 2 recheck intervals (in ms) and 10 heartbeats (in s): 12 s.
        "dfs.namenode.heartbeat.recheck-interval": "1000",
        "dfs.heartbeat.interval": "1",
        "dfs.namenode.redundancy.interval.seconds": "1",
    }


def _write_site(cluster: Cluster, properties: Mapping[str, str]) -> None:
    entries = (
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in properties.items()
    )
    text = f"<configuration>\n{''.join(entries)}</configuration>\n"
    (cluster.conf_directory / "hdfs-site.xml").write_text(text, encoding="utf-8")
