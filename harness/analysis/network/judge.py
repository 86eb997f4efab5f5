"""Which hosts and pairs are slow: the one judge, for the mesh, the soak and the gate.

A pair is as slow as the slower of its hosts. So a slow host is slow with all peers, and a sound host only
with slow peers.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from harness.analysis.network.measured import (
    RECEIVES,
    SENDS,
    PairMatrix,
    pair_matrix,
    typical_bit_s,
)
from harness.analysis.network.obstacles import MIN_PEERS, processor_limits
from harness.base.items import without
from harness.base.words import percent
from harness.model.finding import Finding, Subject, about, note, unknown
from harness.model.interface import HostLink, usual_max_goodput_bit_s
from harness.model.link import goodput_bit_s, throughput_text
from harness.model.network_metrics import BOTH_WAYS, GOODPUT_TOLERANCE, MESH_GOODPUT
from harness.model.probe import Measurement, Pair, RecordedProbes

SLOW = 1 - GOODPUT_TOLERANCE
"""A goodput below this fraction of the reference is slow. Repeated measurements of a healthy pair differ by a
few percent; typical faults, such as a port at a lower rate, half duplex or a bad cable, cost far more."""


@dataclass(frozen=True)
class Reference:
    """The goodput in bit/s that sound pairs reach, and why, in words.

    `one_member_bit_s` has what one member of a bond can carry, by the hosts whose bond gives each connection
    one member.
    """

    bit_s: float
    reason: str
    one_member_bit_s: Mapping[str, float] = field(default_factory=dict)

    def of(self, pair: Pair) -> "Reference":
        """Return what is expected of a pair: no more than one member carries, as a bond chooses members."""
        members = [self.one_member_bit_s[host] for host in pair if host in self.one_member_bit_s]
        least = min(members, default=self.bit_s)
        if least >= self.bit_s:
            return self
        return Reference(least, "a connection takes one member of a bond")

    def __str__(self) -> str:
        return f"{throughput_text(self.bit_s)} ({self.reason})"


def reference_of(goodput: PairMatrix, links: Collection[HostLink]) -> Reference:
    """Return the typical goodput, or the theoretical one if a pair reaches it and most hosts do not."""
    typical = typical_bit_s(goodput) or 0.0
    allowed = usual_max_goodput_bit_s(links) or 0.0
    best = max(goodput.values.values(), default=0.0)
    members = one_member_goodputs(links)
    if typical < SLOW * allowed <= best:
        return Reference(allowed, "links allow it", members)
    return Reference(typical, "typical", members)


def one_member_goodputs(links: Iterable[HostLink]) -> dict[str, float]:
    """Return what TCP can deliver by one member, by the hosts whose bond gives each connection one."""
    found = {}
    for link in links:
        bit_s = link.connections_bit_s(1)
        if bit_s and link.mtu_bytes:
            found[link.host] = goodput_bit_s(bit_s, link.mtu_bytes)
    return found


def slow_findings(
    goodput: PairMatrix,
    reference: Reference,
    measurements: Sequence[Measurement] = (),
    case: str = "",
) -> Iterator[Finding]:
    """Yield slow hosts, then slow pairs between other hosts, then pairs that cannot be judged.

    A host is slow as a sender or as a receiver if it is slow with all of its peers, MIN_PEERS or more.
    `measurements` show in which slow pairs of the case processors, not links, may have been the limit.
    """
    expected: dict[Pair, Reference] = {}
    slow: set[Pair] = set()
    for pair, bit_s in goodput.values.items():
        expected[pair] = reference.of(pair)
        if bit_s < SLOW * expected[pair].bit_s:
            slow.add(pair)
    limited = processor_limits(measurements, slow, case)
    judged = replace(goodput, values=without(goodput.values, limited))
    explained: set[Pair] = set()
    for host in judged.hosts:
        own: dict[Pair, float] = {}
        roles = []
        for role, pairs in ((SENDS, judged.sent_by[host]), (RECEIVES, judged.received_by[host])):
            if len(pairs) >= MIN_PEERS and slow.issuperset(pairs):
                roles.append(role)
                own.update(pairs)
        if roles:
            explained.update(own)
            verdict = "slow" if len(roles) > 1 else f"{roles[0]} slowly"
            rate = throughput_text(median(own.values()))
            least = min((expected[pair] for pair in own), key=lambda each: each.bit_s)
            seen = f"{verdict}, {rate} with its peers"
            yield Finding(about(host), seen, expected=str(least))
    for pair in sorted(slow - explained - limited.keys()):
        seen = f"slow, {throughput_text(goodput.values[pair])}"
        yield Finding(Subject(pair), seen, expected=str(expected[pair]))
    for pair, reason in sorted(limited.items()):
        rate = throughput_text(goodput.values[pair])
        seen = f"cannot be judged: {rate}, while {reason}"
        yield unknown(seen, "probe again when its processors are idle", Subject(pair))


def mesh_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield the slow hosts and pairs of a mesh, or a remark that there are none."""
    links = probed.links().values()
    measurements = probed.measurements
    one_way = pair_matrix(measurements, MESH_GOODPUT)
    both_ways = pair_matrix(measurements, MESH_GOODPUT, BOTH_WAYS)
    named: set[Subject] = set()
    for case, goodput in {"": one_way, BOTH_WAYS: both_ways}.items():
        reference = reference_of(goodput, links)
        for finding in slow_findings(goodput, reference, measurements, case):
            if finding.subject in named:
                continue
            named.add(finding.subject)
            prefix = f"{case} at once: " if case else ""
            yield replace(finding, seen=f"{prefix}{finding.seen}")
    if not one_way.values:
        return
    if not named and not one_way.errors:
        yield no_slow_host(one_way, links)
    yield from _bond_notes(links)


def _bond_notes(links: Collection[HostLink]) -> Iterator[Finding]:
    """Yield a note on what can be expected of bonds, by how they share connections."""
    if any(link.bond and link.bond.spreads_a_connection for link in links):
        text = "balance-rr spreads a connection over all members, if the switches do so, too"
        yield note(text)
    members = one_member_goodputs(links)
    most = 0
    for link in links:
        if link.bond and link.host in members:
            most = max(most, len(link.bond.sharing_mbit_s))
    if most:
        one = throughput_text(min(members.values()))
        text = (
            f"bonds give each connection one of their members: {one} is expected of every pair. More needs "
            f"several connections (--streams {most}), which may still take the same member"
        )
        yield note(text)


def no_slow_host(goodput: PairMatrix, links: Iterable[HostLink]) -> Finding:
    """Return the note that no host is slower than most, and whether most may be slow."""
    typical = typical_bit_s(goodput) or 0.0
    allowed = usual_max_goodput_bit_s(links) or 0.0
    best = max(goodput.values.values())
    text = "no host and no pair is slower than the others"
    if typical < SLOW * best:
        text = (
            f"no host and no pair is slower than most others, but some reach {throughput_text(best)}, and "
            f"typical is {throughput_text(typical)}"
        )
    elif typical < SLOW * allowed:
        share = f"{percent(typical / allowed)} of the {throughput_text(allowed)}"
        text += f", but typical is {throughput_text(typical)}, {share} that links allow"
    return note(text)
