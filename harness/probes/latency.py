"""The latency probe: how long a small message takes over TCP, idle and beside a transfer, and by RDMA."""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from math import inf

from harness.analysis.network.measured import MeasuredCase, measured_cases
from harness.base.words import join_names
from harness.hosts.parallelism import MAX_PAIRS, batches
from harness.hosts.preflight import missing_programs
from harness.hosts.remote_process import ClientServerRun, RemoteProcesses, ask_all
from harness.hosts.transports.host import Host, HostError
from harness.model.finding import Finding, note
from harness.model.network_metrics import (
    IDLE,
    LATENCY,
    LATENCY_PERCENTILES,
    LOADED,
    RDMA,
    RDMA_DEVICES,
    RDMA_P99,
    RDMA_P999,
    RDMA_PROGRAM,
    RDMA_TYPICAL,
    ROUND_TRIP,
    ROUND_TRIPS_PER_S,
)
from harness.model.probe import Measurement, RecordedProbes
from harness.present.probes.columns import Column, MeasurementTable, of_metric
from harness.probes.kind import ProbeKind
from harness.probes.options import NamedHosts, port_option, seconds_option
from harness.probes.plan import Pairing, ProbePlan, ProbeStep, round_robin
from harness.probes.tools import perftest, sockperf
from harness.probes.tools.perftest import RdmaLatency
from harness.probes.tools.sockperf import RoundTrips
from harness.probes.traffic import (
    GRACE_S,
    OMITTED_S,
    Flow,
    Load,
    finish,
    flows_of,
    open_flows,
    open_runs,
    pair_names,
)

LATENCY_PROGRAMS = ("ip", "iperf3", "sockperf")
MESSAGE_BYTES = 64
SET_UP_S = 3.0
START_S = 2
"""How long sockperf 3.7 measures the rate of the clock, before its first message."""
OUTLASTING_S = OMITTED_S + START_S + OMITTED_S
"""How much longer transfers last than messages: before these, while sockperf starts, and after these."""
RDMA_STEP_S = 5.0
RDMA_TIMEOUT_S = 60.0
_LIST_RDMA_DEVICES = ("sh", "-c", "ls /sys/class/infiniband 2>/dev/null; exit 0")


def latency_steps(
    hosts: Sequence[Host],
    load: Load,
    pairing: Pairing = round_robin,
    *,
    pairs_at_once: int = MAX_PAIRS,
) -> list[ProbeStep]:
    """Measure every pair of the pairing on an idle link, again while a TCP transfer fills it, and by RDMA.

    The pairs of a round are measured at the same time, but no more than `pairs_at_once`.
    """
    expected_s = {IDLE: load.seconds + SET_UP_S}
    expected_s[LOADED] = expected_s[IDLE] + OMITTED_S + OUTLASTING_S
    steps = []
    for all_pairs in pairing(hosts):
        for pairs in batches(all_pairs, pairs_at_once):
            for case, case_s in expected_s.items():
                measure = partial(_measure, flows_of(pairs), load, case)
                name = f"latency: {pair_names(pairs)}, {case}"
                steps.append(ProbeStep(name, case_s, measure))
    rdma = partial(_measure_rdma, hosts, pairing, pairs_at_once)
    steps.append(ProbeStep("rdma", RDMA_STEP_S, rdma))
    return steps


def _measure(flows: Sequence[Flow], load: Load, case: str) -> Iterator[Measurement]:
    round_trips = _run_messages(flows, load, is_loaded=case == LOADED)
    for flow, trips in zip(flows, round_trips, strict=True):
        if isinstance(trips, HostError):
            yield ROUND_TRIP[LATENCY_PERCENTILES[0]].failed(flow.pair, trips, case)
        else:
            for rank, metric in ROUND_TRIP.items():
                yield metric.of(flow.pair, trips.microseconds[rank], case)
            yield ROUND_TRIPS_PER_S.of(flow.pair, trips.per_second, case)


def _run_messages(
    flows: Sequence[Flow], load: Load, *, is_loaded: bool
) -> list[RoundTrips | HostError]:
    """Send a message to and fro on each path for `load.seconds`, if `is_loaded` while a transfer fills it.

    Return the round trips of each path, or why they or its transfer failed, in order. Transfers begin before
    the messages and end after them: an idle network answers so fast that a short while of it outnumbers the
    rest.
    """
    transfer = Load(load.seconds + OUTLASTING_S, first_port=load.first_port + len(flows))
    with RemoteProcesses() as remotes:
        transfers = open_flows(remotes, flows if is_loaded else (), transfer)
        sessions = open_runs(
            flows,
            load.first_port,
            lambda flow, port: _sockperf_run(remotes, flow, port, load.seconds),
        )
        for run in transfers:
            run.start()
        if transfers:
            time.sleep(OMITTED_S)
        round_trips = finish(sessions)
        for number, run in enumerate(transfers):
            report = run.finish()
            # Without its transfer, a latency under load has no meaning.
            if isinstance(report, HostError):
                round_trips[number] = report
        return round_trips


def _sockperf_run(
    remotes: RemoteProcesses, flow: Flow, port: int, seconds: int
) -> ClientServerRun[RoundTrips]:
    address = flow.receiver.address
    client = sockperf.client(address, port, message_bytes=MESSAGE_BYTES, seconds=seconds)
    return ClientServerRun(
        remotes,
        server=(flow.receiver, sockperf.server(address, port)),
        client=(flow.sender, client),
        listening=sockperf.LISTENING,
        parse=lambda completed: sockperf.read_round_trips(completed.output, completed.errors),
        timeout_s=seconds + GRACE_S,
    )


