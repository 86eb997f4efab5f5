"""Sweeps of packet sizes become medians by size, direction and pair of drivers."""

from harness.analysis.network.packet_costs import packet_costs
from harness.model.network_metrics import MESH_GOODPUT, PACKET_CPU, PACKET_GOODPUT
from harness.model.packet_case import PacketCase
from harness.model.probe import Measurement
from tests.unit.probe_builders import a_link

ONE_WAY, BOTH_WAYS = PacketCase(1500), PacketCase(1500, both_ways=True)


def both_ways(forth: float | None, back: float | None) -> list[Measurement]:
    found = []
    for subject, value in (("a -> b", forth), ("b -> a", back)):
        if value is None:
            found.append(PACKET_GOODPUT.failed(subject, "no route", str(BOTH_WAYS)))
        else:
            found.append(PACKET_GOODPUT.of(subject, value, str(BOTH_WAYS)))
    return found


def test_both_ways_the_goodput_is_the_median_of_the_sums() -> None:
    [cost] = packet_costs([*both_ways(8, 1), *both_ways(1, 8), *both_ways(4, 2)])
    assert (cost.case, cost.goodput_bit_s, cost.failed) == (BOTH_WAYS, 9, 0)


def test_a_transfer_of_which_one_direction_failed_has_no_sum() -> None:
    [cost] = packet_costs([*both_ways(8, None), *both_ways(1, 2)])
    assert (cost.goodput_bit_s, cost.failed) == (3, 1)
    [cost] = packet_costs(both_ways(8, None))
    assert cost.goodput_bit_s is None


def test_both_ways_the_sender_is_the_host_that_is_named_first() -> None:
    found = [
        PACKET_CPU.sender.of("a -> b", 10, str(BOTH_WAYS)),
        PACKET_CPU.sender.of("b -> a", 90, str(BOTH_WAYS)),
    ]
    [cost] = packet_costs(found)
    assert cost.costs == {PACKET_CPU.sender: 10}


def test_sizes_are_in_order_and_other_measurements_are_left_out() -> None:
    found = [
        MESH_GOODPUT.of("a -> b", 1),
        *(PACKET_GOODPUT.of("a -> b", n, str(PacketCase(n))) for n in (9000, 1500)),
    ]
    assert [cost.case.packet_bytes for cost in packet_costs(found)] == [1500, 9000]


def test_drivers_are_named_where_they_differ() -> None:
    found = [PACKET_GOODPUT.of(pair, 1, str(ONE_WAY)) for pair in ("a -> b", "b -> a")]
    found += both_ways(1, 2)
    alike = {host: a_link(host, driver="tg3") for host in "ab"}
    assert {cost.drivers for cost in packet_costs(found, alike)} == {""}
    differ = alike | {"b": a_link("b", driver="forcedeth")}
    assert [(cost.case, cost.drivers) for cost in packet_costs(found, differ)] == [
        (ONE_WAY, "forcedeth -> tg3"),
        (ONE_WAY, "tg3 -> forcedeth"),
        (BOTH_WAYS, "tg3 <-> forcedeth"),
    ]
