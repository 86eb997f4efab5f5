"""What probes measure: a metric of a subject, with its unit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from harness import __version__
from harness.model.interface import HostLink
from harness.model.run import Ending, new_run_id, timestamp

HIGHER, LOWER = "higher", "lower"


@dataclass(frozen=True)
class Measurement:
    """One value, or one line on why there is none.

    `subject` is a host, a pair (`node1 -> node2`) or two racks; `case` tells apart what is measured
    of it in several ways, such as `both ways`, and may be empty. `better` is `higher` or `lower`.
    `round` counts the repeats from 1.
    """

    probe: str
    subject: str
    case: str
    metric: str
    unit: str
    better: str
    value: float | None = None
    error: str | None = None
    round: int = 1

    def __post_init__(self) -> None:
        if (self.value is None) == (self.error is None):
            raise ValueError("a measurement has either a value or an error")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError("a value is a finite number")
        if self.better not in {HIGHER, LOWER}:
            raise ValueError(f"better is {HIGHER} or {LOWER}")


@dataclass(frozen=True)
class Metric:
    """What can be measured by a probe. Its name ends in its unit, where it has one."""

    probe: str
    name: str
    unit: str
    better: str

    def of(self, subject: str, value: float, case: str = "") -> Measurement:
        """A value."""
        return self._measurement(subject, case, value=float(value))

    def failed(self, subject: str, error: object, case: str = "") -> Measurement:
        """Why there is no value."""
        return self._measurement(subject, case, error=str(error))

    def _measurement(
        self, subject: str, case: str, value: float | None = None, error: str | None = None
    ) -> Measurement:
        return Measurement(
            self.probe, subject, case, self.name, self.unit, self.better, value, error
        )


@dataclass(frozen=True)
class ProbeRun:
    """One call of `clusterlift probe`: what was declared and asked for.

    `hosts` are all that were named; `facts` say what a reader has to know, such as `emulated`.
    """

    configuration: str
    hosts: tuple[str, ...]
    parameters: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    id: str = field(default_factory=new_run_id)
    started_at: str = field(default_factory=timestamp)
    written_by: str = f"clusterlift {__version__}"


@dataclass(frozen=True)
class ExcludedHost:
    """A host that was left out, and why, in one line."""

    host: str
    error: str


@dataclass(frozen=True)
class LinkSnapshot:
    """A link as it was `before` the measurements, or `after` them."""

    moment: str
    link: HostLink


ProbeEvent = ExcludedHost | LinkSnapshot | Measurement


EVENT_KINDS: Mapping[str, type[ProbeEvent]] = {
    "excluded": ExcludedHost,
    "link": LinkSnapshot,
    "measurement": Measurement,
}


BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class RecordedProbes:
    """A probe run and all that was noted of it, in order; `ending` is None if it was killed."""

    run: ProbeRun
    events: tuple[ProbeEvent, ...] = ()
    ending: Ending | None = None
    source: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def excluded_hosts(self) -> list[ExcludedHost]:
        """The hosts that were left out."""
        return [note for note in self.events if isinstance(note, ExcludedHost)]

    @property
    def measurements(self) -> list[Measurement]:
        """All that was measured, or could not be."""
        return [note for note in self.events if isinstance(note, Measurement)]

    def links(self, moment: str | None = None) -> dict[str, HostLink]:
        """Links by host, as they were at that moment, or as they were seen last."""
        seen = [note for note in self.events if isinstance(note, LinkSnapshot)]
        return {one.link.host: one.link for one in seen if moment in {None, one.moment}}


@dataclass(frozen=True)
class ProbeSample:
    """All that was measured of one metric of one subject, in one case, in one configuration."""

    probe: str
    subject: str
    case: str
    metric: str
    unit: str
    better: str
    values: tuple[float, ...] = ()
    errors: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """`mesh node1 -> node2, both ways`: what a table's line is called."""
        return f"{self.probe} {self.subject}{f', {self.case}' if self.case else ''}"


def samples(measurements: Iterable[Measurement]) -> list[ProbeSample]:
    """Group measurements, in the order of first appearance; the repeats of one are one sample."""
    grouped: dict[tuple[str, ...], list[Measurement]] = {}
    for one in measurements:
        key = (one.probe, one.subject, one.case, one.metric, one.unit, one.better)
        grouped.setdefault(key, []).append(one)
    return list(map(_sample, grouped.values()))


def _sample(group: Sequence[Measurement]) -> ProbeSample:
    first = group[0]
    return ProbeSample(
        *(first.probe, first.subject, first.case, first.metric, first.unit, first.better),
        values=tuple(one.value for one in group if one.value is not None),
        errors=tuple(one.error for one in group if one.error is not None),
    )


ARROW = " -> "
