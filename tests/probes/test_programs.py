"""Programs of MPI between network namespaces: right results over the right links, and nothing is left."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.base.errors import ClusterliftError
from harness.commands.cli import main
from harness.hosts.transports.host import Host, HostError, by_netns
from harness.model.link import Link
from harness.model.run import Status
from harness.programs.hpcc import Hpcc
from harness.programs.mpi import MpiJob, Placement, run_mpi
from harness.programs.program import Achieved
from harness.records.lookup import find_runs
from tests.probes.networks import DEVICE, Network, run, star
from tests.unit.builders import known
from tests.waiting import eventually

NEEDED = ("mpirun", "orted", "hpcc")
LINK = Link(None, 1500)
SMALL = Hpcc(memory=10**6, block=16)
LARGE = Hpcc(memory=800 * 10**6, block=128)
"""Takes longer than any of these tests waits for it."""

RUN_FOR_EVER = """
import sys
from harness.hosts.transports.host import by_netns
from harness.programs.mpi import Placement, run_mpi
from tests.probes.test_programs import LARGE
hosts = tuple(by_netns(*each.split("=")) for each in sys.argv[1].split(","))
placement = Placement(hosts)
run_mpi(LARGE.job(LARGE.problem(placement, growing=False), placement), 600)
"""


@pytest.fixture(autouse=True)
def require_mpi() -> None:
    if missing := [program for program in NEEDED if shutil.which(program) is None]:
        pytest.skip(f"not installed: {', '.join(missing)} (Debian: openmpi-bin hpcc)")


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[Network, tuple[Host, ...]]]:
    with star([LINK] * 4) as (made, names):
        yield made, tuple(by_netns(name, made.addresses[name]) for name in names)


@pytest.fixture
def hosts(cluster: tuple[Network, tuple[Host, ...]]) -> tuple[Host, ...]:
    return cluster[1]


@pytest.fixture
def hosts_option(cluster: tuple[Network, tuple[Host, ...]]) -> str:
    made, hosts = cluster
    return made.hosts_option([host.name for host in hosts])


def job_of(program: Hpcc, hosts: tuple[Host, ...]) -> MpiJob:
    placement = Placement(hosts)
    return program.job(program.problem(placement, growing=False), placement)


def processes(hosts: tuple[Host, ...]) -> set[int]:
    """Return all processes that run in the hosts' namespaces."""
    return {int(each) for host in hosts for each in run("ip", "netns", "pids", host.name).split()}


def named(hosts: tuple[Host, ...], name: str) -> list[int]:
    """Return the processes of a program in the hosts' namespaces."""
    return [each for each in sorted(processes(hosts)) if _name(each) == name]


def _name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip()
    except OSError:  # it has ended
        return ""


def directories() -> list[str]:
    """Return the directories of jobs, and what they share: the names end with the number of the host."""
    places = (Path("/tmp"), Path("/dev/shm"))  # noqa: S108  as in the guard
    return [path.name for place in places for path in place.glob("clusterlift-*.*.")] + [
        path.name for path in places[1].glob("vader_segment.*")
    ]


def sent_bytes(host: Host) -> int:
    return int(
        run("ip", "netns", "exec", host.name, "cat", f"/sys/class/net/{DEVICE}/statistics/tx_bytes")
    )


@pytest.fixture(autouse=True)
def nothing_is_left(hosts: tuple[Host, ...]) -> Iterator[None]:
    yield
    eventually(lambda: not processes(hosts), "a process is left")
    eventually(lambda: not directories(), "a directory is left")


class TestHpcc:
    @pytest.mark.parametrize("number", [1, 4])
    def test_its_answers_are_right_on_any_number_of_hosts(
        self, hosts: tuple[Host, ...], number: int
    ) -> None:
        placement = Placement(hosts[:number])
        problem = SMALL.problem(placement, growing=False)
        before = [sent_bytes(host) for host in placement.hosts]
        output = run_mpi(SMALL.job(problem, placement), 120)
        found = SMALL.outcomes(output, problem, number)
        assert set(found) == set(SMALL.workloads) - set(SMALL.omitted(placement))
        assert all(isinstance(outcome, Achieved) for outcome in found.values())
        sent = [
            sent_bytes(host) - first for host, first in zip(placement.hosts, before, strict=True)
        ]
        assert number == 1 or min(sent) > 10**6


