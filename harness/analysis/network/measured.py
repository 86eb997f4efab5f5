"""Measurements of probes by subject and case, as a matrix of pairs of hosts, and summarized by host."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from statistics import median

from harness.base.items import grouped, known, union
from harness.base.words import natural_order
from harness.model.probe import ARROW, Measurement, Metric, Pair, ProbeSample, samples

SENDS = "sends"
RECEIVES = "receives"
MAX_HOSTS_BY_PAIR = 10
"""More hosts are shown one by one, and not their pairs: ten hosts have 90."""


def known_median(values: Iterable[float | None]) -> float | None:
    """Return the median of the values that are known; None if none is."""
    given = known(values)
    if not given:
        return None
    return median(given)


@dataclass(frozen=True)
class MeasuredCase:
    """The samples of a host or pair in one case, by the names of their metrics."""

    hosts: tuple[str, ...]
    case: str
    samples: Mapping[str, ProbeSample]

    @property
    def subject(self) -> str:
        """The hosts for people: `node1 -> node2`."""
        return ARROW.join(self.hosts)

    def values(self, metric: Metric) -> tuple[float, ...]:
        """Return the values of the repeats, in their order."""
        sample = self.samples.get(metric.name)
        if sample:
            return sample.values
        return ()

    def median(self, metric: Metric) -> float | None:
        """Return the median over the repeats; None without a value."""
        return known_median(self.values(metric))

    @property
    def errors(self) -> list[str]:
        """The distinct errors of all metrics."""
        return union(sample.errors for sample in self.samples.values())


def measured_cases(measurements: Iterable[Measurement], probe: str) -> list[MeasuredCase]:
    """Return the cases of a probe, in the order of measurement."""
    cases: dict[tuple[tuple[str, ...], str], dict[str, ProbeSample]] = {}
    for sample in samples(each for each in measurements if each.probe == probe):
        cases.setdefault((sample.hosts, sample.case), {})[sample.metric] = sample
    return [MeasuredCase(hosts, case, own) for (hosts, case), own in cases.items()]


@dataclass(frozen=True)
class PairMatrix:
    """Values in the metric's unit, and errors, by pair. A pair in neither was not measured.

    Hosts are in natural order: node2 before node10.
    """

    hosts: tuple[str, ...]
    values: Mapping[Pair, float]
    errors: Mapping[Pair, str]

    def best(self, host: str) -> float | None:
        """Return the greatest value that the host sends or receives; None if it has none."""
        values = list(self.sent_by[host].values())
        values += self.received_by[host].values()
        return max(values, default=None)

    @cached_property
    def sent_by(self) -> defaultdict[str, dict[Pair, float]]:
        """The values by the host that sends. A host that sends nothing has none."""
        return _by_end(self.values, 0)

    @cached_property
    def received_by(self) -> defaultdict[str, dict[Pair, float]]:
        """The values by the host that receives. A host that receives nothing has none."""
        return _by_end(self.values, 1)

    @cached_property
    def failures(self) -> Counter[str]:
        """The number of pairs with an error, by host."""
        failures: Counter[str] = Counter()
        for pair in self.errors:
            failures.update(pair)
        return failures


def _by_end(values: Mapping[Pair, float], end: int) -> defaultdict[str, dict[Pair, float]]:
    """Return the values by the host at one end. One pass is enough: 1,000 hosts have a million pairs."""
    found: defaultdict[str, dict[Pair, float]] = defaultdict(dict)
    for pair, value in values.items():
        found[pair[end]][pair] = value
    return found


def pair_matrix(
    measurements: Iterable[Measurement],
    metric: Metric,
    case: str = "",
    summary: Callable[[Sequence[float]], float] = median,
) -> PairMatrix:
    """Return the matrix of one metric in one case.

    The value of a pair is the summary of its successful repeats; its error, if all repeats failed, the first.
    """
    wanted = (metric.probe, metric.name, case)
    own = (each for each in measurements if (each.probe, each.metric, each.case) == wanted)
    hosts: set[str] = set()
    values = {}
    errors = {}
    for sample in samples(own):
        if len(sample.hosts) == 1:
            continue
        pair = (sample.hosts[0], sample.hosts[1])
        hosts.update(pair)
        if sample.values:
            values[pair] = summary(sample.values)
        elif sample.errors:
            errors[pair] = sample.errors[0]
    return PairMatrix(tuple(sorted(hosts, key=natural_order)), values, errors)


def typical_bit_s(goodput: PairMatrix) -> float | None:
    """Return the median over the hosts of each host's best goodput, in bit/s; None without values.

    Neither one slow host nor two neighbours with a fast connection affect it much.
    """
    return known_median(map(goodput.best, goodput.hosts))


def probes_of_many_hosts(found: Iterable[ProbeSample]) -> set[str]:
    """Return the names of the probes that measured pairs of more than MAX_HOSTS_BY_PAIR hosts."""
    hosts: dict[str, set[str]] = {}
    for sample in found:
        if len(sample.hosts) > 1:
            hosts.setdefault(sample.probe, set()).update(sample.hosts)
    return {probe for probe, names in hosts.items() if len(names) > MAX_HOSTS_BY_PAIR}


def by_host(found: Iterable[ProbeSample], probes: Collection[str]) -> list[ProbeSample]:
    """Return two samples for each host, of the cases `sends` and `receives`, in place of its pairs' samples.

    Two probes of some rounds among many hosts have few pairs in common, but the same hosts. A host's sample
    has a value for each pair, the pair's median, and the errors of the pairs. Only the samples of these
    probes are summarized. Others stay as they are. Hosts are in natural order.
    """
    summarized = []
    for probe, group in grouped(found, attrgetter("probe")).items():
        summarized += _summarized_by_host(group) if probe in probes else group
    return summarized


def _summarized_by_host(found: Iterable[ProbeSample]) -> list[ProbeSample]:
    """Return two samples for each host in place of its pairs' samples, and the others as they are."""
    pairs_of: dict[ProbeSample, list[ProbeSample]] = {}
    others = []
    for sample in found:
        if len(sample.hosts) == 1:
            others.append(sample)
            continue
        for host, role in zip(sample.hosts, (SENDS, RECEIVES), strict=True):
            case = f"{role}, {sample.case}" if sample.case else role
            of_host = replace(sample, hosts=(host,), case=case, values=(), errors=())
            pairs_of.setdefault(of_host, []).append(sample)
    hosts = []
    for of_host, pairs in pairs_of.items():
        values = [median(pair.values) for pair in pairs if pair.values]
        errors: list[str] = []
        for pair in pairs:
            errors += pair.errors
        hosts.append(replace(of_host, values=tuple(values), errors=tuple(errors)))
    hosts.sort(key=lambda each: (natural_order(each.subject), each.case.startswith(RECEIVES)))
    return hosts + others
