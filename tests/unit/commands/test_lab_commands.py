"""`clusterlift lab` where Docker is missing, in the way, or not ours; and what compose is told."""

from __future__ import annotations

import io
import socket
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main
from harness.lab import compose, racks
from harness.lab.cluster import Lab, Node
from harness.lab.compose import Compose, Shape, override
from harness.lab.lifecycle import check_ports
from harness.lab.submit import with_facts
from harness.lab.verify import LinkCheck, patterns, render
from harness.model.errors import BadInput, ClusterliftError
from harness.model.link import Link

Fake = Callable[..., None]
LABS = Lab(
    tuple(
        Node(name, name, "running") for name in ("master", *(f"worker-{i}" for i in range(1, 5)))
    ),
    "hdfs",
    0.5,
)

LARGE = """
name = "large"
[datasets.all]
rows = 100_000_000
[configurations.slow]
dataset = "all"
rate = "1gbit"
[configurations.fast]
dataset = "all"
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Programs on an otherwise empty PATH, each a line of shell."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def install(**programs: str) -> None:
        for name, line in programs.items():
            program = tmp_path / name.replace("_", "-")
            program.write_text(f"#!/bin/sh\n{line}\n")
            program.chmod(0o755)

    return install


def said(capsys: pytest.CaptureFixture[str]) -> str:
    [line] = capsys.readouterr().err.splitlines()
    return line


class TestWithoutDocker:
    @pytest.mark.parametrize("command", ["up", "down", "status", "verify"])
    def test_there_is_no_program(
        self, fake: Fake, capsys: pytest.CaptureFixture[str], command: str
    ) -> None:
        assert main(["lab", command]) == 2
        assert "no 'docker' is on the PATH" in said(capsys)

    @pytest.mark.parametrize(
        "complaint",
        [
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?",
            "failed to connect to the docker API at unix:///var/run/docker.sock; check the path",
        ],
    )
    def test_no_engine_runs(
        self, fake: Fake, capsys: pytest.CaptureFixture[str], complaint: str
    ) -> None:
        fake(docker=f"echo '{complaint}' >&2; exit 1")
        assert main(["lab", "up"]) == 2
        assert "no Docker engine answers: start it" in said(capsys)

    def test_the_socket_is_somebody_else_s(
        self, fake: Fake, capsys: pytest.CaptureFixture[str]
    ) -> None:
        complaint = "permission denied while trying to connect to the Docker daemon socket"
        fake(docker=f"echo '{complaint}' >&2; exit 1")
        assert main(["lab", "status"]) == 2
        assert "join the group 'docker'" in said(capsys)

    def test_there_is_no_compose(self, fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
        fake(docker='[ "$1" = version ]')
        assert main(["lab", "up"]) == 2
        assert "Docker Compose: install" in said(capsys)

    def test_another_failure_is_its_last_line(
        self, fake: Fake, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake(docker="echo one >&2; echo two >&2; exit 1")
        assert main(["lab", "status"]) == 1
        assert said(capsys) == "clusterlift: error: docker ps failed: two"


class TestWithoutALab:
    @pytest.mark.parametrize(
        "command",
        [
            ["down"],
            ["status"],
            ["link", "--rate", "1gbit"],
            ["verify"],
            ["benchmark", "--dataset", "/x"],
            ["generate", "/x"],
        ],
    )
    def test_that_is_said(
        self, fake: Fake, capsys: pytest.CaptureFixture[str], command: list[str]
    ) -> None:
        fake(docker="exit 0")
        assert main(["lab", *command]) == 2
        assert "no lab is up" in said(capsys)

    def test_a_taken_port_names_its_variable(
        self, fake: Fake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fake(docker="exit 0")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            monkeypatch.setenv("SPARK_UI_PORT", str(port))
            assert main(["lab", "up"]) == 2
        assert f"port {port} of 127.0.0.1 cannot be had" in (line := said(capsys))
        assert "set SPARK_UI_PORT to another" in line

    def test_a_port_that_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SPARK_UI_PORT", "http")
        with pytest.raises(BadInput, match="SPARK_UI_PORT is 'http'"):
            check_ports()

    def test_a_full_disk(
        self, fake: Fake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fake(docker="exit 0")
        monkeypatch.setattr("harness.lab.lifecycle.check_ports", lambda: None)
        monkeypatch.setattr("harness.lab.lifecycle.free_bytes", lambda: 10**9)
        assert main(["lab", "up"]) == 2
        assert "Docker's disk has 1.0 GB left, and the lab needs 5.0: " in said(capsys)

    def test_a_disk_without_room_for_an_experiment_s_data(
        self,
        fake: Fake,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        fake(docker="exit 0")
        monkeypatch.setattr("harness.lab.lifecycle.check_ports", lambda: None)
        monkeypatch.setattr("harness.lab.lifecycle.free_bytes", lambda: 30 * 10**9)
        file = tmp_path / "large.toml"
        file.write_text(LARGE)
        assert main(["lab", "experiment", str(file)]) == 2
        assert "Docker's disk has 30.0 GB left, and the lab needs 35.0: " in said(capsys)

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (["link"], "name one of --rate and --unshaped"),
            (["link", "--rate", "1gbit", "--unshaped"], "name one of --rate and --unshaped"),
            (["link", "--rate", "quick"], "--rate 'quick' is not a rate"),
            (["up", "--uplink", "1gbit"], "add --racks 2"),
            (["up", "--racks", "2", "--nodes", "1"], "needs a worker in each"),
        ],
    )
    def test_options_that_do_not_go_together(
        self, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
    ) -> None:
        assert main(["lab", *arguments]) == 2
        assert complaint in said(capsys)


class TestCompose:
    def test_four_workers_are_as_the_file_has_them(self) -> None:
        assert override(Shape(4, 0.5, "hdfs")) == {"services": {"master": {}}, "volumes": {}}

    def test_more_are_like_the_first(self) -> None:
        added = override(Shape(6, 0.5, "hdfs"))
        assert list(added["services"]) == ["master", "worker-5", "worker-6"]
        assert added["services"]["worker-6"]["hostname"] == "worker-6"
        assert added["services"]["worker-6"]["volumes"] == ["data-6:/data"]
        assert list(added["volumes"]) == ["data-5", "data-6"]

    def test_fewer_are_started_by_name(self) -> None:
        assert Shape(2, 0.5, "hdfs").services == ["master", "worker-1", "worker-2"]

    def test_what_went_wrong_is_told_and_not_that_something_did(self, fake: Fake) -> None:
        why = "ERROR: for master  Cannot start service master: port is already allocated"
        summary = "ERROR: Encountered errors while bringing up the project."
        fake(docker_compose=f"printf '%s\\n' '{why}' '{summary}' >&2; exit 1")
        with pytest.raises(ClusterliftError, match=r"compose up failed: .*already allocated$"):
            Compose(["docker-compose"], Shape(4, 0.5, "hdfs"), {}).up()

    def test_racks_have_a_network_each_and_a_router_in_both(self) -> None:
        services = override(Shape(5, 0.5, "hdfs", uplink_bit_s=10**8))["services"]
        inside = {name: list(service["networks"]) for name, service in services.items()}
        assert inside.pop("router") == ["rack-1", "rack-2"]
        assert inside["master"] == inside["worker-3"] == ["rack-1"]
        assert inside["worker-4"] == inside["worker-5"] == ["rack-2"]
        addresses = [address for _, address in racks.addresses(5).values()]
        assert len(set(addresses)) == 6
        assert "worker-5:10.231.2.15" in services["worker-1"]["extra_hosts"]


class TestVerify:
    def test_one_way_both_ways_and_three_into_one(self) -> None:
        one, both, many = patterns(LABS, Link(10**8, 1500))
        assert [flow.sender.name for flow in many.flows] == ["worker-2", "worker-3", "worker-4"]
        assert {flow.receiver.name for flow in many.flows} == {"worker-1"}
        assert both.both_ways
        assert not one.both_ways
        assert one.expected_bit_s == many.expected_bit_s == pytest.approx(94.15e6, rel=1e-3)

    def test_what_is_too_far_off_says_so(self) -> None:
        link = Link(10**8, 1500)
        findings = [
            LinkCheck(link, "a", 98e6, 100e6, 0.03),
            LinkCheck(link, "b", 96e6, 100e6, 0.03),
        ]
        assert [finding.holds for finding in findings] == [True, False]
        *_, good, bad = render(findings).splitlines()
        assert good.split() == ["100mbit,", "MTU", "1500", "a", "98.0", "100.0", "-2.0%", "ok"]
        assert bad.endswith("-4.0%  not within 3%")


class TestFacts:
    def test_follow_what_the_user_says(self) -> None:
        ours = {"emulated": "4 nodes", "link": "100mbit"}
        assert with_facts(["--trials", "1"], ours) == [
            *("--trials", "1", "--fact=emulated=4 nodes", "--fact=link=100mbit")
        ]

    @pytest.mark.parametrize("arguments", [["--fact", "link=x"], ["--fact=link=x"]])
    def test_and_do_not_contradict_it(self, arguments: list[str]) -> None:
        assert with_facts(arguments, {"link": "100mbit"}) == arguments


class TestQfs:
    @pytest.fixture(autouse=True)
    def _checkout(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "checkout/docker").mkdir(parents=True)
        monkeypatch.setattr(compose, "ROOT", tmp_path / "checkout")
        monkeypatch.delenv("QFS_TARBALL", raising=False)
        monkeypatch.delenv("QFS_HOME", raising=False)

    def test_nowhere(self, fake: Fake) -> None:
        fake(docker="exit 0")
        with pytest.raises(BadInput, match=r"--storage qfs: set QFS_TARBALL .*, or QFS_HOME"):
            compose.qfs_variables()

    def test_in_an_image_that_is_there(self, fake: Fake) -> None:
        fake(docker="echo 0123abcd")
        assert compose.qfs_variables() == {}

    def test_by_url(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("QFS_TARBALL", "https://example.org/qfs.tgz")
        assert compose.qfs_variables() == {"QFS_TARBALL": "https://example.org/qfs.tgz"}

    def test_as_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "given.tgz").write_bytes(b"tar")
        monkeypatch.setenv("QFS_TARBALL", str(tmp_path / "given.tgz"))
        assert compose.qfs_variables() == {"QFS_TARBALL": "docker/qfs.tgz"}
        assert (tmp_path / "checkout/docker/qfs.tgz").read_bytes() == b"tar"

    def test_as_a_file_that_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("QFS_TARBALL", "/no/such.tgz")
        with pytest.raises(BadInput, match=r"QFS_TARBALL is /no/such.tgz: No such file"):
            compose.qfs_variables()

    def test_unpacked_is_packed_to_the_same_bytes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home = tmp_path / "qfs"
        libraries = ["lib/libqfs_access.so", "lib/hadoop-3.4.1-qfs-2.jar", "lib/qfs-access-2.jar"]
        for name in [*compose.PROGRAMS, *libraries]:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes(b"x")
            (home / name).chmod(0o755)
        with tarfile.open(home / libraries[1], "w"):
            pass
        monkeypatch.setattr("harness.minicluster.qfs_home._holds_access", lambda _: False)
        monkeypatch.setenv("QFS_HOME", str(home))
        packed = []
        for _ in range(2):
            assert compose.qfs_variables() == {"QFS_TARBALL": "docker/qfs.tgz"}
            packed.append((tmp_path / "checkout/docker/qfs.tgz").read_bytes())
        assert packed[0] == packed[1]
        with tarfile.open(fileobj=io.BytesIO(packed[0])) as archive:
            assert "qfs/bin/metaserver" in archive.getnames()
