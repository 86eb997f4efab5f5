"""`clusterlift lab` without Docker or without a lab, and what it passes to Compose."""

import io
import json
import shlex
import socket
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from datagen.storage.qfs import REED_SOLOMON
from harness.base.errors import BadInput, ClusterliftError
from harness.commands import lab as lab_command
from harness.commands.cli import main
from harness.lab import qfs_tarball
from harness.lab.cluster import Lab, LabSpec, Node
from harness.lab.compose import CPU_PERIOD_US, FILE, Compose, cpu_quota_us, override
from harness.lab.storages import LAYOUTS, layout_problem
from tests.programs import shell_program
from tests.refusal import refusal

InstallFakes = Callable[..., None]
WITH_QFS = LabSpec(4, 0.5, ("qfs",))
COMPOSE = Compose(["docker-compose"], LabSpec(4, 0.5, ("hdfs",)), {})
NAMES = ("master", "worker-1", "worker-2", "worker-3", "worker-4")
LAB = Lab(tuple(Node(name, name, "running") for name in NAMES), ("hdfs",), 0.5)


@pytest.fixture(autouse=True)
def own_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a lock of the test's own, so that a lab in use on this machine does not lock it out."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallFakes:
    """Return a function that installs programs, each a line of shell, on an otherwise empty PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # this user may use a lab meanwhile

    def install(**programs: str) -> None:
        for name, line in programs.items():
            shell_program(tmp_path / name.replace("_", "-"), line)

    return install


class TestWithoutDocker:
    @pytest.mark.parametrize("command", ["up", "down", "status"])
    def test_a_missing_docker_is_an_error(self, fake: InstallFakes, command: str) -> None:
        assert "no 'docker' is on the PATH" in refusal("lab", command)

    @pytest.mark.parametrize(
        ("docker", "message"),
        [
            (
                "echo 'Cannot connect to the Docker daemon at unix:///x. Is it running?' >&2; exit 1",
                "no Docker engine answers: start it",
            ),
            (
                "echo 'permission denied while trying to connect to the Docker daemon' >&2; exit 1",
                "join the group 'docker'",
            ),
            ('[ "$1" = version ]', "Docker Compose: install"),
        ],
    )
    def test_a_docker_that_cannot_be_used_is_an_error(
        self, fake: InstallFakes, docker: str, message: str
    ) -> None:
        fake(docker=docker)
        assert message in refusal("lab", "up")

    def test_another_error_is_docker_s_last_line(
        self, fake: InstallFakes, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake(docker="echo first >&2; echo last >&2; exit 1")
        assert main(["lab", "status"]) == 1
        assert capsys.readouterr().err == "clusterlift: error: docker ps failed: last\n"


NO_STORAGE = "'--storage': '{}': name one of hdfs, qfs, ceph, or"
LOST = (
    "--results {} would be in the lab, and removed with it"  # which has one directory for results
)
MISTAKES = [
    *(("up", "--cpus", value, "Invalid value for '--cpus': ") for value in ("nan", "0.05", "1025")),
    *(("up", "--storage", value, NO_STORAGE) for value in ("s3", "hdfs,s3", "hdfs,hdfs", "hdfs,")),
    *(("benchmark", "--results", value, LOST) for value in ("/elsewhere", "out", "results/../out")),
]


@pytest.mark.parametrize(("command", "option", "value", "message"), MISTAKES)
def test_what_cannot_be_is_refused(command: str, option: str, value: str, message: str) -> None:
    assert message.format(value) in refusal("lab", command, option, value)


class TestWithoutALab:
    @pytest.mark.parametrize(
        "command",
        [
            ["down"],
            ["status"],
            ["link", "--rate", "1gbit"],
            ["benchmark", "--dataset", "/x"],
            ["benchmark", "--results", "results/a/../b"],
            ["benchmark", "--results=/opt/clusterlift/results"],
            ["generate", "/x"],
        ],
    )
    def test_commands_that_need_one_fail(self, fake: InstallFakes, command: list[str]) -> None:
        fake(docker="exit 0")
        assert "no lab is up" in refusal("lab", *command)

    def test_a_taken_port_names_its_variable(
        self,
        fake: InstallFakes,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        fake(docker="exit 0")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            monkeypatch.setenv("SPARK_UI_PORT", str(port))
            message = f"port {port} is taken on 127.0.0.1: set SPARK_UI_PORT to another port"
            assert refusal("lab", "up") == message

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (["link"], "use --rate or --unshaped"),
            (["link", "--rate", "1gbit", "--unshaped"], "use --rate or --unshaped"),
            (["link", "--rate", "quick"], "--rate 'quick' is not a rate"),
        ],
    )
    def test_conflicting_options_are_refused(self, arguments: list[str], complaint: str) -> None:
        assert complaint in refusal("lab", *arguments)


@pytest.mark.parametrize("cpus", ["x", "", "nan", "inf", "-1", "0.0", "1_0", "٣", "1e400"])
@pytest.mark.parametrize("command", [("lab", "status"), ("lab", "up"), ("probe", "link", "--lab")])
def test_a_lab_whose_processors_are_unknown_is_to_be_removed(
    fake: InstallFakes, cpus: str, command: tuple[str, ...]
) -> None:
    listed = f"a\trunning\tworker-1\thdfs\t{cpus}"
    fake(docker=f"case $1 in ps) echo {shlex.quote(listed)};; esac", docker_compose="exit 0")
    message = refusal(*command)
    assert message.startswith("the lab was started with CPUS=")
    assert "remove it (clusterlift lab down)" in message


class TestCompose:
    def test_four_workers_need_no_more_than_their_cpu_quota(self) -> None:
        added = override(LabSpec(4, 0.4, ("hdfs",)))
        quotas = {f"worker-{number}": {"cpu_quota": 8_000} for number in range(1, 5)}
        assert added == {"services": {"master": {}, **quotas}, "volumes": {}}

    def test_the_cpu_limit_of_the_file_is_that_of_a_lab_without_options(self) -> None:
        text = FILE.read_text()
        assert f"cpu_period: {CPU_PERIOD_US}\n" in text
        assert f"cpu_quota: {cpu_quota_us(0.5)}\n" in text

    def test_further_workers_extend_the_first(self) -> None:
        added = override(LabSpec(6, 0.5, ("hdfs",)))
        extending = [name for name, each in added["services"].items() if "extends" in each]
        assert extending == ["worker-5", "worker-6"]
        assert added["services"]["worker-6"]["hostname"] == "worker-6"
        assert added["services"]["worker-6"]["volumes"] == ["data-6:/data"]
        assert list(added["volumes"]) == ["data-5", "data-6"]

    def test_fewer_workers_are_started_by_name(self) -> None:
        assert LabSpec(2, 0.5, ("hdfs",)).services == ["master", "worker-1", "worker-2"]

    def test_the_build_s_progress_is_shown_on_standard_error(
        self, fake: InstallFakes, capfd: pytest.CaptureFixture[str]
    ) -> None:
        fake(docker_compose="echo first; echo last >&2; exit 1")
        with pytest.raises(ClusterliftError, match=r"^compose build failed: see above$"):
            COMPOSE.build()
        assert capfd.readouterr() == ("", "first\nlast\n")

    def test_a_failed_start_is_reported_with_its_reason(self, fake: InstallFakes) -> None:
        why = "ERROR: for master  Cannot start service master: port is already allocated"
        summary = "ERROR: Encountered errors while bringing up the project."
        fake(docker_compose=f"printf '%s\\n' '{why}' '{summary}' >&2; exit 1")
        with pytest.raises(ClusterliftError, match=r"compose up failed: .*already allocated$"):
            COMPOSE.up()

    def test_results_are_in_the_directory_that_the_user_means_and_owns(
        self, fake: InstallFakes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fake(docker_compose='echo "$RESULTS" >"$RESULTS/seen"')
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("RESULTS", "own/results")
        COMPOSE.up()
        assert Path("own/results/seen").read_text() == f"{tmp_path}/own/results\n"


class TestStorages:
    @pytest.mark.parametrize("layout", ["rs:6+3", "rs:6+3:64k", "replicated:4"])
    def test_qfs_stores_several_stripes_on_a_node(self, layout: str) -> None:
        assert layout_problem(layout, "qfs", nodes=4) is None
        assert str(REED_SOLOMON) in LAYOUTS["qfs"]

    @pytest.mark.parametrize(
        ("layout", "problem"),
        [
            ("rs:2+1", None),
            ("rs:2+1:4k", None),
            ("rs:2+1:64k", "does not exist on ceph, which has replicated:2, replicated:3, "),
            ("replicated:4", "does not exist on ceph, which has replicated:2, replicated:3, "),
            ("rs:4+2", "needs 6 nodes, and the experiment has 4"),
        ],
    )
    def test_ceph_stores_what_its_osds_and_its_buckets_allow(
        self, layout: str, problem: str | None
    ) -> None:
        found = layout_problem(layout, "ceph", nodes=4)
        assert found is None if problem is None else (found or "").startswith(problem)

    def test_each_storage_has_a_uri_and_the_first_one_is_that_of_data_without_a_storage(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Node, "execute", lambda *_: "172.18.0.2 10.0.0.1\n")
        lab = replace(LAB, storages=("ceph", "hdfs", "qfs"))
        assert [lab.uri(), *map(lab.uri, lab.storages)] == [
            *("s3a://replicated-2", "s3a://replicated-2"),
            *("hdfs://master:9820", "qfs://172.18.0.2:20000"),
        ]

    def test_the_bucket_of_a_dataset_has_its_layout(self) -> None:
        lab = replace(LAB, storages=("hdfs", "ceph"))
        uris = [lab.uri("ceph", layout) for layout in (None, "rs:2+1", "rs:2+2:4k", "replicated:3")]
        assert uris == [
            *("s3a://replicated-2", "s3a://rs-2-1-4k", "s3a://rs-2-2-4k", "s3a://replicated-3")
        ]

    def test_the_image_has_the_tag_of_its_storages(
        self, fake: InstallFakes, tmp_path: Path
    ) -> None:
        fake(docker_compose=f'echo "$STORAGE" >{tmp_path}/storage')
        replace(COMPOSE, shape=LabSpec(4, 0.5, ("qfs", "ceph"))).build()
        assert (tmp_path / "storage").read_text() == "qfs-ceph\n"


class TestQfsTarball:
    @pytest.fixture(autouse=True)
    def _checkout(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "checkout/docker").mkdir(parents=True)
        monkeypatch.setattr(qfs_tarball, "ROOT", tmp_path / "checkout")
        monkeypatch.delenv("QFS_HOME", raising=False)

    def test_without_any_qfs_the_error_says_what_to_set(self, fake: InstallFakes) -> None:
        fake(docker="exit 0")
        with pytest.raises(BadInput, match="QFS_HOME is not set; set it to the directory of"):
            qfs_tarball.qfs_variables(WITH_QFS)

    def test_an_image_that_has_qfs_needs_no_tarball(self, fake: InstallFakes) -> None:
        fake(docker="echo 0123abcd")
        assert qfs_tarball.qfs_variables(WITH_QFS) == {}

    def test_what_the_image_needs_is_always_packed_to_the_same_bytes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home = tmp_path / "qfs"
        libraries = ["lib/libqfs_access.so", "lib/hadoop-3.4.1-qfs-2.jar", "lib/qfs-access-2.jar"]
        needed = [*qfs_tarball.PROGRAMS, *libraries]
        for name in [*needed, "lib/hadoop-2.10.2-qfs-2.jar", "bin/filelister"]:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes(b"x")
            (home / name).chmod(0o755)
        monkeypatch.setenv("QFS_HOME", str(home))
        packed = []
        for _ in range(2):
            assert qfs_tarball.qfs_variables(WITH_QFS) == {"QFS_TARBALL": "docker/qfs.tgz"}
            packed.append((tmp_path / "checkout/docker/qfs.tgz").read_bytes())
        assert packed[0] == packed[1]
        with tarfile.open(fileobj=io.BytesIO(packed[0])) as archive:
            assert sorted(archive.getnames()) == sorted(f"qfs/{name}" for name in needed)


def test_compose_gets_its_second_file_as_input_and_leaves_no_container_of_a_failed_build(
    fake: InstallFakes, tmp_path: Path
) -> None:
    fake(docker_compose=f'echo "$@" >{tmp_path}/arguments; /bin/cat /dev/stdin >{tmp_path}/added')
    COMPOSE.build()
    assert (tmp_path / "arguments").read_text().endswith("-f /dev/stdin build --force-rm master\n")
    assert json.loads((tmp_path / "added").read_text()) == override(COMPOSE.shape)


@pytest.mark.parametrize(
    ("stated", "added"),
    [
        ([], ["--fact=emulated=4 nodes", "--fact=link=100mbit"]),
        (["--fact", "link=x"], ["--fact=emulated=4 nodes"]),
        (["--fact= link =x"], ["--fact=emulated=4 nodes"]),
        (["--configuration", "emulated"], ["--fact=emulated=4 nodes", "--fact=link=100mbit"]),
    ],
)
def test_a_benchmark_declares_the_lab_but_for_what_the_user_states(
    monkeypatch: pytest.MonkeyPatch, stated: list[str], added: list[str]
) -> None:
    given: list[str] = []

    def submit(
        _lab: Lab,
        _script: str,
        arguments: list[str],
        _conf: list[str],
        *,
        shows_usual_lines: bool,
    ) -> int:
        assert not shows_usual_lines
        given.extend(arguments)
        return 0

    monkeypatch.setattr(lab_command, "running_lab", lambda: LAB)
    monkeypatch.setattr(lab_command, "facts", lambda _: {"emulated": "4 nodes", "link": "100mbit"})
    monkeypatch.setattr(lab_command, "spark_submit", submit)
    assert main(["lab", "benchmark", *stated]) == 0
    assert given == [*stated, *added]
