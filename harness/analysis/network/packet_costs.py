"""What packets of each size carry and cost: medians over the pairs of hosts and the repeats of a sweep."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from harness.model.interface import HostLink
from harness.model.network_metrics import (
    CYCLES,
    INSTRUCTIONS,
    PACKET_COST,
    PACKET_CPU,
    PACKET_GOODPUT,
)
from harness.model.packet_case import PacketCase
from harness.model.probe import ARROW, Measurement, Metric

COST_METRICS = (*PACKET_CPU, *PACKET_COST, *INSTRUCTIONS, *CYCLES)
BOTH_WAYS_ARROW = " <-> "


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
    groups: dict[tuple[PacketCase, str], list[_Numbered]] = {}
    for numbered in _numbered(measurements):
        key = (numbered.case, _drivers(numbered, names))
        groups.setdefault(key, []).append(numbered)
    return [_cost(*key, groups[key]) for key in sorted(groups)]


@dataclass(frozen=True)
class _Numbered:
    """A measurement of a sweep, and how many of the same metric, subject and case came before it."""

    measurement: Measurement
    case: PacketCase
    number: int
    first: str
    second: str
    is_forward: bool

    @property
    def transfer(self) -> tuple[str, str, int]:
        """Equal for both directions of a transfer both ways."""
        return self.first, self.second, self.number


def _numbered(measurements: Iterable[Measurement]) -> Iterator[_Numbered]:
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
        yield _Numbered(measurement, case, seen[key], first, second, is_forward)
        seen[key] += 1


_NAMES = {metric.name for metric in (PACKET_GOODPUT, *COST_METRICS)}


def _drivers(numbered: _Numbered, names: Mapping[str, str]) -> str:
    """Return the drivers of both hosts where the hosts of the sweep have different ones."""
    if len(set(names.values())) < 2:  # noqa: PLR2004  all alike
        return ""
    arrow = BOTH_WAYS_ARROW if numbered.case.both_ways else ARROW
    return arrow.join(names.get(host, "?") for host in (numbered.first, numbered.second))


def _cost(case: PacketCase, drivers: str, group: Sequence[_Numbered]) -> PacketCost:
    goodputs = [each for each in group if each.measurement.metric == PACKET_GOODPUT.name]
    totals = _totals(case, goodputs)
    costs = {}
    for metric in COST_METRICS:
        values = [
            each.measurement.value
            for each in group
            if each.is_forward
            and each.measurement.metric == metric.name
            and each.measurement.value is not None
        ]
        if values:
            costs[metric] = median(values)
    return PacketCost(
        case,
        drivers,
        median(totals) if totals else None,
        costs,
        sum(each.measurement.value is None for each in goodputs),
    )


def _totals(case: PacketCase, goodputs: Sequence[_Numbered]) -> list[float]:
    """Return the goodput of each transfer; both ways, the sum of the directions if both succeeded."""
    by_transfer: dict[tuple[str, str, int], list[float | None]] = {}
    for each in goodputs:
        by_transfer.setdefault(each.transfer, []).append(each.measurement.value)
    directions = 2 if case.both_ways else 1
    found = []
    for values in by_transfer.values():
        known = [value for value in values if value is not None]
        if len(known) == directions:
            found.append(sum(known))
    return found
