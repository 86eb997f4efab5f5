"""Event logs are read from real servers: Spark's History Server, HDFS, and the gateway of Ceph, an S3."""

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from pyarrow import fs

from harness.base.errors import BadInput
from harness.minicluster.ceph import CephCluster, endpoint
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import LOCALHOST
from harness.minicluster.hdfs import HdfsCluster
from harness.minicluster.lifecycle import running
from harness.model.layout import Layout
from harness.records.event_logs import Logs, read_logs
from harness.records.log_choice import Choice
from harness.records.places.history import HistoryServer
from harness.submit.local_spark import spark_home
from tests.jvm import COLD_JVM, COLD_SPARK
from tests.unit.records.test_event_logs import DAY_MS, a_log, write, zstd
from tests.waiting import eventually

pytestmark = pytest.mark.daemons
HISTORY_SERVER = "org.apache.spark.deploy.history.HistoryServer"
DAY = 20_000
"""A History Server does not list applications from before 2010."""
FIRST = Choice(until_ms=(DAY + 1) * DAY_MS)


def complete(line: bytes) -> bytes:
    """Add what a History Server needs of the environment, and we do not."""
    event = json.loads(line)
    if event["Event"] == "SparkListenerEnvironmentUpdate":
        event["JVM Information"]["Java Home"] = "/"
        event |= {"Hadoop Properties": {}, "Metrics Properties": {}, "Classpath Entries": {}}
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Logs of two applications, the second in parts, and a file that is no log."""
    log = [complete(line) for line in a_log("app-2", day=DAY + 1)]
    write(
        tmp_path / "logs" / "app-1.zstd", [complete(line) for line in a_log("app-1", day=DAY)], zstd
    )
    write(tmp_path / "logs" / "eventlog_v2_app-2" / "appstatus_app-2", [])
    write(tmp_path / "logs" / "eventlog_v2_app-2" / "events_1_app-2", log[:9])
    write(tmp_path / "logs" / "eventlog_v2_app-2" / "events_2_app-2", log[9:])
    write(tmp_path / "logs" / "README", [b"# logs\n"])
    return tmp_path / "logs"


def applications(logs: Logs) -> list[tuple[str, int]]:
    return [(one.application.id, one.application.executions) for one in logs.applications]


BOTH = [("app-1", 4), ("app-2", 4)]


@pytest.fixture
def history_server(directory: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind((LOCALHOST, 0))
        port = free.getsockname()[1]
    options = {"spark.history.fs.logDirectory": directory.as_uri(), "spark.history.ui.port": port}
    server = subprocess.Popen(
        ["java", *COLD_SPARK.split(), "-cp", f"{spark_home()}/jars/*"]
        + [f"-D{name}={value}" for name, value in options.items()]
        + [HISTORY_SERVER],
        env={"PATH": "/usr/bin:/bin", "SPARK_LOCAL_IP": LOCALHOST},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://{LOCALHOST}:{port}"
    try:
        eventually(lambda: len(_listed(url)) == 2, seconds=120)
        yield url
    finally:
        server.kill()
        server.wait()


def _listed(url: str) -> list[object]:
    try:
        return list(HistoryServer(url).applications())
    except BadInput:  # it is starting
        return []


def test_a_history_server(history_server: str) -> None:
    assert applications(read_logs(history_server)) == BOTH
    assert applications(read_logs(history_server, FIRST)) == BOTH[:1]
    assert applications(read_logs(f"{history_server}/history/app-2/jobs/")) == BOTH[1:]


@pytest.fixture
def hdfs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", COLD_JVM)
    with running(HdfsCluster(), 1) as cluster:
        monkeypatch.setenv("HADOOP_CONF_DIR", str(cluster.conf_directory))
        yield cluster


def test_hdfs(hdfs: Cluster, directory: Path) -> None:
    client = fsspec.filesystem("webhdfs", host=LOCALHOST, port=hdfs.ports[1], user="root")
    client.put(str(directory), "/logs", recursive=True)
    logs = read_logs(f"{hdfs.uri}/logs")
    assert applications(logs) == BOTH
    assert logs.notes == ("left out (no event log of Spark): README",)
    assert applications(read_logs("hdfs:///logs", FIRST)) == BOTH[:1]
    assert (
        applications(read_logs(f"webhdfs://{LOCALHOST}:{hdfs.ports[1]}/logs/app-1.zstd"))
        == BOTH[:1]
    )
    with pytest.raises(BadInput, match=r"cannot read hdfs:///none: .*not exist"):
        read_logs("hdfs:///none")


@pytest.mark.skipif(shutil.which("ceph-osd") is None, reason="no ceph-osd is on the PATH")
def test_s3(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = CephCluster([Layout.parse("replicated:1")], groups=1)
    with running(service, 1) as cluster:
        service.create_buckets(cluster)
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint(cluster))
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", service.credentials.access_key)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", service.credentials.secret_key)
        target = fs.S3FileSystem(endpoint_override=endpoint(cluster))
        fs.copy_files(str(directory), "replicated-1/logs", destination_filesystem=target)
        assert applications(read_logs("s3a://replicated-1/logs/")) == BOTH
        assert applications(read_logs("s3://replicated-1/logs", FIRST)) == BOTH[:1]
        assert applications(read_logs("s3://replicated-1/logs/app-1.zstd")) == BOTH[:1]
        with pytest.raises(BadInput, match=r"s3://replicated-1/none: .*check the address"):
            read_logs("s3://replicated-1/none")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        with pytest.raises(BadInput, match=r"s3://replicated-1/logs: .*your credentials are valid"):
            read_logs("s3://replicated-1/logs")
