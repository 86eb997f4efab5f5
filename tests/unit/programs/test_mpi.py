"""What Open MPI printed becomes an output, or one clear line that names the host or the program."""

import json
import os
import subprocess

import pytest

from harness.base.errors import ToolError
from harness.hosts.remote_process import CompletedCommand, run_all
from harness.hosts.transports.host import Host, HostError, by_local
from harness.programs import mpi
from harness.programs.mpi import MpiJob, Placement, output_of
from tests.unit.probe_builders import output

HOSTS = (Host("n1", "10.0.0.1"), Host("n2", "10.0.0.12"))
LAUNCH = "clusterlift-launch 10.0.0.12 orted -mca ess env"

LOST = """--------------------------------------------------------------------------
ORTE has lost communication with a remote daemon.

  HNP daemon   : [[13828,0],0] on node vm
  Remote daemon: [[13828,0],1] on node 10.0.0.12

This is usually due to either a failure of the TCP network
connection to the node, or possibly an internal failure of
the daemon itself. We cannot recover from this failure, and
therefore will terminate the job.
--------------------------------------------------------------------------
"""


def test_a_guard_ends_its_own_processes_and_no_others() -> None:
    """Hosts may share /proc, and the mark of the tenth begins like that of the first."""
    environment = os.environ | {"CLUSTERLIFT_JOB": "test.10."}
    with subprocess.Popen(["sleep", "600"], env=environment) as other:
        done = run_all([(by_local("n1"), mpi.guarded("test.1.", ["sh", "-c", "sleep 600 & true"]))])
        assert isinstance(done[0], CompletedCommand)
        assert other.poll() is None
        other.kill()


class TestNetworks:
    def found(self, monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
        """Return the networks of the first host, which has these addresses."""
        shown = [{"addr_info": [{"local": each, "prefixlen": 24}]} for each in addresses]
        monkeypatch.setattr(
            mpi,
            "answers_of_all",
            lambda hosts, _, parse: dict.fromkeys(hosts, parse(json.dumps(shown))),
        )
        return mpi.networks(HOSTS[:1])

    def test_are_those_of_the_addresses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.found(monkeypatch, "10.0.0.1", "10.0.1.1") == ["10.0.0.0/24"]

    def test_with_two_interfaces_of_a_host_are_refused(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(
            HostError, match=r"n1: 10.0.0.7 is in the network 10.0.0.0/24, too, and"
        ):
            self.found(monkeypatch, "10.0.0.1", "10.0.0.7")

    def test_need_the_address_on_the_host(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(HostError, match=r"n1: no interface has the IPv4 address 10.0.0.1"):
            self.found(monkeypatch, "10.0.0.7")


def job(output_file: str | None = None) -> MpiJob:
    return MpiJob(("/usr/bin/hpcc",), Placement(HOSTS), output_file=output_file)


def completed(output: str = "", code: int = 0, errors: str = "") -> CompletedCommand:
    return CompletedCommand(code, output, errors)


def test_the_output_is_what_the_program_printed_or_what_follows_the_mark() -> None:
    printed = f"{LAUNCH}\nfirst\nclusterlift: output\nresult\nmore"
    assert output_of(job(), completed(f"{LAUNCH}\nfirst\nsecond")) == "first\nsecond"
    assert output_of(job("out.txt"), completed(printed)) == "result\nmore"


class TestFailure:
    def test_a_lost_host_is_named(self) -> None:
        with pytest.raises(HostError, match=r"^n2: Open MPI lost its daemon there$"):
            output_of(job(), completed(LAUNCH, 1, LOST))

    @pytest.mark.parametrize("section", output("mpi-failures.txt").split("## ")[1:])
    def test_says_why_it_failed_and_not_what_it_warned_of(self, section: str) -> None:
        heading, _, printed = section.partition("\n")
        with pytest.raises(ToolError) as error:
            output_of(job(), completed(LAUNCH, 1, printed))
        assert str(error.value) == f"hpcc on n1, n2: {heading.partition(' | ')[2]}"

    def test_without_a_message_the_line_with_an_error_is_shown(self) -> None:
        with pytest.raises(ToolError, match="hpcc on n1, n2: sh: 1: error: no memory"):
            output_of(job(), completed("begin\nsh: 1: error: no memory\nend", 2))

    def test_without_any_text_the_exit_code_is_shown(self) -> None:
        with pytest.raises(ToolError, match="hpcc on n1, n2: exit code 3"):
            output_of(job(), completed(LAUNCH, 3))
