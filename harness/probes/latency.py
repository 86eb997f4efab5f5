"""The latency probe: the round trip time of a small message, on an idle link and beside a TCP transfer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import zip_longest

from harness.model.network_metrics import (
    IDLE,
    LATENCY_PERCENTILES,
    LOADED,
    ROUND_TRIP,
    ROUND_TRIPS_PER_S,
)
from harness.model.probe import Measurement
from harness.probes.plan import ProbeStep, listed, round_robin
from harness.probes.remote_process import ClientServerRun, RemoteProcesses
from harness.probes.tools import sockperf
from harness.probes.tools.sockperf import RoundTrips
from harness.probes.traffic import GRACE_S, OMITTED_S, Flow, Load, open_flows
from harness.probes.transports.host import Host, HostError

LATENCY_PROGRAMS = ("ip", "iperf3", "sockperf")
MESSAGE_BYTES = 64
SET_UP_S = 3.0


def latency_steps(
    hosts: Sequence[Host], seconds: int, message_bytes: int, first_port: int
) -> list[ProbeStep]:
    """Measure every pair on an idle link, and again while a TCP transfer fills the link."""
    load = Load(seconds + 2 * OMITTED_S, first_port=first_port)
    return [
        ProbeStep(
            f"latency: {listed([f'{a} <-> {b}' for a, b in pairs])}, {case}",
            seconds + SET_UP_S + (OMITTED_S if case == LOADED else 0),
            partial(_measure, [Flow(a, b) for a, b in pairs], seconds, message_bytes, load, case),
        )
        for pairs in round_robin(hosts)
        for case in (IDLE, LOADED)
    ]


def _measure(
    flows: Sequence[Flow], seconds: int, message_bytes: int, load: Load, case: str
) -> Iterator[Measurement]:
    with RemoteProcesses() as remotes:
        transfer_runs = open_flows(remotes, flows, load) if case == LOADED else []
        sessions = [
            _latency_session(remotes, flow, port, seconds, message_bytes)
            for port, flow in enumerate(flows, load.first_port + len(flows))
        ]
        for session in sessions:
            session.open()
        for run in transfer_runs:
            run.start()
        if transfer_runs:
            time.sleep(OMITTED_S)
        for session in sessions:
            session.start()
        round_trips = [session.finish() for session in sessions]
        transfers = [run.finish() for run in transfer_runs]
    for flow, trips, transfer in zip_longest(flows, round_trips, transfers):
        # Without its transfer, a latency under load has no meaning.
        errors = [outcome for outcome in (transfer, trips) if isinstance(outcome, HostError)]
        if errors:
            yield ROUND_TRIP[LATENCY_PERCENTILES[0]].failed(str(flow), errors[0], case)
        elif isinstance(trips, RoundTrips):
            yield from _measurements(str(flow), trips, case)


def _latency_session(
    remotes: RemoteProcesses, flow: Flow, port: int, seconds: int, message_bytes: int
) -> ClientServerRun[RoundTrips]:
    address = flow.receiver.address
    client = sockperf.client(address, port, message_bytes=message_bytes, seconds=seconds)
    return ClientServerRun(
        remotes,
        server=(flow.receiver, sockperf.server(address, port)),
        client=(flow.sender, client),
        listening=sockperf.LISTENING,
        parse=lambda completed: sockperf.read_round_trips(completed.output, completed.errors),
        timeout_s=seconds + GRACE_S,
    )


def _measurements(subject: str, trips: RoundTrips, case: str) -> Iterator[Measurement]:
    for percentile, metric in ROUND_TRIP.items():
        yield metric.of(subject, trips.microseconds[percentile], case)
    yield ROUND_TRIPS_PER_S.of(subject, trips.per_second, case)
