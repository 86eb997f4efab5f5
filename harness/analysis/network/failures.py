"""What kept probes from measuring: hosts that were left out, measurements that failed."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from harness.analysis.network.judge import MIN_PEERS
from harness.model.finding import Finding
from harness.model.probe import ARROW, Measurement, ProbeSample, RecordedProbes, samples
from harness.model.run import Ending
from harness.words import count_of


def record_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield a finding for each host that was left out, and one if the probe did not finish."""
    for excluded in probed.excluded_hosts:
        reason = excluded.error.removeprefix(f"{excluded.host}: ")
        yield Finding(excluded.host, f"left out: {reason}")
    if probed.ending is not Ending.COMPLETED:
        yield Finding("", "the probe did not finish; run it again")


def failed_measurements(measurements: Iterable[Measurement]) -> list[Finding]:
    """Return a finding for each subject and error.

    A host of whose pairs most failed, with two peers or more, is one finding in place of its pairs.
    """
    found = [sample for sample in samples(measurements) if sample.values or sample.errors]
    hosts = _failing_hosts(found)
    lines: dict[tuple[str, str], Finding] = {}
    for sample in found:
        if sample.errors and not hosts & set(sample.subject.split(ARROW)):
            error = sample.errors[0].removeprefix(f"{sample.subject}: ")
            tries = len(sample.values) + len(sample.errors)
            often = f" ({len(sample.errors)} of {tries} tries)" if sample.values else ""
            finding = Finding(sample.subject, f"{error}{often}")
            lines.setdefault((sample.subject, error), finding)
    return [*(_host_finding(host, found) for host in sorted(hosts)), *lines.values()]


def _failing_hosts(found: Iterable[ProbeSample]) -> set[str]:
    """Return the hosts of whose pairs most failed: a sound host fails only with those that do not work."""
    pairs: dict[tuple[str, str], bool] = {}
    for sample in found:
        sender, arrow, receiver = sample.subject.partition(ARROW)
        if arrow:
            failed = bool(sample.errors) and not sample.values
            pairs[sender, receiver] = pairs.get((sender, receiver), False) or failed
    measured = Counter(host for pair in pairs for host in pair)
    failures = Counter(host for pair, failed in pairs.items() if failed for host in pair)
    peers = defaultdict[str, set[str]](set)
    for pair, failed in pairs.items():
        if failed:
            for host, peer in (pair, pair[::-1]):
                peers[host].add(peer)
    return {
        host
        for host, count in failures.items()
        if len(peers[host]) >= MIN_PEERS and 4 * count > 3 * measured[host]
    }


def _host_finding(host: str, found: Iterable[ProbeSample]) -> Finding:
    own: dict[str, list[str]] = {}
    for sample in found:
        if host in sample.subject.split(ARROW):
            own.setdefault(sample.subject, []).extend(sample.errors)
    errors = [errors[0] for errors in own.values() if errors]
    return Finding(
        host,
        f"{len(errors)} of its {count_of(len(own), 'path')} failed, the first with: {errors[0]}",
    )
