"""What Ceph needs to start, what daemons and clients receive, and how buckets are made."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

import pytest

from harness.base.errors import BadInput, ClusterliftError
from harness.base.http_request import Credentials, Request, signed_headers
from harness.minicluster.ceph import PROGRAMS, CephCluster, endpoint
from harness.minicluster.cluster import Cluster
from harness.minicluster.s3a import s3a_artifacts, s3a_class_path
from harness.model.layout import Layout
from harness.submit.local_spark import hadoop_version, spark_home
from tests.programs import shell_program
from tests.refusal import refusal
from tests.web import Asked, server

LAYOUTS = tuple(map(Layout.parse, ("rs:2+1:64k", "replicated:1")))
KEYS = Credentials("the-access-key", "the-secret-key")
VERSION = "echo 'ceph version 18.2.7 (6b0e98) reef (stable)'"

Install = Callable[..., None]


@pytest.fixture(autouse=True)
def _spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Spark that has the jars of S3A, and a cache."""
    (tmp_path / "spark/jars").mkdir(parents=True)
    (tmp_path / "spark/jars/hadoop-aws-3.5.0.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that puts programs on the PATH, where `radosgw` is a script."""

    def install(radosgw: str = VERSION, without: str = "") -> None:
        for name in PROGRAMS:
            if name != without:
                shell_program(tmp_path / "bin" / name, radosgw)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}")

    return install


@pytest.fixture
def cluster() -> Cluster:
    """A cluster of three OSDs, whose directory is empty."""
    cluster = Cluster("s3", "x", (7000, 7001), 3)
    cluster.directory.mkdir(parents=True)
    return cluster


@pytest.fixture
def ceph(install: Install, cluster: Cluster) -> CephCluster:
    """A prepared Ceph."""
    install()
    ceph = CephCluster(LAYOUTS, KEYS)
    ceph.prepare(cluster)
    return ceph


class TestRefusals:
    @pytest.mark.parametrize(
        ("radosgw", "without", "message"),
        [
            (
                VERSION,
                "monmaptool",
                "no program 'monmaptool' is on the PATH; install Ceph 18 or newer",
            ),
            (
                "echo 'ceph version 16.2.15 (618f44) pacific (stable)'",
                "",
                "the radosgw on the PATH is ceph version 16.2.15, where S3A cannot write; install Ceph 18",
            ),
            (
                "echo no libceph >&2; exit 1",
                "",
                "radosgw does not run: no libceph; install Ceph 18",
            ),
        ],
    )
    def test_programs(
        self, radosgw: str, without: str, message: str, install: Install, cluster: Cluster
    ) -> None:
        install(radosgw, without)
        with pytest.raises(BadInput) as error:
            CephCluster(LAYOUTS).prepare(cluster)
        assert str(error.value).startswith(message)

    def test_a_directory_whose_name_ceph_would_cut(
        self, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a cache"))
        with pytest.raises(
            BadInput, match=r"a cache/.*: set XDG_CACHE_HOME to a path without blanks"
        ):
            CephCluster(LAYOUTS).prepare(Cluster("s3", "x", (7000, 7001), 3))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                ["--layout", "xor:2+1"],
                "xor:2+1: Ceph stores replicated:N, and rs:D+P[:cell] of at",
            ),
            (["--layout", "twice"], "'twice' is not a layout; the forms are "),
            (
                ["--osds", "4", "--layout", "rs:3+2"],
                "--osds 4: the layouts need 5, one for each part",
            ),
        ],
    )
    def test_options(self, options: list[str], message: str) -> None:
        assert message in refusal("local", "s3", "run", *options, "--", "true")


