"""HDFS and a standalone Spark between network namespaces whose links have a rate; needs root."""

import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.minicluster.hadoop import LOGGING
from harness.minicluster.hdfs import DATANODE, NAMENODE
from harness.minicluster.jar import minicluster_jar
from harness.model.link import Link, parse_rate
from tests.e2e.conftest import ROOT, Spark
from tests.probes.networks import Network, star
from tests.waiting import eventually

RPC, WEB, MASTER = 9820, 9870, 7077
MTU = 1500


@dataclass
class ShapedCluster:
    """A head with NameNode, master and driver, and workers with a DataNode each."""

    spark: Spark
    network: Network
    hosts: Sequence[str]
    directory: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def uri(self) -> str:
        return f"hdfs://{self.network.addresses[self.hosts[0]]}:{RPC}"

    @property
    def options(self) -> list[str]:
        """The options of a spark-submit on the head."""
        address = self.network.addresses[self.hosts[0]]
        properties = {
            "spark.driver.host": address,
            "spark.executor.memory": "1g",
            "spark.sql.shuffle.partitions": "8",
            "spark.ui.enabled": "false",
        }
        pairs = (f"--conf={key}={value}" for key, value in properties.items())
        return ["--master", f"spark://{address}:{MASTER}", *pairs]

    def submit(self, script: str, *arguments: object) -> None:
        """Run a script of this checkout on the head. Raise CalledProcessError if it fails."""
        head, address = self.hosts[0], self.network.addresses[self.hosts[0]]
        program = self.spark.home / "bin/spark-submit"
        command = [str(program), *self.options, str(ROOT / script), *map(str, arguments)]
        subprocess.run(
            ["ip", "netns", "exec", head, *command],
            cwd=self.directory,
            env=self.spark.environment(SPARK_LOCAL_IP=address),
            check=True,
            timeout=1800,
        )

    def start(self) -> None:
        """Start all daemons, and wait until the workers and the DataNodes have registered."""
        head, *workers = self.hosts
        conf = self._write_conf()
        self._java(head, "format", NAMENODE, "-format", "-nonInteractive").wait(timeout=120)
        self._java(head, "namenode", NAMENODE)
        for worker in workers:
            address = self.network.addresses[worker]
            own = {
                "dfs.datanode.data.dir": conf.parent / worker,
                "dfs.datanode.hostname": address,
                "dfs.datanode.address": f"{address}:9866",
                "dfs.datanode.http.address": f"{address}:9864",
                "dfs.datanode.ipc.address": f"{address}:9867",
            }
            options = [part for key, value in own.items() for part in ("-D", f"{key}={value}")]
            self._java(worker, f"datanode-{worker}", DATANODE, *options)
        self._await("namenode", "registerDatanode: from DatanodeRegistration", len(workers))
        url = f"spark://{self.network.addresses[head]}:{MASTER}"
        self._deploy(head, "master", "master.Master", "--port", str(MASTER))
        self._await("master", "Starting Spark master at")
        for worker in workers:
            size = ("--cores", "1", "--memory", "1g")
            self._deploy(worker, f"worker-{worker}", "worker.Worker", *size, url)
            self._await(f"worker-{worker}", "Successfully registered with master")

    def stop(self) -> None:
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()

    def _write_conf(self) -> Path:
        conf = self.directory / "conf"
        conf.mkdir(parents=True)
        address = self.network.addresses[self.hosts[0]]
        site = {
            "fs.defaultFS": self.uri,
            "dfs.namenode.rpc-address": f"{address}:{RPC}",
            "dfs.namenode.http-address": f"{address}:{WEB}",
            "dfs.namenode.name.dir": self.directory / "name",
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
            "dfs.replication": "1",
        }
        entries = "".join(
            f"<property><name>{key}</name><value>{value}</value></property>\n"
            for key, value in site.items()
        )
        (conf / "hdfs-site.xml").write_text(f"<configuration>\n{entries}</configuration>\n")
        shutil.copy(LOGGING, conf)
        return conf

    def _java(self, host: str, name: str, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        jars = f"{self.directory / 'conf'}:{minicluster_jar()}:{self.spark.home}/jars/*"
        heap = ("-Xmx256m", "-XX:+UseSerialGC", "-Djava.net.preferIPv4Stack=true")
        return self._start(host, name, "java", *heap, "-cp", jars, main, *arguments)

    def _deploy(self, host: str, name: str, main: str, *arguments: str) -> None:
        main = f"org.apache.spark.deploy.{main}"
        address = ("--host", self.network.addresses[host], "--webui-port", "0")
        program = str(self.spark.home / "bin/spark-class")
        self._start(host, name, program, main, *address, *arguments)

    def _start(self, host: str, name: str, *command: str) -> subprocess.Popen[bytes]:
        address = self.network.addresses[host]
        work = {"SPARK_LOCAL_IP": address, "SPARK_WORKER_DIR": str(self.directory / f"{name}.work")}
        with self._log(name).open("wb") as log:
            process = subprocess.Popen(
                ["ip", "netns", "exec", host, *command],
                cwd=self.directory,
                env=self.spark.environment(**work),
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.processes.append(process)
        return process

    def _log(self, name: str) -> Path:
        return self.directory / f"{name}.log"

    def _await(self, name: str, text: str, times: int = 1) -> None:
        log = self._log(name)
        eventually(lambda: log.read_text().count(text) >= times, f"{log} had {text}", 120)


@contextmanager
def shaped_cluster(
    spark: Spark, directory: Path, rate: str | None, workers: int = 2
) -> Iterator[ShapedCluster]:
    """Provide a cluster whose nodes have links of this rate, if any; its processes end with it."""
    directory.mkdir(parents=True)
    link = Link(parse_rate("rate", rate) if rate else None, MTU)
    with star([link] * (workers + 1)) as (network, hosts):
        cluster = ShapedCluster(spark, network, hosts, directory)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()
