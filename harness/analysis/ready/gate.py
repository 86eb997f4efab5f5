"""The gate: whether network and disks are what is expected, and what an upgrade left slow or unchanged.

Probes have findings of their own. The gate adds what needs an expectation, or an earlier network.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median, mode
from typing import NamedTuple, TypeVar

from harness.analysis.network.disks import are_faster, unlike_before, unlike_expected
from harness.analysis.network.judge import SLOW, Reference, one_member_goodputs, slow_findings
from harness.analysis.network.measured import PairMatrix, pair_matrix
from harness.analysis.observed.probe_load import load_differences
from harness.base.items import known
from harness.base.words import join_names
from harness.model.finding import EVERYTHING, Finding, Subject, about, unknown
from harness.model.interface import HostLink
from harness.model.link import goodput_bit_s, is_same_rate, rate_text, throughput_text
from harness.model.network_metrics import DISK, GOODPUT_TOLERANCE, MESH, MESH_GOODPUT, PATH_MTU
from harness.model.probe import Measurement, Pair, ProbeRun

T = TypeVar("T")


@dataclass(frozen=True)
class Expectation:
    """Required link rate and MTU (None: the most common of the links) and disk speed (None: any)."""

    rate_bit_s: int | None = None
    mtu: int | None = None
    disk_bytes_s: int | None = None


@dataclass(frozen=True)
class Network:
    """A network, and the disks of its hosts, as the newest probes show them.

    `runs` are these probes, by the kind of their measurements.
    """

    links: Mapping[str, HostLink]
    measurements: Sequence[Measurement]
    findings: list[Finding]
    runs: Mapping[str, ProbeRun]

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

    def without(self, kinds: Collection[str]) -> "Network":
        """Return the same network without the measurements of these kinds."""
        left = [each for each in self.measurements if each.probe not in kinds]
        return replace(self, measurements=left)

    def is_named(self, pair: Pair) -> bool:
        """Whether a probe already found a fault of this pair or one of its hosts, or could not judge it."""
        sender, receiver = pair
        subjects = {about(sender), about(receiver), Subject(pair)}
        return any(each.is_open and each.subject in subjects for each in self.findings)


def expectation_faults(network: Network, expected: Expectation) -> list[Finding]:
    """Return what is not as expected or was not measured, unless the probes named it already."""
    faults: list[Finding] = []
    if expected.rate_bit_s or expected.mtu or not network.has_disks_alone:
        faults += _network_faults(network, expected)
    if expected.disk_bytes_s:
        faults += unlike_expected(network.measurements, expected.disk_bytes_s, network.links)
    return faults


def _network_faults(network: Network, expected: Expectation) -> Iterator[Finding]:
    """Yield what is not as expected of links, path MTUs and goodput."""
    links = network.links.values()
    typical = _typical_link(network)
    rate_bit_s = expected.rate_bit_s or typical.rate_bit_s
    mtu = expected.mtu or typical.mtu
    if not links:
        yield unknown("no link was observed")
    for link in links:
        yield from _link_faults(link, rate_bit_s, mtu, network)
    if mtu is not None:
        yield from _path_faults(network, mtu)
    if rate_bit_s is not None and mtu is not None:
        yield from _goodput_faults(network, rate_bit_s, mtu)
    elif network.goodput.values:
        lacking = "rate"
        option = "--expect 2500mbit"
        if rate_bit_s:
            lacking = "MTU"
            option = "--mtu 1500"
        yield unknown(
            f"the goodput cannot be judged, because no link reports its {lacking}",
            f"give it, for example {option}",
        )


def _link_faults(
    link: HostLink, rate_bit_s: int | None, mtu: int | None, network: Network
) -> Iterator[Finding]:
    subject = about(link.host, part=link.device)
    if link.rate_bit_s is None:
        yield from _unknown_rate(link, rate_bit_s, mtu, network)
    elif rate_bit_s is not None and not is_same_rate(link.rate_bit_s, rate_bit_s):
        yield Finding(subject, rate_text(link.rate_bit_s), expected=rate_text(rate_bit_s))
    if link.mtu_bytes != mtu:
        yield Finding(subject, f"MTU {link.mtu_bytes or 'unknown'}", expected=str(mtu))


def _unknown_rate(
    link: HostLink, rate_bit_s: int | None, mtu: int | None, network: Network
) -> Iterator[Finding]:
    """Yield a finding if the rate of a link is not reported, and its goodput does not prove it either."""
    seen = f"its rate is unknown ({link.why_unknown})"
    remedy = ""
    if rate_bit_s is None:
        remedy = "say what to expect, for example --expect 1gbit"
    else:
        best_bit_s = network.goodput.best(link.host) or 0.0
        if mtu and best_bit_s >= SLOW * goodput_bit_s(rate_bit_s, mtu):
            return
        seen += ", and its goodput does not prove the expected rate"
        if link.connections_bit_s(1):
            remedy = "a connection takes one of its ports: probe with --streams"
    yield unknown(seen, remedy, about(link.host, part=link.device))


def _path_faults(network: Network, mtu: int) -> Iterator[Finding]:
    paths = network.paths
    for pair, path_mtu in paths.values.items():
        # A link with another MTU has its own line already.
        ends = [network.links[host].mtu_bytes for host in pair if host in network.links]
        if ends == [mtu, mtu] and path_mtu < mtu and not network.is_named(pair):
            yield Finding(Subject(pair), f"path MTU {path_mtu:.0f}", expected=str(mtu))
    yield from _unmeasured("path MTU", paths, network.links)


def _goodput_faults(network: Network, rate_bit_s: int, mtu: int) -> Iterator[Finding]:
    """Yield pairs that are slow for the expected rate, and hosts whose goodput was not measured."""
    goodput = network.goodput
    links = network.links.values()
    in_slow_ports = {link.host for link in links if link.slow_ports}
    values = {
        pair: bit_s
        for pair, bit_s in goodput.values.items()
        if in_slow_ports.isdisjoint(pair) and not network.is_named(pair)
    }
    reference = Reference(
        goodput_bit_s(rate_bit_s, mtu),
        f"TCP at {rate_text(rate_bit_s)} and MTU {mtu}",
        one_member_goodputs(links),
    )
    judged = replace(goodput, values=values)
    yield from slow_findings(judged, reference, network.measurements)
    yield from _unmeasured("goodput", goodput, network.links)


def _unmeasured(
    metric: str, matrix: PairMatrix, links: Mapping[str, HostLink]
) -> Iterator[Finding]:
    """Yield a finding if nothing has the metric, or one for each host that lacks it in a direction."""
    remedy = "run clusterlift probe all"
    if len(links) <= 1:
        return
    if not matrix.values and not matrix.errors:
        yield unknown(f"no {metric} was measured", remedy)
        return
    for host in links:
        has_both_ways = matrix.sent_by[host] and matrix.received_by[host]
        if not has_both_ways and not matrix.failures[host]:
            yield unknown(f"its {metric} was not measured both ways", remedy, about(host))


def _most_common(values: Iterable[T | None]) -> T | None:
    given = known(values)
    if not given:
        return None
    return mode(given)


def upgrade_faults(before: Network, after: Network) -> list[Finding]:
    """Return what became slower by an upgrade, whether nothing changed, and what was not measured alike."""
    unlike = _unlike_loads(before, after)
    old = before.without(unlike)
    new = after.without(unlike)
    faults = list(_slower(old, new))
    faults += unlike_before(old.measurements, new.measurements)
    if not unlike and not are_faster(old.measurements, new.measurements):
        faults += _unchanged(old, new)
    return [*faults, *unlike.values()]


def _unlike_loads(before: Network, after: Network) -> dict[str, Finding]:
    """Return a finding for each kind of measurement whose load differs, so that nothing follows from it."""
    found: dict[str, Finding] = {}
    for kind, noun in ((MESH, "goodput"), (DISK, "speed of disks")):
        if kind in before.runs and kind in after.runs:
            differing = load_differences(before.runs[kind], after.runs[kind])
            if differing:
                found[kind] = _unlike_load(kind, noun, differing)
    return found


def _unlike_load(kind: str, noun: str, differing: Mapping[str, tuple[str, str]]) -> Finding:
    options: list[str] = []
    differences: list[str] = []
    for name, (old, new) in differing.items():
        option = "--" + name.replace("_", "-")
        options.append(f"{option} {old}")
        differences.append(f"{option} {old} before, {new} after")
    return unknown(
        f"the {noun} cannot be compared with that before, because it was measured otherwise "
        f"({join_names(differences)})",
        f"probe again with: clusterlift probe {kind} {' '.join(options)}",
    )


def _slower(before: Network, after: Network) -> Iterator[Finding]:
    """Yield links and pairs that an upgrade made slower, and hosts that were not probed after it."""
    for host, link in before.links.items():
        if host not in after.links:
            yield Finding(about(host), "probed before, but not after")
            continue
        old = link.rate_bit_s
        new = after.links[host].rate_bit_s
        if old is not None and new is not None and new < old and not is_same_rate(new, old):
            yield Finding(about(host), f"{rate_text(old)} before, {rate_text(new)} after")
    for pair, old_bit_s in before.goodput.values.items():
        new_bit_s = after.goodput.values.get(pair)
        if new_bit_s is not None and new_bit_s < (1 - GOODPUT_TOLERANCE) * old_bit_s:
            seen = f"{throughput_text(old_bit_s)} before, {throughput_text(new_bit_s)} after"
            yield Finding(Subject(pair), seen)


def _unchanged(before: Network, after: Network) -> Iterator[Finding]:
    """Yield a fault if neither links nor goodput show a change: perhaps the upgrade was not plugged in."""
    if before.has_disks_alone and after.has_disks_alone:
        yield Finding(EVERYTHING, "nothing has changed: disks are no faster than before")
        return
    typical = _typical_link(after)
    if not before.links or not after.links or _typical_link(before) != typical:
        return
    rate = "of unknown rate"
    if typical.rate_bit_s:
        rate = rate_text(typical.rate_bit_s)
    still = f"links are still {rate} at MTU {typical.mtu or 'unknown'}"
    old = before.goodput.values.values()
    new = after.goodput.values.values()
    if not old or not new:
        yield Finding(
            EVERYTHING,
            f"nothing seems to have changed: {still}, and goodput was not measured on both sides",
        )
    elif median(new) <= (1 + GOODPUT_TOLERANCE) * median(old):
        yield Finding(EVERYTHING, f"nothing has changed: {still}, and goodput has not increased")


class _TypicalLink(NamedTuple):
    """The most common rate, MTU in bytes, and number of bond members; None if unknown of all links."""

    rate_bit_s: int | None
    mtu: int | None
    members: int | None


def _typical_link(network: Network) -> _TypicalLink:
    rates_bit_s: list[int | None] = []
    mtus: list[int | None] = []
    members: list[int] = []
    for link in network.links.values():
        rates_bit_s.append(link.rate_bit_s)
        mtus.append(link.mtu_bytes)
        if link.bond:
            members.append(len(link.bond.members))
    return _TypicalLink(_most_common(rates_bit_s), _most_common(mtus), _most_common(members))
