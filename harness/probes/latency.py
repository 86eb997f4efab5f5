"""The latency probe: how long a small message takes there and back, alone and beside a transfer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import zip_longest

from harness.probes.exchange import Exchange
from harness.probes.leash import Leashes
from harness.probes.measurement import HIGHER, LOWER, Measurement, Metric
from harness.probes.reach import Host, HostTrouble
from harness.probes.step import Step, listed
from harness.probes.tools import sockperf
from harness.probes.tools.sockperf import RoundTrips
from harness.probes.tournament import rounds
from harness.probes.traffic import OMITTED_S, Flow, Load, connect

PROBE = "latency"
IDLE, LOADED = "idle", "under load"
ROUND_TRIP = {
    rank: Metric(PROBE, f"round_trip_p{rank:g}_us", "µs", LOWER) for rank in sockperf.PERCENTILES
}
PER_SECOND = Metric(PROBE, "round_trips_per_s", "1/s", HIGHER)
MESSAGE_BYTES = 64
SETTING_UP_S, GRACE_S = 3.0, 20.0


def latency(hosts: Sequence[Host], seconds: int, message_bytes: int, first_port: int) -> list[Step]:
    """Every pair, alone; and again while TCP fills the way that the messages take."""
    load = Load(seconds + 2 * OMITTED_S, first_port=first_port)
    return [
        Step(
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
    with Leashes() as leashes:
        loads = connect(leashes, flows, load) if case == LOADED else []
        talks = [
            _talk(leashes, flow, port, seconds, message_bytes)
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
        trouble = next((one for one in (beside, trips) if isinstance(one, HostTrouble)), None)
        if trouble is not None:
            yield ROUND_TRIP[sockperf.PERCENTILES[0]].failed(str(flow), trouble, case)
        elif isinstance(trips, RoundTrips):
            yield from _round_trips(str(flow), trips, case)


def _talk(
    leashes: Leashes, flow: Flow, port: int, seconds: int, message_bytes: int
) -> Exchange[RoundTrips]:
    address = flow.receiver.address
    client = sockperf.client(address, port, message_bytes=message_bytes, seconds=seconds)
    return Exchange(
        leashes,
        server=(flow.receiver, sockperf.server(address, port)),
        client=(flow.sender, client),
        sign=sockperf.LISTENS,
        read=lambda ended: sockperf.read_round_trips(ended.output, ended.errors),
        timeout_s=seconds + GRACE_S,
    )


def _round_trips(subject: str, trips: RoundTrips, case: str) -> Iterator[Measurement]:
    for rank, metric in ROUND_TRIP.items():
        yield metric.of(subject, trips.microseconds[rank], case)
    yield PER_SECOND.of(subject, trips.per_second, case)
