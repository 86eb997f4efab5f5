"""Small messages between hosts, any number at the same time, alone or beside transfers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from harness.probes.remote_process import ClientServerRun, RemoteProcesses
from harness.probes.tools import sockperf
from harness.probes.tools.sockperf import RoundTrips
from harness.probes.traffic import GRACE_S, OMITTED_S, Flow, Load, Transfer, open_flows, open_runs
from harness.probes.transports.host import HostError

MESSAGE_BYTES = 64


@dataclass(frozen=True)
class Message:
    """A small message that is sent again as soon as it is back, or at most `per_second` times a second.

    Without a limit, a path that is idle for a hundredth of the time carries nearly all messages in it, and
    percentiles tell of nothing else.
    """

    size_bytes: int = MESSAGE_BYTES
    per_second: int | None = None


def run_messages(
    paths: Sequence[Flow], load: Load, message: Message, flows: Sequence[Flow] = ()
) -> tuple[list[RoundTrips | HostError], list[Transfer | HostError]]:
    """Send a message to and fro on each of the paths for `load.seconds`, while `flows` fill the network.

    Return the round trips and the transfers, or why each failed, in order. Transfers begin before the
    messages, and end after them.
    """
    transfer = Load(load.seconds + 2 * OMITTED_S, first_port=load.first_port)
    with RemoteProcesses() as remotes:
        transfer_runs = open_flows(remotes, flows, transfer)
        sessions = open_runs(
            paths,
            load.first_port + len(flows),
            lambda flow, port: _session(remotes, flow, port, load.seconds, message),
        )
        for run in transfer_runs:
            run.start()
        if transfer_runs:
            time.sleep(OMITTED_S)
        for session in sessions:
            session.start()
        round_trips = [session.finish() for session in sessions]
        return round_trips, [run.finish() for run in transfer_runs]


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
