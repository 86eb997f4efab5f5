"""Small messages between hosts, any number at the same time, alone or beside transfers."""

import time
from collections.abc import Sequence

from harness.hosts.remote_process import ClientServerRun, RemoteProcesses
from harness.hosts.transports.host import HostError
from harness.probes.tools import sockperf
from harness.probes.tools.sockperf import RoundTrips
from harness.probes.traffic import (
    GRACE_S,
    OMITTED_S,
    Flow,
    Load,
    Transfer,
    open_flows,
    open_runs,
)

MESSAGE_BYTES = 64
START_S = 2
"""From sockperf's start to its first message (measured, version 3.7: it finds out the rate of the clock)."""
OUTLASTING_S = OMITTED_S + START_S + OMITTED_S
"""How much longer transfers last than messages: before these, while sockperf starts, and after these."""


def run_messages(
    paths: Sequence[Flow], load: Load, message_bytes: int, flows: Sequence[Flow] = ()
) -> tuple[list[RoundTrips | HostError], list[Transfer | HostError]]:
    """Send a message to and fro on each of the paths for `load.seconds`, while `flows` fill the network.

    Return the round trips and the transfers, or why each failed, in order. Transfers begin before the
    messages and end after them: an idle network answers so fast that a short while of it outnumbers the rest.
    The messages use the ports from `load.first_port` on, one each.
    """
    transfer = Load(load.seconds + OUTLASTING_S, first_port=load.first_port + len(paths))
    with RemoteProcesses() as remotes:
        transfers = open_flows(remotes, flows, transfer)
        sessions = open_runs(
            paths,
            load.first_port,
            lambda path, port: _session(remotes, path, port, load.seconds, message_bytes),
        )
        for run in transfers:
            run.start()
        if transfers:
            time.sleep(OMITTED_S)
        for session in sessions:
            session.start()
        round_trips = [session.finish() for session in sessions]
        return round_trips, [run.finish() for run in transfers]


def _session(
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
