"""What packets of each size carry and cost: medians over the pairs of hosts and the repeats of a sweep."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from harness.model.interface import HostLink
from harness.model.network_metrics import (
    CYCLES,
    INSTRUCTIONS,
    PACKET_COST,
    PACKET_CPU,
    PACKET_GOODPUT,
)
from harness.model.packet_case import PacketCase
from harness.model.probe import ARROW, BOTH_WAYS_ARROW, Measurement, Metric

COST_METRICS = (*PACKET_CPU, *PACKET_COST, *INSTRUCTIONS, *CYCLES)


@dataclass(frozen=True)
class PacketCost:
    """What packets of one size carry and cost, between hosts with the same drivers.

    - `drivers`: of sender and receiver, `tg3 -> forcedeth`; empty if all hosts of the sweep have the same.
    - `goodput_bit_s`: both ways, the sum of both directions; None if all transfers failed.
    - `costs`: by the COST_METRICS that are known. Both ways, the sender is the host that is named first.
    - `failed`: the number of transfers that failed.
    """

    case: PacketCase
    drivers: str
    goodput_bit_s: float | None
    costs: Mapping[Metric, float]
    failed: int


def packet_costs(
    measurements: Iterable[Measurement], links: Mapping[str, HostLink] | None = None
) -> list[PacketCost]:
    """Return what the sweeps among the measurements found, by case and drivers, sorted by packet size.

    `links` are those of the hosts, by name, from which their drivers are taken.
    """
    names = {host: link.driver or "?" for host, link in (links or {}).items()}
    groups: dict[tuple[PacketCase, str], list[_OfTransfer]] = {}
    for each in _of_transfers(measurements):
        groups.setdefault((each.case, _drivers(each, names)), []).append(each)
    return [_cost(*key, groups[key]) for key in sorted(groups)]


class _OfTransfer(NamedTuple):
    """A measurement of a sweep.

    Both directions of a transfer both ways have the same `first`, `second` and `number`: how many of the same
    metric, subject and case came before.
    """

    measurement: Measurement
    case: PacketCase
    first: str
    second: str
    number: int
    is_forward: bool


def _of_transfers(measurements: Iterable[Measurement]) -> Iterator[_OfTransfer]:
    """Yield the measurements of sweeps; of a pair, the host that sent in the first is `first`."""
    seen: Counter[tuple[str, str, str]] = Counter()
    pairs: set[tuple[str, str]] = set()
    for measurement in measurements:
        case = PacketCase.parse(measurement.case)
        is_known = measurement.metric in _NAMES and measurement.probe == PACKET_GOODPUT.probe
        if case is None or not is_known:
            continue
        key = (measurement.metric, measurement.subject, measurement.case)
        sender, _, receiver = measurement.subject.partition(ARROW)
        # One way, each direction stands for itself.
        is_forward = not (case.both_ways and (receiver, sender) in pairs)
        first, second = (sender, receiver) if is_forward else (receiver, sender)
        if case.both_ways:
            pairs.add((first, second))
        yield _OfTransfer(measurement, case, first, second, seen[key], is_forward)
        seen[key] += 1


_NAMES = {metric.name for metric in (PACKET_GOODPUT, *COST_METRICS)}


def _drivers(each: _OfTransfer, names: Mapping[str, str]) -> str:
    """Return the drivers of both hosts where the hosts of the sweep have different ones."""
    if len(set(names.values())) < 2:  # noqa: PLR2004  all alike
        return ""
    arrow = BOTH_WAYS_ARROW if each.case.both_ways else ARROW
    return arrow.join(names.get(host, "?") for host in (each.first, each.second))


def _cost(case: PacketCase, drivers: str, group: Sequence[_OfTransfer]) -> PacketCost:
    known: dict[str, list[float]] = {}
    by_transfer: dict[tuple[str, str, int], list[float]] = {}
    failed = 0
    for each in group:
        metric, value = each.measurement.metric, each.measurement.value
        if metric != PACKET_GOODPUT.name:
            if each.is_forward and value is not None:
                known.setdefault(metric, []).append(value)
        elif value is None:
            failed += 1
        else:
            by_transfer.setdefault((each.first, each.second, each.number), []).append(value)
    # Both ways, the goodput is the sum of the directions if both succeeded.
    directions = 2 if case.both_ways else 1
    totals = [sum(values) for values in by_transfer.values() if len(values) == directions]
    costs = {metric: median(known[metric.name]) for metric in COST_METRICS if metric.name in known}
    return PacketCost(case, drivers, median(totals) if totals else None, costs, failed)
