"""The latency probe: how long a small message takes there and back, alone and beside a transfer."""

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
from harness.probes.plan import ProbeStep, listed, rounds
from harness.probes.remote_process import ClientServerRun, RemoteProcesses
from harness.probes.tools import sockperf
from harness.probes.tools.sockperf import RoundTrips
from harness.probes.traffic import OMITTED_S, Flow, Load, connect
from harness.probes.transports.host import Host, HostError

MESSAGE_BYTES = 64
SETTING_UP_S, GRACE_S = 3.0, 20.0


def latency(
    hosts: Sequence[Host], seconds: int, message_bytes: int, first_port: int
) -> list[ProbeStep]:
    """Every pair, alone; and again while TCP fills the way that the messages take."""
    load = Load(seconds + 2 * OMITTED_S, first_port=first_port)
    return [
        ProbeStep(
            f"latency: {listed([f'{a} <-> {b}' for a, b in pairs])}, {case}",
            seconds + SETTING_UP_S + (OMITTED_S if case == LOADED else 0),
            partial(_measure, [Flow(a, b) for a, b in pairs], seconds, message_bytes, load, case),
        )
        for pairs in rounds(hosts)
        for case in (IDLE, LOADED)
    ]


def _measure(
    flows: Sequence[Flow], seconds: int, message_bytes: int, load: Load, case: str
) -> Iterator[Measurement]:
    with RemoteProcesses() as remotes:
        loads = connect(remotes, flows, load) if case == LOADED else []
        talks = [
            _talk(remotes, flow, port, seconds, message_bytes)
            for port, flow in enumerate(flows, load.first_port + len(flows))
        ]
        for talk in talks:
            talk.open()
        for transfer in loads:
            transfer.start()
        if loads:
            time.sleep(OMITTED_S)
        for talk in talks:
            talk.start()
        heard = [talk.finish() for talk in talks]
        carried = [transfer.finish() for transfer in loads]
    for flow, trips, beside in zip_longest(flows, heard, carried):
        # Without its load, a latency under load is none.
        trouble = next((one for one in (beside, trips) if isinstance(one, HostError)), None)
        if trouble is not None:
            yield ROUND_TRIP[LATENCY_PERCENTILES[0]].failed(str(flow), trouble, case)
        elif isinstance(trips, RoundTrips):
            yield from _round_trips(str(flow), trips, case)


def _talk(
    remotes: RemoteProcesses, flow: Flow, port: int, seconds: int, message_bytes: int
) -> ClientServerRun[RoundTrips]:
    address = flow.receiver.address
    client = sockperf.client(address, port, message_bytes=message_bytes, seconds=seconds)
    return ClientServerRun(
        remotes,
        server=(flow.receiver, sockperf.server(address, port)),
        client=(flow.sender, client),
        sign=sockperf.LISTENS,
        read=lambda ended: sockperf.read_round_trips(ended.output, ended.errors),
        timeout_s=seconds + GRACE_S,
    )


def _round_trips(subject: str, trips: RoundTrips, case: str) -> Iterator[Measurement]:
    for rank, metric in ROUND_TRIP.items():
        yield metric.of(subject, trips.microseconds[rank], case)
    yield ROUND_TRIPS_PER_S.of(subject, trips.per_second, case)