class TestCommand:
    def test_measures_on_subsets_and_compares_them(
        self, hosts_option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        hosts = ("--hosts", hosts_option, "--via", "netns", "--results", str(tmp_path))
        size = ("--memory", "1mb", "--block", "16", "--nodes", "1,2", "--peak", "50")
        often = ("--runs", "1", "--trials", "1", "--warmup", "0", "--configuration", "1g")
        assert main(["program", "hpcc", *hosts, *size, *often]) == 0
        assert "hpl " in capsys.readouterr().out
        [recorded] = find_runs("1g-n2", tmp_path)
        assert {trial.status for trial in recorded.trials} == {Status.OK}
        assert recorded.run.environment["nodes"].keys() == set(recorded.run.parameters["hosts"])
        assert main(["scaling", "1g", "--results", str(tmp_path)]) == 0
        assert "speed-up" in capsys.readouterr().out

    def test_a_host_without_the_program_is_named(
        self,
        hosts_option: str,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("ROSS_HOME", "/nowhere")
        hosts = ("--hosts", hosts_option, "--via", "netns", "--results", str(tmp_path))
        assert main(["program", "phold", *hosts, "--configuration", "1g"]) != 0
        assert "/nowhere/bin/phold is not there" in capsys.readouterr().err
        assert not list(tmp_path.iterdir())


class TestPhold:
    def test_simulates_as_many_events_on_four_hosts_as_on_one(
        self, hosts_option: str, tmp_path: Path
    ) -> None:
        if not os.environ.get("ROSS_HOME"):
            pytest.skip("ROSS_HOME does not name a build of ROSS")
        hosts = ("--hosts", hosts_option, "--via", "netns", "--results", str(tmp_path))
        often = ("--runs", "1", "--trials", "1", "--warmup", "0", "--configuration", "1g")
        assert main(["program", "phold", *hosts, *often, "--objects", "64", "--end", "50"]) == 0
        [recorded] = find_runs("1g", tmp_path)
        [trial] = recorded.trials
        assert known(trial.work).unit == "event"


class TestFailure:
    def test_a_job_that_takes_too_long_is_stopped(self, hosts: tuple[Host, ...]) -> None:
        with pytest.raises(HostError, match=r"hpcc did not end within 3 s on .*; it was stopped"):
            run_mpi(job_of(LARGE, hosts), 3)

    def test_a_killed_process_of_the_program_is_reported(self, hosts: tuple[Host, ...]) -> None:
        assert "hpcc on " in str(self.error_after_killing("hpcc", hosts))

    def test_a_host_that_is_lost_is_named(self, hosts: tuple[Host, ...]) -> None:
        message = str(self.error_after_killing("orted", hosts))
        assert any(message.startswith(f"{host}: ") for host in hosts[1:]), message

    def test_nothing_survives_us(self, hosts: tuple[Host, ...], hosts_option: str) -> None:
        started = subprocess.Popen([sys.executable, "-c", RUN_FOR_EVER, hosts_option])
        eventually(lambda: len(named(hosts, "hpcc")) == len(hosts), "the program did not start")
        os.kill(started.pid, signal.SIGKILL)
        started.wait()

    @staticmethod
    def error_after_killing(name: str, hosts: tuple[Host, ...]) -> ClusterliftError:
        """Run a job, kill a process of this name on one of the hosts, and return what is raised."""
        with killing(name, hosts), pytest.raises(ClusterliftError) as error:
            run_mpi(job_of(LARGE, hosts), 120)
        return error.value


@contextmanager
def killing(name: str, hosts: tuple[Host, ...]) -> Iterator[None]:
    """As soon as all hosts run the program, kill a process of this name on one of them."""

    def kill() -> None:
        eventually(lambda: len(named(hosts, "hpcc")) == len(hosts))
        os.kill(named(hosts[1:], name)[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    thread.join()
