"""Measure the goodput of the links of the lab and compare it with theory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.hosts.transports.host import HostError
from harness.lab.cluster import Lab, Node
from harness.lab.links import read_links
from harness.lab.racks import racks, uplink_bit_s
from harness.model.errors import BadInput
from harness.model.link import Link, goodput_bit_s
from harness.probes.traffic import Flow, Load, Transfer, run_flows

TOLERANCE = 0.03
UPLINK_TOLERANCE = 0.05
MIN_WORKERS, MAX_SENDERS = 2, 3


@dataclass(frozen=True)
class Pattern:
    """Flows that run at the same time, in one direction or two, by its name.

    `expected_bit_s` is the goodput of the flows of a direction together.
    """

    directions: Mapping[str, Sequence[Flow]]
    expected_bit_s: float
    tolerance: float = TOLERANCE


@dataclass(frozen=True)
class LinkCheck:
    """The measured goodput of a direction of a pattern, and the expected one."""

    link: Link
    direction: str
    measured_bit_s: float
    expected_bit_s: float
    tolerance: float

    @property
    def deviation(self) -> float:
        """The difference as a fraction of the expected goodput."""
        return self.measured_bit_s / self.expected_bit_s - 1

    @property
    def is_within_tolerance(self) -> bool:
        """Whether the deviation is small enough."""
        return abs(self.deviation) <= self.tolerance


def verify(lab: Lab, seconds: int) -> Iterator[LinkCheck]:
    """Measure the links as they are now, one pattern after the other, each for some seconds.

    Raises BadInput if the workers' links differ from each other or are not shaped, HostError with
    iperf3's message if it fails.
    """
    link = common_link(lab)
    for pattern in patterns(lab, link):
        flows = [flow for group in pattern.directions.values() for flow in group]
        transfers = iter(run_flows(flows, Load(seconds)))
        for direction, group in pattern.directions.items():
            measured_bit_s = sum(_goodput_bit_s(next(transfers)) for _ in group)
            yield LinkCheck(
                link, direction, measured_bit_s, pattern.expected_bit_s, pattern.tolerance
            )


def _goodput_bit_s(transfer: Transfer | HostError) -> float:
    if isinstance(transfer, HostError):
        raise transfer
    return transfer.report.goodput_bit_s


def common_link(lab: Lab) -> Link:
    """Return the link of all running workers. Raises BadInput if there are not two alike, with a limit."""
    workers = [node for node in lab.workers if node.is_running]
    if len(workers) < MIN_WORKERS:
        raise BadInput(
            f"links are measured between two workers, and {len(workers)} of {len(lab.workers)} are running"
        )
    links = {node.name: link for node, link in zip(workers, read_links(workers), strict=True)}
    if len(set(links.values())) != 1:
        differing = "; ".join(f"{name} {link}" for name, link in links.items())
        raise BadInput(
            f"the workers' links differ ({differing}); set all to one rate: clusterlift lab link --rate R"
        )
    link = links[workers[0].name]
    if link.rate_bit_s is None:
        raise BadInput(
            "the links are not shaped; choose a rate: clusterlift lab verify --rate 100mbit"
        )
    return link


def patterns(lab: Lab, link: Link) -> Iterator[Pattern]:
    """Yield one flow, two opposite flows, many into one, and all flows across the uplink if any."""
    rate = goodput_bit_s(link.rate_bit_s or 0, link.mtu)
    first, *others = _workers_of_one_network(lab)
    if others:
        flows = [Flow(others[0].host, first.host)]
        both = f"{others[0].name} and {first.name}"
        yield Pattern({f"{others[0].name} to {first.name}": flows}, rate)
        yield Pattern({f"{both}, there": flows, f"{both}, back": _reversed(flows)}, rate)
    senders = others[:MAX_SENDERS]
    if len(senders) > 1:
        names = ", ".join(sender.name for sender in senders)
        into_first = [Flow(sender.host, first.host) for sender in senders]
        yield Pattern({f"{names} into {first.name}": into_first}, rate)
    if lab.router is not None and (uplink := uplink_bit_s(lab.router, link.mtu)):
        yield from _uplink_patterns(lab, rate, goodput_bit_s(uplink, link.mtu))


def _workers_of_one_network(lab: Lab) -> list[Node]:
    """Return workers that reach each other without the uplink."""
    if lab.router is None:
        return [node for node in lab.workers if node.is_running]
    return [lab.node(f"worker-{number}") for number in racks(len(lab.workers))[1]]


def _uplink_patterns(lab: Lab, rate: float, uplink: float) -> Iterator[Pattern]:
    first, second = (
        [lab.node(f"worker-{number}") for number in numbers]
        for numbers in racks(len(lab.workers)).values()
    )
    flows = [Flow(a.host, b.host) for a, b in zip(first, second, strict=False)]
    expected = min(uplink, rate * len(flows))
    yield Pattern({"rack 1 to rack 2": flows}, expected, UPLINK_TOLERANCE)
    yield Pattern({"rack 2 to rack 1": _reversed(flows)}, expected, UPLINK_TOLERANCE)


def _reversed(flows: Sequence[Flow]) -> list[Flow]:
    return [Flow(flow.receiver, flow.sender) for flow in flows]
