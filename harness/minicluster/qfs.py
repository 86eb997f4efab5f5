"""QFS: a metaserver and chunk servers, run from the directory that QFS_HOME names."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired
from typing import ClassVar

from harness.base.child_process import finished
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import LOCALHOST, Launch
from harness.minicluster.qfs_home import CHUNKSERVER, METASERVER, PING, qfs_home
from harness.submit.spark_configuration import write_spark_configuration

CLUSTER_KEY = "clusterlift"
ANSWER_S = 5.0


@dataclass(frozen=True)
class QfsCluster:
    """QFS, with the programs and jars of QFS_HOME."""

    scheme: ClassVar[str] = "qfs"
    title: ClassVar[str] = "QFS"
    server: ClassVar[str] = "chunk server"

    def port_count(self, servers: int) -> int:
        """Return 2 for the metaserver (clients, chunk servers), and 1 for each chunk server."""
        return 2 + servers

    def prepare(self, cluster: Cluster) -> None:
        """Write the configuration of the daemons and of Spark."""
        home = qfs_home()
        for program in (METASERVER, CHUNKSERVER, PING):
            home.program(program)
        # Spark has to know QFS's classes when it starts.
        write_spark_configuration(cluster.conf_directory, home.spark_properties())
        for name in ("checkpoints", "transactions"):
            (cluster.directory / name).mkdir()
        _write_properties(cluster, "metaserver", _metaserver(cluster))
        for number in range(1, cluster.servers + 1):
            (cluster.directory / f"chunks-{number}").mkdir()
            _write_properties(cluster, f"chunkserver-{number}", _chunkserver(cluster, number))

    def launches(self, cluster: Cluster) -> Iterator[Launch]:
        """Yield all daemons together: chunk servers retry until the metaserver answers."""
        yield _launch(cluster, "metaserver", METASERVER)
        for number in range(1, cluster.servers + 1):
            yield _launch(cluster, f"chunkserver-{number}", CHUNKSERVER)

    def live_servers(self, cluster: Cluster) -> int | None:
        """Return the number that the metaserver reports to QFS's `qfsping`."""
        program = qfs_home().directory / PING
        command = [str(program), "-m", "-s", LOCALHOST, "-p", str(cluster.ports[0])]
        try:
            done = finished(command, _environment(), timeout_s=ANSWER_S)
        except (OSError, TimeoutExpired):
            return None
        up = re.search(r"^Up servers: (\d+)", done.stdout, re.MULTILINE)
        if up is None:
            return 0 if done.returncode == 0 else None
        return int(up[1])

    def client_environment(self, cluster: Cluster) -> Mapping[str, str]:
        """Return where Spark's configuration is: Spark has to know QFS's classes when it starts."""
        return {"SPARK_CONF_DIR": str(cluster.conf_directory)}


def _environment() -> dict[str, str]:
    return {"LD_LIBRARY_PATH": str(qfs_home().libraries)}


def _launch(cluster: Cluster, name: str, program: str) -> Launch:
    command = [str(qfs_home().program(program)), str(_properties_file(cluster, name))]
    return Launch(name, command, _environment())


def _write_properties(cluster: Cluster, name: str, properties: Mapping[str, object]) -> None:
    lines = [f"{key} = {value}\n" for key, value in properties.items()]
    _properties_file(cluster, name).write_text("".join(lines), encoding="utf-8")


def _properties_file(cluster: Cluster, name: str) -> Path:
    return cluster.directory / f"{name}.prp"


def _metaserver(cluster: Cluster) -> dict[str, object]:
    return {
        "metaServer.clientIp": LOCALHOST,
        "metaServer.clientPort": cluster.ports[0],
        "metaServer.chunkServerIp": LOCALHOST,
        "metaServer.chunkServerPort": cluster.ports[1],
        "metaServer.clusterKey": CLUSTER_KEY,
        "metaServer.cpDir": "checkpoints",
        "metaServer.logDir": "transactions",
        "metaServer.createEmptyFs": 1,
        "metaServer.recoveryInterval": 1,
        "metaServer.rootDirMode": "0777",
    }


def _chunkserver(cluster: Cluster, number: int) -> dict[str, object]:
    return {
        "chunkServer.metaServer.hostname": LOCALHOST,
        "chunkServer.metaServer.port": cluster.ports[1],
        "chunkServer.clientIp": LOCALHOST,
        "chunkServer.clientPort": cluster.ports[1 + number],
        "chunkServer.clusterKey": CLUSTER_KEY,
        # A relative path, because QFS splits this value at blanks, which the full path may contain.
        "chunkServer.chunkDir": f"chunks-{number}",
        # 32 MiB of buffers; the default suits a dedicated server.
        "chunkServer.ioBufferPool.partitionBufferCount": 8192,
    }
