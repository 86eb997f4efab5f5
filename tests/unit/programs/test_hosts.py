"""What hosts counted around a trial: how busy they were, and over which interface bytes went."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from harness.hosts.transports.host import Host, by_local
from harness.node.counters import RDMA_PORTS, parse_counters
from harness.node.interference import interference
from harness.node.snapshot import NodeReading
from harness.programs import hosts
from harness.programs.hosts import Machines, describe_hosts, exchanged_bytes

PRINTED = """/proc/uptime:1000.25 1800.00
/proc/stat:cpu  1000 50 300 9000 10 0 20 40 0 0
/proc/stat:cpu0 500 25 150 4500 5 0 10 20 0 0
/proc/stat:cpu1 500 25 150 4500 5 0 10 20 0 0
/proc/stat:intr 12345 0 0
/proc/vmstat:pgmajfault 17
/proc/pressure/memory:some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000
/proc/self/net/dev:Inter-|   Receive                               |  Transmit
/proc/self/net/dev: face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets
/proc/self/net/dev:    lo:     100       1    0    0    0     0          0         0      100       1
/proc/self/net/dev:  eth0: 5000000    4000    0    0    0     0          0         0  3000000    2000
"""


def counters(text: str = PRINTED) -> NodeReading:
    return parse_counters("n1", text)


def later(received: int) -> NodeReading:
    text = PRINTED.replace("1000.25", "1010.25").replace("5000000", str(received))
    return counters(text.replace("cpu  1000 ", "cpu  1500 ").replace(" 0 20 40 ", " 0 20 240 "))


class TestCounters:
    def test_are_read_from_proc(self) -> None:
        assert counters().counters == {
            "clock_s": 1000.25, "processors": 2, "busy_s": 13.5, "stolen_s": 0.4,
            "memory_wait_s": 2.0, "major_faults": 17,
        }  # fmt: skip
        assert counters().traffic == {"lo": (100, 100), "eth0": (5_000_000, 3_000_000)}

    def test_what_the_hypervisor_took_is_known_by_host(self) -> None:
        [node] = interference({"n1": counters(), "gone": counters()}, {"n1": later(0)}) or ()
        assert (node.host, node.duration_s, node.processors) == ("n1", 10, 2)
        assert (node.busy_s, node.stolen_s) == pytest.approx((5, 2))

    def test_a_host_that_did_not_answer_is_unknown(self) -> None:
        assert interference({"n1": counters()}, {}) is None

    def test_bytes_are_those_of_both_directions(self) -> None:
        before, after = {"n1": counters()}, {"n1": later(5_000_700)}
        assert exchanged_bytes(before, after, "n1", "eth0") == 700
        assert exchanged_bytes(before, after, "n1", "eth1") is None
        assert exchanged_bytes(before, {}, "n1", "eth0") is None

    @pytest.mark.parametrize(
        ("first", "then", "expected"),
        [(100, 800, 700), (100, 100, 0), (800, 100, None), (None, 800, None), (100, None, None)],
    )
    def test_bytes_of_rdma_ports_that_were_reset_are_unknown(
        self, first: int | None, then: int | None, expected: int | None
    ) -> None:
        before, after = (
            {"n1": replace(counters(), traffic={RDMA_PORTS: (n, 0)} if n is not None else {})}
            for n in (first, then)
        )
        assert exchanged_bytes(before, after, "n1", RDMA_PORTS) == expected

    def test_words_of_all_rdma_ports_are_counted_as_bytes(self) -> None:
        text = f"{PRINTED}rdma:100\nrdma:20\n"
        assert counters(text).traffic[RDMA_PORTS] == (480, 0)


class TestMachines:
    def test_hosts_that_do_not_tell_their_machine_have_one_each(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(hosts, "machine_command", lambda: ("true",))
        mpi = "mpirun (Open MPI) 4.1.4"

        def answers_of_all(
            asked: Sequence[Host], command: Sequence[str], parse: Callable[[str], object]
        ) -> dict[Host, object]:
            return {host: parse("/getconf:2" if command == ("true",) else mpi) for host in asked}

        monkeypatch.setattr(hosts, "answers_of_all", answers_of_all)
        machines = describe_hosts([by_local("a"), by_local("b")])
        assert machines.hosts == {"a": ["a"], "b": ["b"]}
        assert machines.mpi == "mpirun (Open MPI) 4.1.4"

    def test_hosts_on_one_machine_share_its_processors(self) -> None:
        machines = Machines({}, None, {"boot": ["a", "b", "c"]}, {"boot": 2})
        assert machines.shared_processors(1) == (
            "3 processes share the 2 processors of one machine: a, b, c"
        )

    def test_machines_with_a_processor_for_each_process_share_nothing(self) -> None:
        machines = Machines({}, None, {"x": ["a"], "y": ["b"]}, {"x": 4, "y": 4})
        assert machines.shared_processors(4) is None
        assert machines.shared_processors(5) is not None
