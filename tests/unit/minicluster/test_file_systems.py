"""What HDFS and QFS need to start, how their state is read, and how a missing file is reported."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from harness.base.errors import BadInput, ClusterliftError
from harness.commands.cli import main
from harness.minicluster.cluster import Cluster
from harness.minicluster.hdfs import HdfsCluster
from harness.minicluster.jar import MINICLUSTER_SHA256, minicluster_jar
from harness.minicluster.qfs import QfsCluster
from harness.submit.local_spark import hadoop_version, spark_home
from tests.programs import shell_program
from tests.refusal import refusal
from tests.web import server

Script = Callable[[str, str], Path]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "JAVA_HOME", "QFS_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache" / "clusterlift"


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Return a function that writes a shell script below `tmp_path`."""
    return lambda path, text: shell_program(tmp_path / path, text)


def file_names(directory: Path) -> set[str]:
    return {entry.name for entry in directory.iterdir()}


def empty_cluster(scheme: str, ports: tuple[int, ...], servers: int) -> Cluster:
    """Return a cluster whose directories exist and are empty."""
    cluster = Cluster(scheme, "x", ports, servers)
    for directory in (cluster.directory, cluster.logs):
        directory.mkdir(parents=True)
    return cluster


IVY = 'for a; do case $a in spark.jars.ivy=*) ivy=${a#*=};; esac; done; mkdir -p "$ivy/jars"; '
FETCHED = '"$ivy/jars/org.apache.hadoop_hadoop-client-minicluster-$V.jar"'


