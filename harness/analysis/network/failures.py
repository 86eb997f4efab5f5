"""What kept probes from measuring: hosts that were left out, measurements that failed."""

from collections.abc import Iterable, Iterator, Sequence

from harness.analysis.network.judge import MIN_PEERS
from harness.base.words import count_of
from harness.model.finding import Finding
from harness.model.probe import Measurement, ProbeSample, RecordedProbes, samples
from harness.model.run import Ending


def record_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield a finding for each host that was left out, and one if the probe did not finish."""
    for excluded in probed.excluded_hosts:
        reason = excluded.error.removeprefix(f"{excluded.host}: ")
        yield Finding(excluded.host, f"left out: {reason}")
    if probed.ending is not Ending.COMPLETED:
        yield Finding("", "the probe did not finish; run it again")


MOST = 0.75
"""A host is the cause if more than this share of its pairs failed: a sound one fails with bad hosts alone."""


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
            tries = len(sample.values) + len(sample.errors)
            often = f" ({len(sample.errors)} of {tries} tries)" if sample.values else ""
            finding = Finding(sample.subject, f"{error}{often}")
            lines.setdefault((sample.subject, error), finding)
    return [*(_host_finding(host, found) for host in sorted(hosts)), *lines.values()]


def _failing_hosts(found: Sequence[ProbeSample]) -> set[str]:
    pairs = {sample.hosts for sample in found if len(sample.hosts) > 1}
    failed = {sample.hosts for sample in found if sample.errors and not sample.values} & pairs
    hosts = set()
    for host in {host for pair in failed for host in pair}:
        own = {pair for pair in pairs if host in pair}
        peers = {name for pair in own & failed for name in pair} - {host}
        if len(peers) >= MIN_PEERS and len(own & failed) > MOST * len(own):
            hosts.add(host)
    return hosts


def _host_finding(host: str, found: Iterable[ProbeSample]) -> Finding:
    own: dict[str, list[str]] = {}
    for sample in found:
        if host in sample.hosts:
            own.setdefault(sample.subject, []).extend(sample.errors)
    errors = [errors[0] for errors in own.values() if errors]
    return Finding(
        host,
        f"{len(errors)} of its {count_of(len(own), 'path')} failed, the first with: {errors[0]}",
    )
