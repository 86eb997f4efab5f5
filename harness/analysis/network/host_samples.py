"""Metrics of pairs of hosts, summarized for each host: many hosts have too many pairs to read.

Two probes of some rounds among many hosts have few pairs in common.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from statistics import median

from harness.analysis.network.mesh import RECEIVES, SENDS
from harness.base.words import natural_order
from harness.model.probe import ProbeSample

MAX_HOSTS_BY_PAIR = 10
"""Pairs of so few hosts are shown one by one: ten hosts have 90."""


def probes_of_many_hosts(found: Iterable[ProbeSample]) -> set[str]:
    """Return the names of the probes that measured pairs of more than MAX_HOSTS_BY_PAIR hosts."""
    hosts: dict[str, set[str]] = {}
    for sample in found:
        if len(sample.hosts) > 1:
            hosts.setdefault(sample.probe, set()).update(sample.hosts)
    return {probe for probe, names in hosts.items() if len(names) > MAX_HOSTS_BY_PAIR}


def by_host(found: Iterable[ProbeSample], probes: Collection[str]) -> list[ProbeSample]:
    """Return two samples for each host, of the cases `sends` and `receives`, in place of its pairs' samples.

    Each has a value for each pair, the pair's median, and the errors of the pairs. Only the samples of these
    probes are summarized; others stay as they are. Hosts are in natural order.
    """
    by_probe: dict[str, list[ProbeSample]] = {}
    for sample in found:
        by_probe.setdefault(sample.probe, []).append(sample)
    return [
        sample
        for probe, group in by_probe.items()
        for sample in (_of_hosts(group) if probe in probes else group)
    ]


def _of_hosts(found: Iterable[ProbeSample]) -> list[ProbeSample]:
    pairs_of: dict[ProbeSample, list[ProbeSample]] = {}
    others = []
    for sample in found:
        if len(sample.hosts) == 1:
            others.append(sample)
            continue
        for host, role in zip(sample.hosts, (SENDS, RECEIVES), strict=True):
            case = ", ".join(filter(None, (role, sample.case)))
            of_host = replace(sample, hosts=(host,), case=case, values=(), errors=())
            pairs_of.setdefault(of_host, []).append(sample)
    hosts = [
        replace(
            of_host,
            values=tuple(median(pair.values) for pair in pairs if pair.values),
            errors=tuple(error for pair in pairs for error in pair.errors),
        )
        for of_host, pairs in pairs_of.items()
    ]
    hosts.sort(key=lambda each: (natural_order(each.subject), each.case.startswith(RECEIVES)))
    return [*hosts, *others]
