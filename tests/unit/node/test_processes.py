"""Which processes belong to an application, and what they used."""

import subprocess
from pathlib import Path

import pytest

from harness.node.namespaces import process_namespace
from harness.node.processes import (
    RunningApplication,
    application_usage,
    has_ended,
    jvm_of,
    own_identity,
    read_process,
)
from tests.waiting import eventually

FIRST = "pid:[4026531836]"


def usage(application: RunningApplication, root: Path) -> tuple[float, int | None]:
    times, transferred = application_usage(application, root)
    return sum(own_s + waited_s for own_s, waited_s, _ in times.values()), transferred and sum(
        transferred
    )


APPLICATION = RunningApplication("app-1", driver=20, driver_namespace=f"boot-a {FIRST}")
TICKS = 100


class Machine:
    """A directory with the processes of a kernel."""

    def __init__(self, root: Path, namespace: str = FIRST) -> None:
        self.root = root
        (root / "proc/self/ns").mkdir(parents=True)
        (root / "proc/self/ns/pid").symlink_to(namespace)
        (root / "proc/sys/kernel/random").mkdir(parents=True)
        (root / "proc/sys/kernel/random/boot_id").write_text("boot-a\n")

    def process(
        self, pid: int, name: str, parent: int, seconds: int, command: str = "", io: int | None = 0
    ) -> None:
        directory = self.root / f"proc/{pid}"
        directory.mkdir()
        is_kernel = name.startswith("kworker")
        fields = ["S", parent, 1, 1, 0, -1, 0x200000 if is_kernel else 0x400000, 0, 0, 0, 0]
        fields += [seconds * TICKS, 0, 0, 0, 20, 0, 1, 0, 5000, 1, 1]
        (directory / "stat").write_text(f"{pid} ({name}) {' '.join(map(str, fields))}\n")
        (directory / "cmdline").write_text(command.replace(" ", "\0"))
        if io is not None:
            lines = (
                f"rchar: 9\nwchar: 9\nread_bytes: {io}\nwrite_bytes: 1\ncancelled_write_bytes: 0\n"
            )
            (directory / "io").write_text(lines)


EXECUTOR = "java -cp x org.apache.spark.executor.CoarseGrainedExecutorBackend --app-id {} --cores 1"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A driver and an executor with a Python worker, among others."""
    made = Machine(tmp_path)
    made.process(1, "systemd", 0, 1000, io=None)
    made.process(2, "kworker/0:1 (x)", 0, 1)
    made.process(10, "java", 1, 2, "java org.apache.spark.deploy.SparkSubmit", io=10)
    made.process(20, "python3", 10, 4, "python3 benchmark.py", io=20)
    made.process(30, "java", 1, 8, EXECUTOR.format("app-1"), io=30)
    made.process(31, "python3 -m (d)", 30, 16, io=40)
    made.process(32, "python3", 31, 32, io=50)
    return made


def test_are_the_driver_the_executors_and_their_descendants(machine: Machine) -> None:
    """And the kernel's threads, which belong to no application."""
    assert usage(APPLICATION, machine.root) == (1 + 2 + 4 + 8 + 16 + 32, 150 + 5)


def test_another_application_is_not_ours(machine: Machine) -> None:
    before = usage(APPLICATION, machine.root)
    machine.process(40, "java", 1, 64, EXECUTOR.format("app-10"))
    machine.process(41, "stress", 1, 64)
    machine.process(42, "grep", 1, 64, "grep app-1")
    assert usage(APPLICATION, machine.root) == before


CONTAINER = "java -Djava.io.tmpdir=/data/{}/container_1_01/tmp org.apache.spark.{}"


def test_on_yarn_all_containers_of_the_application_are_ours(machine: Machine) -> None:
    """What starts them is not: it works for every application of the node."""
    before, _ = usage(APPLICATION, machine.root)
    machine.process(50, "java", 1, 64, "java -cp /data org.apache...NodeManager")
    machine.process(51, "bash", 50, 0, CONTAINER.format("app-1", "x"))
    machine.process(52, "java", 51, 128, CONTAINER.format("app-1", "ExecutorLauncher"))
    machine.process(53, "java", 50, 256, CONTAINER.format("app-10", "ExecutorLauncher"))
    assert usage(APPLICATION, machine.root)[0] == before + 128


def test_the_number_of_the_driver_counts_on_its_own_machine_alone(machine: Machine) -> None:
    elsewhere = RunningApplication("app-1", driver=20, driver_namespace=f"boot-b {FIRST}")
    assert usage(elsewhere, machine.root)[0] == 1 + 8 + 16 + 32


def test_a_driver_that_is_not_under_spark_submit_counts_without_its_parent(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.process(10, "bash", 1, 2)
    machine.process(20, "python3", 10, 4)
    machine.process(21, "java", 20, 8)
    assert usage(APPLICATION, tmp_path)[0] == 4 + 8


def test_in_a_container_everything_is_ours(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "pid:[4026532777]")
    machine.process(1, "node", 0, 1, io=1)
    machine.process(7, "chunkserver", 1, 2, io=2)
    assert usage(APPLICATION, tmp_path) == (3, 3 + 2)


def test_what_may_not_be_read_makes_the_bytes_unknown(machine: Machine) -> None:
    (machine.root / "proc/32/io").unlink()
    (machine.root / "proc/32/io").mkdir()  # reading it is an error, even for root
    assert usage(APPLICATION, machine.root)[1] is None


def test_a_process_that_ends_meanwhile_is_not_an_error(machine: Machine) -> None:
    (machine.root / "proc/32/io").unlink()
    (machine.root / "proc/33").mkdir()
    assert usage(APPLICATION, machine.root) == (63, 155 - 51)


def test_the_jvm_of_a_worker_is_its_nearest_one(machine: Machine) -> None:
    assert [jvm_of(pid, machine.root) for pid in (32, 31, 30, 20, 1)] == [30, 30, 30, 10, None]


def test_a_process_has_ended_as_soon_as_nothing_but_its_exit_code_is_left() -> None:
    child = subprocess.Popen(["sleep", "600"])
    stat = Path(f"/proc/{child.pid}/stat").read_text()
    identity = f"{process_namespace()} {read_process(stat).key}"
    assert has_ended(identity) is False
    child.kill()
    eventually(lambda: has_ended(identity) is True, "its parent has not asked for its exit code")
    child.wait()
    assert has_ended(identity) is True


def test_another_process_of_the_same_number_is_not_the_one_that_has_ended() -> None:
    own = own_identity()
    assert has_ended(own) is False
    assert has_ended(f"{own}0") is True


@pytest.mark.parametrize("identity", ["", "x", "boot-b pid:[1] 1 1", "{namespace} ../self 1"])
def test_of_a_process_elsewhere_it_is_not_known_whether_it_has_ended(identity: str) -> None:
    assert has_ended(identity.format(namespace=process_namespace())) is None
