"""Builders of probe runs: links of hosts, and measurements of pairs of hosts."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.analysis.ready.gate import Expectation, expectation_faults, upgrade_faults
from harness.model.interface import HostLink
from harness.model.network_metrics import MESH_GOODPUT, PATH_MTU
from harness.model.probe import (
    AFTER,
    BEFORE,
    LinkSnapshot,
    Measurement,
    Metric,
    ProbeEvent,
    ProbeRun,
    RecordedProbes,
)
from harness.model.run import Ending
from harness.model.soak import LinkEvent, LinkEventKind, SoakFlow
from harness.present import text
from harness.probes.kind import findings, kinds, network_of, newest_probes
from harness.probes.plan import ProbeStep
from tests.unit.builders import STARTED_AT

MBIT = 10**6
CAPTURED = Path(__file__).parents[1] / "captured"
FOUR = ("node1", "node2", "node3", "node4")


def output(name: str) -> str:
    """Return what another program printed, from tests/captured/<name>."""
    return (CAPTURED / name).read_text(encoding="utf-8")


def a_link(host: str, **fields: Any) -> HostLink:
    defaults: dict[str, Any] = {
        "device": "eth0",
        "speed_mbit_s": 1000,
        "duplex": "full",
        "mtu_bytes": 1500,
        "state": "up",
        "driver": "igb",
        "bus": "pci",
        "queue": "fq_codel",
        "counters": {"rx_errors": 0, "tx_errors": 0, "rx_drops": 0, "tx_drops": 0},
    }
    return HostLink(host, **defaults | fields)


def pairs(
    metric: Metric, values: Mapping[tuple[str, str], float | str], case: str = ""
) -> list[Measurement]:
    """Return one measurement for each pair; a text instead of a value is the error of a failed one."""
    return [
        metric.failed((a, b), value, case)
        if isinstance(value, str)
        else metric.of((a, b), value, case)
        for (a, b), value in values.items()
    ]


def every_pair(hosts: Sequence[str], value: float) -> dict[tuple[str, str], float | str]:
    return {(a, b): value for a in hosts for b in hosts if a != b}


def probed(
    links: Iterable[HostLink] = (),
    measurements: Iterable[Measurement] = (),
    *,
    after: Iterable[HostLink] | None = None,
    ending: Ending | None = Ending.COMPLETED,
    notes: Sequence[ProbeEvent] = (),
    facts: Mapping[str, str] | None = None,
    parameters: Mapping[str, str] | None = None,
) -> RecordedProbes:
    """Return a probe run. `after` are its links after the measurements, by default the same as before."""
    links = tuple(links)
    run = ProbeRun(
        configuration="1g",
        hosts=tuple(link.host for link in links),
        parameters=parameters or {},
        facts=facts or {},
        id="a-probe",
        started_at=STARTED_AT,
        written_by="clusterlift 0.1.0",
    )
    events: list[ProbeEvent] = [*notes]
    events += [LinkSnapshot(BEFORE, link) for link in links]
    events += measurements
    events += [LinkSnapshot(AFTER, link) for link in (links if after is None else after)]
    return RecordedProbes(run, tuple(events), ending)


def measured(steps: Iterable[ProbeStep]) -> list[Measurement]:
    """Run steps, and return what they measured, which must be all that they yielded."""
    found: list[Measurement] = []
    for step in steps:
        for event in step.measure():
            assert isinstance(event, Measurement)
            found.append(event)
    return found


def healthy(
    hosts: Sequence[str] = FOUR, goodput: float = 940 * MBIT, **link: Any
) -> RecordedProbes:
    """Return a probe run in which every path carries the MTU of the links, and `goodput` in bit/s."""
    links = [a_link(host, **link) for host in hosts]
    path = float(links[0].mtu_bytes or 1500)
    return probed(
        links,
        [
            *pairs(PATH_MTU, every_pair(hosts, path)),
            *pairs(MESH_GOODPUT, every_pair(hosts, goodput)),
        ],
    )


def page_of(probe: str, recorded: RecordedProbes) -> str:
    """Return what `clusterlift probe` prints of a recorded probe."""
    return text.render(kinds()[probe].page(recorded, findings(recorded)))


def gate_faults(
    recorded: RecordedProbes, expected: Expectation, before: RecordedProbes | None = None
) -> list[str]:
    """Return the faults that the gate finds, in its order: the probes' faults, then its own."""
    network = network_of(newest_probes([recorded]))
    faults = [*(f for f in network.findings if f.is_open), *expectation_faults(network, expected)]
    if before is not None:
        faults += upgrade_faults(network_of(newest_probes([before])), network)
    return list(map(str, faults))


def soak_events() -> list[ProbeEvent]:
    """Return the transfers of two rounds between two hosts, and what happened to their links."""
    return [
        LinkEvent("n1", 3, 15.0, LinkEventKind.CARRIER, "the link was interrupted", 2),
        LinkEvent("n2", 1, 6.0, LinkEventKind.DROPS, "2 packets dropped", 2),
        SoakFlow(1, "n1", "n2", 1.0, 5.0, 940e6, 3, None, 0.0, 12.5),
        SoakFlow(1, "n2", "n1", 1.0, 5.0, error="iperf3: no route"),
        SoakFlow(2, "n1", "n2", 8.0, 5.0, 90e6, None, None, 0.0, 12.5),
    ]