class TestConfiguration:
    def test_daemons_use_127_0_0_1_alone(self, ceph: CephCluster, cluster: Cluster) -> None:
        lines = (cluster.directory / "ceph.conf").read_text().splitlines()
        assert "mon_host = [v2:127.0.0.1:7001]" in lines
        assert "rgw_frontends = beast endpoint=127.0.0.1:7000" in lines
        assert {"public_addr = 127.0.0.1", "cluster_addr = 127.0.0.1"} <= set(lines)

    def test_keys_are_in_files_that_nobody_else_may_read_and_in_no_command(
        self, ceph: CephCluster, cluster: Cluster
    ) -> None:
        files = [file for file in cluster.directory.rglob("*") if file.is_file()]
        keyed = {file.name: file for file in files if "the-secret-key" in file.read_text()}
        assert set(keyed) == {"user.json", "spark-defaults.conf"}
        for file in (*keyed.values(), cluster.directory / "keyring"):
            assert file.stat().st_mode & 0o77 == 0
        launched = [(launch.command, launch.environment) for launch in ceph.launches(cluster)]
        assert "the-" not in f"{launched} {ceph.client_environment(cluster)} {ceph}"

    def test_each_layout_has_a_pool_and_a_placement_of_the_same_name(
        self, ceph: CephCluster, cluster: Cluster
    ) -> None:
        pools = (cluster.directory / "pools").read_text().splitlines()
        assert pools[1:4] == [
            "osd erasure-code-profile set rs-2-1-64k k=2 m=1 crush-failure-domain=osd stripe_unit=65536",
            "osd pool create rs-2-1-64k 8 8 erasure rs-2-1-64k",
            "osd pool create replicated-1 8 8 replicated --size 1 --yes-i-really-mean-it",
        ]
        zone = json.loads((cluster.directory / "zone.json").read_text())
        group = json.loads((cluster.directory / "zonegroup.json").read_text())
        names = ["rs-2-1-64k", "replicated-1"]
        assert {
            placement["key"]: placement["val"]["storage_classes"]["STANDARD"]["data_pool"]
            for placement in zone["placement_pools"]
        } == {name: name for name in names}
        assert [target["name"] for target in group["placement_targets"]] == names

    def test_a_client_gets_the_first_bucket_and_the_properties_of_s3a(
        self, ceph: CephCluster, cluster: Cluster
    ) -> None:
        conf = str(cluster.directory / "ceph.conf")
        assert ceph.client_environment(cluster) == {
            "CLUSTERLIFT_FS": "s3a://rs-2-1-64k",
            "SPARK_CONF_DIR": str(cluster.conf_directory),
            "CEPH_CONF": conf,
        }
        defaults = (cluster.conf_directory / "spark-defaults.conf").read_text()
        assert dict(line.split(" ", 1) for line in defaults.splitlines()) == {
            "spark.hadoop.fs.s3a.endpoint": "http://127.0.0.1:7000",
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
            "spark.hadoop.fs.s3a.access.key": "the-access-key",
            "spark.hadoop.fs.s3a.secret.key": "the-secret-key",
            "spark.hadoop.clusterlift.s3a.store": "ceph",
            "spark.hadoop.clusterlift.s3a.ceph.conf": conf,
        }

    @pytest.mark.parametrize("failing", ["osds", "pools"])
    def test_a_command_that_ceph_refuses_ends_the_gateway_and_is_its_last_line(
        self, failing: str, ceph: CephCluster, cluster: Cluster, install: Install
    ) -> None:
        [gateway, *_] = ceph.launches(cluster)
        install(
            'case "$*" in "osd stat") echo "3 osds: 3 up (since 1s), 3 in" ;; esac\n'
            f"cmp -s - {failing} && echo 'Error EINVAL: k=1 must be >= 2'\nexit 0"
        )
        done = subprocess.run(
            gateway.command,
            cwd=cluster.directory,
            env={"PATH": f"{os.environ['PATH']}:/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode != 0
        assert done.stdout == "Error EINVAL: k=1 must be >= 2\n"


class TestJars:
    def test_are_fetched_for_a_spark_without_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        jars = tmp_path / "spark/jars"
        (jars / "hadoop-aws-3.5.0.jar").unlink()
        (jars / "hadoop-client-api-3.5.0.jar").touch()
        cached = tmp_path / "cache/clusterlift/jars/s3a-3.5.0"
        cached.mkdir(parents=True)
        for artifact in s3a_artifacts():
            (cached / artifact.file_name).touch()
        assert s3a_class_path() == f"{cached}/*"

    def test_those_for_the_installed_pyspark_are_known(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("SPARK_HOME")
        version = hadoop_version(spark_home())
        assert f"hadoop-aws-{version}.jar" in {artifact.file_name for artifact in s3a_artifacts()}
        assert all(len(artifact.sha256 or "") == 64 for artifact in s3a_artifacts())


@contextmanager
def gateway(status: int) -> Iterator[tuple[Cluster, list[Asked]]]:
    """A store that answers every request with this status; provide the requests, too."""
    with server(status, b"<Error><Code>AccessDenied</Code></Error>") as (url, requests):
        yield Cluster("s3", "x", (int(url.rpartition(":")[2]), 1), 3), requests


class TestGateway:
    CEPH = CephCluster(LAYOUTS, KEYS)

    def test_a_bucket_for_each_layout_is_requested_with_its_placement(self) -> None:
        with gateway(200) as (cluster, requests):
            self.CEPH.create_buckets(cluster)
        assert [request.path for request in requests] == ["/rs-2-1-64k", "/replicated-1"]
        [first, _] = requests
        assert b">:rs-2-1-64k</LocationConstraint>" in first.body
        at = datetime.strptime(first.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(
            tzinfo=timezone.utc
        )
        signed = Request(endpoint(cluster), "/rs-2-1-64k", method="PUT", body=first.body)
        expected = signed_headers(signed, KEYS, "us-east-1", at)
        assert first.headers["authorization"] == expected["authorization"]

    def test_a_refusal_is_reported_with_its_code(self) -> None:
        with (
            gateway(403) as (cluster, _),
            pytest.raises(
                ClusterliftError,
                match=r"^bucket rs-2-1-64k cannot be created: the server answers 403 Acc",
            ),
        ):
            self.CEPH.create_buckets(cluster)

    def test_all_osds_are_live_once_it_answers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        with gateway(200) as (cluster, _):
            assert self.CEPH.live_servers(cluster) == 3
        assert self.CEPH.live_servers(cluster) is None
