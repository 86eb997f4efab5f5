"""Obstacles of a probe: hosts left out, failed measurements, and processors that were the limit.

A slow transfer says nothing about its link if a hypervisor took the sender's or the receiver's processors
away, or if one processor was busy all the time: a connection is served by one at each end.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TypeVar

from harness.analysis.network.measured import pair_matrix
from harness.base.words import count_of
from harness.model.finding import EVERYTHING, Finding, Subject, about
from harness.model.network_metrics import BUSIEST, IPERF_CPU, STOLEN, EndMetrics
from harness.model.probe import Measurement, Pair, ProbeSample, RecordedProbes, samples
from harness.model.run import Ending

T = TypeVar("T")
MIN_PEERS = 2
"""Either host of a single slow or failed pair may be the cause."""
MOST = 0.75
"""A host is the cause if more than this share of its pairs failed: a sound one fails with bad hosts alone."""
MAX_STOLEN_PERCENT = 10.0
"""Part of all processors' time. When a hypervisor took 45 %, a sound link of 150 Mbit/s carried 26 Mbit/s."""
MAX_BUSY_PERCENT = 95.0
"""Part of one processor's time. A reading may miss the ticks at its ends, so 100 % would be too much."""


def record_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield a finding for each host that was left out, and one if the probe did not finish."""
    for excluded in probed.excluded_hosts:
        reason = excluded.error.removeprefix(f"{excluded.host}: ")
        yield Finding(about(excluded.host), f"left out: {reason}")
    if probed.ending is not Ending.COMPLETED:
        yield Finding(EVERYTHING, "the probe did not finish", remedy="run it again")


def failed_measurements(measurements: Iterable[Measurement]) -> list[Finding]:
    """Return a finding for each host or pair, and error.

    A host whose pairs mostly failed, with MIN_PEERS or more, is one finding in place of its pairs.
    """
    found = [sample for sample in samples(measurements) if sample.values or sample.errors]
    hosts = _failing_hosts(found)
    lines: dict[tuple[str, str], Finding] = {}
    for sample in found:
        if sample.errors and hosts.isdisjoint(sample.hosts):
            error = sample.errors[0].removeprefix(f"{sample.subject}: ")
            seen = error
            if sample.values:
                tries = len(sample.values) + len(sample.errors)
                seen = f"{error} ({len(sample.errors)} of {tries} tries)"
            finding = Finding(Subject(sample.hosts), seen)
            lines.setdefault((sample.subject, error), finding)
    return [_host_finding(host, found) for host in sorted(hosts)] + list(lines.values())


def _failing_hosts(found: Sequence[ProbeSample]) -> set[str]:
    """Return the hosts whose pairs failed, more than MOST of them, with MIN_PEERS or more."""
    worked: dict[tuple[str, ...], bool] = {}
    for sample in found:
        if len(sample.hosts) > 1:
            has_failed = sample.errors and not sample.values
            worked[sample.hosts] = worked.get(sample.hosts, True) and not has_failed
    pairs_of: dict[str, list[tuple[str, ...]]] = {}
    for pair in worked:
        for host in pair:
            pairs_of.setdefault(host, []).append(pair)
    hosts = set()
    for host, own in pairs_of.items():
        failed = [pair for pair in own if not worked[pair]]
        peers = set[str]().union(*failed) - {host}
        if len(peers) >= MIN_PEERS and len(failed) > MOST * len(own):
            hosts.add(host)
    return hosts


def _host_finding(host: str, found: Iterable[ProbeSample]) -> Finding:
    first: dict[str, str] = {}
    subjects: set[str] = set()
    for sample in found:
        if host in sample.hosts:
            subjects.add(sample.subject)
            if sample.errors:
                first.setdefault(sample.subject, sample.errors[0])
    errors = list(first.values())
    paths = count_of(len(subjects), "path")
    return Finding(about(host), f"{len(errors)} of its {paths} failed, the first with: {errors[0]}")


def processor_limits(
    measurements: Sequence[Measurement], slow: Collection[Pair], case: str = ""
) -> dict[Pair, str]:
    """Return why the processors may have bounded slow transfers, by pair."""
    stolen = _above(measurements, [STOLEN], MAX_STOLEN_PERCENT, case)
    busy = _above(measurements, [BUSIEST, IPERF_CPU], MAX_BUSY_PERCENT, case)
    limits = {}
    for pair in slowed_by_busy_processors(slow, busy):
        host, percent = busy[pair]
        limits[pair] = f"a processor of {host} was {min(percent, 100):.0f} % busy"
    for pair, (host, percent) in stolen.items():
        if pair in slow:
            limits[pair] = f"a hypervisor took {percent:.0f} % of {host}'s processors"
    return limits


def slowed_by_busy_processors(slow: Collection[T], busy: Collection[T]) -> set[T]:
    """Return the slow transfers with a busy processor; none if most transfers with one are fast.

    Hosts that share a machine are always busy.
    """
    both = set(slow) & set(busy)
    if 2 * len(both) >= len(busy):
        return both
    return set()


def _above(
    measurements: Sequence[Measurement], metrics: Iterable[EndMetrics], limit: float, case: str
) -> dict[Pair, tuple[str, float]]:
    """Return by pair which of its hosts is above the limit, and how far."""
    found: dict[Pair, tuple[str, float]] = {}
    for ends in metrics:
        for end, metric in enumerate(ends):
            for pair, value in pair_matrix(measurements, metric, case).values.items():
                if value >= limit:
                    found.setdefault(pair, (pair[end], value))
    return found