@pytest.fixture
def spark(script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that installs a Spark of a Hadoop version, whose spark-submit is a script."""

    def install(submit: str = f"echo jar > {FETCHED}", version: str = "9.9") -> None:
        (tmp_path / "jars").mkdir()
        (tmp_path / f"jars/hadoop-client-api-{version}.jar").touch()
        script("bin/spark-submit", f"V={version}; {IVY} {submit}")
        monkeypatch.setenv("SPARK_HOME", str(tmp_path))

    return install


InstallSpark = Callable[..., None]


class TestMiniclusterJar:
    def test_is_fetched_once(self, spark: InstallSpark, tmp_path: Path, cache: Path) -> None:
        spark(f"echo $@ >> {tmp_path}/calls; echo jar > {FETCHED}")
        fetched = [minicluster_jar() for _ in range(2)]
        assert fetched == [cache / "jars" / "hadoop-client-minicluster-9.9.jar"] * 2
        assert fetched[0].read_text() == "jar\n"
        [call] = (tmp_path / "calls").read_text().splitlines()
        assert "--packages org.apache.hadoop:hadoop-client-minicluster:9.9 " in call
        assert file_names(fetched[0].parent) == {".lock", fetched[0].name}

    def test_what_a_killed_fetch_left_is_removed(self, spark: InstallSpark, cache: Path) -> None:
        (cache / "jars/.fetching-x/jars").mkdir(parents=True)
        spark()
        assert file_names(minicluster_jar().parent) == {".lock", minicluster_jar().name}

    def test_is_fetched_once_by_concurrent_starts(
        self, spark: InstallSpark, tmp_path: Path
    ) -> None:
        spark(f"echo >> {tmp_path}/calls; sleep 0.3; echo jar > {FETCHED}")
        with ThreadPoolExecutor(3) as threads:
            for start in [threads.submit(minicluster_jar) for _ in range(3)]:
                start.result()
        assert (tmp_path / "calls").read_text() == "\n"

    @pytest.mark.parametrize(
        ("submit", "message"),
        [
            (
                "echo 'Exception in main: [unresolved dependency]'; echo at; exit 1",
                "cannot fetch hadoop-client-minicluster-9.9.jar: Exception in main: [unresolved ",
            ),
            ("exit 0", "no message; connect to a network, or put what is missing into "),
            (f"echo half > {FETCHED}; echo aborted; exit 1", "aborted; connect"),
        ],
    )
    def test_a_failed_fetch_keeps_nothing(
        self, submit: str, message: str, spark: InstallSpark, cache: Path
    ) -> None:
        spark(submit)
        with pytest.raises(ClusterliftError) as error:
            minicluster_jar()
        assert message in str(error.value)
        assert file_names(cache / "jars") == {".lock"}

    def test_a_wrong_checksum_is_refused(self, spark: InstallSpark, cache: Path) -> None:
        spark(version="3.5.0")
        with pytest.raises(
            ClusterliftError, match=r"3.5.0 is not the known one: its sha256 is .*, not 06772d"
        ):
            minicluster_jar()
        assert file_names(cache / "jars") == {".lock"}

    def test_the_checksum_for_the_installed_pyspark_is_known(self) -> None:
        assert hadoop_version(spark_home()) in MINICLUSTER_SHA256


@contextmanager
def namenode(answer: bytes) -> Iterator[Cluster]:
    with server(200, answer) as (url, _):
        yield Cluster("hdfs", "x", (1, int(url.rpartition(":")[2])), 3)


Prepare = Callable[..., Cluster]


@pytest.fixture
def hdfs(
    spark: InstallSpark, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Prepare:
    """Return a function that prepares an HDFS of two DataNodes, with scripts for Java and Spark."""

    def prepare(java: str = "exit 0") -> Cluster:
        spark()
        script("bin/java", java)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        cluster = empty_cluster("hdfs", (7000, 7001), 2)
        HdfsCluster().prepare(cluster)
        return cluster

    return prepare


class TestHdfs:
    @pytest.mark.parametrize(("state", "live"), [("Operational", 2), ("safeMode", 0)])
    def test_live_servers_are_counted_without_a_proxy(
        self, state: str, live: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        bean = {"NumLiveDataNodes": 2, "FSState": state}
        with namenode(json.dumps({"beans": [bean]}).encode()) as cluster:
            assert HdfsCluster().live_servers(cluster) == live

    @pytest.mark.parametrize("answer", [b"", b"<html>", b'{"beans": []}'])
    def test_without_an_answer_the_number_is_unknown(self, answer: bytes) -> None:
        with namenode(answer) as cluster:
            assert HdfsCluster().live_servers(cluster) is None
        assert HdfsCluster().live_servers(cluster) is None

    def test_daemons_listen_on_127_0_0_1(self, hdfs: Prepare) -> None:
        cluster = hdfs()
        properties = properties_in(cluster.conf_directory / "hdfs-site.xml")
        assert properties["fs.defaultFS"] == "hdfs://127.0.0.1:7000"
        assert properties["dfs.replication"] == "2"
        addresses = [value for key, value in properties.items() if str(key).endswith("address")]
        assert len(addresses) == 5
        assert all(str(address).startswith("127.0.0.1:") for address in addresses)

    def test_a_client_asks_for_no_more_copies_than_there_are_datanodes(self, hdfs: Prepare) -> None:
        cluster = hdfs()
        [(name, directory)] = HdfsCluster().client_environment(cluster).items()
        assert name == "SPARK_CONF_DIR"
        defaults = (Path(directory) / "spark-defaults.conf").read_text()
        assert "spark.hadoop.dfs.replication 2\n" in defaults
        assert not HdfsCluster().client_environment(replace(cluster, servers=3))

    @pytest.mark.parametrize("environment", [{"JAVA_HOME": "."}, {"JAVA_HOME": "", "PATH": "bin"}])
    def test_daemons_find_a_java_that_is_named_from_here(
        self,
        environment: dict[str, str],
        hdfs: Prepare,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """They run in a directory of their own."""
        cluster = hdfs()
        monkeypatch.chdir(tmp_path)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        commands = [launch.command[0] for launch in HdfsCluster().launches(cluster)]
        assert commands == ["sh", *[f"{tmp_path}/bin/java"] * 2]

    def test_without_java_the_error_says_what_to_install_or_set(
        self, spark: InstallSpark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spark()
        minicluster_jar()
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(BadInput, match=r"^Hadoop needs Java, and no 'java' is on the PATH"):
            HdfsCluster().prepare(empty_cluster("hdfs", (1, 2), 1))
        monkeypatch.setenv("JAVA_HOME", "/no/such")
        with pytest.raises(BadInput, match=r"^JAVA_HOME is /no/such, which has no bin/java"):
            HdfsCluster().prepare(Cluster("hdfs", "x", (1, 2), 1))


def properties_in(file: Path) -> dict[str | None, str | None]:
    site = ET.parse(file)  # noqa: S314  our own file
    return {p.findtext("name"): p.findtext("value") for p in site.iter("property")}


QFS_FILES = ("bin/metaserver", "bin/chunkserver", "bin/tools/qfsping", "lib/libqfs_access.so")


@pytest.fixture
def qfs(script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a QFS_HOME whose files are empty, and whose programs are scripts."""
    home = tmp_path / "qfs"
    for name in QFS_FILES:
        script(f"qfs/{name}", "echo 'Up servers: 3'")
    for hadoop in ("2.10.2", "3.3.6", "3.4.1"):
        (home / f"lib/hadoop-{hadoop}-qfs-2.2.8.jar").touch()
    (home / "lib/qfs-access-2.2.8.jar").touch()
    monkeypatch.setenv("QFS_HOME", str(home))
    return home


class TestQfs:
    def test_conf_prints_the_properties_that_spark_needs(
        self, qfs: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        jars = f"{qfs}/lib/hadoop-3.4.1-qfs-2.2.8.jar:{qfs}/lib/qfs-access-2.2.8.jar"
        assert main(["local", "qfs", "conf"]) == 0
        assert capfd.readouterr().out == (
            f"spark.driver.extraClassPath {jars}\n"
            f"spark.executor.extraClassPath {jars}\n"
            f"spark.driver.extraLibraryPath {qfs}/lib\n"
            f"spark.executor.extraLibraryPath {qfs}/lib\n"
            "spark.hadoop.fs.qfs.impl com.quantcast.qfs.hadoop.QuantcastFileSystem2\n"
            "spark.hadoop.fs.AbstractFileSystem.qfs.impl com.quantcast.qfs.hadoop.Qfs\n"
        )

    @pytest.mark.parametrize("missing", [*QFS_FILES, "lib/hadoop-*-qfs-*.jar"])
    def test_a_missing_file_is_named(self, missing: str, qfs: Path) -> None:
        for path in qfs.glob(missing):
            path.unlink()
        refused = refusal("local", "qfs", "run", "true")
        assert refused.startswith(f"QFS_HOME is {qfs}, which has no {missing}; ")

    def test_qfs_home_is_not_set(self) -> None:
        refused = refusal("local", "qfs", "run", "true")
        assert refused.startswith("QFS_HOME is not set; set it to the directory")

    def test_prepare_writes_the_configuration_of_daemons_and_spark(self, qfs: Path) -> None:
        cluster = empty_cluster("qfs", (7000, 7001, 7002, 7003), 2)
        QfsCluster().prepare(cluster)
        launches = list(QfsCluster().launches(cluster))
        names = [launch.name for launch in launches]
        assert names == ["metaserver", "chunkserver-1", "chunkserver-2"]
        for launch in launches:
            assert Path(launch.command[0]).parent == qfs / "bin"
            assert Path(launch.command[1]).exists()
        text = (cluster.directory / "chunkserver-2.prp").read_text()
        assert "chunkServer.clientPort = 7003\n" in text
        assert QfsCluster().client_environment(cluster) == {
            "SPARK_CONF_DIR": f"{cluster.directory}/conf"
        }
        assert "extraClassPath" in (cluster.conf_directory / "spark-defaults.conf").read_text()

    @pytest.mark.parametrize(
        ("ping", "live"),
        [
            ("echo 'Up servers: 12'; echo s=1", 12),
            ("echo 'No chunkservers are connected'", 0),
            ("exit 1", None),
        ],
    )
    def test_live_servers(self, ping: str, live: int | None, qfs: Path, script: Script) -> None:
        cluster = empty_cluster("qfs", (7000, 7001, 7002), 1)
        QfsCluster().prepare(cluster)
        script("qfs/bin/tools/qfsping", ping)
        assert QfsCluster().live_servers(cluster) == live
        (qfs / "bin/tools/qfsping").unlink()
        assert QfsCluster().live_servers(cluster) is None
