"""What a probe measured of each subject in each case, over the repeats."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from harness.model.probe import ARROW, Measurement, Metric, ProbeSample, samples


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
        return sample.values if sample else ()

    def median(self, metric: Metric) -> float | None:
        """Return the median over the repeats; None without a value."""
        values = self.values(metric)
        return median(values) if values else None

    @property
    def errors(self) -> tuple[str, ...]:
        """The distinct errors of all metrics."""
        found = (error for sample in self.samples.values() for error in sample.errors)
        return tuple(dict.fromkeys(found))


def measured_cases(measurements: Iterable[Measurement], probe: str) -> list[MeasuredCase]:
    """Return what the measurements of a probe show, in the order of measurement."""
    cases: dict[tuple[tuple[str, ...], str], dict[str, ProbeSample]] = {}
    for sample in samples(each for each in measurements if each.probe == probe):
        cases.setdefault((sample.hosts, sample.case), {})[sample.metric] = sample
    return [MeasuredCase(hosts, case, own) for (hosts, case), own in cases.items()]
