"""What a soak shows: slow and failed transfers with their hosts, events of links, and what it proves."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from harness.analysis.network.soak import soak_findings
from harness.hosts.transports.host import Host
from harness.model.finding import about
from harness.model.interface import HostLink
from harness.model.link import rate_of_goodput
from harness.model.probe import BEFORE, LinkSnapshot, ProbeEvent, ProbeRun, RecordedProbes
from harness.model.run import Ending
from harness.model.soak import LinkEvent, LinkEventKind, SoakFlow
from harness.probes.soak import ring

HOSTS = tuple(f"n{number}" for number in range(1, 7))
ROUND_S, GAP_S = 20, 4
MBIT = 1e6

Rate = Callable[[str, str, int], float]
"""The Mbit/s from one host to another in a round; 0 is a failure."""


def steady(_sender: str, _receiver: str, _round: int) -> float:
    return 100.0


def soak(
    rate: Rate = steady,
    *,
    rounds: int = 10,
    hosts: Sequence[str] = HOSTS,
    events: Sequence[LinkEvent] = (),
    is_rate_known: bool = True,
    **fields: float,
) -> RecordedProbes:
    """Return a soak whose transfers have these rates; the links allow 100 Mbit/s of TCP."""
    rng = random.Random(1)  # noqa: S311  chance that can be repeated
    rate_bit_s = round(rate_of_goodput(100 * MBIT, 1500)) if is_rate_known else None
    found: list[ProbeEvent] = [
        LinkSnapshot(BEFORE, HostLink(host, "eth0", mtu_bytes=1500, shaped_bit_s=rate_bit_s))
        for host in hosts
    ]
    found += events
    for number in range(1, rounds + 1):
        start_s = float((number - 1) * (ROUND_S + GAP_S) + 1)
        for flow in ring([Host(name, name) for name in hosts], rng):
            a, b = flow.sender.name, flow.receiver.name
            carried = SoakFlow(number, a, b, start_s, ROUND_S, error="iperf3: no route")
            if bit_s := rate(a, b, number) * MBIT:
                known: dict[str, Any] = {**fields}
                carried = replace(carried, goodput_bit_s=bit_s, error=None, **known)
            found.append(carried)
    return RecordedProbes(ProbeRun("1g", tuple(hosts)), tuple(found), Ending.COMPLETED)


def faults(probed: RecordedProbes) -> list[str]:
    return [str(finding) for finding in soak_findings(probed) if finding.is_fault]


def notes(probed: RecordedProbes) -> str:
    return "\n".join(str(each) for each in soak_findings(probed) if not each.is_fault)


class TestTransfers:
    def test_of_a_sound_network_have_no_fault(self) -> None:
        assert faults(soak()) == []

    @pytest.mark.parametrize("mbit_s", [0.0, 10.0])
    def test_of_every_bad_host_name_it_and_no_other_if_three_are_sound(self, mbit_s: float) -> None:
        for faulty in (*combinations(HOSTS, 1), *combinations(HOSTS, 2), *combinations(HOSTS, 3)):

            def rate(a: str, b: str, _: int, faulty: tuple[str, ...] = faulty) -> float:
                return mbit_s if {a, b} & {*faulty} else 100.0

            named = {fault.partition(":")[0] for fault in faults(soak(rate, rounds=30))}
            assert named == {*faulty}

    def test_of_a_host_that_only_receives_slowly_say_so(self) -> None:
        assert faults(soak(lambda _, b, __: 10.0 if b == "n2" else 100.0)) == [
            "n2: in 10 rounds: receives slowly, 10.0 Mbit/s with its peers, expected 100.0 Mbit/s (typical)"
        ]

    def test_of_a_link_that_falls_after_a_while_have_the_moment(self) -> None:
        found = soak_findings(
            soak(lambda a, b, n: 10.0 if n > 20 and "n3" in (a, b) else 100.0, rounds=60)
        )
        [fault] = [finding for finding in found if finding.is_fault]
        assert fault.subject == about("n3")
        assert fault.at_s == 20 * (ROUND_S + GAP_S) + 1

    def test_that_fall_in_all_of_the_network_name_its_hosts(self) -> None:
        found = faults(soak(lambda _, __, n: 10.0 if n > 5 else 100.0, rounds=60))
        assert {fault.partition(":")[0] for fault in found} == {*HOSTS}

    def test_that_are_slow_from_the_start_are_a_remark(self) -> None:
        assert "typical is 10.0 Mbit/s, 10 % of the 100.0 Mbit/s" in notes(soak(lambda *_: 10.0))

    def test_that_fail_once_name_the_pair(self) -> None:
        [fault] = faults(soak(lambda a, _, n: 0.0 if (a, n) == ("n1", 3) else 100.0))
        assert fault.startswith("n1 -> n")
        assert "in 1 round: iperf3: no route" in fault

    @pytest.mark.parametrize("field", ["stolen_percent", "busiest_percent"])
    def test_that_processors_limit_are_not_judged(self, field: str) -> None:
        fields: dict[str, Any] = {field: 99.0}
        slow = soak(lambda a, *_: 40.0 if a == "n1" else 100.0, **fields)
        if field == "busiest_percent":  # where most busy transfers are fast, busy says nothing
            assert faults(slow)
        else:
            assert faults(slow) == []
            assert "nothing was concluded from 10 transfers: a hypervisor" in notes(slow)

    def test_that_are_slow_while_processors_are_unknown_are_faults_with_a_remark(self) -> None:
        slow = soak(lambda a, *_: 40.0 if a == "n1" else 100.0)
        assert faults(slow)
        assert "nothing is known of the processors in 10 slow transfers" in notes(slow)
        known = soak(
            lambda a, *_: 40.0 if a == "n1" else 100.0, stolen_percent=0.0, busiest_percent=50.0
        )
        assert faults(known) == faults(slow)
        assert "nothing is known" not in notes(known)


class TestEvents:
    def event(
        self, host: str, number: int, at_s: float, event: LinkEventKind, count: int = 1
    ) -> LinkEvent:
        return LinkEvent(host, number, at_s, event, f"{event} {count}", count)

    def test_of_a_kind_are_one_fault_with_the_first_moment(self) -> None:
        kind = LinkEventKind.CARRIER
        events = [self.event("n1", 3, 70.0, kind, 4), self.event("n1", 1, 20.0, kind, 2)]
        [fault] = [each for each in soak_findings(soak(events=events)) if each.is_fault]
        assert (fault.at_s, str(fault)) == (20.0, "n1: carrier 2; 1 time more, 6 in all")

    def test_that_are_no_faults_are_remarks(self) -> None:
        probed = soak(events=[self.event("n1", 1, 20.0, LinkEventKind.DROPS, 2)])
        assert faults(probed) == []
        assert "n1: drops 2" in notes(probed)

    def test_of_a_lost_host_explain_its_failed_transfers_of_the_round(self) -> None:
        events = [self.event("n4", 3, 70.0, LinkEventKind.LOST)]

        def rate(a: str, b: str, number: int) -> float:
            return 0.0 if number == 3 and "n4" in (a, b) else 100.0

        assert faults(soak(rate, events=events)) == ["n4: lost 1"]


class TestProof:
    def test_no_fault_in_so_many_hours_bounds_their_rate(self) -> None:
        assert (
            "no fault in 3 h 00 min of link time under load (all hosts together): with 95 % confidence, "
            "faults of a link are rarer than one in 1 h 00 min (rule of three)"
        ) in notes(soak(rounds=90))

    def test_time_that_was_not_judged_proves_nothing(self) -> None:
        probed = soak(lambda a, *_: 40.0 if a != "n1" else 100.0, stolen_percent=50.0)
        assert "but most of the time was not judged: that proves nothing" in notes(probed)

    def test_a_soak_without_transfers_is_a_fault(self) -> None:
        assert faults(soak(rounds=0)) == ["nothing was transferred, so nothing is known"]

    def test_of_what_could_not_be_read_are_one_remark_for_all_hosts(self) -> None:
        unread, kernel = LinkEventKind.UNREAD, LinkEventKind.KERNEL
        events = [
            LinkEvent(host, 1, 0.0, unread, "root can", unread=kernel) for host in ("n10", "n2")
        ]
        pauses = LinkEventKind.PAUSE
        events.append(LinkEvent("n1", 1, 0.0, unread, "ethtool is not installed", unread=pauses))
        probed = soak(events=events)
        assert faults(probed) == []
        assert "the kernel log of n2, n10 cannot be read (root can)" in notes(probed)
        assert "the pause frames of n1 cannot be read (ethtool is not installed)" in notes(probed)

    def test_that_could_not_be_seen_are_not_proven_to_be_none(self) -> None:
        event = LinkEvent(
            "n1", 1, 0.0, LinkEventKind.UNREAD, "root can", unread=LinkEventKind.KERNEL
        )
        assert "as far as the hosts could be read" in notes(soak(events=[event]))
        assert "as far as the hosts could be read" not in notes(soak())

    @pytest.mark.parametrize(
        ("event", "unread"),
        [
            (LinkEventKind.UNREAD, None),
            (LinkEventKind.UNREAD, LinkEventKind.LOST),
            (LinkEventKind.KERNEL, LinkEventKind.KERNEL),
        ],
    )
    def test_say_what_was_not_read_if_something_was_not(
        self, event: LinkEventKind, unread: LinkEventKind | None
    ) -> None:
        with pytest.raises(ValueError, match="can be unread"):
            LinkEvent("n1", 1, 0.0, event, "root can", unread=unread)
