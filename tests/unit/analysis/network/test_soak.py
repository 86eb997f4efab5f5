"""Who a soak blames, for what and from when on; and what it proves when nothing happened."""

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations

import pytest

from harness.analysis.network.soak import SoakVerdict, judge_soak
from harness.hosts.transports.host import Host
from harness.model.interface import HostLink
from harness.model.link import rate_of_goodput
from harness.model.probe import BEFORE, LinkSnapshot, ProbeEvent, ProbeRun, RecordedProbes
from harness.model.run import Ending
from harness.model.soak import LinkEvent, LinkEventKind, LinkSeconds, SoakFlow
from harness.present.probes.soak import sentences
from harness.probes.soak import ring

HOSTS = tuple(f"n{number}" for number in range(1, 7))
ROUND_S, GAP_S = 20, 4
MBIT = 1e6
SENDS, RECEIVES = "sends", "receives"
BOTH = (SENDS, RECEIVES)

Rate = Callable[[str, str, float], float]
"""The Mbit/s from one host to another at a moment."""


def steady(_sender: str, _receiver: str, _at_s: float) -> float:
    return 100.0


def soak(
    rate: Rate = steady,
    *,
    rounds: int = 10,
    hosts: Sequence[str] = HOSTS,
    retransmits: Callable[[str, str], int] = lambda *_: 0,
    events: Sequence[LinkEvent] = (),
    stolen: Callable[[float], float] = lambda _: 0.0,
    busiest: float = 0.0,
    is_rate_known: bool = True,
    seed: int = 1,
) -> RecordedProbes:
    """Return a soak whose transfers have these rates, second by second; the links allow 100 Mbit/s of TCP."""
    rng = random.Random(seed)  # noqa: S311  chance that can be repeated
    rate_bit_s = round(rate_of_goodput(100 * MBIT, 1500)) if is_rate_known else None
    found: list[ProbeEvent] = [
        LinkSnapshot(BEFORE, HostLink(host, "eth0", mtu_bytes=1500, shaped_bit_s=rate_bit_s))
        for host in hosts
    ]
    found += events
    for number in range(rounds):
        start_s = float(number * (ROUND_S + GAP_S) + 1)
        moments = tuple(start_s + second for second in range(1, ROUND_S + 1))
        for flow in ring([Host(name, name) for name in hosts], rng):
            a, b = flow.sender.name, flow.receiver.name
            rates = tuple(rate(a, b, at_s) * MBIT for at_s in moments)
            mean = sum(rates) / len(rates)
            found.append(
                SoakFlow(number + 1, a, b, start_s, ROUND_S, mean, retransmits(a, b))
                if mean
                else SoakFlow(number + 1, a, b, start_s, ROUND_S, error="iperf3: no route")
            )
            none = (0,) * len(moments)
            taken = tuple(map(stolen, moments))
            levels = (busiest,) * len(moments)
            found.append(LinkSeconds(b, moments, rates, rates, none, taken, levels))
    return RecordedProbes(ProbeRun("1g", tuple(hosts)), tuple(found), Ending.COMPLETED)


def faults(probed: RecordedProbes) -> list[str]:
    return [str(finding) for finding in judge_soak(probed).faults]


def test_a_sound_network_has_no_fault() -> None:
    assert faults(soak()) == []


