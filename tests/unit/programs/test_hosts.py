"""What hosts counted around a trial: how busy they were, and over which interface bytes went."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from harness.hosts.transports.host import Host, by_local
from harness.programs import hosts
from harness.programs.hosts import (
    RDMA_PORTS,
    HostCounters,
    Machines,
    describe_hosts,
    exchanged_bytes,
    interference,
    parse_counters,
)

PRINTED = """1000.25
100
cpu  1000 50 300 9000 10 0 20 40 0 0
cpu0 500 25 150 4500 5 0 10 20 0 0
cpu1 500 25 150 4500 5 0 10 20 0 0
intr 12345 0 0
ctxt 99
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
    lo:     100       1    0    0    0     0          0         0      100       1    0    0
  eth0: 5000000    4000    0    0    0     0          0         0  3000000    2000    0    0
"""


def counters(text: str = PRINTED) -> HostCounters:
    return parse_counters(text)


def later(seconds: float = 10, stolen_s: float = 0, traffic: int = 0) -> HostCounters:
    first = counters()
    return HostCounters(
        first.clock_s + seconds,
        first.processors,
        first.busy_s + 5,
        first.stolen_s + stolen_s,
        {"eth0": first.exchanged["eth0"] + traffic},
    )


class TestCounters:
    def test_are_read_from_proc(self) -> None:
        assert counters() == HostCounters(1000.25, 2, 13.5, 0.4, {"lo": 200, "eth0": 8_000_000})

    def test_what_the_hypervisor_took_is_known_by_host(self) -> None:
        [node] = (
            interference({"n1": counters(), "gone": counters()}, {"n1": later(stolen_s=2)}) or ()
        )
        assert (node.host, node.duration_s, node.processors) == ("n1", 10, 2)
        assert (node.busy_s, node.stolen_s) == (pytest.approx(5), pytest.approx(2))

    def test_a_host_that_did_not_answer_is_unknown(self) -> None:
        assert interference({"n1": counters()}, {}) is None

    def test_bytes_are_those_of_both_directions(self) -> None:
        before, after = {"n1": counters()}, {"n1": later(traffic=700)}
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
            {"n1": replace(counters(), exchanged={} if counted is None else {RDMA_PORTS: counted})}
            for counted in (first, then)
        )
        assert exchanged_bytes(before, after, "n1", RDMA_PORTS) == expected

    def test_words_of_all_rdma_ports_are_counted_as_bytes(self) -> None:
        text = f"{PRINTED}rdma 100\nrdma 20\n"
        assert counters(text).exchanged[RDMA_PORTS] == 480


class TestMachines:
    def test_hosts_that_do_not_tell_their_machine_have_one_each(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(hosts, "machine_command", lambda: ("true",))
        mpi = "\nmpirun (Open MPI) 4.1.4"

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
