"""Which disks are slow: beside other hosts, below what is expected, or since an earlier probe."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter

from harness.analysis.network.measured import MeasuredCase, known_median, measured_cases
from harness.base.items import grouped
from harness.base.words import percent
from harness.model.disk_rate import disk_rate_text
from harness.model.finding import Finding, Subject, about, unknown
from harness.model.network_metrics import DISK, DISK_READ, DISK_WRITE, RANDOM_READS, RANDOM_WRITES
from harness.model.probe import Measurement, Metric

_SPEEDS: Mapping[Metric, str] = {
    DISK_WRITE: "writes",
    DISK_READ: "reads",
    RANDOM_WRITES: "writes at random",
    RANDOM_READS: "reads at random",
}
TOLERANCE = 0.25
"""Disks that differ by no more than this fraction count as equal: a disk is faster on its outer tracks, and
flash of one model differs by its age."""


def disk_cases(measurements: Iterable[Measurement]) -> list[MeasuredCase]:
    """Return the measurements of each directory of each host."""
    return measured_cases(measurements, DISK)


def unlike_peers(measurements: Iterable[Measurement]) -> Iterator[Finding]:
    """Yield each directory that is slower than the same one of the other hosts, in the median."""
    cases = disk_cases(measurements)
    for case in cases:
        peers = [each for each in cases if each.case == case.case and each.hosts != case.hosts]
        yield from _slower(case, partial(typical, peers), "of what is typical of the other hosts")


def unlike_before(before: Iterable[Measurement], after: Iterable[Measurement]) -> Iterator[Finding]:
    """Yield each directory that is slower than it was, in the median."""
    same = attrgetter("case", "hosts")
    earlier = grouped(disk_cases(before), same)
    for case in disk_cases(after):
        own = earlier.get(same(case), ())
        yield from _slower(case, partial(typical, own), "of what was measured before")


def unlike_expected(
    measurements: Iterable[Measurement], bytes_s: float, hosts: Iterable[str]
) -> Iterator[Finding]:
    """Yield each directory that reads or writes in sequence more slowly, and hosts without any."""
    cases = disk_cases(measurements)
    expected = dict.fromkeys((DISK_WRITE, DISK_READ), bytes_s)
    than = f"of the {disk_rate_text(bytes_s)} that are expected"
    measured: set[str] = set()
    for case in cases:
        measured.update(case.hosts)
        yield from _slower(case, expected.get, than)
    for host in hosts:
        if host not in measured:
            yield unknown("no disk was measured", "run clusterlift probe disk", about(host))


def are_faster(before: Iterable[Measurement], after: Iterable[Measurement]) -> bool:
    """Whether disks typically became faster in at least one kind of access."""
    old_cases = disk_cases(before)
    new_cases = disk_cases(after)
    for metric in _SPEEDS:
        old = typical(old_cases, metric)
        new = typical(new_cases, metric)
        if old and new and new > (1 + TOLERANCE) * old:
            return True
    return False


def _slower(
    case: MeasuredCase, usual: Callable[[Metric], float | None], than: str
) -> Iterator[Finding]:
    """Yield a finding with everything that a disk does too slowly: `writes at 50 %, reads at 40 %`."""
    slow = []
    for metric, work in _SPEEDS.items():
        own = case.median(metric)
        whole = usual(metric)
        if own is not None and whole and own < (1 - TOLERANCE) * whole:
            slow.append(f"{work} at {percent(own / whole)}")
    if slow:
        yield Finding(Subject(case.hosts), f"{case.case} {', '.join(slow)} {than}")


def typical(cases: Iterable[MeasuredCase], metric: Metric) -> float | None:
    """Return the median of the disks' medians; None if none has a value."""
    return known_median(case.median(metric) for case in cases)
