"""The gate: whether network and disks are what is expected, and what an upgrade left slow or unchanged.

What a probe shows by itself, its own findings say. Here is what needs an expectation, or an earlier network.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import median, mode
from typing import TypeVar

from harness.analysis.network.disks import are_faster, unlike_before, unlike_expected
from harness.analysis.network.judge import SLOW, Reference, one_member_goodputs, slow_findings
from harness.analysis.network.mesh import PairMatrix, pair_matrix
from harness.analysis.network.processor_limit import processor_limits
from harness.model.finding import Finding
from harness.model.interface import HostLink
from harness.model.link import USB_2_MBIT_S, goodput_bit_s, is_same_rate, rate_text, throughput_text
from harness.model.network_metrics import DISK, GOODPUT_TOLERANCE, MESH_GOODPUT, PATH_MTU
from harness.model.probe import ARROW, Measurement, Pair

T = TypeVar("T")


@dataclass(frozen=True)
class Expectation:
    """What every link must be, None: what most of the links are; and how fast every disk, None: any speed."""

    rate_bit_s: int | None = None
    mtu: int | None = None
    disk_bytes_s: int | None = None


@dataclass(frozen=True)
class Network:
    """A network, and the disks of its hosts, as the newest probes show them."""

    links: Mapping[str, HostLink]
    measurements: Sequence[Measurement]
    findings: Sequence[Finding] = ()

    @cached_property
    def paths(self) -> PairMatrix:
        """The path MTU of each pair, in bytes."""
        return pair_matrix(self.measurements, PATH_MTU)

    @cached_property
    def goodput(self) -> PairMatrix:
        """The goodput of each pair, in bit/s."""
        return pair_matrix(self.measurements, MESH_GOODPUT)

    @property
    def has_disks_alone(self) -> bool:
        """Whether only disks were measured, so that the network is not judged."""
        return {each.probe for each in self.measurements} == {DISK}

    def has_fault(self, pair: Pair) -> bool:
        """Whether a probe already found a fault of this pair, or of one of its hosts."""
        names = {*pair, ARROW.join(pair)}
        return any(each.is_fault and each.subject in names for each in self.findings)


def expectation_faults(network: Network, expected: Expectation) -> list[Finding]:
    """Return what is not as expected, and what was not measured, of what the probes did not name already."""
    faults: list[Finding] = []
    if expected.rate_bit_s or expected.mtu or not network.has_disks_alone:
        faults += _network_faults(network, expected)
    if expected.disk_bytes_s:
        faults += unlike_expected(network.measurements, expected.disk_bytes_s, network.links)
    return faults


def _network_faults(network: Network, expected: Expectation) -> list[Finding]:
    links = network.links.values()
    rate_bit_s = expected.rate_bit_s or _most_common(link.rate_bit_s for link in links)
    mtu = expected.mtu or _most_common(link.mtu_bytes for link in links)
    return [
        *([] if links else [Finding("", "no link was observed")]),
        *(fault for link in links for fault in _link_faults(link, rate_bit_s, mtu, network)),
        *_path_faults(network, mtu),
        *_goodput_faults(network, rate_bit_s, mtu),
    ]


def _link_faults(
    link: HostLink, rate_bit_s: int | None, mtu: int | None, network: Network
) -> Iterator[Finding]:
    name = f"{link.host} {link.device}"
    if link.rate_bit_s is None:
        unknown = f"its rate is unknown ({link.why_unknown})"
        best = network.goodput.best(link.host) or 0.0
        least = SLOW * goodput_bit_s(rate_bit_s, mtu) if rate_bit_s and mtu else 0
        if rate_bit_s is None:
            yield Finding(name, f"{unknown}; say what to expect, for example --expect 1gbit")
        elif not least or best < least:
            member = link.connections_bit_s(1)
            hint = "; a connection takes one of its ports: probe with --streams" if member else ""
            proof = f"its goodput does not prove the expected rate{hint}"
            yield Finding(name, f"{unknown}, and {proof}")
    elif _may_be_in_slow_port(link, network.goodput.best(link.host)):
        limit = rate_text(USB_2_MBIT_S * 10**6)
        yield Finding(name, f"nothing was faster than {limit}: is its card in a port of USB 2?")
    elif rate_bit_s is not None and not is_same_rate(link.rate_bit_s, rate_bit_s):
        yield Finding(name, f"{rate_text(link.rate_bit_s)}, expected {rate_text(rate_bit_s)}")
    if link.mtu_bytes != mtu:
        yield Finding(name, f"MTU {link.mtu_bytes or 'unknown'}, expected {mtu}")


def _may_be_in_slow_port(link: HostLink, best_bit_s: float | None) -> bool:
    """Whether a card of USB, of whose port nothing is recorded, carried no more than USB 2 does."""
    is_faster = (link.rate_bit_s or 0) > USB_2_MBIT_S * 10**6
    is_unknown = link.bus == "usb" and link.carried_mbit_s is None
    return is_unknown and is_faster and best_bit_s is not None and best_bit_s < USB_2_MBIT_S * 10**6


def _path_faults(network: Network, mtu: int | None) -> Iterator[Finding]:
    paths = network.paths
    if mtu is None:
        return
    for pair, path_mtu in paths.values.items():
        # A link with another MTU has its own line already.
        as_expected = all(
            host in network.links and network.links[host].mtu_bytes == mtu for host in pair
        )
        if as_expected and path_mtu < mtu and not network.has_fault(pair):
            yield Finding(ARROW.join(pair), f"path MTU {path_mtu:.0f}, expected {mtu}")
    yield from _unmeasured("path MTU", paths, network.links)


def _goodput_faults(network: Network, rate_bit_s: int | None, mtu: int | None) -> Iterator[Finding]:
    goodput = network.goodput
    if rate_bit_s is None or mtu is None:
        if goodput.values:
            rate = "rate; give it, for example --expect 2500mbit"
            what = rate if rate_bit_s is None else "MTU; give it, for example --mtu 1500"
            yield Finding("", f"the goodput cannot be judged, because no link reports its {what}")
        return
    source = f"at {rate_text(rate_bit_s)} and MTU {mtu}, TCP can carry"
    links = network.links.values()
    in_slow_ports = {
        link.host
        for link in links
        if link.slow_ports or _may_be_in_slow_port(link, goodput.best(link.host))
    }
    values = {
        pair: value
        for pair, value in goodput.values.items()
        if not network.has_fault(pair) and in_slow_ports.isdisjoint(pair)
    }
    yield from slow_findings(
        replace(goodput, values=values),
        Reference(goodput_bit_s(rate_bit_s, mtu), source, one_member_goodputs(links)),
        partial(processor_limits, network.measurements),
    )
    yield from _unmeasured("goodput", goodput, network.links)


def _unmeasured(
    metric: str, matrix: PairMatrix, links: Mapping[str, HostLink]
) -> Iterator[Finding]:
    """Yield a fault if nothing has the metric, or one for each host that lacks it in a direction."""
    run = "run clusterlift probe all"
    if len(links) <= 1:
        return
    if not matrix.values and not matrix.errors:
        yield Finding("", f"no {metric} was measured; {run}")
        return
    for host in links:
        both_ways = matrix.sent_by(host) and matrix.received_by(host)
        if not both_ways and not matrix.failures(host):
            yield Finding(host, f"its {metric} was not measured both ways; {run}")


def _most_common(values: Iterable[T | None]) -> T | None:
    known = [value for value in values if value is not None]
    return mode(known) if known else None


def upgrade_faults(before: Network, after: Network) -> list[Finding]:
    """Return what became slower by an upgrade, and whether nothing changed."""
    disks = before.measurements, after.measurements
    faults = [*_slower(before, after), *unlike_before(*disks)]
    return faults if are_faster(*disks) else [*faults, *_unchanged(before, after)]


def _slower(before: Network, after: Network) -> Iterator[Finding]:
    for host, link in before.links.items():
        if host not in after.links:
            yield Finding(host, "probed before, but not after")
            continue
        old, new = link.rate_bit_s, after.links[host].rate_bit_s
        if old is not None and new is not None and new < old and not is_same_rate(new, old):
            yield Finding(host, f"{rate_text(old)} before, {rate_text(new)} after")
    for pair, value in before.goodput.values.items():
        new_value = after.goodput.values.get(pair)
        if new_value is not None and new_value < (1 - GOODPUT_TOLERANCE) * value:
            old_text, new_text = throughput_text(value), throughput_text(new_value)
            yield Finding(ARROW.join(pair), f"{old_text} before, {new_text} after")


def _unchanged(before: Network, after: Network) -> Iterator[Finding]:
    """Yield a fault if neither links nor goodput show a change: perhaps the upgrade was not plugged in."""
    if before.has_disks_alone and after.has_disks_alone:
        yield Finding("", "nothing has changed: disks are no faster than before")
        return
    links = [before.links, after.links]
    if not all(links) or _typical_link(links[0]) != _typical_link(links[1]):
        return
    old, new = before.goodput.values.values(), after.goodput.values.values()
    if old and new and median(new) > (1 + GOODPUT_TOLERANCE) * median(old):
        return
    rate_bit_s, mtu, _ = _typical_link(links[1])
    rate = "of unknown rate" if rate_bit_s is None else rate_text(rate_bit_s)
    still = f"links are still {rate} at MTU {mtu or 'unknown'}"
    if old and new:
        yield Finding("", f"nothing has changed: {still}, and goodput has not increased")
    else:
        yield Finding(
            "", f"nothing seems to have changed: {still}; goodput was not measured on both sides"
        )


def _typical_link(links: Mapping[str, HostLink]) -> tuple[int | None, int | None, int | None]:
    """Return the most common rate in bit/s, MTU in bytes, and number of bond members."""
    return (
        _most_common(link.rate_bit_s for link in links.values()),
        _most_common(link.mtu_bytes for link in links.values()),
        _most_common(len(link.bond.members) if link.bond else None for link in links.values()),
    )