def subsets(hosts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield every subset that is not empty."""
    for size in range(1, len(hosts) + 1):
        yield from combinations(hosts, size)


def tellable(probed: RecordedProbes, faulty: Collection[str]) -> set[str]:
    """Return the faulty hosts that the transfers show, if both of their directions are bad.

    Their transfers with two sound hosts or more are bad, one of them in a round with a good transfer.
    """
    flows = [event for event in probed.events if isinstance(event, SoakFlow)]
    good = {flow.round for flow in flows if not {flow.sender, flow.receiver} & set(faulty)}
    partners: dict[str, set[str]] = {host: set() for host in faulty}
    shown = set()
    for flow in flows:
        ends = (flow.sender, flow.receiver)
        for host, other in (ends, ends[::-1]):
            if host in faulty and other not in faulty:
                partners[host].add(other)
                shown |= {host} if flow.round in good else set()
    return {host for host in shown if len(partners[host]) > 1}


@pytest.mark.parametrize("roles", [BOTH, (SENDS,), (RECEIVES,)])
@pytest.mark.parametrize("mbit_s", [0.0, 10.0])
@pytest.mark.parametrize("rounds", [4, 12])
@pytest.mark.parametrize("count", range(2, 7))
def test_no_half_dead_network_is_called_sound(
    count: int, rounds: int, mbit_s: float, roles: tuple[str, ...]
) -> None:
    for seed, faulty in enumerate(subsets(HOSTS[:count])):

        def rate(a: str, b: str, _: float, faulty: Collection[str] = faulty) -> float:
            is_bad = (a in faulty and SENDS in roles) or (b in faulty and RECEIVES in roles)
            return mbit_s if is_bad else 100.0

        probed = soak(rate, hosts=HOSTS[:count], rounds=rounds, seed=seed)
        soaked = judge_soak(probed)
        named = {fault.subject for fault in soaked.faults}
        assert named, faulty
        assert not soaked.is_proof
        for subject in named:  # a host, or a path with a faulty end, or the network
            assert subject in {"", *faulty} or set(subject.split(" -> ")) & set(faulty)
        if roles == BOTH:
            assert tellable(probed, faulty) <= named


@pytest.mark.parametrize("count", range(3, 7))
def test_without_the_rate_of_the_links_a_dead_host_is_a_fault_as_well(count: int) -> None:
    for faulty in subsets(HOSTS[:count]):

        def rate(a: str, b: str, _: float, faulty: Collection[str] = faulty) -> float:
            return 0.0 if {a, b} & set(faulty) else 100.0

        probed = soak(rate, hosts=HOSTS[:count], is_rate_known=False)
        soaked = judge_soak(probed)
        assert tellable(probed, faulty) <= {fault.subject for fault in soaked.faults}
        assert soaked.faults
        assert not soaked.is_proof


class TestSlow:
    def test_a_host_that_falls_to_a_tenth_is_named_with_the_moment(self) -> None:
        def rate(a: str, b: str, at_s: float) -> float:
            return 10.0 if "n3" in {a, b} and at_s > 106 else 100.0

        [fault] = judge_soak(soak(rate)).faults
        assert fault.subject == "n3"
        assert fault.at_s == pytest.approx(106, abs=1.5)
        assert (
            fault.text
            == "in 6 rounds: slow, down to 10.0 Mbit/s, 10 % of the expected 100.0 Mbit/s"
        )

    def test_a_host_that_only_receives_slowly_is_named(self) -> None:
        [fault] = faults(soak(lambda _, b, __: 50.0 if b == "n2" else 100.0))
        assert fault.startswith(
            "n2: in 10 rounds, when it receives: slow, down to 50.0 Mbit/s, 50 %"
        )

    def test_two_bad_hosts_are_both_named(self) -> None:
        found = faults(soak(lambda a, b, _: 50.0 if {"n2", "n5"} & {a, b} else 100.0, rounds=20))
        assert {fault.partition(":")[0] for fault in found} == {"n2", "n5"}

    def test_in_a_single_round_either_of_the_pair_may_be_slow(self) -> None:
        probed = soak(lambda a, _, at_s: 50.0 if a == "n1" and at_s < 25 else 100.0)
        [fault] = judge_soak(probed).faults
        assert fault.subject.startswith("n1 -> ")
        assert (
            fault.text == "in 1 round: slow, down to 50.0 Mbit/s, 50 % of the expected 100.0 Mbit/s"
        )

    @pytest.mark.parametrize("is_rate_known", [True, False])
    def test_all_together_are_a_fault_of_no_host(self, *, is_rate_known: bool) -> None:
        probed = soak(
            lambda _, __, at_s: 30.0 if 25 < at_s < 75 else 100.0, is_rate_known=is_rate_known
        )
        assert faults(probed) == [
            "in 2 rounds, all transfers: slow, down to 30.0 Mbit/s, 30 % of the expected 100.0 Mbit/s"
        ]

    def test_one_bad_path_is_one_fault(self) -> None:
        found = faults(soak(lambda a, b, _: 10.0 if (a, b) == ("n1", "n2") else 100.0, rounds=60))
        assert found == [
            "n1 -> n2: in 8 rounds: slow, down to 10.0 Mbit/s, 10 % of the expected 100.0 Mbit/s"
        ]

    def test_what_a_busy_processor_limits_is_not_judged(self) -> None:
        def rate(a: str, b: str, _: float) -> float:
            return 50.0 if "n1" in {a, b} else 100.0

        soaked = judge_soak(soak(lambda *_: 50.0, busiest=99.0))
        assert soaked.faults == []
        assert soaked.unjudged == 60
        # Most transfers are fast, although a processor is busy: that does not explain the slow ones.
        assert [fault.subject for fault in judge_soak(soak(rate, busiest=99.0)).faults] == ["n1"]

    def test_if_a_rate_is_unknown_a_remark_says_so(self) -> None:
        found = list(judge_soak(soak(lambda *_: 10.0, is_rate_known=False)).findings)
        assert [(finding.is_fault, finding.text) for finding in found] == [
            (
                False,
                "the rate of the links is unknown: that all are slow all the time would not be seen",
            )
        ]

    def test_a_host_whose_transfers_fail_is_named(self) -> None:
        found = faults(soak(lambda a, b, at_s: 0.0 if "n4" in {a, b} and at_s > 100 else 100.0))
        assert found == [
            (
                "n4: in 6 rounds: slow, down to 15.0 Mbit/s, 15 % of the expected 100.0 Mbit/s; "
                "10 transfers failed (no route)"
            )
        ]


class TestStandstill:
    def test_is_found_with_its_second(self) -> None:
        def rate(a: str, b: str, at_s: float) -> float:
            return 0.5 if "n6" in {a, b} and 60 <= at_s <= 60.5 else 100.0

        [fault] = judge_soak(soak(rate)).faults
        assert (fault.subject, fault.at_s) == ("n6", 59.0)
        assert fault.text == "its transfers stood still for a second or longer"

    def test_of_one_transfer_names_the_pair(self) -> None:
        [fault] = judge_soak(
            soak(lambda a, _, at_s: 0.0 if a == "n6" and at_s == 60 else 100.0)
        ).faults
        assert fault.subject.startswith("n6 -> ")

    def test_of_most_transfers_is_nobody_s(self) -> None:
        [fault] = faults(soak(lambda _, __, at_s: 0.0 if at_s == 60 else 100.0))
        assert fault == "6 of 6 transfers stood still"

    def test_of_a_transfer_that_began_late_is_one_of_those_that_run(self) -> None:
        late = {"a": (1.0, 5.5), "b": (1.0, 5.5), "c": (4.9, 7.4)}
        found: list[ProbeEvent] = []
        for host, (start_s, stalled_s) in late.items():
            moments = tuple(
                stalled_s + second for second in range(-4, 14) if host != "c" or second > -2
            )
            rates = tuple(0.0 if at_s == stalled_s else 100 * MBIT for at_s in moments)
            none = (0,) * len(moments)
            found.append(SoakFlow(1, f"to-{host}", host, start_s, 20, 95 * MBIT))
            found.append(LinkSeconds(host, moments, rates, rates, none, none, none))
        probed = RecordedProbes(ProbeRun("1g", tuple(late)), tuple(found), Ending.COMPLETED)
        assert faults(probed) == ["3 of 3 transfers stood still"]

    def test_after_an_interruption_is_part_of_it(self) -> None:
        down = LinkEvent("n6", 59.0, LinkEventKind.CARRIER, "the link was interrupted", 2)
        probed = soak(
            lambda a, b, at_s: 0.0 if "n6" in {a, b} and at_s == 60 else 100.0, events=[down]
        )
        assert faults(probed) == ["n6: the link was interrupted"]


class TestLosses:
    def test_of_what_a_host_receives_are_told_from_its_senders(self) -> None:
        [fault] = faults(soak(retransmits=lambda _, b: 20 if b == "n2" else 0))
        assert fault.startswith("n2: loses packets that it receives: 200 retransmits in 10 of 10")
        assert "about 1 packet in 8,633" in fault

    def test_between_two_hosts_are_their_path_s(self) -> None:
        [fault] = faults(soak(hosts=HOSTS[:2], retransmits=lambda a, _: 20 if a == "n1" else 0))
        assert fault.startswith("n1 -> n2: loses packets: 200 retransmits in 10 of 10 transfers")

    def test_that_all_have_alike_are_nobody_s(self) -> None:
        rng = random.Random(1)  # noqa: S311  as above
        assert faults(soak(retransmits=lambda *_: rng.randrange(20, 60))) == []

    def test_at_random_are_hardly_ever_blamed_on_a_host(self) -> None:
        def at_random(seed: int) -> Callable[[str, str], int]:
            rng = random.Random(seed)  # noqa: S311  as above
            return lambda *_: 9 * (rng.random() < 0.2)

        alarms = [
            seed for seed in range(300) if faults(soak(retransmits=at_random(seed), seed=seed))
        ]
        assert len(alarms) <= 2


class TestEvents:
    def test_that_follow_each_other_are_one_fault(self) -> None:
        events = [
            LinkEvent("n1", at_s, LinkEventKind.CARRIER, "the link was interrupted", 2)
            for at_s in (10.0, 12.0, 100.0)
        ]
        assert [(f.at_s, f.text) for f in judge_soak(soak(events=events)).faults] == [
            (10.0, "the link was interrupted; 1 time more within 2 s"),
            (100.0, "the link was interrupted"),
        ]

    def test_that_are_no_faults_are_shown_apart(self) -> None:
        soaked = judge_soak(
            soak(events=[LinkEvent("n1", 9.0, LinkEventKind.DROPS, "2 dropped", 2)])
        )
        assert soaked.faults == []
        assert [finding.text for finding in soaked.findings] == ["2 dropped"]

    def test_a_lost_host_explains_its_failed_transfers(self) -> None:
        lost = LinkEvent("n4", 110.0, LinkEventKind.LOST, "it went away")
        probed = soak(
            lambda a, b, at_s: 0.0 if "n4" in {a, b} and 97 < at_s < 121 else 100.0,
            rounds=5,
            events=[lost],
        )
        assert faults(probed) == ["n4: it went away"]


class TestProof:
    def soaked(self) -> SoakVerdict:
        return judge_soak(soak(rounds=30))

    def test_no_fault_in_so_many_link_hours_bounds_their_rate(self) -> None:
        found = self.soaked()
        assert found.link_s == 30 * 6 * ROUND_S
        assert found.max_faults_per_hour == pytest.approx(2.996 / (3600 / 3600), rel=1e-3)

    def test_so_many_bits_without_an_error_bound_the_error_rate(self) -> None:
        found = self.soaked()
        assert found.received_bits == pytest.approx(3600 * 100e6)
        assert found.max_bit_error_rate == pytest.approx(2.996 / 3.6e11, rel=1e-3)

    @pytest.mark.parametrize(
        ("is_rate_known", "what"),
        [(True, "of a link are"), (False, "of a link that come and go are")],
    )
    def test_without_a_rate_of_links_it_is_one_of_faults_that_come_and_go(
        self, what: str, *, is_rate_known: bool
    ) -> None:
        first, *_ = sentences(judge_soak(soak(is_rate_known=is_rate_known)))
        assert f"with 95 % confidence, faults {what} rarer than one in 6 min 41 s" in first

    def test_packets_with_errors_are_no_proof(self) -> None:
        events = [LinkEvent("n1", 5.0, LinkEventKind.ERRORS, "3 packets with errors", 3)]
        found = judge_soak(soak(rounds=30, events=events))
        assert found.has_packet_errors
        assert not found.is_proof

    def test_disturbed_time_proves_nothing(self) -> None:
        quarter = judge_soak(soak(rounds=12, stolen=lambda at_s: 40.0 if at_s < 72 else 0.0))
        assert (quarter.link_s, quarter.unjudged_s) == (9 * 6 * ROUND_S, 3 * 6 * ROUND_S)
        assert quarter.received_bits == pytest.approx(quarter.link_s * 100e6)
        assert quarter.is_proof
        whole = judge_soak(soak(stolen=lambda _: 40.0))
        assert (whole.link_s, whole.unjudged) == (0.0, 60)
        assert not whole.is_proof

    def test_a_transfer_that_failed_is_a_fault_whatever_a_hypervisor_did(self) -> None:
        probed = soak(lambda a, b, _: 0.0 if "n1" in {a, b} else 100.0, stolen=lambda _: 15.0)
        found = judge_soak(probed)
        assert [fault.subject for fault in found.faults] == ["n1"]
        assert not found.is_proof

    def test_what_was_good_before_a_transfer_failed_counts(self) -> None:
        moments = tuple(float(second) for second in range(1, 61))
        rates = tuple(100 * MBIT if at_s <= 31 else 0.0 for at_s in moments)
        zeros = (0.0,) * 60
        events = [
            SoakFlow(1, "n1", "n2", 1.0, 60.0, error="iperf3: no route"),
            SoakFlow(1, "n2", "n1", 1.0, 60.0, error="iperf3: no route"),
            SoakFlow(2, "n1", "n2", 65.0, 60.0, 100 * MBIT),
            LinkSeconds("n2", moments, rates, rates, (0,) * 60, zeros, zeros),
        ]
        found = judge_soak(RecordedProbes(ProbeRun("1g", ("n1", "n2")), tuple(events)))
        assert found.link_s == 30 + 60
        assert [fault.at_s for fault in found.faults] == [1.0, 31.0]

    def test_what_was_good_before_an_interruption_counts_however_busy_the_processors_are(
        self,
    ) -> None:
        down = LinkEvent("n2", 11.0, LinkEventKind.CARRIER, "the link was interrupted")
        probed = soak(
            lambda _, __, at_s: 100.0 if at_s <= 11 else 0.1,
            rounds=1,
            hosts=HOSTS[:2],
            busiest=99.0,
            events=[down],
        )
        found = judge_soak(probed)
        assert [str(fault) for fault in found.faults] == ["n2: the link was interrupted"]
        assert (found.link_s, found.unjudged) == (2 * 10.0, 0)

    def test_a_soak_without_transfers_is_a_fault(self) -> None:
        [fault] = judge_soak(RecordedProbes(ProbeRun("1g", ("n1", "n2")))).faults
        assert str(fault) == "nothing was transferred, so nothing is known"