def _measure_rdma(
    hosts: Sequence[Host], pairing: Pairing, pairs_at_once: int
) -> Iterator[Measurement]:
    measurable: list[Host] = []
    yield from _find_rdma(hosts, measurable)
    if len(measurable) <= 1:
        return
    for pairs in pairing(measurable):
        for batch in batches(pairs, pairs_at_once):
            yield from _measure_rdma_pairs(flows_of(batch))


def _find_rdma(hosts: Sequence[Host], measurable: list[Host]) -> Iterator[Measurement]:
    """Yield the devices and programs of hosts for RDMA, and add the hosts with both to `measurable`."""
    equipped: list[Host] = []
    for host, devices in ask_all(hosts, _LIST_RDMA_DEVICES, str.split).items():
        if isinstance(devices, HostError):
            yield RDMA_DEVICES.failed(host.name, devices)
            continue
        yield RDMA_DEVICES.of(host.name, len(devices))
        if devices:
            equipped.append(host)
    command = missing_programs(perftest.PROGRAMS)
    # These programs are optional: a host that lacks one is not measured, and that is no fault.
    for host, missing in ask_all(equipped, command, str.split).items():
        if isinstance(missing, HostError):
            yield RDMA_DEVICES.failed(host.name, missing)
            continue
        for program in missing:
            yield RDMA_PROGRAM.of(host.name, 0, program)
        if not missing:
            measurable.append(host)


def _measure_rdma_pairs(flows: Sequence[Flow]) -> Iterator[Measurement]:
    with RemoteProcesses() as remotes:
        sessions = open_runs(flows, 0, lambda flow, _: _perftest_run(remotes, flow))
        latencies = finish(sessions)
    for flow, latency in zip(flows, latencies, strict=True):
        if isinstance(latency, HostError):
            yield RDMA_TYPICAL.failed(flow.pair, latency)
        else:
            yield RDMA_TYPICAL.of(flow.pair, latency.typical_us)
            yield RDMA_P99.of(flow.pair, latency.p99_us)
            yield RDMA_P999.of(flow.pair, latency.p999_us)


def _perftest_run(remotes: RemoteProcesses, flow: Flow) -> ClientServerRun[RdmaLatency]:
    return ClientServerRun(
        remotes,
        server=(flow.receiver, perftest.server(MESSAGE_BYTES)),
        client=(flow.sender, perftest.client(flow.receiver.address, MESSAGE_BYTES)),
        listening=perftest.LISTENING,
        parse=lambda completed: perftest.read_latency(completed.output),
        timeout_s=RDMA_TIMEOUT_S,
    )


def _plan(site: NamedHosts, *, seconds: int, port: int) -> ProbePlan:
    load = Load(seconds, first_port=port)
    return ProbePlan(
        site.hosts(),
        LATENCY_PROGRAMS,
        lambda hosts, _links: latency_steps(hosts, load),
        parameters={"seconds": seconds, "message_bytes": MESSAGE_BYTES},
    )


def latency_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield a note if no host has RDMA, or if it was not measured for want of a program."""
    devices: list[float] = []
    lacking: dict[str, list[str]] = {}
    for case in measured_cases(probed.measurements, RDMA):
        devices += case.values(RDMA_DEVICES)
        if 0 in case.values(RDMA_PROGRAM):
            lacking.setdefault(case.case, []).append(case.subject)
    if devices and not any(devices):
        yield note("RDMA: no device on any host")
    for program, hosts in lacking.items():
        package = perftest.PROGRAMS.get(program, program)
        where = f"{program} ({package}) is not installed on {join_names(hosts)}"
        yield note(f"RDMA is not measured: {where}")


def _rdma_pairs(probed: RecordedProbes) -> list[MeasuredCase]:
    cases = measured_cases(probed.measurements, RDMA)
    return [case for case in cases if len(case.hosts) > 1]


def _badness(row: MeasuredCase) -> float:
    if row.errors:
        return inf
    return row.median(ROUND_TRIP[99.0]) or 0.0


KIND = ProbeKind(
    LATENCY,
    "Measure the round trip time of small messages, on an idle link and beside a transfer.",
    _plan,
    options=(seconds_option, port_option),
    measures=(LATENCY, RDMA),
    tables=(
        MeasurementTable(
            lambda probed: measured_cases(probed.measurements, LATENCY),
            (
                Column[MeasuredCase]("round trips", lambda row: row.subject),
                Column[MeasuredCase]("", lambda row: row.case),
                *(
                    Column(f"p{rank:g} µs", of_metric(metric), ",.1f")
                    for rank, metric in ROUND_TRIP.items()
                ),
                Column("per second", of_metric(ROUND_TRIPS_PER_S), ",.0f"),
            ),
            badness=_badness,
        ),
        MeasurementTable(
            _rdma_pairs,
            (
                Column[MeasuredCase]("path", lambda row: row.subject),
                Column("typical µs", of_metric(RDMA_TYPICAL), ",.2f"),
                Column("p99 µs", of_metric(RDMA_P99), ",.2f"),
                Column("p99.9 µs", of_metric(RDMA_P999), ",.2f"),
            ),
            title="RDMA, one way",
        ),
    ),
    judge=latency_findings,
)
