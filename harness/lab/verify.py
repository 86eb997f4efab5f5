"""Are the links as fast as they were told to be? Measured, and held against theory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabulate import tabulate

from harness.lab.cluster import Lab, Node
from harness.lab.links import read_links
from harness.lab.racks import racks, uplink_bit_s
from harness.model.errors import BadInput
from harness.model.link import Link, goodput_bit_s
from harness.probes.traffic import Flow, Load, run_flows
from harness.probes.transports.host import HostError

TOLERANCE = 0.03
UPLINK_TOLERANCE = 0.05
MOST_SENDERS = 3


@dataclass(frozen=True)
class Pattern:
    """Flows at the same time. `expected_bit_s` is of their sum, each way."""

    name: str
    flows: Sequence[Flow]
    expected_bit_s: float
    tolerance: float = TOLERANCE
    both_ways: bool = False

    @property
    def back(self) -> Sequence[Flow]:
        """What goes the other way at the same time."""
        return [Flow(one.receiver, one.sender) for one in self.flows] if self.both_ways else []


@dataclass(frozen=True)
class LinkCheck:
    """What one direction of a pattern carried, against what it should."""

    link: Link
    pattern: str
    measured_bit_s: float
    expected_bit_s: float
    tolerance: float

    @property
    def off(self) -> float:
        """The difference, as a part of what was expected."""
        return self.measured_bit_s / self.expected_bit_s - 1

    @property
    def holds(self) -> bool:
        """Whether it is small enough."""
        return abs(self.off) <= self.tolerance


def verify(lab: Lab, seconds: int) -> Iterator[LinkCheck]:
    """Measure the links as they are now, one pattern after the other.

    Raises BadInput if the workers' links differ among themselves or are not shaped, HostTrouble with
    what iperf3 said if it fails.
    """
    link = common_link(lab)
    for pattern in patterns(lab, link):
        there, back = pattern.flows, pattern.back
        received = _goodputs([*there, *back], seconds)
        ways = {", there": received[: len(there)], ", back": received[len(there) :]}
        for way, parts in ways.items() if back else [("", received)]:
            name = pattern.name + way
            expected, tolerance = pattern.expected_bit_s, pattern.tolerance
            yield LinkCheck(link, name, sum(parts), expected, tolerance)


def _goodputs(flows: Sequence[Flow], seconds: int) -> list[float]:
    """Bit/s of payload that arrived, for each flow."""
    received = []
    for transfer in run_flows(flows, Load(seconds)):
        if isinstance(transfer, HostError):
            raise transfer
        received.append(transfer.report.goodput_bit_s)
    return received


def common_link(lab: Lab) -> Link:
    """The link that all running workers have. Raises BadInput if there is no such, or no limit."""
    workers = [node for node in lab.workers if node.is_running]
    links = {node.name: link for node, link in zip(workers, read_links(workers), strict=True)}
    if len(set(links.values())) != 1:
        differing = "; ".join(f"{name} {link}" for name, link in links.items())
        raise BadInput(
            f"the workers' links differ ({differing}); make them alike: clusterlift lab link --rate R"
        )
    link = links[workers[0].name]
    if link.rate_bit_s is None:
        raise BadInput(
            "the links are not shaped; name a rate: clusterlift lab verify --rate 100mbit"
        )
    return link


def patterns(lab: Lab, link: Link) -> Iterator[Pattern]:
    """One way, both ways, many into one; and everything that crosses the uplink, if there is one."""
    rate = goodput_bit_s(link.rate_bit_s or 0, link.mtu)
    first, *others = _near(lab)
    if others:
        one = Flow(others[0].host, first.host)
        yield Pattern(f"{one.sender} to {first.name}", [one], rate)
        yield Pattern(f"{one.sender} and {first.name}", [one], rate, both_ways=True)
    senders = others[:MOST_SENDERS]
    if len(senders) > 1:
        names = ", ".join(sender.name for sender in senders)
        into = [Flow(sender.host, first.host) for sender in senders]
        yield Pattern(f"{names} into {first.name}", into, rate)
    if lab.router is not None and (uplink := uplink_bit_s(lab.router, link.mtu)):
        yield from _across(lab, rate, goodput_bit_s(uplink, link.mtu))


def _near(lab: Lab) -> list[Node]:
    """Workers that reach each other without the uplink."""
    if lab.router is None:
        return [node for node in lab.workers if node.is_running]
    names = [f"worker-{number}" for number in racks(len(lab.workers))[0].workers]
    return lab.select(names)


def _across(lab: Lab, rate: float, uplink: float) -> Iterator[Pattern]:
    first, second = (
        [lab.node(f"worker-{number}") for number in rack.workers]
        for rack in racks(len(lab.workers))
    )
    there = [Flow(a.host, b.host) for a, b in zip(first, second, strict=False)]
    back = [Flow(flow.receiver, flow.sender) for flow in there]
    expected = min(uplink, rate * len(there))
    for name, flows in (("rack 1 to rack 2", there), ("rack 2 to rack 1", back)):
        yield Pattern(name, flows, expected, UPLINK_TOLERANCE)


def render(findings: Sequence[LinkCheck]) -> str:
    """A table, one line a direction; rates in Mbit/s of payload."""
    rows = [
        (
            finding.link,
            finding.pattern,
            f"{finding.measured_bit_s / 1e6:.1f}",
            f"{finding.expected_bit_s / 1e6:.1f}",
            f"{finding.off:+.1%}",
            "ok" if finding.holds else f"not within {finding.tolerance:.0%}",
        )
        for finding in findings
    ]
    headers = ("link", "flows", "measured Mbit/s", "theory Mbit/s", "off", "")
    align = ("left", "left", "right", "right", "right", "left")
    return tabulate(rows, headers, colalign=align, disable_numparse=True)
