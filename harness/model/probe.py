"""Records of probes: links, measurements with their units, and hosts that were left out."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Tuple, TypeVar, Union

from harness import __version__
from harness.base.items import grouped, known
from harness.model.bounds import MAX_QUANTITY, Number, Quantity
from harness.model.interface import HostLink
from harness.model.run import Ending, new_run_id, timestamp
from harness.model.soak import LinkEvent, SoakEvent, SoakFlow

E = TypeVar("E")

HIGHER = "higher"
LOWER = "lower"
BEFORE = "before"
AFTER = "after"
ARROW = " -> "
"""Between the sender and the receiver, for people."""
BOTH_WAYS_ARROW = " <-> "
"""Between two hosts that both send and receive."""
Pair = Tuple[str, str]
"""Sender and receiver."""
SeriesKey = Tuple[str, Tuple[str, ...], str, str, str, str]
"""The fields of a ProbeSeries."""


@dataclass(frozen=True)
class ProbeSeries:
    """All measurements of one metric, of the same hosts, in the same case.

    - `hosts`: a host, or sender and receiver; racks likewise.
    - `case`: distinguishes measurements of one metric and hosts, such as `both ways`; may be empty.
    - `better`: `higher` or `lower`.
    """

    probe: str
    hosts: tuple[str, ...]
    case: str
    metric: str
    unit: str
    better: str

    @property
    def subject(self) -> str:
        """The hosts for people: `node1 -> node2`."""
        return ARROW.join(self.hosts)


@dataclass(frozen=True)
class Measurement(ProbeSeries):
    """One value of a metric, or why there is none.

    - `error`: one line; None if there is a value.
    - `round`: counts the repetitions from 1.
    """

    value: Quantity | None = None
    error: str | None = None
    round: Number = 1

    def __post_init__(self) -> None:
        if (self.value is None) == (self.error is None):
            raise ValueError("a measurement has either a value or an error")
        if self.better not in {HIGHER, LOWER}:
            raise ValueError(f"better is {HIGHER!r} or {LOWER!r}")
        if len(self.hosts) not in {1, 2}:
            raise ValueError("a measurement is of a host, or of a sender and a receiver")

    @property
    def series(self) -> SeriesKey:
        """The fields that it shares with its repetitions, in the order of a ProbeSeries."""
        return self.probe, self.hosts, self.case, self.metric, self.unit, self.better


@dataclass(frozen=True)
class Metric:
    """A quantity that a probe measures. Its name ends in its unit, if there is one."""

    probe: str
    name: str
    unit: str
    better: str

    def of(self, hosts: str | Pair, value: float, case: str = "") -> Measurement:
        """Return a measurement of a host, or of a sender and a receiver.

        It is a failed one if the value of a host is impossible.
        """
        if not 0 <= value <= MAX_QUANTITY:
            return self.failed(hosts, f"{value:g} is no value that a measurement can have", case)
        return self._measurement(hosts, case, value=float(value))

    def failed(self, hosts: str | Pair, error: object, case: str = "") -> Measurement:
        """Return a measurement without a value, and why there is none."""
        return self._measurement(hosts, case, error=str(error))

    def _measurement(
        self, hosts: str | Pair, case: str, value: float | None = None, error: str | None = None
    ) -> Measurement:
        names = (hosts,) if isinstance(hosts, str) else hosts
        return Measurement(self.probe, names, case, self.name, self.unit, self.better, value, error)


PROBED_IN = "probed in"
"""The fact of a record that names another configuration with the same links, which measured it."""


@dataclass(frozen=True)
class ProbeRun:
    """One call of `clusterlift probe`: its declarations and requests.

    `hosts` are all that were named, those that were left out included. `facts` are declared by the user or
    the lab, such as `emulated`.
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
    """A host that was left out, or whose link is unknown, and why, in one line."""

    host: str
    error: str


@dataclass(frozen=True)
class LinkSnapshot:
    """A link BEFORE or AFTER the measurements."""

    moment: str
    link: HostLink


ProbeEvent = Union[ExcludedHost, LinkSnapshot, Measurement, SoakEvent]

EVENT_KINDS: Mapping[str, type[ProbeEvent]] = {
    "excluded": ExcludedHost,
    "link": LinkSnapshot,
    "measurement": Measurement,
    "link-event": LinkEvent,
    "soak-flow": SoakFlow,
}


@dataclass(frozen=True)
class RecordedProbes:
    """A probe run and its events in order; the other fields are as in RecordedRun."""

    run: ProbeRun
    events: tuple[ProbeEvent, ...] = ()
    ending: Ending | None = None
    source: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def probe(self) -> str:
        """The name of the probe: `mesh`, `soak`, `all`; empty if the record says none."""
        return str(self.run.parameters.get("probe", ""))

    @property
    def excluded_hosts(self) -> list[ExcludedHost]:
        """The hosts that were left out, or whose link is unknown."""
        return self.events_of(ExcludedHost)

    @property
    def measurements(self) -> list[Measurement]:
        """The measurements, also those without a value."""
        return self.events_of(Measurement)

    def links(self, moment: str | None = None) -> dict[str, HostLink]:
        """Return the links by host, at the given moment or as they were seen last."""
        links = {}
        for snapshot in self.events_of(LinkSnapshot):
            if moment in {None, snapshot.moment}:
                links[snapshot.link.host] = snapshot.link
        return links

    def events_of(self, kind: type[E]) -> list[E]:
        """Return the events of this kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]


@dataclass(frozen=True)
class ProbeSample(ProbeSeries):
    """The values of a series, and the errors of measurements without a value."""

    values: tuple[float, ...] = ()
    errors: tuple[str, ...] = ()


def samples(measurements: Iterable[Measurement]) -> list[ProbeSample]:
    """Group measurements into samples, in the order of first appearance; repetitions form one sample."""
    found = []
    for series, group in grouped(measurements, lambda each: each.series).items():
        values = known(map(attrgetter("value"), group))
        errors = known(map(attrgetter("error"), group))
        found.append(ProbeSample(*series, tuple(values), tuple(errors)))
    return found
