"""Small messages between hosts, any number at the same time, alone or beside transfers."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from harness.hosts.remote_process import ClientServerRun, RemoteProcesses
from harness.hosts.transports.host import Host, HostError
from harness.model.link import HEADERS_BYTES, ON_WIRE_BYTES
from harness.model.probe import Measurement, Metric
from harness.probes.tools import sockperf
from harness.probes.tools.cpu import Cpu
from harness.probes.tools.sockperf import RoundTrips
from harness.probes.traffic import (
    GRACE_S,
    OMITTED_S,
    Flow,
    Load,
    Run,
    Transfer,
    open_flows,
    open_runs,
    processor_meter,
    with_processors,
)

T = TypeVar("T")

MESSAGE_BYTES = 64
START_S = 2
"""From sockperf's start to its first message (measured, version 3.7: it finds out the rate of the clock)."""
OUTLASTING_S = OMITTED_S + START_S + OMITTED_S
"""How much longer transfers last than messages: before these, while sockperf starts, and after these."""


@dataclass(frozen=True)
class Message:
    """A small message that is sent again as soon as it is back, or at most `per_second` times a second.

    Without a limit, a path that is idle for a hundredth of the time carries most messages in it, and the
    percentiles tell of little else.
    """

    size_bytes: int = MESSAGE_BYTES
    per_second: int | None = None

    @property
    def wire_bit_s(self) -> float:
        """What the messages take of the wire in each direction; 0 without a limit, as that is not known."""
        return 8 * (self.size_bytes + HEADERS_BYTES + ON_WIRE_BYTES) * (self.per_second or 0)


def run_messages(
    paths: Sequence[Flow],
    load: Load,
    message: Message,
    flows: Sequence[Flow] = (),
    metered: Sequence[Host] = (),
) -> tuple[list[RoundTrips | HostError], list[Transfer | HostError]]:
    """Send a message to and fro on each of the paths for `load.seconds`, while `flows` fill the network.

    Return the round trips and the transfers, or why each failed, in order. Transfers begin before the
    messages and end after them: an idle network answers so fast that a short while of it outnumbers the rest.
    The transfers have the processor time of the hosts that are `metered`.
    """
    duration_s = load.seconds + (OUTLASTING_S if paths else 0)
    transfer = Load(duration_s, first_port=load.first_port + len(paths))

    def open_runs_and_meters(remotes: RemoteProcesses) -> Sequence[Run[Transfer | Cpu]]:
        return [
            *open_flows(remotes, flows, transfer),
            *(processor_meter(remotes, host, load) for host in metered),
        ]

    round_trips, outcomes = run_beside(paths, load, message, open_runs_and_meters)
    transfers = [each for each in outcomes[: len(flows)] if not isinstance(each, Cpu)]
    cpus = {
        host.name: each
        for host, each in zip(metered, outcomes[len(flows) :], strict=True)
        if not isinstance(each, Transfer)
    }
    return round_trips, with_processors(flows, transfers, cpus)


def round_trip_measurements(
    metrics: Mapping[float, Metric], subject: str, trips: RoundTrips | HostError, case: str
) -> Iterator[Measurement]:
    """Yield the round trips by the metrics of their percentiles, or why there are none."""
    for percentile, metric in metrics.items():
        if isinstance(trips, HostError):
            yield metric.failed(subject, trips, case)
        else:
            yield metric.of(subject, trips.microseconds[percentile], case)


def run_beside(
    paths: Sequence[Flow],
    load: Load,
    message: Message,
    open_transfers: Callable[[RemoteProcesses], Sequence[Run[T]]],
) -> tuple[list[RoundTrips | HostError], list[T | HostError]]:
    """Do the same beside transfers of any kind, which last for OUTLASTING_S longer than `load`.

    The messages use the ports from `load.first_port` on, one each.
    """
    with RemoteProcesses() as remotes:
        transfers = open_transfers(remotes)
        sessions = open_runs(
            paths,
            load.first_port,
            lambda path, port: _session(remotes, path, port, load.seconds, message),
        )
        for run in transfers:
            run.start()
        if transfers and sessions:
            time.sleep(OMITTED_S)
        for session in sessions:
            session.start()
        round_trips = [session.finish() for session in sessions]
        return round_trips, [run.finish() for run in transfers]


def _session(
    remotes: RemoteProcesses, flow: Flow, port: int, seconds: int, message: Message
) -> ClientServerRun[RoundTrips]:
    address = flow.receiver.address
    client = sockperf.client(
        address,
        port,
        message_bytes=message.size_bytes,
        seconds=seconds,
        per_second=message.per_second,
    )
    return ClientServerRun(
        remotes,
        server=(flow.receiver, sockperf.server(address, port)),
        client=(flow.sender, client),
        listening=sockperf.LISTENING,
        parse=lambda completed: sockperf.read_round_trips(completed.output, completed.errors),
        timeout_s=seconds + GRACE_S,
    )
