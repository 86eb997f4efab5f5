"""Metrics of pairs of hosts, summarized for each host, which can be read, and compared, for many hosts.

Two runs of many hosts seldom measure the same pairs, because each draws its own at random.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from statistics import median

from harness.analysis.mesh import RECEIVES, SENDS, natural_order
from harness.model.probe import ARROW, ProbeSample

MAX_HOSTS_BY_PAIR = 10
"""As many hosts have 90 pairs."""


def probes_of_many_hosts(found: Iterable[ProbeSample]) -> set[str]:
    """Return the names of the probes that measured pairs of more than MAX_HOSTS_BY_PAIR hosts."""
    hosts: dict[str, set[str]] = {}
    for sample in found:
        if ARROW in sample.subject:
            hosts.setdefault(sample.probe, set()).update(sample.subject.split(ARROW))
    return {probe for probe, names in hosts.items() if len(names) > MAX_HOSTS_BY_PAIR}


def by_host(found: Iterable[ProbeSample], probes: Collection[str]) -> list[ProbeSample]:
    """Return two samples for each host in place of those of its pairs: `node1 sends`, `node1 receives`.

    Their values are the medians of the host's pairs; their errors are those of its pairs. Only the samples of
    these probes are summarized; those of others stay as they are. Hosts are in natural order.
    """
    summarized: dict[str, list[ProbeSample]] = {}
    for sample in found:
        summarized.setdefault(sample.probe, []).append(sample)
    return [
        sample
        for probe, group in summarized.items()
        for sample in (_of_hosts(group) if probe in probes else group)
    ]


def _of_hosts(found: Iterable[ProbeSample]) -> list[ProbeSample]:
    pairs: dict[ProbeSample, list[ProbeSample]] = {}
    others = []
    for sample in found:
        sender, arrow, receiver = sample.subject.partition(ARROW)
        if not arrow:
            others.append(sample)
            continue
        for subject in (f"{sender} {SENDS}", f"{receiver} {RECEIVES}"):
            host = replace(sample, subject=subject, values=(), errors=())
            pairs.setdefault(host, []).append(sample)
    hosts = [
        replace(
            host,
            values=tuple(median(pair.values) for pair in own if pair.values),
            errors=tuple(error for pair in own for error in pair.errors),
        )
        for host, own in pairs.items()
    ]
    return [*sorted(hosts, key=_order), *others]


def _order(sample: ProbeSample) -> tuple[list[tuple[int, str]], bool]:
    host, _, role = sample.subject.rpartition(" ")
    return natural_order(host), role == RECEIVES
